#include "job/cache/part.h"

#include <algorithm>

#include "base/buffer.h"
#include "base/catalogue.h"
#include "base/checksum.h"

namespace forebay::job {

using redundancy::Geometry;
using redundancy::kPieceBytes;

PartMap::PartMap(const std::vector<uint64_t>& sizes) {
  uint64_t end = 0;
  for (const uint64_t size : sizes) ends_.push_back(end += size);
}

PartMap::PartMap(const std::vector<redundancy::RecordedFile>& files) {
  uint64_t end = 0;
  for (const auto& file : files)
    if (file.kind == static_cast<uint8_t>(FileKind::regular)) ends_.push_back(end += file.size);
}

void PartMap::append(uint64_t offset, uint64_t length, std::vector<fabric::Piece>& to) const {
  auto file = static_cast<size_t>(std::ranges::upper_bound(ends_, offset) - ends_.begin());
  for (; length > 0; ++file) {
    const uint64_t begin = file == 0 ? 0 : ends_[file - 1];
    const uint64_t now = std::min(length, ends_[file] - offset);
    if (now == 0) continue;
    to.push_back({static_cast<uint32_t>(file), offset - begin, now});
    offset += now;
    length -= now;
  }
}

Result<void> OwnPart::read(const Geometry::Range& range, std::span<std::byte> out) const {
  std::vector<fabric::Piece> pieces;
  if (range.is_parity)
    pieces.push_back({0, range.offset, range.length});
  else
    map.append(range.offset, range.length, pieces);
  for (const fabric::Piece& piece : pieces) {
    FOREBAY_TRY(const auto file, exposures->open(range.is_parity ? parity : data, piece.file));
    FOREBAY_CHECK(file->read_at(piece.offset, out.first(piece.length)));
    out = out.subspan(piece.length);
  }
  return {};
}

Result<void> for_each_piece(const Geometry& geometry, unsigned member, bool parity, const EachPiece& each) {
  const unsigned n = geometry.members();
  const unsigned chunks = parity ? geometry.losses() : geometry.data_chunks();
  for (unsigned chunk = 0; chunk < chunks; ++chunk) {
    const unsigned row = parity ? (member + n - chunk) % n : (member + 1 + chunk) % n;
    for (uint64_t piece = 0; piece < geometry.pieces(); ++piece) {
      const Geometry::Range range = geometry.range(row, member, piece);
      if (range.length == 0) break;  // the part ends in this chunk
      FOREBAY_CHECK(each(row, piece, range));
    }
  }
  return {};
}

size_t piece_count(const Geometry& geometry, unsigned member, bool parity) {
  if (geometry.chunk() == 0) return 0;
  if (parity) return geometry.losses() * geometry.pieces();
  const uint64_t size = geometry.size(member), whole = size / geometry.chunk();
  return whole * geometry.pieces() + (size % geometry.chunk() + kPieceBytes - 1) / kPieceBytes;
}

Result<std::vector<uint64_t>> sums_of(const Geometry& geometry, unsigned member, bool parity, const OwnPart& part,
                                      const std::stop_token& stop) {
  std::vector<uint64_t> sums;
  sums.reserve(piece_count(geometry, member, parity));
  Buffer buffer(kPieceBytes);
  const auto add = [&](unsigned, uint64_t, const Geometry::Range& range) -> Result<void> {
    if (stop.stop_requested()) return fail(ErrorKind::cancelled, "it is not wanted any more");
    const auto bytes = buffer.span().first(range.length);
    FOREBAY_CHECK(part.read(range, bytes));
    sums.push_back(crc64(bytes));
    return {};
  };
  FOREBAY_CHECK(for_each_piece(geometry, member, parity, add));
  return sums;
}

}  // namespace forebay::job

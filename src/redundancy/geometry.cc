#include "redundancy/geometry.h"

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>

namespace forebay::redundancy {

static constexpr uint64_t kMostBytes = std::numeric_limits<int64_t>::max();

Geometry::Geometry(std::vector<uint64_t> sizes, unsigned losses, uint64_t chunk)
    : sizes_(std::move(sizes)), losses_(losses), chunk_(chunk) {}

Result<Geometry> Geometry::make(std::vector<uint64_t> sizes, unsigned losses) {
  if (losses == 0 || losses >= sizes.size() || sizes.size() > kMostMembers)
    return fail(ErrorKind::invalid_argument,
                fmt::format("a protection group of {} members cannot survive {} losses", sizes.size(), losses));
  const uint64_t largest = std::ranges::max(sizes);
  const uint64_t chunks = sizes.size() - losses;
  const uint64_t chunk = largest / chunks + (largest % chunks == 0 ? 0 : 1);
  if (largest > kMostBytes || chunk > kMostBytes / sizes.size())
    return fail(ErrorKind::limit, fmt::format("a part of {} bytes is too large to be protected", largest));
  return Geometry(std::move(sizes), losses, chunk);
}

Result<Geometry> Geometry::check(std::vector<uint64_t> sizes, unsigned losses, uint64_t chunk) {
  auto made = make(std::move(sizes), losses);
  if (!made)
    return fail(ErrorKind::corrupt, fmt::format("describes an impossible protection group: {}", made.error().what));
  if (made->chunk() != chunk)
    return fail(ErrorKind::corrupt, fmt::format("says that chunks have {} bytes, where the sizes of its members' parts "
                                                "make them {}",
                                                chunk, made->chunk()));
  return made;
}

ChunkPlace Geometry::place(unsigned row, unsigned member) const {
  const unsigned after = (member + members() - row) % members();
  return after < losses_ ? ChunkPlace{.is_parity = true, .index = after}
                         : ChunkPlace{.is_parity = false, .index = members() - 1 - after};
}

unsigned Geometry::parity_holder(unsigned row, unsigned parity) const { return (row + parity) % members(); }

unsigned Geometry::column(unsigned row, unsigned member) const {
  return (member + members() - row) % members() - losses_;
}

uint64_t Geometry::piece_bytes(uint64_t piece) const {
  return piece < pieces() ? std::min(kPieceBytes, chunk_ - piece * kPieceBytes) : 0;
}

Geometry::Range Geometry::range(unsigned row, unsigned member, uint64_t piece) const {
  const ChunkPlace at = place(row, member);
  const uint64_t end = at.is_parity ? parity_bytes() : sizes_[member];
  const uint64_t offset = std::min(end, at.index * chunk_ + std::min(piece * kPieceBytes, chunk_));
  if (piece >= pieces()) return {.is_parity = at.is_parity, .offset = offset, .length = 0};
  return {.is_parity = at.is_parity, .offset = offset, .length = std::min(piece_bytes(piece), end - offset)};
}

uint64_t Geometry::pieces_of(unsigned row, unsigned member) const {
  const ChunkPlace at = place(row, member);
  if (at.is_parity) return pieces();
  const uint64_t begin = std::min(sizes_[member], at.index * chunk_);
  return (std::min(chunk_, sizes_[member] - begin) + kPieceBytes - 1) / kPieceBytes;
}

uint64_t Geometry::data_pieces(unsigned member) const {
  if (chunk_ == 0) return 0;
  return sizes_[member] / chunk_ * pieces() + (sizes_[member] % chunk_ + kPieceBytes - 1) / kPieceBytes;
}

}  // namespace forebay::redundancy

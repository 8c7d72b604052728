#include "io/hdf5/put_held.h"

#include <algorithm>
#include <cerrno>
#include <ranges>

#include <sys/stat.h>
#include <unistd.h>

#include "io/hdf5/guarded_file.h"

namespace forebay::hdf5 {
namespace {

using HeldPiece = std::pair<uint64_t, std::span<const std::byte>>;

// The pieces before and after an offset.
std::pair<std::vector<HeldPiece>, std::vector<HeldPiece>> parted(const HeldBytes& held, uint64_t offset) {
  std::pair<std::vector<HeldPiece>, std::vector<HeldPiece>> parts;
  for (const auto& [begin, bytes] : held.pieces()) {
    const uint64_t before = std::min(offset - std::min(begin, offset), bytes.size());
    if (before > 0) parts.first.emplace_back(begin, std::span(bytes).first(before));
    if (before < bytes.size()) parts.second.emplace_back(begin + before, std::span(bytes).subspan(before));
  }
  return parts;
}

bool write_held(int fd, const std::vector<HeldPiece>& pieces) {
  return std::ranges::all_of(pieces,
                             [&](const HeldPiece& piece) { return write_fully(fd, piece.second, piece.first); });
}

bool lengthen(int fd, uint64_t size) {
  struct stat status{};
  if (::fstat(fd, &status) != 0) return false;
  return static_cast<uint64_t>(status.st_size) >= size || ::ftruncate(fd, static_cast<off_t>(size)) == 0;
}

// Puts the last pieces first: the first one tells where the file ends, and where everything is. Returns as PutHeld.
PutHeld replace(int fd, const std::vector<HeldPiece>& pieces) {
  HeldBytes old;
  for (const auto& [begin, bytes] : pieces) {
    std::vector<std::byte> there(bytes.size());
    if (!read_padded(fd, there, begin)) return {.failure = errno};
    old.put(begin, there);
  }
  size_t done = 0;
  while (done < pieces.size()) {
    const auto& [begin, bytes] = pieces[pieces.size() - ++done];
    if (write_fully(fd, bytes, begin) && (done < pieces.size() || close_copy(fd))) continue;
    PutHeld result{.failure = errno};
    // Also what failed: a part of it may be there.
    for (const auto& piece : pieces | std::views::drop(pieces.size() - done))
      if (!write_fully(fd, old.pieces().at(piece.first), piece.first)) result.is_damaged = true;
    return result;
  }
  return {};
}

}  // namespace

PutHeld put_held(int fd, const HeldBytes& held, uint64_t old_size, uint64_t new_size) {
  const auto [before, after] = parted(held, old_size);
  PutHeld result;
  if (!write_held(fd, after) || !lengthen(fd, new_size) || !close_copy(fd)) result.failure = errno;
  if (result.failure == 0) result = replace(fd, before);
  if (result.failure != 0) cut_back(fd, old_size);
  return result;
}

void cut_back(int fd, uint64_t old_size) { (void)!::ftruncate(fd, static_cast<off_t>(old_size)); }

}  // namespace forebay::hdf5

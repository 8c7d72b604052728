// Which rank reads what of the files of a set in the prefix, so that each byte is read once. Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "launch/scr/index.h"

namespace forebay::scr {

struct Piece {
  PrefixFile file;
  bool is_shared = false;  // of a file that several ranks have written; else the whole file
  uint64_t offset = 0, bytes = 0;
  bool operator==(const Piece&) const = default;
};

// The pieces of one of `ranks` ranks. `files` has one entry for each file of each of the ranks that wrote the set,
// which may have been more or fewer: each reads what it wrote, and of a shared file the share that its place among
// those that wrote it gives, perhaps none.
std::vector<Piece> pieces_of(const std::vector<PrefixFile>& files, uint32_t rank, uint32_t ranks);

// Those of the entries of files that several have written, of the largest size that one of them has seen.
std::vector<PrefixFile> shared_of(std::vector<PrefixFile> files);

// The same entries, where each of a shared file has the checksum of its piece, with that of the whole file instead.
std::vector<PrefixFile> joined(std::vector<PrefixFile> files);

}  // namespace forebay::scr

// A member's part of a protection group as files: its regular files one after another, in the order of the record
// (redundancy/geometry.h), and the checksums of its pieces.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <stop_token>
#include <vector>

#include "base/error.h"
#include "fabric/remote.h"
#include "redundancy/geometry.h"
#include "redundancy/record.h"

namespace forebay::job {

// Where bytes of a part lie in its files. Immutable.
class PartMap {
 public:
  PartMap() = default;
  explicit PartMap(const std::vector<uint64_t>& sizes);
  // Of the regular files.
  explicit PartMap(const std::vector<redundancy::RecordedFile>& files);

  uint64_t size() const { return ends_.empty() ? 0 : ends_.back(); }
  size_t files() const { return ends_.size(); }
  // [offset, offset + length) of the part, which must lie in it.
  void append(uint64_t offset, uint64_t length, std::vector<fabric::Piece>& to) const;

 private:
  std::vector<uint64_t> ends_;
};

// What a position of this agent's has, for reading: exposures that check each file as it is opened.
struct OwnPart {
  fabric::Exposures* exposures = nullptr;
  uint64_t data = 0, parity = 0;
  PartMap map;

  Result<void> read(const redundancy::Geometry::Range& range, std::span<std::byte> out) const;
};

// Pieces of which member `member` has something, in the order of MemberRecord's sums: calls `each(row, piece, range)`
// for those of its part, or else of its parity file, until it returns an error.
using EachPiece = std::function<Result<void>(unsigned row, uint64_t piece, const redundancy::Geometry::Range& range)>;
Result<void> for_each_piece(const redundancy::Geometry& geometry, unsigned member, bool parity, const EachPiece& each);
// How many these are.
size_t piece_count(const redundancy::Geometry& geometry, unsigned member, bool parity);

// Reads all of the part, or of the parity file, once. cancelled when `stop` is requested; else the errors of reading.
Result<std::vector<uint64_t>> sums_of(const redundancy::Geometry& geometry, unsigned member, bool parity,
                                      const OwnPart& part, const std::stop_token& stop);

}  // namespace forebay::job

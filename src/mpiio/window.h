// A window of the file in an aggregator's memory, filled by pieces of many ranks (two_phase.h). Not thread-safe.
#pragma once

#include <span>
#include <vector>

#include "base/bytes.h"
#include "base/error.h"
#include "lock/region.h"
#include "mpiio/transfer.h"

namespace forebay::lock::mpiio {

uint64_t total_length(std::span<const Segment> pieces);

class Window {
 public:
  // Of the bytes `place` of the file.
  explicit Window(Extent place) : place_(place) {}

  // Pieces whose bytes somebody is going to get(). internal if they leave the window.
  Result<void> expect(std::span<const Segment> pieces);

  // Puts bytes, piece after piece, over what was put before. internal if they leave the window.
  Result<void> put(std::span<const Segment> pieces, std::span<const std::byte> bytes);

  // Writes what was put, and never beyond its last byte. Where it leaves many holes, these are read first and written
  // back: the whole window has to be locked exclusively.
  Result<void> write(int fd, const BeforeCall& before_call);

  // Reads from the first to the last byte that is expected. What lies beyond the end of the file is zero.
  Result<void> read(int fd, const BeforeCall& before_call);

  // Zeros for what was not expected.
  Bytes get(std::span<const Segment> pieces) const;

 private:
  bool holds(const Segment& piece) const;
  Result<void> use(std::span<const Segment> pieces);
  std::vector<Extent> runs() const;
  std::span<std::byte> at(Extent part) {
    return std::span(bytes_).subspan(part.first - place_.first, part.end - part.first);
  }

  Extent place_;
  std::vector<Extent> used_;  // expected or put, as they came
  Bytes bytes_;
};

}  // namespace forebay::lock::mpiio

// Where the pieces of one position arrive: those of its own leading, and those that other leaders send. Each is checked
// before a byte of it is written: that it is wanted, comes for the first time, has its length and its checksum.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/fd.h"
#include "redundancy/geometry.h"
#include "redundancy/record.h"

namespace forebay::job {

// take() may be called by several threads at once, for different pieces.
class PieceSink {
 public:
  // Writes bytes of the part that `range` says, or of the parity file.
  using Write = std::function<Result<void>(const redundancy::Geometry::Range& range, std::span<const std::byte> bytes)>;

  PieceSink(redundancy::Geometry geometry, unsigned member, Write write);

  // What is to come; the sum that it must have, where that is known.
  void want(unsigned row, uint64_t piece, std::optional<uint64_t> sum);
  void want_parity();
  // All of the member, as the record says it.
  void want_all(const redundancy::MemberRecord& recorded);

  // `sum`: that the sender has told; nothing: the bytes were made here. corrupt if it is not what was wanted.
  Result<void> take(unsigned row, uint64_t piece, std::optional<uint64_t> sum, std::span<const std::byte> bytes);

  // When nobody takes any more: whether all that was wanted is there. corrupt, naming the first piece that is not.
  Result<void> check_complete() const;
  const std::vector<uint64_t>& parity_sums() const { return parity_.sums; }

 private:
  enum State : uint8_t { unwanted, any_sum, this_sum, taking, there };
  struct Pieces {
    std::vector<uint64_t> sums;
    std::vector<uint8_t> states;
  };
  Pieces& pieces_of(const redundancy::Geometry::Range& range) { return range.is_parity ? parity_ : data_; }

  redundancy::Geometry geometry_;
  unsigned member_;
  Write write_;
  Pieces data_, parity_;
};

}  // namespace forebay::job

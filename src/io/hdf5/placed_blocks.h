// The blocks of one rank, in the places of a file that rank 0 allotted.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/fd.h"
#include "forebay/forebay_method.h"
#include "io/hdf5/file.h"

namespace forebay::hdf5 {

// Movable. `steps` are the caller's, and are to be valid as long as this lives.
class PlacedBlocks {
 public:
  // A place for each block of the steps, or kNowhere. WRITE if the file cannot be opened.
  static Outcome<PlacedBlocks> open(std::string path, std::span<const forebay_method_step> steps,
                                    std::span<const uint64_t> places);

  // Keeps in memory what lies where blocks go that begin before `end`: these replace what is there.
  Outcome<void> keep(uint64_t end);

  // The first failure; nothing is written after it.
  Outcome<void> write();

  // Puts back what was kept; false if it cannot.
  bool put_back() const;

 private:
  struct Placed {
    const forebay_method_block* block;
    uint64_t place;
  };
  struct Kept {
    Placed placed;
    std::string bytes;
  };

  std::string path_;
  Fd fd_;
  std::vector<Placed> blocks_;
  std::vector<Kept> kept_;
  bool is_written_ = false;
};

}  // namespace forebay::hdf5

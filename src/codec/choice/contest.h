// Chains that encode one whole frame, one after another: the smallest result is kept.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "codec/chain.h"

namespace forebay::codec {

// A frame as a profile stores it.
struct Chosen {
  Chain chain;  // some of its stages may have left themselves out
  Encoded encoded;
};

class Contest {
 public:
  // All of them must stay as long as this does. Frames are cut into entries of at most `entry_bytes` that can be
  // decoded alone, but for those that would grow by it: what makes them small lies far apart. 0: no frame is cut.
  Contest(const FrameShape& shape, std::span<const std::byte> raw, References references, uint64_t entry_bytes)
      : shape_(shape), raw_(raw), references_(references), entry_bytes_(entry_bytes) {}

  // Encodes the frame through `chain`, unless one that does the same was entered before. The earlier one of two that
  // are equally good is kept.
  void enter(const Chain& chain);

  // From now on chains are compared by what they make of the whole frame, uncut: repetition over a distance counts.
  void compare_whole();

  // Whether a frame of `raw_bytes` is cut.
  bool cuts(uint64_t raw_bytes) const { return entry_bytes_ != 0 && raw_bytes > entry_bytes_; }

  // Of those that were entered; there must be one.
  const Chain& leader() const { return best_.chain; }
  uint64_t size() const { return best_size_; }  // of what it makes of the frame, with its recipe
  Chosen take();

 private:
  Chain resolved(Chain chain);
  Chain without_copies_if_there_are_none(Chain chain);
  bool has_copies(const Bytes& halo) const;
  bool is_cut() const;
  void reconsider_entries();

  const FrameShape& shape_;
  const std::span<const std::byte> raw_;
  const References references_;
  const uint64_t entry_bytes_;
  bool whole_ = false;
  std::optional<Bytes> halo_;  // the parameters that the frame's copies have; empty if there are none
  std::optional<Bytes> fit_;   // likewise of the stencil that is fitted to the frame
  std::vector<Chain> entered_;
  Chosen best_;
  uint64_t best_size_ = 0;
};

}  // namespace forebay::codec

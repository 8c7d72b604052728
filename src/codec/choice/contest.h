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
  // All of them must stay as long as this does.
  Contest(const FrameShape& shape, std::span<const std::byte> raw, References references)
      : shape_(shape), raw_(raw), references_(references) {}

  // Encodes the frame through `chain`, unless one that does the same was entered before. The earlier one of two that
  // are equally good is kept.
  void enter(const Chain& chain);

  // Of those that were entered; there must be one.
  const Chain& leader() const { return best_.chain; }
  uint64_t size() const { return best_size_; }  // of what it makes of the frame, with its recipe
  Chosen take() { return std::move(best_); }

 private:
  Chain resolved(Chain chain);

  const FrameShape& shape_;
  const std::span<const std::byte> raw_;
  const References references_;
  std::optional<Bytes> halo_;  // the parameters that the frame's copies have; empty if there are none
  std::vector<Chain> entered_;
  Chosen best_;
  uint64_t best_size_ = 0;
};

}  // namespace forebay::codec

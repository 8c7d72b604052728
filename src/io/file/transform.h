// Transforms that a program asks for, by ADIOS's names and our own, as what encodes a frame. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error_bound.h"
#include "codec/choice/chooser.h"
#include "io/group/failure.h"

namespace forebay::io {

class Transform {
 public:
  // `text` is NAME or NAME:PARAMETERS, in any case; docs/codecs.md has the list. unknown_transform with the
  // nearest name, also for parameters that cannot be kept (a fixed rate).
  static Outcome<Transform> parse(std::string_view text);

  bool is_identity() const { return !profile_; }

  // Parameters that the transform does not have, and which therefore are ignored, with the nearest name.
  const std::vector<std::string>& warnings() const { return warnings_; }

  // A frame as it is stored.
  struct Frame {
    codec::Encoded encoded;
    std::string chain;
    uint64_t raw_hash = 0;  // of what the payload decodes to
    std::optional<LossyNote> lossy;
  };

  // Not of the identity. `shape` describes `raw`. Values that a bound is asked for and cannot be kept for are stored
  // without loss.
  Frame encode(const FrameShape& shape, std::span<const std::byte> raw) const;

 private:
  std::optional<codec::Profile> profile_;
  std::optional<ErrorBound> bound_;
  std::vector<std::string> warnings_;
};

// Those of ADIOS that are there, and our own: what parse() takes, chains of codecs apart. Without loss only, if this
// build cannot store with loss.
struct TransformName {
  std::string name, description;
};
const std::vector<TransformName>& available_transforms();

}  // namespace forebay::io

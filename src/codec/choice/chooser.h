// Which chain a frame gets: the profile's candidates, tried on samples and on whole frames.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "codec/choice/contest.h"

namespace forebay::codec {

// What is known of a frame beside itself: frames of the same shape from which it may be predicted.
struct Related {
  Bytes parameters;  // of the relation codec; empty: it has no relations
  std::vector<std::span<const std::byte>> references;
};

// A named policy: "none", "gzip", "paper", "fast", "balanced", "max", or an explicit chain.
class Profile {
 public:
  // A profile's name, or a chain as parse_chain() takes it. invalid_argument if it is neither.
  static Result<Profile> parse(std::string_view text);

  const std::string& name() const { return name_; }

  // Encodes the frame `raw` (whole) of one variable group through the chain that suits it. With more than one
  // candidate, tries them on a sample of the frame (runs of adjacent blocks from several places, and an estimate of
  // repetition), and on all of it where a sample does not tell. `balanced` makes no more of a frame than `fast`, and
  // `max` no more than `balanced`, but for what a sample hides (docs/codecs.md, "Choosing"). Pure: depends on the
  // arguments only, never on the clock, so that the same data always give the same container.
  Chosen encode(const FrameShape& shape, std::span<const std::byte> raw, const Related& related = {}) const;

  // Encodes a frame through a chain that was chosen for one like it.
  Encoded encode_as(const Chain& chain, const FrameShape& shape, std::span<const std::byte> raw,
                    const Related& related = {}) const;

  // Encodes a frame as what differs from `before`, the frame at its place in another set, of as many bytes; nothing if
  // that does not make at least 3 % less than `alone_bytes`, what encode() makes of it with its recipe. Chains are
  // tried on a sample first. Pure.
  std::optional<Chosen> encode_difference(const FrameShape& shape, std::span<const std::byte> raw,
                                          std::span<const std::byte> before, uint64_t alone_bytes) const;

  // Whether encode_difference() ever does.
  bool uses_differences() const;

  // The most memory, in bytes, that it uses for a frame of `raw_bytes`, beside the frame, the one before and its
  // result.
  uint64_t difference_memory_bytes(uint64_t raw_bytes) const;

  // Whether choosing takes so long that what was chosen for the set before should be tried first.
  bool remembers() const { return policy_ == Policy::balanced || policy_ == Policy::max; }

  // How large frames should be, in raw bytes. Cells are found to be copies of others only within one frame.
  uint64_t frame_bytes() const;

  // Whether encode() makes use of `related`.
  bool uses_relations() const { return policy_ == Policy::max; }

  // Every chain that encode() may choose for frames of this type, but for those with a relation.
  std::vector<Chain> candidates(const DataType& type) const;

  // The most memory, in bytes, that encode() uses for a frame of `raw_bytes`, beside the frame and its references. The
  // memory of the result counts.
  uint64_t memory_bytes(uint64_t raw_bytes) const;

 private:
  enum class Policy : uint8_t { none, gzip, paper, fast, balanced, max, chain };  // in the order of profiles()

  // What another profile, with a lower policy, makes of it.
  static Chosen as_lower(Policy policy, const FrameShape& shape, std::span<const std::byte> raw);
  std::vector<Chain> difference_chains(const DataType& type) const;
  uint64_t entry_bytes() const;  // of what can be decoded alone; 0: whole frames only

  std::string name_;
  Policy policy_ = Policy::none;
  Chain chain_;  // of an explicit profile
};

// The names of the profiles with a one-line description each, for --help.
struct ProfileInfo {
  const char* name;
  const char* description;
};
const std::vector<ProfileInfo>& profiles();

}  // namespace forebay::codec

// Variables that the user allows to be stored with loss: which they are, and what came of it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/catalogue.h"
#include "base/error_bound.h"
#include "codec/lossy/lossy.h"
#include "merge/plan.h"

namespace forebay::engine {

// The user's rule `GLOB=KIND:VALUE`: variables whose path the shell pattern matches may differ by that much.
struct LossyRule {
  std::string text;
  std::string glob;
  ErrorBound bound;

  // Splits at the last '='. KIND is abs, rel or range; VALUE is finite and above 0, and below 1 but for abs.
  // invalid_argument otherwise.
  static Result<LossyRule> parse(std::string_view text);
};

// What one rule did.
struct LossyOutcome {
  uint64_t matches = 0;    // variables that it is for
  uint64_t variables = 0;  // of those: some frame of them is stored with loss
  uint64_t frames = 0;     // stored with loss
  double error = 0;        // the largest, as the rule's bound measures it

  void add(const LossyOutcome& other);
};

// The variables of one rank group that rules are for. A variable falls under the first rule that matches, if its
// elements are unfiltered floating-point numbers of 4 or 8 bytes. Members of .npz archives do not count: the archive
// has checksums of them.
class LossyVariables {
 public:
  LossyVariables(std::span<const LossyRule> rules, const Catalogue& catalogue);

  // Whether a variable may be stored with loss.
  bool has_rule(uint32_t variable) const {
    return !rule_of_variable_.empty() && rule_of_variable_[variable] != kNoRule;
  }

  // The frame of these slices with loss, in fewer bytes than `smaller_than`. None unless all its slices are of
  // variables under one rule, and as codec::encode_lossy(). Thread-safe.
  std::optional<codec::LossyEncoded> encode(std::span<const merge::Slice> slices, const FrameShape& shape,
                                            std::span<const std::byte> raw, size_t smaller_than) const;

  // Remembers that the frame of these slices is stored with loss. Not thread-safe.
  void note(std::span<const merge::Slice> slices, const LossyNote& note);

  std::vector<LossyOutcome> outcomes() const;  // one per rule

 private:
  static constexpr uint32_t kNoRule = UINT32_MAX;

  uint32_t rule_of(std::span<const merge::Slice> slices) const;

  std::span<const LossyRule> rules_;
  std::vector<uint32_t> rule_of_variable_;  // kNoRule or an index into rules_; empty if there are no rules
  std::vector<bool> lossy_;                 // per variable
  std::vector<LossyOutcome> outcomes_;      // but `variables`
};

}  // namespace forebay::engine

#include "engine/pack/lossy.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "engine/options.h"

namespace forebay::engine {
namespace {

bool is_eligible(const FileRow& file, const VariableRow& variable) {
  return variable.type.kind == Kind::floating && variable.type.size >= 4 && !variable.filtered && file.format != "npz";
}

std::optional<BoundKind> kind_of(std::string_view name) {
  for (const BoundKind kind : {BoundKind::absolute, BoundKind::relative, BoundKind::range})
    if (name == to_string(kind)) return kind;
  return std::nullopt;
}

}  // namespace

Result<LossyRule> LossyRule::parse(std::string_view text) {
  const auto wrong = [&](const char* why) {
    return fail(ErrorKind::invalid_argument, fmt::format("'{}' is no rule for a loss: {}", text, why), {}, {},
                "write GLOB=abs:1e-6, GLOB=rel:1e-4 or GLOB=range:1e-3");
  };
  const size_t equals = text.rfind('=');
  if (equals == std::string_view::npos || equals == 0) return wrong("there is no GLOB=");
  const std::string_view bound = text.substr(equals + 1);
  const size_t colon = bound.find(':');
  if (colon == std::string_view::npos) return wrong("there is no KIND:VALUE");
  const auto kind = kind_of(bound.substr(0, colon));
  if (!kind) return wrong("the kind is none of abs, rel and range");
  const std::string_view digits = bound.substr(colon + 1);
  double value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size() || !std::isfinite(value) || !(value > 0))
    return wrong("the value is no finite number above 0");
  if (*kind != BoundKind::absolute && value >= 1) return wrong("such a value must be below 1");
  return LossyRule{std::string(text), std::string(text.substr(0, equals)), {*kind, value}};
}

void LossyOutcome::add(const LossyOutcome& other) {
  matches += other.matches;
  variables += other.variables;
  frames += other.frames;
  error = std::max(error, other.error);
}

LossyVariables::LossyVariables(std::span<const LossyRule> rules, const Catalogue& catalogue)
    : rules_(rules), outcomes_(rules.size()) {
  if (rules.empty()) return;
  rule_of_variable_.resize(catalogue.variables.size(), kNoRule);
  lossy_.resize(catalogue.variables.size());
  for (const FileRow& file : catalogue.files)
    for (uint32_t v = file.first_variable; v < file.first_variable + file.variable_count; ++v) {
      const VariableRow& variable = catalogue.variables[v];
      if (!is_eligible(file, variable)) continue;
      const std::string& path = catalogue.paths[variable.path];
      const auto found = std::ranges::find_if(rules, [&](const LossyRule& r) { return matches_any({r.glob}, path); });
      if (found == rules.end()) continue;
      rule_of_variable_[v] = static_cast<uint32_t>(found - rules.begin());
      ++outcomes_[rule_of_variable_[v]].matches;
    }
}

uint32_t LossyVariables::rule_of(std::span<const merge::Slice> slices) const {
  const auto rule = [&](const merge::Slice& slice) {
    return slice.stream.variable < rule_of_variable_.size() ? rule_of_variable_[slice.stream.variable] : kNoRule;
  };
  if (slices.empty()) return kNoRule;
  const uint32_t first = rule(slices.front());
  return std::ranges::all_of(slices, [&](const merge::Slice& s) { return rule(s) == first; }) ? first : kNoRule;
}

std::optional<codec::LossyEncoded> LossyVariables::encode(std::span<const merge::Slice> slices, const FrameShape& shape,
                                                          std::span<const std::byte> raw, size_t smaller_than) const {
  const uint32_t rule = rule_of(slices);
  return rule == kNoRule ? std::nullopt : codec::encode_lossy(rules_[rule].bound, shape, raw, smaller_than);
}

void LossyVariables::note(std::span<const merge::Slice> slices, const LossyNote& note) {
  LossyOutcome& outcome = outcomes_[rule_of(slices)];
  ++outcome.frames;
  outcome.error = std::max(outcome.error, note.error);
  for (const merge::Slice& slice : slices) lossy_[slice.stream.variable] = true;
}

std::vector<LossyOutcome> LossyVariables::outcomes() const {
  std::vector<LossyOutcome> outcomes = outcomes_;
  for (size_t v = 0; v < lossy_.size(); ++v)
    if (lossy_[v]) ++outcomes[rule_of_variable_[v]].variables;
  return outcomes;
}

}  // namespace forebay::engine

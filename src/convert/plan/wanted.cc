#include "convert/plan/wanted.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "engine/options.h"

namespace forebay::convert {

bool Wanted::matches(const std::string& name) {
  if (!wish_.except.empty() && engine::matches_any(wish_.except, name)) return false;
  bool wanted = wish_.names.empty();
  for (size_t i = 0; i < wish_.names.size(); ++i) {
    const std::string& pattern = wish_.names[i];
    if (pattern != name && pattern != "/" + name && "/" + pattern != name && !engine::matches_any({pattern}, name))
      continue;
    used_[i] = wanted = true;
  }
  return wanted;
}

Result<void> Wanted::without_part(Error error) {
  if (error.kind != ErrorKind::invalid_argument) return std::unexpected(std::move(error));
  const auto is_same = [&](const Error& other) { return other.what == error.what; };
  if (std::ranges::none_of(without_part_, is_same)) without_part_.push_back(std::move(error));
  return {};
}

Result<void> Wanted::check_parts() const {
  if (without_part_.empty()) return {};
  Error all = without_part_.front();
  for (size_t i = 1; i < without_part_.size(); ++i) all.what += "; " + without_part_[i].what;
  return std::unexpected(std::move(all));
}

Result<void> Wanted::check(const view::Run& run) const {
  for (size_t i = 0; i < wish_.names.size(); ++i) {
    if (used_[i]) continue;
    FOREBAY_TRY(const auto step, run.step(wish_.steps.back()));
    const auto found = view::find_array(*step, wish_.names[i]);
    if (!found) return std::unexpected(found.error());
    return fail(ErrorKind::invalid_argument, fmt::format("'{}' is wanted and excepted", wish_.names[i]));
  }
  return {};
}

std::string lacking_text(const std::string& name, const view::StepInfo& step, const view::ElementType& type) {
  return fmt::format("'{}' of step {} ({})", name, step.number, view::to_string(type));
}

Result<void> check_types(std::string_view target, std::vector<std::string> lacking) {
  if (lacking.empty()) return {};
  return fail(ErrorKind::unsupported, fmt::format("{} has no type for {}", target, fmt::join(lacking, ", ")), {}, {},
              "leave them out with --except, or choose another format");
}

}  // namespace forebay::convert

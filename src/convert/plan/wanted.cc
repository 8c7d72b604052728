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

Result<void> Wanted::check(const view::Run& run) const {
  for (size_t i = 0; i < wish_.names.size(); ++i) {
    if (used_[i]) continue;
    FOREBAY_TRY(const auto step, run.step(wish_.steps.second - 1));
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
  constexpr size_t kMostNamed = 8;  // in one message
  if (lacking.empty()) return {};
  const size_t more = lacking.size() - std::min(lacking.size(), kMostNamed);
  lacking.resize(std::min(lacking.size(), kMostNamed));
  return fail(ErrorKind::unsupported,
              fmt::format("{} has no type for {}{}", target, fmt::join(lacking, ", "),
                          more > 0 ? fmt::format(" and {} others", more) : ""),
              {}, {}, "leave them out with --except, or choose another format");
}

}  // namespace forebay::convert

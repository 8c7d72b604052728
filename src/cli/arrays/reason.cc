#include "cli/arrays/reason.h"

#include <algorithm>

#include <fmt/format.h>

#include "cli/text.h"
#include "cli/unread.h"

namespace forebay::cli {

Result<store::SetInfo> set_of_step(const view::Run& run, const view::StepInfo& info) {
  if (info.set.empty()) return fail(ErrorKind::not_found, "the step is no set of a store", run.path());
  FOREBAY_TRY(const auto store, store::Store::open(run.path()));
  return store.find(info.set);
}

Error unless_set(Error error, const std::string& path, const std::vector<std::string>& names) {
  if (error.kind != ErrorKind::not_found && error.kind != ErrorKind::invalid_argument) return error;
  const auto store = store::Store::open(path);
  if (!store) return error;
  const auto set =
      std::ranges::find_if(names, [&](const std::string& name) { return store->has(name).value_or(false); });
  if (set == names.end()) return error;
  return {.kind = error.kind,
          .what = fmt::format("{} is a set, not an array", *set),
          .path = path,
          .offset = {},
          .hint = fmt::format("'forebay read STORE --set {0}' lists its arrays, 'forebay ls STORE {0}' its files",
                              shell_word(*set))};
}

Error with_reason(Error error, const store::SetInfo& set, const engine::Resources& resources) {
  const auto why = why_no_arrays(set, resources);
  if (!why) return error;
  error.what += ": " + *why;
  error.hint = fmt::format("'forebay ls STORE {}' lists its files", shell_word(set.name));
  return error;
}

Error with_reason(Error error, const view::Run& run, uint64_t number, const std::vector<std::string>& names,
                  const engine::Resources& resources) {
  if (error.kind != ErrorKind::not_found) return error;
  if (Error other = unless_set(error, run.path(), names); other.what != error.what) return other;
  const auto step = run.step(number);
  if (!step || !(*step)->arrays().empty()) return error;
  const auto set = set_of_step(run, (*step)->info());
  return set ? with_reason(std::move(error), *set, resources) : error;
}

}  // namespace forebay::cli

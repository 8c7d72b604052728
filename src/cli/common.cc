#include "cli/common.h"

#include <cstdio>
#include <cstdlib>
#include <ranges>

#include <fmt/format.h>

#include "cli/series.h"
#include "cli/text.h"
#include "cli/units.h"
#include "store/series.h"

namespace forebay::cli {

std::string of_environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

std::string store_of_environment() { return of_environment("FOREBAY_STORE"); }

static bool is_store(const std::string& path) {
  const auto opened = store::Store::open(path);
  return opened || opened.error().kind != ErrorKind::not_found;
}

static bool first_is_store(const std::vector<std::string>& typed, const std::string& environment,
                           const OperandCount& count) {
  if (typed.size() > count.most) return true;
  if (typed.size() > count.least) return environment.empty() || is_store(typed.front());
  // One operand is missing: which one, the kind of those that are there tells.
  const bool may_be_store = typed.size() == 1 && (environment.empty() || typed.front().find('/') != std::string::npos);
  return may_be_store && store::Store::open(typed.front()).has_value();
}

static Error missing(const std::string& operand) {
  if (operand != "NAME")
    return {ErrorKind::invalid_argument, fmt::format("{} is missing", operand), {}, {}, "--help lists what is needed"};
  return {ErrorKind::invalid_argument, "the name of a set is missing", {}, {}, "'forebay ls STORE' lists the sets"};
}

Result<Operands> split_operands(std::vector<std::string> typed, const std::string& store_option,
                                const OperandCount& count) {
  Operands result{store_option, std::move(typed)};
  if (result.store.empty()) {
    result.store = store_of_environment();
    if (first_is_store(result.own, result.store, count)) {
      result.store = result.own.front();
      result.own.erase(result.own.begin());
    }
  }
  if (result.own.size() > count.most)
    return fail(ErrorKind::invalid_argument, fmt::format("unexpected argument '{}'", result.own.back()), {}, {},
                "--help lists the arguments; quote one that has blanks in it");
  if (result.own.size() < count.least) return std::unexpected(missing(count.names[result.own.size()]));
  if (result.store.empty())
    return fail(ErrorKind::invalid_argument, "no store is given", {}, {}, "use --store STORE, or set FOREBAY_STORE");
  return result;
}

void declare_store(Syntax& syntax, std::string& store) {
  syntax.option("-s,--store", "STORE", "The store, a directory. Default: $FOREBAY_STORE.", set_text(store));
}

void declare_memory(Syntax& syntax, engine::Resources& resources) {
  syntax.option(
      "--memory", "SIZE",
      "Use at most this much memory, for everything: indices, and frames that are worked on at the same time. Default: "
      "a quarter of the machine's.",
      set_bytes(resources.memory_bytes));
}

void declare_threads(Syntax& syntax, engine::Resources& resources) {
  syntax.option("--threads", "COUNT", "Computing threads. Default: one per core.", set_threads(resources.threads));
}

Result<store::SetInfo> find_set(const store::Store& store, const std::string& name, const std::string& series) {
  const bool by_step = store::asks_for_step(name);
  if (name != "latest" && !by_step) return store.find(name);
  FOREBAY_TRY(const std::string wanted, series_or(series, ""));
  FOREBAY_TRY(auto newest, store.choose([&](std::span<const store::SetInfo> all) -> Result<std::optional<std::string>> {
    FOREBAY_TRY(const std::string chosen, store::choose_series(all, wanted, store.path()));
    const auto sets = store::of_series(all, chosen);
    if (by_step) return store::find_step(sets, name, store.path());
    for (const store::SetInfo& set : sets | std::views::reverse)
      if (set.manifest) return set.name;
    return std::nullopt;
  }));
  if (newest) return *std::move(newest);
  return fail(ErrorKind::not_found, "the store has no set that can be read", store.path());
}

std::string repair_text(const store::Manifest& manifest) {
  if (manifest.repaired_from.empty() && manifest.lost_containers.empty()) return {};
  std::string text = manifest.repaired_from.empty() ? "repaired" : "repaired from " + manifest.repaired_from;
  if (manifest.damaged_files > 0) text += fmt::format(", {} damaged", plural(manifest.damaged_files, "file"));
  if (const size_t lost = manifest.lost_containers.size(); lost > 0)
    text += fmt::format(", {} lost", plural(lost, "container"));
  return text;
}

void warn(std::string_view text) { fmt::print(stderr, "forebay: warning: {}\n", printable(text)); }

}  // namespace forebay::cli

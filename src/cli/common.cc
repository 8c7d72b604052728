#include "cli/common.h"

#include <cstdio>
#include <cstdlib>
#include <ranges>

#include <fmt/format.h>

#include "cli/series.h"
#include "cli/text.h"

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

static bool first_is_store(const std::vector<std::string>& typed, const std::string& environment, OperandCount count) {
  if (typed.size() > count.most) return true;
  if (typed.size() <= count.least) return false;
  return environment.empty() || is_store(typed.front());
}

Result<Operands> split_operands(std::vector<std::string> typed, const std::string& store_option, OperandCount count) {
  Operands result{store_option, std::move(typed)};
  if (result.store.empty()) {
    result.store = store_of_environment();
    if (first_is_store(result.own, result.store, count)) {
      result.store = result.own.front();
      result.own.erase(result.own.begin());
    }
  }
  if (result.own.size() > count.most)
    return fail(ErrorKind::invalid_argument, fmt::format("unexpected argument '{}'", result.own.back()));
  if (result.own.size() < count.least) return fail(ErrorKind::invalid_argument, "an argument is missing");
  if (result.store.empty())
    return fail(ErrorKind::invalid_argument, "no store is given", {}, {}, "use --store STORE, or set FOREBAY_STORE");
  return result;
}

void declare_store(Syntax& syntax, std::string& store) {
  syntax.option("-s,--store", "STORE", "The store, a directory. Default: $FOREBAY_STORE.", set_text(store));
}

void declare_memory(Syntax& syntax, engine::Resources& resources) {
  syntax.option("--memory", "SIZE",
                "Use at most this much memory, for everything. Default: a quarter of the machine's.",
                set_bytes(resources.memory_bytes));
}

void declare_threads(Syntax& syntax, engine::Resources& resources) {
  syntax.option("--threads", "COUNT", "Computing threads. Default: one per core.", set_threads(resources.threads));
}

Result<store::SetInfo> find_set(const store::Store& store, const std::string& name, const std::string& series) {
  if (name != "latest") return store.find(name);
  FOREBAY_TRY(const auto sets, sets_of_series(store, series));
  for (const store::SetInfo& set : sets | std::views::reverse)
    if (set.manifest) return set;
  return fail(ErrorKind::not_found, "the store has no set that can be read", store.path());
}

void warn(std::string_view text) { fmt::print(stderr, "forebay: warning: {}\n", printable(text)); }

}  // namespace forebay::cli

#include "engine/inspect/prune.h"

#include <optional>
#include <string_view>
#include <unordered_set>

#include <fmt/format.h>

#include "cli/common.h"
#include "cli/json.h"
#include "cli/progress.h"
#include "cli/series.h"
#include "cli/text.h"
#include "cli/units.h"
#include "cli/verb.h"
#include "store/series.h"

namespace forebay::cli {
namespace {

constexpr VerbText kPruneText = {
    .name = "prune",
    .summary = "remove old sets by a retention policy",
    .usage = "STORE (--keep-last N | --keep-every K) [--dry-run]",
    .description =
        "Removes every set but the newest N and those whose step is a multiple of K, of each\n"
        "series by itself, or of --series only. Never\n"
        "removes the newest intact set: before anything is removed, sets are verified from\n"
        "the newest back to the first that is intact, and that one is kept in any case. If\n"
        "there is none, nothing is removed and the exit code is 5. Older sets are not\n"
        "verified: one that is damaged counts among the N, and goes, like any other. Sets\n"
        "whose manifest cannot be read are left alone. A set that holds frames of one that\n"
        "is kept, or that is being packed, is kept, too. Sets that are found damaged, and\n"
        "what in the store cannot be read, are named; the exit code is 5 then.\n",
    .examples =
        "  forebay prune /scratch/store --keep-last 3\n"
        "  forebay prune /scratch/store --keep-last 2 --keep-every 100 --dry-run\n",
};

class Prune final : public Verb {
 public:
  const VerbText& text() const override { return kPruneText; }

  void declare(Syntax& syntax) override {
    syntax.operands(operands_);
    declare_store(syntax, store_);
    declare_series(syntax, series_);
    syntax.option("--keep-last", "N",
                  "Keep the newest N sets, counted from the newest intact one; damaged newer ones stay, too.",
                  set_count(retention_.keep_last));
    syntax.option("--keep-every", "K", "Keep the sets whose step is a multiple of K.",
                  set_count(retention_.keep_every));
    syntax.flag("-n,--dry-run", dry_run_, "Print what would be removed, and remove nothing.");
    declare_memory(syntax, resources_);
    declare_threads(syntax, resources_);
  }

  Result<ExitCode> run(const Console& console) override {
    if (retention_.keep_last == 0 && retention_.keep_every == 0)
      return fail(ErrorKind::invalid_argument, "what to keep is not given", {}, {},
                  "use --keep-last N or --keep-every K");
    FOREBAY_TRY(const Operands operands, split_operands(operands_, store_, {0, 0}));
    FOREBAY_TRY(const auto store, store::Store::open(operands.store));
    FOREBAY_TRY(const std::string series, wanted_series(store));
    std::optional<ProgressLine> progress;
    FOREBAY_TRY(const engine::Pruned pruned,
                engine::prune(store,
                              {.series = series,
                               .retention = retention_,
                               .dry_run = dry_run_,
                               .verifies =
                                   [&](const std::string& set) {
                                     return progress.emplace("verifying " + printable(set)).callback();
                                   }},
                              resources_));
    progress.reset();
    print(console, pruned);
    return exit_code(pruned);
  }

 private:
  // That of the environment is a job's, which may have no set yet.
  Result<std::string> wanted_series(const store::Store& store) const {
    if (series_.empty()) return series_or("", "");
    FOREBAY_TRY(const auto sets, store.list());
    return store::choose_series(sets, series_, store.path());
  }

  // Damage counts most; else what kept sets, or files of removed ones, from going.
  static ExitCode exit_code(const engine::Pruned& pruned) {
    if (!pruned.problems.empty()) return ExitCode::damaged;
    if (!pruned.refused.empty()) return exit_code_of(pruned.refused.front().error.kind);
    return pruned.left.empty() ? ExitCode::ok : exit_code_of(pruned.left.front().error.kind);
  }

  static Json json_problems(const std::vector<engine::SetProblem>& problems) {
    Json list = Json::array();
    for (const engine::SetProblem& problem : problems) {
      Json json = {{"set", json_text(problem.name)}};
      json.update(json_error(problem.error));
      list.push_back(std::move(json));
    }
    return list;
  }

  static std::vector<engine::SetProblem> all_problems(const engine::Pruned& pruned) {
    std::vector<engine::SetProblem> all = pruned.problems;
    all.insert(all.end(), pruned.refused.begin(), pruned.refused.end());
    return all;
  }

  static Json json_newest(const std::string& name) { return name.empty() ? Json() : json_text(name); }

  static Json json_needed(const std::vector<store::Needed>& needed) {
    Json list = Json::array();
    for (const store::Needed& one : needed) list.push_back({{"name", json_text(one.name)}, {"by", json_text(one.by)}});
    return list;
  }

  void print(const Console& console, const engine::Pruned& pruned) const {
    const std::vector<std::string>& removed = pruned.removed;
    std::vector<std::string> kept;
    const std::unordered_set<std::string_view> gone(removed.begin(), removed.end());
    for (const store::SetInfo& set : pruned.sets)
      if (!gone.contains(set.name)) kept.push_back(set.name);
    if (console.json) {
      Json series = Json::array();
      for (const auto& [name, newest] : pruned.newest_good)
        series.push_back({{"name", json_text(name)}, {"newest_intact", json_newest(newest)}});
      print_json(
          {{"dry_run", dry_run_},
           {"removed", json_texts(removed)},
           {"kept", json_texts(kept)},
           {"needed", json_needed(pruned.needed)},
           {"newest_intact", pruned.newest_good.size() == 1 ? json_newest(pruned.newest_good[0].second) : Json()},
           {"newest_of_series", std::move(series)},
           {"problems", json_problems(all_problems(pruned))},
           {"left", json_problems(pruned.left)}});
      return;
    }
    for (const engine::SetProblem& problem : all_problems(pruned))
      warn(problem.name + " is left alone: " + problem.error.message());
    for (const engine::SetProblem& one : pruned.left)
      warn(
          fmt::format("{} is removed, but some of its files could not be deleted; the next one that writes into the "
                      "store tries again: {}",
                      one.name, one.error.message()));
    for (const std::string& name : removed)
      fmt::print("{} {}\n", dry_run_ ? "would remove" : "removed", printable(name));
    for (const store::Needed& one : pruned.needed)
      fmt::print("{} stays: it holds frames of {}\n", printable(one.name), printable(one.by));
    fmt::print("{} {}, {} kept\n", plural(removed.size(), "set"), dry_run_ ? "to be removed" : "removed", kept.size());
  }

  std::vector<std::string> operands_;
  std::string store_, series_;
  store::Retention retention_;
  bool dry_run_ = false;
  engine::Resources resources_;
};

}  // namespace

std::unique_ptr<Verb> make_prune() { return std::make_unique<Prune>(); }

}  // namespace forebay::cli

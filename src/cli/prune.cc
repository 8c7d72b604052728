#include <algorithm>
#include <optional>
#include <ranges>
#include <string_view>
#include <unordered_set>

#include <fmt/format.h>

#include "cli/common.h"
#include "cli/json.h"
#include "cli/progress.h"
#include "cli/referrers.h"
#include "cli/series.h"
#include "cli/text.h"
#include "cli/units.h"
#include "cli/verb.h"
#include "engine/inspect/verify.h"
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
    syntax.flag("-n,--dry-run", dry_run_, "Tell what would be removed, and remove nothing.");
    declare_memory(syntax, resources_);
    declare_threads(syntax, resources_);
  }

  Result<ExitCode> run(const Console& console) override {
    if (retention_.keep_last == 0 && retention_.keep_every == 0)
      return fail(ErrorKind::invalid_argument, "what to keep is not given", {}, {},
                  "use --keep-last N or --keep-every K");
    FOREBAY_TRY(const Operands operands, split_operands(operands_, store_, {0, 0}));
    FOREBAY_TRY(const auto store, store::Store::open(operands.store));
    FOREBAY_TRY(auto all, store.list());
    FOREBAY_TRY(const auto sets, all_or_series(store, all, series_));
    FOREBAY_CHECK(engine::buffer_bytes(resources_.resolved().memory_bytes));
    FOREBAY_TRY(const OtherReferrers others, other_referrers(store, all, resources_.resolved().memory_bytes));
    problems_ = others.problems;
    Plan plan;
    const auto all_series = store::series_in(sets);
    for (const std::string& series : all_series) {
      const auto added = others.all_known ? add(series, all, others.known, plan) : Result<void>();
      if (!added && all_series.size() == 1) return std::unexpected(added.error());
      if (!added) problems_.push_back({series, added.error()});
    }
    if (!dry_run_) remove(store, std::move(all), plan);
    print(console, sets, plan);
    return exit_code();
  }

 private:
  // Damage counts most; else what kept sets, or files of removed ones, from going.
  ExitCode exit_code() const {
    if (!problems_.empty()) return ExitCode::damaged;
    if (!refused_.empty()) return exit_code_of(refused_.front().error.kind);
    return left_.empty() ? ExitCode::ok : exit_code_of(left_.front().error.kind);
  }

  struct Plan : store::PrunePlan {
    std::vector<std::pair<std::string, std::string>> newest_good;  // series, and its newest intact set, if looked for
  };

  // What the policy makes of one series. Parents of the sets of others stay.
  Result<void> add(const std::string& series, const std::vector<store::SetInfo>& all,
                   std::vector<store::Manifest> others, Plan& plan) {
    const auto sets = store::of_series(all, series);
    if (!may_remove_something(sets)) {
      plan.newest_good.emplace_back(series, "");
      return {};
    }
    FOREBAY_TRY(const std::string newest_good, newest_intact(series, sets));
    for (const store::SetInfo& set : all)
      if (set.manifest && set.manifest->origin.series != series) others.push_back(*set.manifest);
    const auto of_series = store::to_prune(sets, retention_, newest_good, others);
    plan.removed.insert(plan.removed.end(), of_series.removed.begin(), of_series.removed.end());
    plan.needed.insert(plan.needed.end(), of_series.needed.begin(), of_series.needed.end());
    plan.newest_good.emplace_back(series, newest_good);
    return {};
  }

  // What cannot be removed does not keep the others: one that it refers to refuses to go, too.
  void remove(const store::Store& store, std::vector<store::SetInfo> all, store::PrunePlan& plan) {
    const auto results = store.remove(plan.removed, std::move(all));
    std::vector<std::string> removed;
    for (size_t i = 0; i < results.size(); ++i) {
      if (results[i]) removed.push_back(plan.removed[i]);
      if (!results[i]) refused_.push_back({plan.removed[i], results[i].error()});
      if (results[i] && results[i]->left) left_.push_back({plan.removed[i], *results[i]->left});
    }
    plan.removed = std::move(removed);
  }

  // Whether the policy, whichever set is the newest intact one, removes any: else nothing needs to be verified.
  bool may_remove_something(const std::vector<store::SetInfo>& sets) const {
    // With an older set as the newest intact one, fewer sets are too many.
    for (const store::SetInfo& set : sets | std::views::reverse) {
      if (!set.manifest) continue;
      const auto plan = store::to_prune(sets, retention_, set.name);
      return !plan.removed.empty() || !plan.needed.empty();
    }
    return false;
  }

  Result<std::string> newest_intact(const std::string& series, const std::vector<store::SetInfo>& sets) {
    for (const store::SetInfo& set : sets | std::views::reverse) {
      if (!set.manifest || set.refused) continue;
      ProgressLine progress("verifying " + printable(set.name));
      resources_.progress = progress.callback();
      const auto report = engine::verify(set, resources_);
      if (report && report->intact()) return set.name;
      problems_.push_back({set.name, report ? error_of(report->damages.front()) : report.error()});
    }
    return fail(ErrorKind::corrupt, fmt::format("no set of the series '{}' is intact; nothing was removed", series), {},
                {}, "see 'forebay verify' and 'forebay repair'");
  }

  static Error error_of(const engine::Damage& damage) {
    return {ErrorKind::corrupt, damage.what, damage.container, damage.offset, "see 'forebay verify'"};
  }

  static Json json_problems(const std::vector<SetProblem>& problems) {
    Json list = Json::array();
    for (const SetProblem& problem : problems) {
      Json json = {{"set", json_text(problem.name)}};
      json.update(json_error(problem.error));
      list.push_back(std::move(json));
    }
    return list;
  }

  std::vector<SetProblem> all_problems() const {
    std::vector<SetProblem> all = problems_;
    all.insert(all.end(), refused_.begin(), refused_.end());
    return all;
  }

  static Json json_newest(const std::string& name) { return name.empty() ? Json() : json_text(name); }

  static Json json_needed(const std::vector<store::Needed>& needed) {
    Json list = Json::array();
    for (const store::Needed& one : needed) list.push_back({{"name", json_text(one.name)}, {"by", json_text(one.by)}});
    return list;
  }

  void print(const Console& console, const std::vector<store::SetInfo>& sets, const Plan& plan) const {
    const std::vector<std::string>& removed = plan.removed;
    std::vector<std::string> kept;
    const std::unordered_set<std::string_view> gone(removed.begin(), removed.end());
    for (const store::SetInfo& set : sets)
      if (!gone.contains(set.name)) kept.push_back(set.name);
    if (console.json) {
      Json series = Json::array();
      for (const auto& [name, newest] : plan.newest_good)
        series.push_back({{"name", json_text(name)}, {"newest_intact", json_newest(newest)}});
      print_json({{"dry_run", dry_run_},
                  {"removed", json_texts(removed)},
                  {"kept", json_texts(kept)},
                  {"needed", json_needed(plan.needed)},
                  {"newest_intact", plan.newest_good.size() == 1 ? json_newest(plan.newest_good[0].second) : Json()},
                  {"series", std::move(series)},
                  {"problems", json_problems(all_problems())},
                  {"left", json_problems(left_)}});
      return;
    }
    for (const SetProblem& problem : all_problems()) warn(problem.name + " is left alone: " + problem.error.message());
    for (const SetProblem& one : left_)
      warn(
          fmt::format("{} is removed, but some of its files could not be deleted; the next one that writes into the "
                      "store tries again: {}",
                      one.name, one.error.message()));
    for (const std::string& name : removed)
      fmt::print("{} {}\n", dry_run_ ? "would remove" : "removed", printable(name));
    for (const store::Needed& one : plan.needed)
      fmt::print("{} stays: it holds frames of {}\n", printable(one.name), printable(one.by));
    fmt::print("{} {}, {} kept\n", plural(removed.size(), "set"), dry_run_ ? "to be removed" : "removed", kept.size());
  }

  std::vector<std::string> operands_;
  std::string store_, series_;
  store::Retention retention_;
  bool dry_run_ = false;
  std::vector<SetProblem> problems_;  // found before anything is removed
  std::vector<SetProblem> refused_;   // sets that were to go, and have stayed
  std::vector<SetProblem> left_;      // sets that are removed, with files that could not be deleted
  engine::Resources resources_;
};

}  // namespace

std::unique_ptr<Verb> make_prune() { return std::make_unique<Prune>(); }

}  // namespace forebay::cli

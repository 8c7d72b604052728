#include "engine/inspect/prune.h"

#include <ranges>
#include <utility>

#include <fmt/format.h>

#include "engine/inspect/verify.h"
#include "store/series.h"

namespace forebay::engine {
namespace {

class Pruner {
 public:
  Pruner(const store::Store& store, const PruneOptions& options, const Resources& resources)
      : store_(store), options_(options), resources_(resources.resolved()) {}

  Result<Pruned> run() {
    FOREBAY_TRY(all_, store_.list());
    pruned_.sets = options_.series.empty() ? all_ : store::of_series(all_, options_.series);
    FOREBAY_CHECK(buffer_bytes(resources_.memory_bytes));
    FOREBAY_TRY(const OtherReferrers others, other_referrers(store_, all_, resources_.memory_bytes));
    pruned_.problems = others.problems;
    const auto all_series = store::series_in(pruned_.sets);
    for (const std::string& series : all_series) {
      const auto added = others.all_known ? add(series, others.known) : Result<void>();
      if (!added && all_series.size() == 1) return std::unexpected(added.error());
      if (!added) pruned_.problems.push_back({series, added.error()});
    }
    if (!options_.dry_run) remove();
    return std::move(pruned_);
  }

 private:
  // What the policy makes of one series. Parents of the sets of others stay.
  Result<void> add(const std::string& series, std::vector<store::Manifest> others) {
    const auto sets = store::of_series(all_, series);
    if (!may_remove_something(sets)) {
      pruned_.newest_good.emplace_back(series, "");
      return {};
    }
    FOREBAY_TRY(const std::string newest_good, newest_intact(series, sets));
    for (const store::SetInfo& set : all_)
      if (set.manifest && set.manifest->origin.series != series) others.push_back(*set.manifest);
    const auto plan = store::to_prune(sets, options_.retention, newest_good, others);
    pruned_.removed.insert(pruned_.removed.end(), plan.removed.begin(), plan.removed.end());
    pruned_.needed.insert(pruned_.needed.end(), plan.needed.begin(), plan.needed.end());
    pruned_.newest_good.emplace_back(series, newest_good);
    return {};
  }

  // Whether the policy, whichever set is the newest intact one, removes any: else nothing needs to be verified.
  bool may_remove_something(const std::vector<store::SetInfo>& sets) const {
    // With an older set as the newest intact one, fewer sets are too many.
    for (const store::SetInfo& set : sets | std::views::reverse) {
      if (!set.manifest) continue;
      const auto plan = store::to_prune(sets, options_.retention, set.name);
      return !plan.removed.empty() || !plan.needed.empty();
    }
    return false;
  }

  Result<std::string> newest_intact(const std::string& series, const std::vector<store::SetInfo>& sets) {
    for (const store::SetInfo& set : sets | std::views::reverse) {
      if (!set.manifest || set.refused) continue;
      if (options_.verifies) resources_.progress = options_.verifies(set.name);
      const auto report = verify(set, resources_);
      if (report && report->intact()) return set.name;
      pruned_.problems.push_back({set.name, report ? error_of(report->damages.front()) : report.error()});
    }
    return fail(ErrorKind::corrupt, fmt::format("no set of the series '{}' is intact; nothing was removed", series), {},
                {}, "see 'forebay verify' and 'forebay repair'");
  }

  static Error error_of(const Damage& damage) {
    return {ErrorKind::corrupt, damage.what, damage.container, damage.offset, "see 'forebay verify'"};
  }

  // What cannot be removed does not keep the others: one that it refers to refuses to go, too.
  void remove() {
    const std::vector<std::string> planned = std::exchange(pruned_.removed, {});
    const auto results = store_.remove(planned, std::move(all_));
    for (size_t i = 0; i < results.size(); ++i) {
      if (results[i]) pruned_.removed.push_back(planned[i]);
      if (!results[i]) pruned_.refused.push_back({planned[i], results[i].error()});
      if (results[i] && results[i]->left) pruned_.left.push_back({planned[i], *results[i]->left});
    }
  }

  const store::Store& store_;
  const PruneOptions& options_;
  Resources resources_;
  std::vector<store::SetInfo> all_;
  Pruned pruned_;
};

}  // namespace

Result<Pruned> prune(const store::Store& store, const PruneOptions& options, const Resources& resources) {
  return Pruner(store, options, resources).run();
}

}  // namespace forebay::engine

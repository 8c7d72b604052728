#include "view/query/query.h"

#include <algorithm>
#include <optional>
#include <thread>

#include <fmt/format.h>

#include "base/parallel_for.h"

namespace forebay::view {
namespace {

// A step whose index was looked at.
struct Looked {
  std::shared_ptr<const Step> step;
  Result<Candidates> found = fail(ErrorKind::internal, "was not looked at");
};

class Query {
 public:
  Query(const Run& run, const Expression& expression, const QueryOptions& options, QueryVisitor& visitor)
      : run_(run), expression_(expression), options_(options), visitor_(visitor) {}

  Result<QuerySummary> ask() {
    const std::vector<StepInfo> steps = run_.steps();
    const uint64_t end = std::min<uint64_t>(options_.end_step, steps.size());
    if (options_.begin_step >= end)
      return fail(ErrorKind::invalid_argument,
                  fmt::format("has {} steps, and none of those that are asked for", steps.size()), run_.path(), {},
                  "steps count from 0");
    const size_t threads = options_.threads > 0 ? options_.threads : std::max(1u, std::thread::hardware_concurrency());
    const size_t at_once = 8 * threads;
    for (uint64_t begin = options_.begin_step; begin < end; begin += at_once) {
      std::vector<Looked> looked(std::min<uint64_t>(at_once, end - begin));
      (void)parallel_for(looked.size(), threads, [&](size_t i) -> Result<void> {
        look(begin + i, looked[i]);
        return {};
      });
      for (size_t i = 0; i < looked.size(); ++i) {
        // A step knows more of itself when it is open.
        const StepInfo& info = looked[i].step ? looked[i].step->info() : steps[begin + i];
        FOREBAY_TRY(const bool goes_on, tell(info, looked[i]));
        if (!goes_on) return summary_;
        looked[i] = {};
      }
    }
    if (missing_ && summary_.steps_without == summary_.steps) return std::unexpected(*missing_);
    return summary_;
  }

 private:
  void look(uint64_t number, Looked& looked) const {
    auto step = run_.step(number);
    if (!step) {
      looked.found = std::unexpected(std::move(step).error());
      return;
    }
    looked.step = std::move(*step);
    looked.found = find_candidates(*looked.step, expression_);
  }

  // Whether to go on.
  Result<bool> tell(const StepInfo& info, Looked& looked) {
    ++summary_.steps;
    if (!looked.found) return without(info, looked);
    const Candidates& found = *looked.found;
    summary_.blocks += found.blocks;
    summary_.value_bytes += found.value_bytes;
    summary_.candidates += found.candidates.size();
    summary_.certain += static_cast<uint64_t>(std::ranges::count(found.candidates, Truth::all, &Candidate::truth));
    if (found.candidates.empty()) return true;
    visitor_.step(info, *looked.step, found);
    bool holds = true;
    if (options_.values) {
      FOREBAY_TRY(holds, tell_values(info, *looked.step, found));
    }
    summary_.steps_found += holds;
    return !(holds && options_.first);
  }

  Result<bool> without(const StepInfo& info, const Looked& looked) {
    const Error& error = looked.found.error();
    if (looked.step && error.kind == ErrorKind::not_found) {
      ++summary_.steps_without;
      missing_ = error;
      return true;
    }
    const bool is_asked_wrong = error.kind == ErrorKind::invalid_argument ||
                                (looked.step && error.kind == ErrorKind::unsupported);  // else a newer set
    if (is_asked_wrong) return std::unexpected(error);
    ++summary_.failures;
    visitor_.step_failed(info, error);
    return true;
  }

  Result<bool> tell_values(const StepInfo& info, const Step& step, const Candidates& found) {
    uint64_t count = 0;
    const RefineOptions refining{
        .tile_bytes = options_.tile_bytes,
        .hits =
            [&](const Hits& hits) {
              count += hits.count;
              visitor_.hits(info, found, hits);
            },
        .failed =
            [&](size_t candidate, const Error& error) {
              ++summary_.failures;
              visitor_.failed(info, found.candidates[candidate], error);
            },
    };
    const auto cost = refine(step, expression_, found, refining);
    summary_.hits += count;
    if (!cost && cost.error().kind != ErrorKind::changed) return std::unexpected(cost.error());
    if (!cost) {
      ++summary_.failures;
      visitor_.step_failed(info, cost.error());
      return count > 0;
    }
    summary_.cost.add(*cost);
    return count > 0;
  }

  const Run& run_;
  const Expression& expression_;
  const QueryOptions& options_;
  QueryVisitor& visitor_;
  QuerySummary summary_;
  std::optional<Error> missing_;
};

}  // namespace

Result<QuerySummary> query(const Run& run, const Expression& expression, const QueryOptions& options,
                           QueryVisitor& visitor) {
  return Query(run, expression, options, visitor).ask();
}

}  // namespace forebay::view

#include "view/check/consistency.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "engine/options.h"
#include "view/check/check_array.h"

namespace forebay::view {
namespace {

// What is remembered of a variable for the step after.
struct Before {
  ElementType type;
  size_t dimensions = 0;
  Form form = Form::scalar;
  std::set<uint32_t> ranks;
};

class Checker {
 public:
  Checker(const Run& run, const CheckOptions& options, const std::function<void(const Inconsistency&)>& tell)
      : run_(run), options_(options), tell_(tell) {}

  CheckSummary check() {
    const auto steps = run_.steps();
    const uint64_t end = std::min<uint64_t>(options_.end_step, steps.size());
    for (uint64_t number = options_.begin_step; number < end; ++number) {
      ++summary_.steps;
      step_ = steps[number];
      if (const auto step = run_.step(number))
        check_step(**step);
      else
        say({.kind = Disagreement::unreadable, .what = step.error().message()});
    }
    return summary_;
  }

 private:
  void say(Inconsistency found) {
    ++summary_.inconsistencies;
    found.step = step_;
    tell_(found);
  }

  void check_step(const Step& step) {
    step_ = step.info();
    check_order();
    for (const std::string& remark : step.remarks()) say({.kind = Disagreement::description, .what = remark});
    std::map<std::string, Before> now;
    std::set<uint32_t> ranks, expected;  // that wrote in this step, and that are to write in the next one
    for (size_t a = 0; a < step.arrays().size(); ++a) {
      ++summary_.arrays;
      const Array& array = step.arrays()[a];
      const auto blocks = step.blocks(a);
      if (!blocks) {
        say({.kind = Disagreement::unreadable, .variable = array.name, .what = blocks.error().message()});
        continue;
      }
      summary_.blocks += blocks->size();
      Before here{.type = array.type, .dimensions = array.shape.size(), .form = array.form};
      for (const Block& block : *blocks) here.ranks.insert(block.rank);
      ranks.insert(here.ranks.begin(), here.ranks.end());
      if (!is_optional(array.name)) expected.insert(here.ranks.begin(), here.ranks.end());
      check_type(step, array, here);
      check_with_before(array, here);
      check_array(
          step, a, *blocks, options_.values, [&](Inconsistency found) { say(std::move(found)); }, summary_.cost);
      now[array.name] = std::move(here);
    }
    check_missing(now, ranks);
    before_ = std::move(now);
    ranks_before_ = std::move(expected);
    previous_ = step_;
  }

  void check_order() {
    if (!previous_) return;
    if (previous_->step && step_.step && *step_.step <= *previous_->step)
      say({.kind = Disagreement::order, .what = fmt::format("step {} follows step {}", *step_.step, *previous_->step)});
    if (previous_->time && step_.time && !(*step_.time >= *previous_->time))
      say({.kind = Disagreement::order, .what = fmt::format("time {} follows time {}", *step_.time, *previous_->time)});
  }

  // Blocks of another type make an array NAME:TYPE.
  void check_type(const Step& step, const Array& array, const Before& here) {
    const std::string suffix = ":" + to_string(array.type);
    if (!array.name.ends_with(suffix)) return;
    const std::string name = array.name.substr(0, array.name.size() - suffix.size());
    const auto other = std::ranges::find(step.arrays(), name, &Array::name);
    if (other == step.arrays().end()) return;
    say({.kind = Disagreement::type,
         .variable = name,
         .ranks = first_ranks(here.ranks),
         .count = here.ranks.size(),
         .what = fmt::format("{} wrote {}, the others {}", counted(here.ranks.size(), "rank"), to_string(array.type),
                             to_string(other->type))});
  }

  void check_with_before(const Array& array, const Before& here) {
    const auto before = before_.find(array.name);
    if (before == before_.end()) return;
    if (to_string(before->second.type) != to_string(here.type))
      say({.kind = Disagreement::type,
           .variable = array.name,
           .what = fmt::format("is {}, and was {} in the step before", to_string(here.type),
                               to_string(before->second.type))});
    if (before->second.dimensions != here.dimensions)
      say({.kind = Disagreement::dimensions,
           .variable = array.name,
           .what = fmt::format("has {}, and had {} in the step before", counted(here.dimensions, "dimension"),
                               before->second.dimensions)});
    // Of what is not global, each writes what it has; and finer levels of refinement move between ranks.
    if (here.form != Form::global || before->second.form != Form::global || array.level.value_or(0) > 0) return;
    if (is_optional(array.name)) return;
    std::set<uint32_t> missing;
    std::ranges::set_difference(before->second.ranks, here.ranks, std::inserter(missing, missing.end()));
    if (missing.empty()) return;
    say({.kind = Disagreement::rank,
         .variable = array.name,
         .ranks = first_ranks(missing),
         .count = missing.size(),
         .what = fmt::format("{} that wrote it in the step before did not", counted(missing.size(), "rank"))});
  }

  bool is_optional(const std::string& name) const {
    return !options_.optional.empty() && engine::matches_any(options_.optional, name);
  }

  void check_missing(const std::map<std::string, Before>& now, const std::set<uint32_t>& ranks) {
    for (const auto& [name, before] : before_)
      if (!now.contains(name) && name.find_first_of("@:") == name.npos && !is_optional(name))
        say({.kind = Disagreement::variable, .variable = name, .what = "is missing; the step before has it"});
    std::set<uint32_t> missing;
    std::ranges::set_difference(ranks_before_, ranks, std::inserter(missing, missing.end()));
    if (!ranks.empty() && *ranks.rbegin() >= ranks.size())
      for (uint32_t rank = 0; rank < *ranks.rbegin() && missing.size() <= kMostRanksLooked; ++rank)
        if (!ranks.contains(rank)) missing.insert(rank);
    if (missing.empty()) return;
    say({.kind = Disagreement::rank,
         .ranks = first_ranks(missing),
         .count = missing.size(),
         .what = fmt::format("{}{} wrote nothing", missing.size() > kMostRanksLooked ? "at least " : "",
                             counted(missing.size(), "rank"))});
  }

  static constexpr size_t kMostRanksLooked = size_t{1} << 20;

  const Run& run_;
  const CheckOptions& options_;
  const std::function<void(const Inconsistency&)>& tell_;
  CheckSummary summary_;
  StepInfo step_;
  std::optional<StepInfo> previous_;
  std::map<std::string, Before> before_;
  std::set<uint32_t> ranks_before_;
};

}  // namespace

const char* to_string(Disagreement kind) {
  static constexpr const char* kNames[] = {"type", "dimensions", "bounds", "overlap",     "values",    "gap",
                                           "rank", "variable",   "order",  "description", "unreadable"};
  return kNames[static_cast<size_t>(kind)];
}

CheckSummary check_consistency(const Run& run, const CheckOptions& options,
                               const std::function<void(const Inconsistency&)>& tell) {
  return Checker(run, options, tell).check();
}

}  // namespace forebay::view

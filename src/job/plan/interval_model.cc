#include "job/plan/interval_model.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <utility>

namespace forebay::job {
namespace {

using Row = std::vector<double>;

// The unknowns of a regular system, by Gauss with pivots. Each row has its right side last.
Row solve(std::vector<Row> rows) {
  const size_t n = rows.size();
  for (size_t pivot = 0; pivot < n; ++pivot) {
    const auto best = std::ranges::max_element(rows.begin() + static_cast<std::ptrdiff_t>(pivot), rows.end(), {},
                                               [&](const Row& row) { return std::fabs(row[pivot]); });
    std::swap(rows[pivot], *best);
    for (size_t other = pivot + 1; other < n; ++other) {
      const double factor = rows[other][pivot] / rows[pivot][pivot];
      if (factor == 0) continue;
      for (size_t i = pivot; i <= n; ++i) rows[other][i] -= factor * rows[pivot][i];
    }
  }
  Row values(n);
  for (size_t i = n; i-- > 0;) {
    values[i] = rows[i][n];
    for (size_t j = i + 1; j < n; ++j) values[i] -= rows[i][j] * values[j];
    values[i] /= rows[i][i];
  }
  return values;
}

// Mean times until a period of the pattern is done, from each state of it: renewal equations.
class Renewal {
 public:
  Renewal(double work, std::vector<unsigned> pattern, std::span<const CheckpointLevel> levels, bool escalate)
      : work_(work), pattern_(std::move(pattern)), levels_(levels), escalate_(escalate) {
    for (const CheckpointLevel& level : levels) rate_ += level.rate;
  }

  double period() {
    number({0, 0});
    for (size_t done = 0; done < states_.size(); ++done) add_equation(states_[done]);
    std::vector<Row> rows(states_.size(), Row(states_.size() + 1));
    for (size_t i = 0; i < rows.size(); ++i) {
      for (const auto& [state, factor] : equations_[i].factors) rows[i][state] += factor;
      rows[i].back() = equations_[i].constant;
    }
    return solve(std::move(rows))[0];
  }

 private:
  // `done` segments of the period are done; recovering from a failure of `level`, or (0) at work.
  struct State {
    size_t level = 0, done = 0;
    auto operator<=>(const State&) const = default;
  };
  struct Equation {
    std::vector<std::pair<size_t, double>> factors;
    double constant = 0;
  };

  size_t number(State state) {
    const auto [at, is_new] = numbers_.emplace(state, states_.size());
    if (is_new) states_.push_back(state);
    return at->second;
  }

  // Segments that the last checkpoint of the level or above has kept.
  size_t kept(size_t done, size_t level) const {
    while (done > 0 && pattern_[done - 1] < level) --done;
    return done;
  }

  void add_equation(State state) {
    const double time =
        state.level == 0 ? work_ + levels_[pattern_[state.done] - 1].cost : levels_[state.level - 1].recovery;
    const double success = std::exp(-rate_ * time), failure = -std::expm1(-rate_ * time);
    Equation equation;
    equation.factors.emplace_back(number(state), 1.0);
    // Mean time that passes here: until the end or the failure, whichever is first.
    equation.constant = failure / rate_;
    if (state.level != 0) {
      equation.factors.emplace_back(number({0, state.done}), -success);
    } else if (state.done + 1 < pattern_.size()) {
      equation.factors.emplace_back(number({0, state.done + 1}), -success);
    }
    for (size_t level = 1; level <= levels_.size() && failure > 0; ++level) {
      size_t needed = std::max(level, state.level);
      if (escalate_ && level == state.level && level < levels_.size()) needed = level + 1;
      const double share = failure * levels_[level - 1].rate / rate_;
      if (share > 0) equation.factors.emplace_back(number({needed, kept(state.done, needed)}), -share);
    }
    equations_.push_back(std::move(equation));
  }

  double work_;
  std::vector<unsigned> pattern_;
  std::span<const CheckpointLevel> levels_;
  bool escalate_;
  double rate_ = 0;
  std::map<State, size_t> numbers_;
  std::vector<State> states_;
  std::vector<Equation> equations_;
};

// The numbers of sets to try between two that go to the store.
constexpr std::array<unsigned, 13> kEvery{1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 24, 32, 48};

// The work with the highest efficiency, which has one maximum, by the golden section of its logarithm.
IntervalAdvice best_work(double mtbf, unsigned every, const std::function<double(double)>& efficiency) {
  constexpr int kRounds = 40;
  const double golden = (std::sqrt(5.0) - 1) / 2;
  double low = std::log(mtbf * 1e-6), high = std::log(mtbf * 20);
  for (int round = 0; round < kRounds; ++round) {
    const double left = high - golden * (high - low), right = low + golden * (high - low);
    (efficiency(std::exp(left)) < efficiency(std::exp(right)) ? low : high) =
        efficiency(std::exp(left)) < efficiency(std::exp(right)) ? left : right;
  }
  const double work = std::exp((low + high) / 2);
  return {.work = work, .every = every, .efficiency = efficiency(work)};
}

IntervalAdvice best_every(double mtbf, const std::function<double(double, unsigned)>& efficiency) {
  IntervalAdvice best{.work = 0, .every = 1, .efficiency = -1};
  for (const unsigned every : kEvery) {
    const IntervalAdvice one = best_work(mtbf, every, [&](double work) { return efficiency(work, every); });
    if (one.efficiency > best.efficiency) best = one;
  }
  return best;
}

double mtbf_of(const IntervalInput& input) { return 1 / (input.cache_rate + input.store_rate); }

}  // namespace

double young_interval(double cost, double mtbf) { return std::sqrt(2 * cost * mtbf); }

double daly_interval(double cost, double mtbf) {
  if (cost >= 2 * mtbf) return mtbf;
  const double x = cost / (2 * mtbf);
  return std::sqrt(2 * cost * mtbf) * (1 + std::sqrt(x) / 3 + x / 9) - cost;
}

double one_level_efficiency(double work, double cost, double mtbf, double recovery) {
  return work / (mtbf * std::exp(recovery / mtbf) * std::expm1((work + cost) / mtbf));
}

std::vector<unsigned> level_pattern(std::span<const unsigned> counts) {
  unsigned all = 1;
  for (const unsigned count : counts) all *= count;
  std::vector<unsigned> pattern;
  for (unsigned k = 1; k <= all; ++k) {
    unsigned level = 1, step = 1;
    for (unsigned i = 0; i < counts.size(); ++i)
      if (step *= counts[i]; k % step == 0) level = i + 2;
    pattern.push_back(level);
  }
  return pattern;
}

double multilevel_efficiency(double work, std::span<const unsigned> counts, std::span<const CheckpointLevel> levels,
                             bool escalate) {
  std::vector<unsigned> pattern = level_pattern(counts);
  const double all = work * static_cast<double>(pattern.size());
  return all / Renewal(work, std::move(pattern), levels, escalate).period();
}

double background_efficiency(const BackgroundDrain& model) {
  const double period = model.every * (model.work + model.cost);
  const double stall = std::max(0.0, model.drain - period);
  const double whole = period + stall + model.slowdown * std::min(model.drain, period);
  const double lost = model.cache.rate * ((model.work + model.cost) / 2 + model.cache.recovery) +
                      model.store.rate * (whole / 2 + model.drain + model.store.recovery);
  return std::max(0.0, model.every * model.work / whole * (1 - lost));
}

IntervalAdvice best_one_level(const IntervalInput& input) {
  const double mtbf = mtbf_of(input);
  return best_work(mtbf, 1,
                   [&](double work) { return one_level_efficiency(work, input.flush, mtbf, input.store_recovery); });
}

IntervalAdvice best_two_levels(const IntervalInput& input) {
  const std::array levels{
      CheckpointLevel{.cost = input.cost, .rate = input.cache_rate, .recovery = input.cache_recovery},
      CheckpointLevel{.cost = input.cost + input.flush, .rate = input.store_rate, .recovery = input.store_recovery}};
  return best_every(mtbf_of(input), [&](double work, unsigned every) {
    return multilevel_efficiency(work, std::array{every}, levels);
  });
}

IntervalAdvice best_background(const IntervalInput& input) {
  const CheckpointLevel cache{.cost = 0, .rate = input.cache_rate, .recovery = input.cache_recovery};
  const CheckpointLevel store{.cost = 0, .rate = input.store_rate, .recovery = input.store_recovery};
  return best_every(mtbf_of(input), [&](double work, unsigned every) {
    return background_efficiency({.work = work,
                                  .cost = input.cost,
                                  .every = every,
                                  .drain = input.drain,
                                  .slowdown = input.slowdown,
                                  .cache = cache,
                                  .store = store});
  });
}

std::optional<RunAdvice> advise(const MeasuredRun& measured) {
  if (!(measured.seconds > 0 && measured.set_seconds > 0 && measured.interval > measured.set_seconds))
    return std::nullopt;
  RunAdvice advice;
  advice.mtbf = measured.seconds / (static_cast<double>(measured.failures) + 0.5);
  const double work = daly_interval(measured.set_seconds, advice.mtbf);
  advice.interval = work + measured.set_seconds;
  const auto efficiency = [&](double of) { return one_level_efficiency(of, measured.set_seconds, advice.mtbf, 0); };
  advice.efficiency = efficiency(measured.interval - measured.set_seconds);
  advice.best_efficiency = std::max(efficiency(work), advice.efficiency);
  return advice;
}

}  // namespace forebay::job

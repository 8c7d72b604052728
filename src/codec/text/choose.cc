#include "codec/text/choose.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

namespace forebay::codec::text {
namespace {

constexpr size_t kSampleRows = 256;
constexpr size_t kClasses = 256;

constexpr int64_t kBit = 256;  // costs are in parts of a bit, so that all machines choose alike

// n * log2(n), for each number of rows of a sample.
const std::array<int64_t, 2 * kSampleRows + 2>& weighted_logs() {
  static const auto all = [] {
    std::array<int64_t, 2 * kSampleRows + 2> logs{};
    for (size_t n = 1; n < logs.size(); ++n) {
      const auto count = static_cast<double>(n);
      logs[n] = std::llround(count * std::log2(count) * static_cast<double>(kBit));
    }
    return logs;
  }();
  return all;
}

// Sorts residuals into classes, four an octave, as an entropy coder would, and counts the bits below them.
class Cost {
 public:
  void add(uint64_t residual) {
    constexpr unsigned kLeading = 2;
    const auto top = static_cast<unsigned>(std::bit_width(residual));
    const unsigned below = top > kLeading + 1 ? top - kLeading - 1 : 0;
    ++counts_[(below << kLeading) + static_cast<unsigned>(residual >> below)];
    bits_ += below;
    ++total_;
  }
  int64_t parts() const {
    constexpr int64_t kClassCost = kBit * 7 / 10;  // what a class costs to describe
    int64_t sum = bits_ * kBit + weighted_logs()[total_];
    for (const uint16_t count : counts_)
      if (count != 0) sum += kClassCost - weighted_logs()[count];
    return sum;
  }

 private:
  std::array<uint16_t, kClasses> counts_{};
  int64_t bits_ = 0;
  size_t total_ = 0;
};

// Calls use(row) for the rows of the sample.
template <class Use>
void for_each_sample(size_t rows, const Use& use) {
  const size_t step = std::max<size_t>(1, rows / kSampleRows) | 1;
  for (size_t k = step / 2; k < rows; k += step) use(k);
}

template <class Residual>
int64_t cost_of(size_t rows, const Residual& residual) {
  Cost cost;
  for_each_sample(rows, [&](size_t k) { cost.add(zigzag(residual(k))); });
  return cost.parts();
}

int64_t cost_of(RunColumn& column, const Choice& choice) {
  const Neighbours<uint64_t> keys = column.keys();
  return with_predictor(choice.predictor, [&]<Predictor p>() {
    if (!choice.in_values) return cost_of(column.rows(), [&](size_t k) { return keys.run[k] - predict<p>(keys, k); });
    const Neighbours<double>& values = column.values();
    return cost_of(column.rows(), [&](size_t k) {
      return keys.run[k] - static_cast<uint64_t>(nearest_key(predict<p>(values, k), column.format()));
    });
  });
}

}  // namespace

Choice choose(RunColumn& column) {
  constexpr int64_t kMarginPermille = 995;
  Choice best;
  int64_t least = cost_of(column, best);
  for (const bool in_values : {false, true}) {
    if (in_values && !column.has_values()) break;
    for (uint8_t p = 0; p < kPredictors; ++p) {
      const Choice choice{static_cast<Predictor>(p), in_values};
      const bool is_allowed =
          in_values ? column.values().allows(choice.predictor) : column.keys().allows(choice.predictor);
      if (!is_allowed) continue;
      const int64_t cost = cost_of(column, choice);
      if (cost * 1000 >= least * kMarginPermille) continue;
      least = cost;
      best = choice;
    }
  }
  return best;
}

size_t find_lag(std::span<const int64_t> keys) {
  constexpr size_t kLooks = 48, kMostLag = 2048, kLeastRows = 64;
  constexpr unsigned kBitsWorth = 1;  // half a bit a look
  const size_t rows = keys.size();
  if (rows < kLeastRows) return 0;
  const size_t most = std::min(rows / 3, kMostLag);
  const auto key = [&](size_t i) { return static_cast<uint64_t>(keys[i]); };
  const auto bits_at = [&](size_t lag) {
    unsigned bits = 0;
    for (size_t look = 0; look < kLooks; ++look) {
      const size_t i = most + 1 + (rows - most - 2) * look / kLooks;
      const uint64_t above = key(i) - key(i - 1);
      bits +=
          static_cast<unsigned>(std::bit_width(zigzag(lag == 0 ? above : above - (key(i - lag) - key(i - lag - 1)))));
    }
    return bits;
  };
  size_t best = 0;
  unsigned least = bits_at(0) - std::min<unsigned>(bits_at(0), kLooks / 2 * kBitsWorth);
  for (size_t lag = 2; lag <= most; ++lag) {
    const unsigned bits = bits_at(lag);
    if (bits >= least) continue;
    least = bits;
    best = lag;
  }
  return best;
}

}  // namespace forebay::codec::text

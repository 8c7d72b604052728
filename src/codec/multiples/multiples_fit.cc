// Finding what a frame's elements are multiples of.
#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

#include "codec/codec.h"
#include "codec/multiples/multiples.h"
#include "codec/multiples/multiples_values.h"

namespace forebay::codec {
namespace {

constexpr size_t kSample = 512, kLeastSample = 32;
constexpr unsigned kLeastPermille = 900;  // of the elements, but for specials, that must be multiples
constexpr unsigned kOftenPermille = 100;  // of a sample, from where on one value may be a hole

// Different values and how often each comes, by their bits.
template <class F>
std::vector<std::pair<uint64_t, size_t>> counted(std::span<const F> values) {
  std::vector<uint64_t> all;
  for (const F value : values) all.push_back(bits_of(value));
  std::ranges::sort(all);
  std::vector<std::pair<uint64_t, size_t>> counts;
  for (const uint64_t bits : all) {
    if (counts.empty() || counts.back().first != bits) counts.emplace_back(bits, 0);
    ++counts.back().second;
  }
  return counts;
}

// A sample's elements, without those that may be holes.
template <class F>
std::vector<F> ordinary(std::span<const F> sample) {
  std::vector<uint64_t> frequent;
  for (const auto& [bits, count] : counted(sample))
    if (count * 1000 > sample.size() * kOftenPermille) frequent.push_back(bits);
  std::vector<F> values;
  for (const F value : sample)
    if (std::isfinite(value) && std::ranges::count(frequent, uint64_t{bits_of(value)}) == 0) values.push_back(value);
  return values;
}

struct Fit {
  size_t matches = 0, misses = 0;
  double largest = 0;  // of the multiples
};

// What the elements take, in bits, roughly.
template <class F>
double cost(const Fit& fit) {
  constexpr double kMiss = 8 * (sizeof(F) + 2);
  return static_cast<double>(fit.matches) * std::log2(2 + fit.largest) + static_cast<double>(fit.misses) * kMiss;
}

// Gives up early where hardly anything matches.
template <class F>
Fit try_base(const Base& base, std::span<const F> values) {
  constexpr size_t kFew = 24;
  Fit fit;
  for (size_t i = 0; i < values.size() && (i != kFew || fit.matches * 2 >= kFew); ++i) {
    if (const auto m = multiple_of(base, values[i])) {
      ++fit.matches;
      fit.largest = std::max(fit.largest, std::abs(static_cast<double>(*m)));
    }
  }
  fit.misses = values.size() - fit.matches;
  return fit;
}

bool is_enough(const Fit& fit, size_t values) { return fit.matches * 1000 >= values * kLeastPermille; }

// The greatest common divisor of numbers that were rounded (Euclid); 0 if they have none that is far above `error`.
double common_divisor(std::span<const double> numbers, double error) {
  double divisor = 0;
  for (const double number : numbers) {
    if (number <= 16 * error) continue;
    double rest = std::min(divisor, number);
    divisor = std::max(divisor, number);
    while (rest > 16 * error) {
      double next = std::fmod(divisor, rest);
      if (rest - next < 16 * error) next = 0;
      divisor = rest;
      rest = next;
    }
    if (divisor < 256 * error) return 0;
  }
  return divisor;
}

// The shortest decimal fraction that is `number` in `digits` digits.
double shortest(double number, int digits) {
  std::array<char, 40> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), number, std::chars_format::scientific, digits);
  double value = number;
  std::from_chars(text.data(), end.ptr, value);
  return value;
}

// What all values may be multiples of, judged by their differences from each other.
template <class F>
std::vector<Base> bases_in_common(std::span<const F> values) {
  constexpr size_t kSteps = 64;  // the smallest ones: of large ones a base would have to be known well
  std::vector<double> sizes;
  for (const F value : values) sizes.push_back(std::abs(static_cast<double>(value)));
  std::ranges::sort(sizes);
  sizes.erase(std::ranges::unique(sizes).begin(), sizes.end());
  if (sizes.size() < 2) return {};
  std::vector<double> steps;
  for (size_t i = 1; i < sizes.size(); ++i) steps.push_back(sizes[i] - sizes[i - 1]);
  std::ranges::sort(steps);
  steps.resize(std::min(steps.size(), kSteps));
  const double error = sizes.back() * static_cast<double>(std::numeric_limits<F>::epsilon());
  double base = common_divisor(steps, error);
  if (base <= 0) return {};
  for (const double size : sizes)  // the larger a multiple, the more of the base's digits it shows
    if (const double m = std::round(size / base); m > 0 && std::abs(size / base - m) < 0.25) base = size / m;
  std::vector<Base> bases{{false, shortest(base, std::numeric_limits<F>::digits10 - 2)}, {false, base}};
  if (const double whole = std::round(1 / base); whole > 1 && whole < kMostMultiple) bases.push_back({true, whole});
  std::erase_if(bases, [](const Base& found) { return !(found.value > 0) || !std::isfinite(found.value); });
  return bases;
}

// The fewest digits after the point that suffice.
template <class F>
std::optional<Base> coarsest_decimal(std::span<const F> values) {
  constexpr int kMostDigits = sizeof(F) == sizeof(double) ? 9 : 6;
  Base base{true, 1};
  for (int digits = 0; digits <= kMostDigits; ++digits, base.value *= 10)
    if (is_enough(try_base<F>(base, values), values.size())) return base;
  return std::nullopt;
}

// Values of the sample that are no multiples, the most frequent first.
template <class F>
std::vector<uint64_t> specials_of(std::span<const F> sample, const Base& base) {
  std::vector<F> others;
  for (const F value : sample)
    if (!multiple_of(base, value)) others.push_back(value);
  std::vector<std::pair<size_t, uint64_t>> order;
  for (const auto& [bits, count] : counted<F>(others))
    if (count > 1) order.emplace_back(count, bits);
  std::ranges::sort(order, std::greater());
  if (order.size() > Multiples::kMostSpecials) order.resize(Multiples::kMostSpecials);
  std::vector<uint64_t> specials;
  for (const auto& [count, bits] : order) specials.push_back(bits);
  return specials;
}

template <class F>
std::optional<Multiples> fit(std::span<const std::byte> raw, const DataType& type) {
  constexpr size_t kExceptionBytes = sizeof(F) + 3, kMost = (kMaxParameterBytes - 256) / kExceptionBytes;
  const std::vector<F> sample = sample_of<F>(raw, type);
  const auto base = find_base<F>(sample);
  if (!base) return std::nullopt;
  Multiples found{.base = *base, .lowest = 0, .specials = specials_of<F>(sample, *base), .exceptions = {}};
  const Values<F> values{raw.data(), type.order == ByteOrder::big};
  int64_t least = INT64_MAX, most = INT64_MIN;
  for (size_t i = 0; i < raw.size() / sizeof(F); ++i) {
    if (const auto m = multiple_of(*base, values[i])) {
      least = std::min(least, *m);
      most = std::max(most, *m);
    } else if (std::ranges::count(found.specials, uint64_t{values.bits(i)}) == 0) {
      if (found.exceptions.size() == kMost) return std::nullopt;
      found.exceptions.push_back({i, values.bits(i)});
    }
  }
  if (least > most) return std::nullopt;
  const auto codes = static_cast<uint64_t>(most - least) + found.specials.size();
  if (codes > std::numeric_limits<typename Values<F>::Bits>::max()) return std::nullopt;
  found.lowest = least;
  return found;
}

}  // namespace

template <class F>
std::vector<F> sample_of(std::span<const std::byte> raw, const DataType& type) {
  const Values<F> values{raw.data(), type.order == ByteOrder::big};
  constexpr size_t kPrime = 7919;  // so that the places follow no dimension of an array
  const size_t count = raw.size() / sizeof(F), some = std::min(count, kSample);
  std::vector<F> sample;
  const size_t step = some == 0 ? 0 : count / some;
  for (size_t i = 0; i < some; ++i) sample.push_back(values[i * step + i * kPrime % step]);
  return sample;
}

template <class F>
std::optional<Base> find_base(std::span<const F> sample) {
  const std::vector<F> values = ordinary(sample);
  if (values.size() < kLeastSample) return std::nullopt;
  std::optional<Base> best = coarsest_decimal<F>(values);
  double least = best ? cost<F>(try_base<F>(*best, values)) : std::numeric_limits<double>::infinity();
  for (const Base& base : bases_in_common<F>(values)) {
    const Fit fit = try_base<F>(base, values);
    if (!is_enough(fit, values.size()) || cost<F>(fit) >= least) continue;
    best = base;
    least = cost<F>(fit);
  }
  return best;
}

std::optional<Multiples> fit_multiples(std::span<const std::byte> raw, const DataType& type) {
  return type.size == sizeof(float) ? fit<float>(raw, type) : fit<double>(raw, type);
}

bool may_be_multiples(std::span<const std::byte> raw, const DataType& type) {
  if (type.kind != Kind::floating) return false;
  if (type.size == sizeof(float)) return find_base<float>(sample_of<float>(raw, type)).has_value();
  return type.size == sizeof(double) && find_base<double>(sample_of<double>(raw, type)).has_value();
}

template std::optional<Base> find_base(std::span<const float>);
template std::optional<Base> find_base(std::span<const double>);
template std::vector<float> sample_of(std::span<const std::byte>, const DataType&);
template std::vector<double> sample_of(std::span<const std::byte>, const DataType&);

}  // namespace forebay::codec

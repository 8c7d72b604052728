#include "bp/observer.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "bp/encoder.h"
#include "bp/types.h"

namespace forebay::bp {
namespace {

constexpr uint32_t kMin = 1, kMax = 2, kCount = 4, kSum = 8, kSquares = 16, kFinite = 64;

static_assert(std::numeric_limits<long double>::digits >= 64, "64-bit integers fit into the bounds");

template <class T>
T load(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

// Likewise, and for long doubles.
template <class Use>
void with_type(uint8_t type, const Use& use) {
  if (type == kLongDouble)
    use.template operator()<long double>();
  else
    with_number(type, use);
}

// x86 has ten bytes of sixteen; the others are no part of the number.
void put_long_double(Encoder& to, long double value) {
  std::array<std::byte, sizeof value> bytes{};
  std::memcpy(bytes.data(), &value, std::numeric_limits<long double>::digits == 64 ? 10 : bytes.size());
  to.raw(bytes);
}

bool is_complex(uint8_t type) { return type == kComplex || type == kDoubleComplex; }

}  // namespace

// `at(i)` is the i-th of `count` values.
template <class T, class At>
void Observer::add(Bounds& to, size_t count, const At& at) const {
  T min{}, max{};
  const bool is_full = depth_ == Depth::full;
  double sum = 0, squares = 0;
  uint32_t taken = 0;
  bool is_known = false;
  for (size_t i = 0; i < count; ++i) {
    const T value = at(i);
    if constexpr (std::is_floating_point_v<T>)
      if (std::isnan(value) || (is_full && std::isinf(value))) continue;
    min = is_known ? std::min(min, value) : value;
    max = is_known ? std::max(max, value) : value;
    is_known = true;
    const auto number = static_cast<double>(value);
    sum += number;
    squares += number * number;
    ++taken;
  }
  if (!is_known) return;
  to.min = to.is_known ? std::min<long double>(to.min, min) : static_cast<long double>(min);
  to.max = to.is_known ? std::max<long double>(to.max, max) : static_cast<long double>(max);
  to.is_known = true;
  to.sum += sum;
  to.sum_of_squares += squares;
  to.count += taken;
}

template <class T>
void Observer::add_complex(std::span<const std::byte> elements) {
  const size_t count = elements.size() / (2 * sizeof(T));
  const auto part = [&](size_t i, size_t which) { return load<T>(&elements[(2 * i + which) * sizeof(T)]); };
  add<double>(bounds_[0], count,
              [&](size_t i) { return std::hypot(static_cast<double>(part(i, 0)), static_cast<double>(part(i, 1))); });
  for (const size_t which : {size_t{0}, size_t{1}})
    add<double>(bounds_[1 + which], count, [&](size_t i) { return static_cast<double>(part(i, which)); });
}

void Observer::add(std::span<const std::byte> elements) {
  if (depth_ == Depth::none) return;
  if (type_ == kComplex) return add_complex<float>(elements);
  if (type_ == kDoubleComplex) return add_complex<double>(elements);
  with_type(type_, [&]<class T>() {
    add<T>(bounds_[0], elements.size() / sizeof(T), [&](size_t i) { return load<T>(&elements[i * sizeof(T)]); });
  });
}

// Those of complex numbers are doubles, and of double complex ones long doubles, the sums as well.
void Observer::put_bound(Encoder& to, long double value) const {
  if (type_ == kComplex)
    to.put(static_cast<double>(value));
  else if (type_ == kDoubleComplex || type_ == kLongDouble)
    put_long_double(to, value);
  else
    with_number(type_, [&]<class T>() { to.put(static_cast<T>(value)); });
}

void Observer::encode(Encoder& to) const {
  const bool is_full = depth_ == Depth::full;
  const uint32_t bitmap = depth_ == Depth::none ? 0 : kMin | kMax | kFinite | (is_full ? kCount | kSum | kSquares : 0);
  to.put<uint8_t>(9).put(bitmap).put<uint8_t>(10);
  if (bitmap == 0) return;
  for (size_t i = 0; i < (is_complex(type_) ? bounds_.size() : 1); ++i) {
    const Bounds& bounds = bounds_[i];
    put_bound(to, bounds.min);
    put_bound(to, bounds.max);
    if (is_full) {
      to.put(bounds.count);
      for (const double sum : {bounds.sum, bounds.sum_of_squares})
        if (type_ == kDoubleComplex)
          put_long_double(to, sum);
        else
          to.put(sum);
    }
    to.put<uint8_t>(bounds.is_known ? 1 : 0);
  }
}

}  // namespace forebay::bp

#include "codec/text/fit.h"

#include <algorithm>
#include <array>

namespace forebay::codec::text {
namespace {

constexpr size_t kMostBlanks = 255;  // that padding is found for

template <size_t n>
size_t most_frequent(const std::array<uint32_t, n>& counts) {
  return static_cast<size_t>(std::ranges::max_element(counts) - counts.begin());
}

// What was seen of the numbers of a column.
class Seen {
 public:
  void add(const Decimal& number) {
    ++rows_;
    if (number.has_exponent) {
      ++by_decimals_of_exponential_[number.decimals];
      uppers_ += number.is_upper ? 1 : 0;
      fractions_ += number.starts_with_zero && number.digits != 0 ? 1 : 0;
    } else if (number.decimals != 0) {
      ++by_decimals_[number.decimals];
    } else {
      ++integers_;
    }
    ++by_digits_[significant_digits(number)];
    if (number.digits == 0) return;
    lowest_ = std::min(lowest_, first_exponent(number));
    highest_ = std::max(highest_, first_exponent(number));
  }

  Format format() const {
    Format format{.notation = Notation::integer, .digits = 0, .is_upper = uppers_ != 0, .lowest = 0};
    if (integers_ == rows_) return {};
    const size_t fixed = most_frequent(by_decimals_), exponential = most_frequent(by_decimals_of_exponential_);
    if (is_nearly_all(by_decimals_[fixed])) {
      return {.notation = Notation::fixed, .digits = static_cast<uint8_t>(fixed)};
    }
    if (is_nearly_all(by_decimals_of_exponential_[exponential])) {
      const bool is_fraction = fractions_ != 0;
      format.notation = is_fraction ? Notation::fraction : Notation::scientific;
      format.digits = static_cast<uint8_t>(is_fraction ? exponential : exponential + 1);
    } else {
      format.notation = Notation::general;
      format.digits = static_cast<uint8_t>(general_digits());
    }
    format.digits = std::clamp<uint8_t>(format.digits, 1, kMostDigits);
    const int lowest = std::max(lowest_, highest_ - exponent_span(format.digits) + 1);
    format.lowest = static_cast<int16_t>(std::clamp(std::min(lowest, highest_), kLeastExponent, kMostExponent));
    return format;
  }

 private:
  // Zeros at the end of integers may be there for the decimal point's sake.
  static size_t significant_digits(const Decimal& number) {
    uint64_t digits = number.digits;
    size_t count = digit_count(digits);
    if (number.decimals == 0 && !number.has_exponent)
      for (; count > 1 && digits % 10 == 0; --count) digits /= 10;
    return count;
  }
  // Numbers of more digits than nearly all have are not worth that every key has room for them.
  size_t general_digits() const {
    constexpr size_t kRare = 2000;  // one number in as many
    size_t digits = by_digits_.size() - 1;
    while (digits > 1 && by_digits_[digits] <= rows_ / kRare) --digits;
    return digits;
  }
  bool is_nearly_all(size_t count) const {
    constexpr size_t kPercent = 95;
    return count * 100 >= rows_ * kPercent;
  }

  size_t rows_ = 0, integers_ = 0, uppers_ = 0, fractions_ = 0;
  std::array<uint32_t, kMostDecimals + 1> by_decimals_{}, by_decimals_of_exponential_{};
  std::array<uint32_t, 19> by_digits_{};
  int lowest_ = kMostExponent, highest_ = kLeastExponent;
};

// The padding that most of a column's numbers have.
class SeenBlanks {
 public:
  void add(const Decimal& number, const Decimal* before) {
    count(blanks_, number.blanks);
    count(right_, size_t{number.blanks} + number.characters);
    if (before != nullptr) count(left_, size_t{number.blanks} + before->characters);
  }
  void set(Column& column) const {
    const auto consider = [&, most = uint32_t{0}](Padding padding, const Counts& counts) mutable {
      const size_t width = most_frequent(counts);
      if (counts[width] <= most) return;
      most = counts[width];
      column.padding = padding;
      column.width = static_cast<uint16_t>(width);
    };
    auto take = consider;
    take(Padding::blanks, blanks_);
    take(Padding::right, right_);
    take(Padding::left, left_);
  }

 private:
  using Counts = std::array<uint32_t, kMostBlanks + 1>;
  static void count(Counts& counts, size_t width) {
    if (width <= kMostBlanks) ++counts[width];
  }
  Counts blanks_{}, right_{}, left_{};
};

}  // namespace

std::vector<Column> fit_columns(std::span<const Decimal> numbers, size_t columns) {
  std::vector<Column> result(columns);
  for (size_t column = 0; column < columns; ++column) {
    Seen seen;
    SeenBlanks blanks;
    for (size_t i = column; i < numbers.size(); i += columns) {
      seen.add(numbers[i]);
      blanks.add(numbers[i], column == 0 ? nullptr : &numbers[i - 1]);
    }
    result[column].format = seen.format();
    blanks.set(result[column]);
  }
  return result;
}

bool make_keys(std::span<const Decimal> line, std::span<const Column> columns, std::span<int64_t> keys) {
  for (size_t i = 0; i < line.size(); ++i) {
    const int64_t before = i == 0 ? 0 : line[i - 1].characters;
    if (blanks_of(columns[i], line[i].characters, before) != line[i].blanks) return false;
    const auto key = key_of(line[i], columns[i].format);
    if (!key) return false;
    keys[i] = *key;
  }
  return true;
}

}  // namespace forebay::codec::text

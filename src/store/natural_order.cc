#include "store/natural_order.h"

#include <algorithm>
#include <compare>
#include <limits>
#include <numeric>
#include <utility>

#include <fmt/format.h>

namespace forebay::store {
namespace {

constexpr int64_t kSecond = 1'000'000'000;
constexpr int64_t kSlack = 2 * kSecond;  // times that are no further apart say nothing: of copies, or of coarse clocks
constexpr int64_t kEnd = std::numeric_limits<int64_t>::max() / 4;  // of what a file's time may say
constexpr int64_t kFuture = 60 * kSecond;                          // further ahead no honest clock is

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// 0.DIGITS times 10 to the power of `exponent`, exactly. No zeros lead or trail: zero has no digits.
struct Number {
  bool is_negative = false;
  int64_t exponent = 0;
  std::string digits;
  size_t fraction = 0;  // as it is written: digits behind the point
  bool has_exponent = false, ends_in_zero = false;

  std::strong_ordering operator<=>(const Number& other) const {
    if (const auto sign = sign_of() <=> other.sign_of(); sign != 0 || sign_of() == 0) return sign;
    const auto size = exponent != other.exponent ? exponent <=> other.exponent : digits <=> other.digits;
    return is_negative ? 0 <=> size : size;
  }
  bool operator==(const Number& other) const { return (*this <=> other) == 0; }

 private:
  int sign_of() const { return digits.empty() ? 0 : is_negative ? -1 : 1; }
};

Number number_of(bool is_negative, std::string_view whole, std::string_view fraction, int64_t power) {
  Number number{.is_negative = is_negative,
                .exponent = static_cast<int64_t>(whole.size()) + power,
                .digits = std::string(whole) + std::string(fraction),
                .fraction = fraction.size(),
                .has_exponent = false,
                .ends_in_zero = fraction.ends_with('0')};
  const size_t first = std::min(number.digits.find_first_not_of('0'), number.digits.size());
  number.digits.erase(0, first);
  number.exponent -= static_cast<int64_t>(first);
  number.digits.erase(number.digits.find_last_not_of('0') + 1);
  if (number.digits.empty()) number.exponent = 0;
  return number;
}

struct Grammar {
  bool has_decimals = true;
  bool has_sign_after_letters = false;  // t-0.5; else the hyphen only separates
};

// A name as texts and numbers in turn: numbers[i] comes behind texts[i].
struct Parsed {
  std::vector<std::string> texts;
  std::vector<Number> numbers;
};

class NameParser {
 public:
  NameParser(std::string_view name, const Grammar& grammar) : name_(name), grammar_(grammar) {}

  Parsed parse() {
    std::string text;
    while (at_ < name_.size()) {
      if (!starts_number()) {
        text += name_[at_++];
        continue;
      }
      parsed_.texts.push_back(std::exchange(text, {}));
      take_number();
    }
    parsed_.texts.push_back(std::move(text));
    return std::move(parsed_);
  }

 private:
  char at(size_t place) const { return place < name_.size() ? name_[place] : '\0'; }

  bool starts_number() const {
    if (is_digit(name_[at_])) return true;
    if ((name_[at_] != '-' && name_[at_] != '+') || !is_digit(at(at_ + 1))) return false;
    const char before = at_ == 0 ? '=' : name_[at_ - 1];
    return std::string_view("=_,@").find(before) != std::string_view::npos ||
           (grammar_.has_sign_after_letters && is_letter(before));
  }

  std::string_view digits() {
    const size_t begin = at_;
    while (is_digit(at(at_))) ++at_;
    return name_.substr(begin, at_ - begin);
  }

  // How many runs of digits follow each other with points between them.
  size_t dotted() const {
    size_t count = 1, place = at_;
    for (;; ++count) {
      while (is_digit(at(place))) ++place;
      if (at(place) != '.' || !is_digit(at(place + 1))) return count;
      ++place;
    }
  }

  void take_number() {
    const bool is_negative = name_[at_] == '-';
    if (!is_digit(name_[at_])) ++at_;
    const size_t runs = dotted();
    const bool is_decimal = grammar_.has_decimals && runs == 2;
    const std::string_view whole = digits();
    std::string_view fraction;
    if (is_decimal) {
      ++at_;
      fraction = digits();
    }
    const auto power = is_decimal || runs == 1 ? take_exponent() : std::nullopt;
    parsed_.numbers.push_back(number_of(is_negative, whole, fraction, power.value_or(0)));
    parsed_.numbers.back().has_exponent = power.has_value();
    if (is_decimal) return;
    for (size_t i = 1; i < runs; ++i) {  // a number each
      ++at_;
      parsed_.texts.emplace_back(".");
      parsed_.numbers.push_back(number_of(false, digits(), {}, 0));
    }
  }

  std::optional<int64_t> take_exponent() {
    constexpr size_t kMostDigits = 4;
    if (at(at_) != 'e' && at(at_) != 'E') return std::nullopt;
    const size_t before = at_++;
    const bool is_negative = at(at_) == '-';
    if (is_negative || at(at_) == '+') ++at_;
    const std::string_view text = digits();
    if (text.empty() || text.size() > kMostDigits || is_letter(at(at_))) {
      at_ = before;
      return std::nullopt;
    }
    int64_t power = 0;
    for (const char digit : text) power = power * 10 + (digit - '0');
    return is_negative ? -power : power;
  }

  std::string_view name_;
  const Grammar& grammar_;
  size_t at_ = 0;
  Parsed parsed_;
};

std::vector<Parsed> parse_all(std::span<const NamedSet> sets, const Grammar& grammar) {
  std::vector<Parsed> all;
  for (const NamedSet& set : sets) all.push_back(NameParser(set.name, grammar).parse());
  return all;
}

bool differ_in_numbers_only(const std::vector<Parsed>& names) {
  return std::ranges::all_of(names,
                             [&](const Parsed& name) { return !name.numbers.empty() && name.texts == names[0].texts; });
}

// 1.9 and 1.10 are pairs of numbers: no program prints a decimal so.
bool has_pairs(const std::vector<Parsed>& names) {
  size_t shortest = std::numeric_limits<size_t>::max(), longest = 0;
  bool has_zero = false;
  for (const Parsed& name : names)
    for (const Number& number : name.numbers) {
      if (number.fraction == 0) continue;
      shortest = std::min(shortest, number.fraction);
      longest = std::max(longest, number.fraction);
      has_zero = has_zero || number.ends_in_zero;
    }
  return has_zero && shortest < longest;
}

// The names, read in the way in which they differ in numbers only, if there is one.
std::vector<Parsed> parse_alike(std::span<const NamedSet> sets, bool& are_alike) {
  Grammar grammar;
  auto names = parse_all(sets, grammar);
  if (has_pairs(names)) {
    grammar.has_decimals = false;
    names = parse_all(sets, grammar);
  }
  are_alike = differ_in_numbers_only(names);
  if (are_alike) return names;
  grammar.has_sign_after_letters = true;
  auto with_signs = parse_all(sets, grammar);
  are_alike = differ_in_numbers_only(with_signs);
  return are_alike ? with_signs : names;
}

// Piece by piece; where one has a number and the other a text, the number comes first.
std::strong_ordering compare(const Parsed& a, const Parsed& b) {
  for (size_t i = 0; i < a.texts.size() && i < b.texts.size(); ++i) {
    if (a.texts[i] != b.texts[i]) {
      if (a.texts[i].empty() || b.texts[i].empty()) return a.texts[i].size() <=> b.texts[i].size();
      return a.texts[i] <=> b.texts[i];
    }
    const bool has_a = i < a.numbers.size(), has_b = i < b.numbers.size();
    if (has_a != has_b) return has_b <=> has_a;
    if (has_a)
      if (const auto order = a.numbers[i] <=> b.numbers[i]; order != 0) return order;
  }
  return std::strong_ordering::equal;
}

class OrderDecision {
 public:
  OrderDecision(std::span<const NamedSet> sets, int64_t now_ns) : sets_(sets) {
    names_ = parse_alike(sets, are_alike_);
    for (const NamedSet& set : sets) {
      has_times_ = has_times_ && set.time_ns;
      times_.push_back(std::clamp(set.time_ns.value_or(0), -kEnd, kEnd));
      if (set.time_ns && times_.back() > now_ns + kFuture) future_ = &set;
    }
    has_times_ = has_times_ && future_ == nullptr && !sets.empty();
    if (!has_times_) return;
    first_ = std::ranges::min(times_);
    last_ = std::ranges::max(times_);
    has_times_ = last_ - first_ > kSlack;
  }

  NaturalOrder decide() {
    NaturalOrder order;
    order.oldest_first.resize(sets_.size());
    std::iota(order.oldest_first.begin(), order.oldest_first.end(), size_t{0});
    std::ranges::sort(order.oldest_first, [&](size_t a, size_t b) { return is_before_by_name(a, b); });
    if (sets_.size() < 2) return order;
    const bool disagree = are_alike_ && has_times_ && times_disagree(order.oldest_first);
    if (has_times_ && (!are_alike_ || disagree)) {
      order.is_by_times = true;
      std::ranges::stable_sort(order.oldest_first, {}, [&](size_t i) { return times_[i]; });
    }
    if (disagree)
      order.remark = why_they_disagree(order.oldest_first);
    else if (future_ != nullptr)
      order.remark = fmt::format("the files of {} have a time in the future: the names decide", future_->name);
    else if (!are_alike_ && !order.is_by_times)
      order.remark = "neither the names nor the times of the files say which is newer";
    return order;
  }

 private:
  bool is_before_by_name(size_t a, size_t b) const {
    if (const auto order = compare(names_[a], names_[b]); order != 0) return order < 0;
    return sets_[a].name < sets_[b].name;
  }

  bool times_disagree(const std::vector<size_t>& by_names) const {
    int64_t newest = first_;
    for (const size_t i : by_names) {
      if (times_[i] < newest - kSlack) return true;
      newest = std::max(newest, times_[i]);
    }
    return false;
  }

  // Sets that are older than all others by far are perhaps an earlier run's.
  std::string why_they_disagree(const std::vector<size_t>& by_times) const {
    constexpr int64_t kFar = 2;
    size_t behind = 0;
    int64_t gap = 0;
    for (size_t i = 1; i < by_times.size(); ++i)
      if (const int64_t here = times_[by_times[i]] - times_[by_times[i - 1]]; here > gap) {
        gap = here;
        behind = i;
      }
    if (sets_.size() == 2 || gap / kFar <= last_ - first_ - gap)
      return "the numbers in the names and the times of the files disagree: the times decide";
    return fmt::format("{} {} older than the others by far: another run? (--series)", sets_[by_times[0]].name,
                       behind == 1 ? "is" : fmt::format("and {} more are", behind - 1));
  }

  std::span<const NamedSet> sets_;
  std::vector<Parsed> names_;
  bool are_alike_ = false, has_times_ = true;
  const NamedSet* future_ = nullptr;
  std::vector<int64_t> times_;
  int64_t first_ = 0, last_ = 0;  // of these
};

}  // namespace

NaturalOrder natural_order(std::span<const NamedSet> sets, int64_t now_ns) {
  return OrderDecision(sets, now_ns).decide();
}

bool is_before(std::string_view a, std::string_view b) {
  const NamedSet both[] = {{std::string(a)}, {std::string(b)}};
  bool are_alike = false;
  const auto names = parse_alike(both, are_alike);
  return are_alike && compare(names[0], names[1]) < 0;
}

bool tells_a_time(std::string_view name) {
  const Grammar grammar;
  const Parsed parsed = NameParser(name, grammar).parse();
  const auto is_decimal = [](const Number& number) { return number.fraction != 0 || number.has_exponent; };
  const size_t count = parsed.numbers.size();
  if (count == 0) return false;
  const bool is_date = count >= 3 && parsed.texts[count - 1] == "-" && parsed.texts[count - 2] == "-";
  const bool says_what = name.find('=') != std::string_view::npos;
  return is_date || is_decimal(parsed.numbers.back()) || (says_what && std::ranges::any_of(parsed.numbers, is_decimal));
}

}  // namespace forebay::store

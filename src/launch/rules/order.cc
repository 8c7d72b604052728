#include "launch/rules/order.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

namespace forebay::launch::rules {
namespace {

constexpr int64_t kClockSlack = 5'000'000'000;

// Whether labels of the rule are numbers or dates, and no words that are used in turn.
bool labels_have_order(const Rule& rule) {
  return std::ranges::any_of(rule.items, [](const Item& item) {
    return item.kind == Item::Kind::member && std::ranges::any_of(item.pattern.pieces, [](const Piece& piece) {
             return piece.kind == Piece::Kind::field && piece.text == "set" &&
                    piece.taken.kind != FieldClass::Kind::words;
           });
  });
}

bool comes_later(const DatedSet& one, const DatedSet& other) {
  return one.id.series == other.id.series &&
         compare_labels(one.id.label, other.id.label) == std::partial_ordering::greater;
}

bool all_comparable(std::span<const DatedSet> sets) {
  for (size_t i = 1; i < sets.size(); ++i)
    if (compare_labels(sets[i - 1].id.label, sets[i].id.label) == std::partial_ordering::unordered) return false;
  return true;
}

// What is said where names and times disagree: the first place tells.
std::string disagreement(std::span<const DatedSet> sets, const std::vector<size_t>& order) {
  for (size_t i = 1; i < order.size(); ++i) {
    const DatedSet& before = sets[order[i - 1]];
    const DatedSet& after = sets[order[i]];
    if (!comes_later(before, after)) continue;
    if (after.last_ns - before.last_ns > sets[order.back()].last_ns - after.last_ns)
      return fmt::format("{} is much older than what follows it: is it of another run? --series keeps runs apart",
                         to_string(before.id));
    return fmt::format("{} was written before {}: times count, not names", to_string(before.id), to_string(after.id));
  }
  return {};
}

}  // namespace

SetOrder order_of(const Rule& rule, std::span<const DatedSet> sets, int64_t now_ns) {
  SetOrder made;
  made.order.resize(sets.size());
  std::iota(made.order.begin(), made.order.end(), size_t{0});
  const bool has_names = labels_have_order(rule) && all_comparable(sets);
  const auto by_name = [&](size_t a, size_t b) {
    if (sets[a].id.series != sets[b].id.series) return sets[a].id.series < sets[b].id.series;
    return compare_labels(sets[a].id.label, sets[b].id.label) == std::partial_ordering::less;
  };
  const auto by_time = [&](size_t a, size_t b) {
    if (sets[a].last_ns != sets[b].last_ns) return sets[a].last_ns < sets[b].last_ns;
    return has_names ? by_name(a, b) : sets[a].id < sets[b].id;
  };
  const auto future =
      std::ranges::find_if(sets, [&](const DatedSet& set) { return set.last_ns > now_ns + kClockSlack; });
  if (has_names && future != sets.end()) {
    std::ranges::stable_sort(made.order, by_name);
    made.notes.push_back(
        fmt::format("the time of {} lies in the future: names count, not times", to_string(future->id)));
    return made;
  }
  std::ranges::stable_sort(made.order, by_time);
  if (!labels_have_order(rule)) return made;
  if (std::string note = disagreement(sets, made.order); !note.empty()) made.notes.push_back(std::move(note));
  return made;
}

}  // namespace forebay::launch::rules

#include "io/file/listing.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "base/catalogue.h"

namespace forebay::io {
namespace {

// Finds values of one list in another. Most lists that are merged are the same, so the same place is looked at first.
template <class T, class Key, class KeyOf>
class Finder {
 public:
  Finder(std::vector<T>& values, KeyOf key_of) : values_(values), key_of_(key_of) {}

  uint32_t find_or_add(T&& value, size_t likely) {
    if (likely < values_.size() && key_of_(values_[likely]) == key_of_(value)) return static_cast<uint32_t>(likely);
    for (; known_ < values_.size(); ++known_)
      places_.try_emplace(Key(key_of_(values_[known_])), static_cast<uint32_t>(known_));
    const auto [it, is_new] = places_.try_emplace(Key(key_of_(value)), static_cast<uint32_t>(values_.size()));
    if (is_new) values_.push_back(std::move(value));
    return it->second;
  }

 private:
  std::vector<T>& values_;
  KeyOf key_of_;
  std::map<Key, uint32_t> places_;
  size_t known_ = 0;
};

template <class Key, class T, class KeyOf>
std::vector<uint32_t> add_all(std::vector<T>& to, std::vector<T>&& from, KeyOf key_of) {
  Finder<T, Key, KeyOf> finder(to, key_of);
  std::vector<uint32_t> places;
  places.reserve(from.size());
  for (size_t i = 0; i < from.size(); ++i) places.push_back(finder.find_or_add(std::move(from[i]), i));
  return places;
}

auto key_of_variable(const ListedVariable& v) {
  return std::tuple<uint32_t, std::string_view, ValueType, bool>(v.group, v.name, v.type, v.is_array);
}
using VariableKey = std::tuple<uint32_t, std::string, ValueType, bool>;

constexpr auto kItself = [](const auto& value) -> const auto& { return value; };

auto moment_of(const StepCharacteristics& row) { return std::pair(row.step, row.variable); }

void merge_characteristics(std::vector<StepCharacteristics>& to, std::vector<StepCharacteristics>&& from) {
  if (!std::ranges::is_sorted(from, {}, moment_of)) std::ranges::sort(from, {}, moment_of);
  if (to.empty() || from.empty() || moment_of(to.back()) < moment_of(from.front())) {
    to.insert(to.end(), from.begin(), from.end());
    return;
  }
  std::vector<StepCharacteristics> merged;
  merged.reserve(std::max(to.size(), from.size()));
  size_t i = 0, j = 0;
  while (i < to.size() || j < from.size()) {
    if (j == from.size() || (i < to.size() && moment_of(to[i]) < moment_of(from[j]))) {
      merged.push_back(to[i++]);
    } else if (i == to.size() || moment_of(from[j]) < moment_of(to[i])) {
      merged.push_back(from[j++]);
    } else {
      merged.push_back(to[i++]);
      merged.back().blocks += from[j].blocks;
      merged.back().values.merge(from[j++].values);
    }
  }
  to = std::move(merged);
}

bool is_same(const AttributeValue& a, const AttributeValue& b) {
  return a.name == b.name && a.type == b.type && a.count == b.count && a.value == b.value && a.variable == b.variable;
}

bool is_same(const ListedAttribute& a, const ListedAttribute& b) {
  return a.group == b.group && a.step == b.step && is_same(a.value, b.value);
}

void merge_attributes(std::vector<ListedAttribute>& to, std::vector<ListedAttribute>&& from) {
  if (std::ranges::equal(to, from, [](const auto& a, const auto& b) { return is_same(a, b); })) return;
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
  std::ranges::stable_sort(
      to, {}, [](const ListedAttribute& a) { return std::tuple(a.group, std::string_view(a.value.name), a.step); });
  const auto says_nothing_new = [](const ListedAttribute& before, const ListedAttribute& next) {
    const bool is_one = before.group == next.group && before.value.name == next.value.name;
    return is_one && (before.step == next.step || is_same(before.value, next.value));
  };
  to.erase(std::unique(to.begin(), to.end(), says_nothing_new), to.end());
}

std::unexpected<Error> impossible(const char* what) {
  return fail(ErrorKind::corrupt, std::string("list of process groups: ") + what);
}

Result<void> check_pattern(const Listing& listing, const Pattern& pattern) {
  if (pattern.group >= listing.groups.size()) return impossible("a pattern's group is not there");
  for (const Pattern::Slot& slot : pattern.slots)
    if (slot.rank > kMaxDims) return impossible("an array has too many dimensions");
  for (const Pattern::Write& write : pattern.writes)
    if (write.variable >= listing.variables.size() ||
        (write.slot >= pattern.slots.size() && write.slot != Pattern::kUnlisted) ||
        listing.variables[write.variable].group != pattern.group)
      return impossible("a pattern names a variable or place that is not there");
  return {};
}

Result<void> check_part(const Listing& listing, const ListedPart& part) {
  if (part.pattern >= listing.patterns.size() || part.file >= listing.files.size())
    return impossible("a process group's pattern or file is not there");
  const uint64_t numbers = listing.patterns[part.pattern].numbers();
  if (part.first_place > listing.places.size() || numbers > listing.places.size() - part.first_place)
    return impossible("a process group's places are not there");
  if (part.index_bytes > part.bytes || part.bytes > INT64_MAX || part.offset > INT64_MAX)
    return impossible("a process group lies where it cannot");
  return {};
}

bool has_possible_size(const AttributeValue& value) {
  if (!value.variable.empty()) return value.value.empty();
  const uint64_t element = element_bytes(value.type);
  return value.type == ValueType::string || element == 0 ||
         (value.count <= value.value.size() && value.value.size() == value.count * element);
}

}  // namespace

uint64_t Pattern::numbers() const {
  uint64_t total = 0;
  for (const Slot& slot : slots) total += slot.numbers();
  return total;
}

void Listing::merge(Listing other, uint64_t most_numbers) {
  const auto new_files = add_all<ListedFile>(files, std::move(other.files), kItself);
  const auto new_groups = add_all<ListedGroup>(groups, std::move(other.groups), kItself);
  for (ListedVariable& variable : other.variables) variable.group = new_groups[variable.group];
  const auto new_variables = add_all<VariableKey>(variables, std::move(other.variables), key_of_variable);
  for (Pattern& pattern : other.patterns) {
    pattern.group = new_groups[pattern.group];
    for (Pattern::Write& write : pattern.writes) write.variable = new_variables[write.variable];
  }
  const auto new_patterns = add_all<Pattern>(patterns, std::move(other.patterns), kItself);
  for (ListedPart& part : other.parts) {
    part.pattern = new_patterns[part.pattern];
    part.file = new_files[part.file];
    part.first_place += places.size();
  }
  places.insert(places.end(), other.places.begin(), other.places.end());
  const bool is_later = parts.empty() || other.parts.empty() || parts.back().step <= other.parts.front().step;
  parts.insert(parts.end(), other.parts.begin(), other.parts.end());
  if (!is_later) std::ranges::stable_sort(parts, {}, &ListedPart::step);
  for (StepCharacteristics& row : other.characteristics) row.variable = new_variables[row.variable];
  merge_characteristics(characteristics, std::move(other.characteristics));
  for (ListedAttribute& attribute : other.attributes) attribute.group = new_groups[attribute.group];
  merge_attributes(attributes, std::move(other.attributes));
  uint64_t numbers = places.size();
  for (const Pattern& pattern : patterns) numbers += pattern.writes.size();
  if (numbers > most_numbers && !places.empty()) forget_places();
}

void Listing::forget_places() {
  std::vector<Pattern> before = std::move(patterns);
  for (Pattern& pattern : before) {
    pattern.slots.clear();
    for (Pattern::Write& write : pattern.writes) write.slot = Pattern::kUnlisted;
  }
  patterns.clear();
  const auto new_patterns = add_all<Pattern>(patterns, std::move(before), kItself);
  for (ListedPart& part : parts) {
    part.pattern = new_patterns[part.pattern];
    part.first_place = 0;
  }
  places.clear();
}

void Listing::shift(uint64_t offset) {
  for (ListedPart& part : parts)
    if (files[part.file].name.empty()) part.offset += offset;
}

void Listing::rename(const std::string& name) {
  for (ListedFile& file : files)
    if (file.name.empty()) file.name = name;
}

Place Listing::place(const ListedPart& part, uint32_t slot) const {
  uint64_t at = part.first_place;
  const auto& slots = patterns[part.pattern].slots;
  for (uint32_t i = 0; i < slot; ++i) at += slots[i].numbers();
  const auto numbers = std::span(places).subspan(at, slots[slot].numbers());
  const uint8_t rank = slots[slot].rank;
  if (!slots[slot].is_global) return {numbers, {}, {}};
  return {numbers.first(rank), numbers.subspan(rank, rank), numbers.last(rank)};
}

uint64_t Listing::memory_bytes() const {
  uint64_t bytes = files.capacity() * sizeof(ListedFile) + groups.capacity() * sizeof(ListedGroup) +
                   variables.capacity() * sizeof(ListedVariable) + patterns.capacity() * sizeof(Pattern) +
                   parts.capacity() * sizeof(ListedPart) + places.capacity() * sizeof(uint64_t) +
                   characteristics.capacity() * sizeof(StepCharacteristics) +
                   attributes.capacity() * sizeof(ListedAttribute);
  for (const ListedFile& file : files) bytes += file.name.size();
  for (const ListedVariable& variable : variables) bytes += variable.name.size() + variable.transform.size();
  for (const Pattern& pattern : patterns)
    bytes += pattern.slots.capacity() * sizeof(Pattern::Slot) + pattern.writes.capacity() * sizeof(Pattern::Write);
  for (const ListedAttribute& attribute : attributes) bytes += attribute.value.value.size();
  return bytes;
}

Result<void> Listing::validate() const {
  for (const ListedFile& file : files)
    if (!file.name.empty() && !is_safe_name(file.name)) return impossible("a file's name is not allowed");
  for (const ListedVariable& variable : variables)
    if (variable.group >= groups.size()) return impossible("a variable's group is not there");
  for (const Pattern& pattern : patterns) FOREBAY_CHECK(check_pattern(*this, pattern));
  for (const ListedPart& part : parts) FOREBAY_CHECK(check_part(*this, part));
  if (!std::ranges::is_sorted(parts, {}, &ListedPart::step))
    return impossible("process groups are not in order of steps");
  for (const StepCharacteristics& row : characteristics)
    if (row.variable >= variables.size()) return impossible("a variable is not there");
  if (std::ranges::adjacent_find(characteristics, std::ranges::greater_equal(), moment_of) != characteristics.end())
    return impossible("characteristics are not in order");
  for (const ListedAttribute& attribute : attributes)
    if (attribute.group >= groups.size() || !has_possible_size(attribute.value))
      return impossible("an attribute is impossible");
  return {};
}

}  // namespace forebay::io

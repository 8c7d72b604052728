#include "view/source/growing_arrays.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>

#include <fmt/format.h>

namespace forebay::view {
namespace {

using io::Pattern;

// The place of a slot, whose numbers begin at `at` in the list.
io::Place place_at(const io::Listing& listing, const Pattern::Slot& slot, uint64_t at) {
  const auto numbers = std::span(listing.places).subspan(at, slot.numbers());
  if (!slot.is_global) return {numbers, {}, {}};
  return {numbers.first(slot.rank), numbers.subspan(slot.rank, slot.rank), numbers.last(slot.rank)};
}

Shape to_shape(std::span<const uint64_t> numbers) { return {numbers.begin(), numbers.end()}; }

// What is known of a variable of the step when all patterns have been seen.
struct Growing {
  uint32_t variable = 0;
  uint64_t blocks = 0;
  WriteOf first;
  bool is_local = false, is_unlisted = false;
  std::optional<std::span<const uint64_t>> global_shape;
};

// What the process groups of one pattern have in common.
struct PatternUse {
  uint64_t parts = 0, first_part = 0;
  std::vector<std::optional<std::span<const uint64_t>>> global_shapes;  // of each slot; nothing where they differ
};

std::vector<PatternUse> uses_of(const io::Listing& listing, std::pair<size_t, size_t> parts) {
  std::vector<PatternUse> uses(listing.patterns.size());
  for (size_t p = parts.first; p < parts.second; ++p) {
    const io::ListedPart& part = listing.parts[p];
    const Pattern& pattern = listing.patterns[part.pattern];
    PatternUse& use = uses[part.pattern];
    uint64_t at = part.first_place;
    for (uint32_t slot = 0; slot < pattern.slots.size(); at += pattern.slots[slot++].numbers()) {
      const auto shape = place_at(listing, pattern.slots[slot], at).global_shape;
      if (use.parts == 0)
        use.global_shapes.emplace_back(shape);
      else if (auto& common = use.global_shapes[slot]; common && !std::ranges::equal(*common, shape))
        common.reset();
    }
    if (use.parts++ == 0) use.first_part = p;
  }
  return uses;
}

void add_write(const PatternUse& use, const Pattern& pattern, uint32_t write, Growing& growing) {
  if (growing.blocks == 0 || use.first_part < growing.first.part) growing.first = {use.first_part, write};
  growing.blocks += use.parts;
  const uint32_t slot = pattern.writes[write].slot;
  if (slot == Pattern::kUnlisted) {
    growing.is_unlisted = true;
    return;
  }
  const auto& shape = use.global_shapes[slot];
  if (!pattern.slots[slot].is_global || !shape ||
      (growing.global_shape && !std::ranges::equal(*growing.global_shape, *shape)))
    growing.is_local = true;
  else
    growing.global_shape = shape;
}

// The variables of the step, in the order of the list.
std::vector<Growing> variables_of(const io::Listing& listing, std::pair<size_t, size_t> parts) {
  std::vector<Growing> all(listing.variables.size());
  const auto uses = uses_of(listing, parts);
  for (size_t p = 0; p < uses.size(); ++p) {
    if (uses[p].parts == 0) continue;
    const Pattern& pattern = listing.patterns[p];
    for (uint32_t write = 0; write < pattern.writes.size(); ++write)
      add_write(uses[p], pattern, write, all[pattern.writes[write].variable]);
  }
  for (uint32_t v = 0; v < all.size(); ++v) all[v].variable = v;
  std::erase_if(all, [](const Growing& growing) { return growing.blocks == 0; });
  return all;
}

// Names that several variables have are left to the one with most blocks.
std::vector<std::string> names_of(const io::Listing& listing, std::span<const Growing> variables) {
  std::map<std::string_view, std::vector<size_t>> by_name;
  for (size_t i = 0; i < variables.size(); ++i) by_name[listing.variables[variables[i].variable].name].push_back(i);
  std::vector<std::string> names(variables.size());
  for (auto& [name, same] : by_name) {
    std::ranges::stable_sort(same, std::ranges::greater{}, [&](size_t i) { return variables[i].blocks; });
    const io::ListedVariable& main = listing.variables[variables[same[0]].variable];
    for (const size_t i : same) {
      const io::ListedVariable& variable = listing.variables[variables[i].variable];
      names[i] = name;
      if (i == same[0]) continue;
      names[i] += ':' + (variable.type != main.type     ? to_string(element_type(variable.type))
                         : variable.group != main.group ? listing.groups[variable.group].name
                                                        : std::string(variable.is_array ? "array" : "scalar"));
    }
  }
  std::map<std::string_view, int> seen;
  for (std::string& name : names)
    if (const int before = seen[name]++; before > 0) name += fmt::format("#{}", before + 1);
  return names;
}

const io::StepCharacteristics* characteristics_of(const io::Listing& listing, uint64_t step, uint32_t variable) {
  const auto key = [](const io::StepCharacteristics& row) { return std::pair(row.step, row.variable); };
  const auto at = std::ranges::lower_bound(listing.characteristics, std::pair(step, variable), {}, key);
  return at != listing.characteristics.end() && key(*at) == std::pair(step, variable) ? &*at : nullptr;
}

Result<void> complete_shape(const io::Listing& listing, const Growing& growing, const LookUp& look_up, Array& array) {
  const io::ListedPart& part = listing.parts[growing.first.part];
  const uint32_t slot = listing.patterns[part.pattern].writes[growing.first.write].slot;
  BlockPlace first;
  if (slot != Pattern::kUnlisted) {
    const io::Place place = listing.place(part, slot);
    first = {to_shape(place.shape), to_shape(place.global_shape), {}};
  } else {
    FOREBAY_TRY(first, look_up(growing.first));
  }
  const bool is_global = !growing.is_local && !first.global_shape.empty();
  array.form = is_global ? Form::global : Form::local;
  array.shape = is_global ? std::move(first.global_shape) : std::move(first.shape);
  return {};
}

}  // namespace

std::pair<size_t, size_t> parts_of(const io::Listing& listing, uint64_t step) {
  const auto found = std::ranges::equal_range(listing.parts, step, {}, &io::ListedPart::step);
  const auto begin = static_cast<size_t>(found.begin() - listing.parts.begin());
  return {begin, begin + found.size()};
}

Result<GrowingArrays> growing_arrays(const io::Listing& listing, uint64_t step, const LookUp& look_up) {
  const std::vector<Growing> variables = variables_of(listing, parts_of(listing, step));
  std::vector<std::string> names = names_of(listing, variables);
  std::vector<size_t> order(variables.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::sort(order, {}, [&](size_t i) -> const std::string& { return names[i]; });
  GrowingArrays made;
  for (const size_t i : order) {
    const Growing& growing = variables[i];
    const io::ListedVariable& variable = listing.variables[growing.variable];
    const io::ListedGroup& group = listing.groups[variable.group];
    Array array{.name = std::move(names[i]),
                .group = group.name,
                .type = element_type(variable.type),
                .blocks = growing.blocks,
                .fortran_order = group.fortran_order,
                .order = growing.variable};
    if (variable.is_array) FOREBAY_CHECK(complete_shape(listing, growing, look_up, array));
    const auto* row = array.type.data.is_number() ? characteristics_of(listing, step, growing.variable) : nullptr;
    if (row != nullptr && row->values != container::Characteristics{}) array.characteristics = row->values;
    made.arrays.push_back(std::move(array));
    made.variables.push_back(growing.variable);
  }
  return made;
}

PatternWrites::PatternWrites(const io::Listing& listing) {
  for (const Pattern& pattern : listing.patterns) {
    std::vector<uint64_t> begins;
    uint64_t begin = 0;
    for (const Pattern::Slot& slot : pattern.slots) {
      begins.push_back(begin);
      begin += slot.numbers();
    }
    auto& writes = writes_.emplace_back();
    bool has_unlisted = false;
    for (uint32_t i = 0; i < pattern.writes.size(); ++i) {
      const auto [variable, slot] = pattern.writes[i];
      has_unlisted = has_unlisted || slot == Pattern::kUnlisted;
      writes.push_back({variable, i, slot, slot == Pattern::kUnlisted ? 0 : begins[slot]});
    }
    std::ranges::stable_sort(writes, {}, &Write::variable);
    has_unlisted_.push_back(has_unlisted);
  }
}

std::span<const PatternWrites::Write> PatternWrites::of(uint32_t pattern, uint32_t variable) const {
  return std::ranges::equal_range(writes_[pattern], variable, {}, &Write::variable);
}

bool are_alike(const io::Listing& listing, const PatternWrites& writes, uint64_t step, uint64_t other) {
  const auto [begin, end] = parts_of(listing, step);
  const auto [other_begin, other_end] = parts_of(listing, other);
  if (end - begin != other_end - other_begin) return false;
  for (size_t p = begin; p < end; ++p) {
    const io::ListedPart &part = listing.parts[p], &like = listing.parts[p - begin + other_begin];
    if (part.pattern != like.pattern || writes.has_unlisted(part.pattern)) return false;
    uint64_t at = 0;
    for (const Pattern::Slot& slot : listing.patterns[part.pattern].slots) {
      if (slot.is_global && !std::ranges::equal(place_at(listing, slot, part.first_place + at).global_shape,
                                                place_at(listing, slot, like.first_place + at).global_shape))
        return false;
      at += slot.numbers();
    }
  }
  return true;
}

Result<std::vector<Block>> growing_blocks(const io::Listing& listing, const PatternWrites& writes, uint64_t step,
                                          uint32_t variable, const Array& array, const LookUp& look_up) {
  std::vector<Block> blocks;
  const auto [begin, end] = parts_of(listing, step);
  for (size_t p = begin; p < end; ++p) {
    const io::ListedPart& part = listing.parts[p];
    for (const PatternWrites::Write& write : writes.of(part.pattern, variable)) {
      BlockPlace place;
      if (write.slot != Pattern::kUnlisted) {
        const Pattern::Slot& slot = listing.patterns[part.pattern].slots[write.slot];
        const io::Place listed = place_at(listing, slot, part.first_place + write.place);
        place = {to_shape(listed.shape), to_shape(listed.global_shape), to_shape(listed.offsets)};
      } else {
        FOREBAY_TRY(place, look_up({p, write.write}));
      }
      if (array.form == Form::global && place.global_shape != array.shape)
        return fail(ErrorKind::corrupt, fmt::format("step {}: a block of '{}', of rank {}, is of another global array",
                                                    step, array.name, part.rank));
      Block block{
          .rank = part.rank, .place = engine::whole_box(place.shape), .stored = {.array = number_of({p, write.write})}};
      if (array.form == Form::global) block.place.begin = std::move(place.offsets);
      block.stored.shape = std::move(place.shape);
      blocks.push_back(std::move(block));
    }
  }
  return blocks;
}

std::vector<Attribute> growing_attributes(const io::Listing& listing, uint64_t step) {
  std::map<std::string_view, const io::ListedAttribute*> last;
  for (const io::ListedAttribute& attribute : listing.attributes) {
    if (attribute.step > step) continue;
    const io::ListedAttribute*& known = last[attribute.value.name];
    if (known == nullptr || known->group == attribute.group) known = &attribute;
  }
  std::vector<Attribute> attributes;
  for (const auto& [name, listed] : last)
    attributes.push_back({.name = listed->value.name,
                          .group = listing.groups[listed->group].name,
                          .type = element_type(listed->value.type),
                          .count = listed->value.count,
                          .value = listed->value.value,
                          .variable = listed->value.variable,
                          .order = static_cast<uint32_t>(listed - listing.attributes.data()) + 1});
  return attributes;
}

}  // namespace forebay::view

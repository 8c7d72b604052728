#include "io/group/dimensions.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/nearest.h"
#include "io/group/attribute_value.h"
#include "io/group/text.h"

namespace forebay::io {
namespace {

std::string_view noun(Code code) {
  switch (code) {
    case Code::invalid_global_dimension:
      return "global dimension";
    case Code::invalid_offset:
      return "offset";
    default:
      return "dimension";
  }
}

bool is_joined(std::string_view item) {
  const std::string word = lower(item);
  return word == "joineddim" || word == "joined";
}

bool looks_like_number(std::string_view item) {
  const size_t first = item.starts_with('-') || item.starts_with('+') ? 1 : 0;
  return item.size() > first && std::ranges::all_of(item.substr(first), [](char c) { return c >= '0' && c <= '9'; });
}

std::vector<std::string> integer_names(const GroupDefinition& group) {
  std::vector<std::string> known;
  for (const VariableDefinition& variable : group.variables)
    if (is_integer(variable.type) && variable.dimensions.empty()) known.push_back(variable.full_name());
  for (const AttributeDefinition& attribute : group.attributes)
    if (is_integer(attribute.type)) known.push_back(attribute.full_name());
  if (!group.time_index.empty()) known.push_back(group.time_index);
  return known;
}

Outcome<Extension> parse_extension(const GroupDefinition& group, const NameIndex& names, const std::string& item,
                                   Code if_unknown) {
  if (looks_like_number(item)) {
    uint64_t value = 0;
    const auto [end, error] = std::from_chars(item.data(), item.data() + item.size(), value);
    if (error != std::errc{} || end != item.data() + item.size())
      return refuse(if_unknown, fmt::format("{} {} is no size that an array can have", noun(if_unknown), item));
    return value;
  }
  if (!group.time_index.empty() && item == group.time_index) return TimeIndex{};
  const size_t* variable = names.find_variable(item);
  const size_t* attribute = names.find_attribute(item);
  if (!variable && !attribute) {
    if (if_unknown == Code::invalid_global_dimension && is_joined(item)) return JoinedDimension{};
    return refuse(if_unknown,
                  fmt::format("{} '{}' is neither a number nor the name of an integer variable or attribute of group "
                              "'{}'",
                              noun(if_unknown), item, group.name),
                  nearest_hint(item, integer_names(group), "define it before the arrays that use it"));
  }
  const ValueType type = variable ? group.variables[*variable].type : group.attributes[*attribute].type;
  if (!is_integer(type))
    return refuse(Code::invalid_variable_as_dimension,
                  fmt::format("{} '{}' has type {}", noun(if_unknown), item, to_string(type)),
                  "dimensions are integers");
  return Named{item};
}

class Evaluation {
 public:
  Evaluation(const GroupDefinition& group, const NameIndex& names, const VariableDefinition& variable,
             const ScalarValues& scalars)
      : group_(group), names_(names), variable_(variable), scalars_(scalars) {}

  // Time is left out; a joined dimension is 0, and *joined tells where it was.
  Outcome<Shape> numbers(const std::vector<Extension>& list, Code code, std::optional<uint32_t>* joined) const {
    Shape result;
    for (const Extension& extension : list) {
      if (std::holds_alternative<TimeIndex>(extension)) continue;
      if (std::holds_alternative<JoinedDimension>(extension)) {
        if (joined) *joined = static_cast<uint32_t>(result.size());
        result.push_back(0);
      } else if (const auto* number = std::get_if<uint64_t>(&extension)) {
        result.push_back(*number);
      } else {
        FOREBAY_TRY(const uint64_t value, named(std::get<Named>(extension).name, code));
        result.push_back(value);
      }
    }
    return result;
  }

  std::unexpected<Failure> wrong(Code code, std::string what, std::string hint = {}) const {
    return refuse(code, fmt::format("variable '{}': {}", variable_.full_name(), what), std::move(hint));
  }

 private:
  Outcome<uint64_t> named(const std::string& name, Code code) const {
    if (names_.find_variable(name)) return written(name, name, code);
    const size_t* place = names_.find_attribute(name);
    if (!place) return wrong(code, fmt::format("{} '{}' is no longer defined", noun(code), name), "define it again");
    const AttributeDefinition& attribute = group_.attributes[*place];
    if (!attribute.variable.empty()) return written(attribute.variable, name, code);
    const auto value = integer_value(attribute);
    if (!value)
      return wrong(Code::invalid_variable_as_dimension,
                   fmt::format("{} '{}' is an attribute that is not one integer", noun(code), name));
    return checked(*value, name, code);
  }

  Outcome<uint64_t> written(std::string_view variable, const std::string& name, Code code) const {
    const auto at = scalars_.find(variable);
    if (at == scalars_.end())
      return wrong(Code::invalid_variable_as_dimension, fmt::format("{} '{}' has no value yet", noun(code), name),
                   fmt::format("write the integer scalar '{}' before it", variable));
    return checked(at->second, name, code);
  }

  Outcome<uint64_t> checked(int64_t value, const std::string& name, Code code) const {
    if (value < 0) return wrong(code, fmt::format("{} '{}' is {}", noun(code), name, value));
    return static_cast<uint64_t>(value);
  }

  const GroupDefinition& group_;
  const NameIndex& names_;
  const VariableDefinition& variable_;
  const ScalarValues& scalars_;
};

}  // namespace

Outcome<std::vector<Extension>> parse_extensions(const GroupDefinition& group, const NameIndex& names,
                                                 std::string_view list, Code if_unknown) {
  std::vector<Extension> extensions;
  for (const std::string& item : list_items(list)) {
    if (extensions.size() == kMostDimensions)
      return refuse(if_unknown, fmt::format("there are more than {} {}s", kMostDimensions, noun(if_unknown)));
    FOREBAY_TRY(Extension extension, parse_extension(group, names, item, if_unknown));
    const bool is_second = std::ranges::any_of(extensions, [&](const Extension& other) {
      return std::holds_alternative<JoinedDimension>(other) && std::holds_alternative<JoinedDimension>(extension);
    });
    if (is_second) return refuse(if_unknown, fmt::format("more than one dimension of '{}' is joined", list));
    extensions.push_back(std::move(extension));
  }
  return extensions;
}

Outcome<void> check_ranks(const VariableDefinition& variable) {
  if (variable.global_dimensions.empty()) return {};
  const auto count = [](const std::vector<Extension>& list) {
    return std::ranges::count_if(list, [](const Extension& item) { return !std::holds_alternative<TimeIndex>(item); });
  };
  const auto rank = std::max<ptrdiff_t>(count(variable.dimensions), variable.dimensions.empty() ? 0 : 1);
  const auto differ = [&](Code code, ptrdiff_t other) {
    return refuse(
        code, fmt::format("variable '{}' has {} dimensions and {} {}s", variable.full_name(), rank, other, noun(code)),
        "they must be as many, without the time index");
  };
  if (const auto global = count(variable.global_dimensions); global != rank)
    return differ(Code::invalid_global_dimension, global);
  if (const auto offsets = count(variable.offsets); !variable.offsets.empty() && offsets != rank)
    return differ(Code::invalid_offset, offsets);
  return {};
}

std::string to_string(const GroupDefinition& group, const std::vector<Extension>& list) {
  std::vector<std::string> items;
  for (const Extension& extension : list) {
    if (const auto* number = std::get_if<uint64_t>(&extension))
      items.push_back(fmt::format("{}", *number));
    else if (const auto* named = std::get_if<Named>(&extension))
      items.push_back(named->name);
    else
      items.push_back(std::holds_alternative<TimeIndex>(extension) ? group.time_index : "JoinedDim");
  }
  return fmt::format("{}", fmt::join(items, ","));
}

Outcome<Extents> evaluate(const GroupDefinition& group, const NameIndex& names, const VariableDefinition& variable,
                          const ScalarValues& scalars) {
  FOREBAY_CHECK(check_ranks(variable));
  const Evaluation evaluation(group, names, variable, scalars);
  Extents extents;
  extents.is_array = !variable.dimensions.empty();
  FOREBAY_TRY(extents.shape, evaluation.numbers(variable.dimensions, Code::invalid_dimension, nullptr));
  FOREBAY_TRY(extents.global_shape,
              evaluation.numbers(variable.global_dimensions, Code::invalid_global_dimension, &extents.joined));
  FOREBAY_TRY(extents.offsets, evaluation.numbers(variable.offsets, Code::invalid_offset, nullptr));

  // Where time is the only dimension each step has one value, as readers of BP files see it, too.
  if (extents.shape.empty() && extents.global_shape.empty()) extents.is_array = false;
  if (extents.is_array && extents.shape.empty()) extents.shape = {1};
  const size_t rank = extents.shape.size();
  if (element_count(extents.shape) > std::numeric_limits<uint64_t>::max() / 16 ||
      element_count(extents.global_shape) == std::numeric_limits<uint64_t>::max())
    return evaluation.wrong(Code::invalid_dimension,
                            fmt::format("an array of {} elements is too large", fmt::join(extents.shape, " x ")));
  if (extents.global_shape.empty()) {
    extents.offsets.clear();
  } else {
    if (extents.offsets.empty()) extents.offsets.assign(rank, 0);
    if (extents.joined) extents.offsets[*extents.joined] = 0;
    for (size_t i = 0; i < rank; ++i) {
      if (extents.joined == i) continue;
      const uint64_t whole = extents.global_shape[i], from = extents.offsets[i], count = extents.shape[i];
      if (from > whole || count > whole - from)
        return evaluation.wrong(Code::invalid_offset,
                                fmt::format("{} elements from {} on leave dimension {} of the global array, which has "
                                            "{}",
                                            count, from, i, whole));
    }
  }
  if (group.fortran_order) {
    std::ranges::reverse(extents.shape);
    std::ranges::reverse(extents.global_shape);
    std::ranges::reverse(extents.offsets);
    if (extents.joined) extents.joined = static_cast<uint32_t>(rank - 1 - *extents.joined);
  }
  return extents;
}

}  // namespace forebay::io

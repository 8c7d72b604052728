#include "cli/arrays/box_option.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/units.h"

namespace forebay::cli {
namespace {

std::unexpected<Error> no_range(std::string_view text, std::string_view why) {
  return fail(ErrorKind::invalid_argument, fmt::format("'{}' {}", text, why), {}, {},
              "write FIRST:END or FIRST:END:STEP for each dimension, as in --box 0:10,-5:,::2; ':' takes one whole");
}

std::optional<Index> parse_index(std::string_view text) {
  const bool is_negative = text.starts_with('-');
  const auto value = parse_count(text.substr(is_negative ? 1 : 0));
  if (!value) return std::nullopt;
  return Index{*value, is_negative && *value != 0};
}

Result<IndexRange> parse_range(std::string_view text) {
  constexpr size_t kMostParts = 3;
  std::array<std::optional<Index>, kMostParts> parts;
  size_t count = 0;
  for (size_t at = 0; at <= text.size(); ++count) {
    const size_t colon = std::min(text.find(':', at), text.size());
    if (count == kMostParts) return no_range(text, "is no range of indices");
    if (colon > at && !(parts[count] = parse_index(text.substr(at, colon - at))))
      return no_range(text, "is no range of indices");
    at = colon + 1;
  }
  if (count == 1 && !parts[0]) return no_range(text, "is no range of indices");
  const Index step = parts[2].value_or(Index{1});
  if (step.is_from_end || step.value == 0) return no_range(text, "has a step that is not positive");
  return IndexRange{parts[0], parts[1], step.value, count == 1};
}

// Inside of 0 to `length`.
uint64_t place_of(const Index& index, uint64_t length) {
  if (!index.is_from_end) return std::min(index.value, length);
  return index.value >= length ? 0 : length - index.value;
}

bool is_inside(const Index& index, uint64_t length) {
  return index.is_from_end ? index.value <= length : index.value < length;
}

std::string text_of(const IndexRange& range) {
  const auto text = [](const std::optional<Index>& index) {
    return index ? fmt::format("{}{}", index->is_from_end ? "-" : "", index->value) : std::string();
  };
  return range.is_one ? text(range.begin) : text(range.begin) + ":" + text(range.end);
}

}  // namespace

Result<std::vector<IndexRange>> parse_box(std::string_view text) {
  std::vector<IndexRange> ranges;
  for (size_t at = 0; at <= text.size();) {
    const size_t comma = std::min(text.find(',', at), text.size());
    FOREBAY_TRY(const IndexRange range, parse_range(text.substr(at, comma - at)));
    ranges.push_back(range);
    at = comma + 1;
  }
  return ranges;
}

Result<IndexBox> box_in(const std::vector<IndexRange>& ranges, const Shape& shape) {
  const auto bad = [&](std::string why) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("{}, and the variable has {}", why,
                            shape.empty() ? "none: it is a scalar" : fmt::format("{}", fmt::join(shape, "x"))));
  };
  if (ranges.size() != shape.size()) return bad(fmt::format("--box names {}", plural(ranges.size(), "dimension")));
  IndexBox in;
  bool has_steps = false;
  for (size_t i = 0; i < shape.size(); ++i) {
    const IndexRange& range = ranges[i];
    const uint64_t begin = place_of(range.begin.value_or(Index{}), shape[i]);
    uint64_t end = range.end ? place_of(*range.end, shape[i]) : shape[i];
    if (range.is_one) end = is_inside(*range.begin, shape[i]) ? begin + 1 : begin;
    if (begin >= end) return bad(fmt::format("--box asks for {} in dimension {} (the first is 0)", text_of(range), i));
    in.box.begin.push_back(begin);
    in.box.count.push_back((end - begin - 1) / range.step + 1);
    in.stride.push_back(range.step);
    has_steps = has_steps || range.step != 1;
  }
  if (!has_steps) in.stride.clear();
  return in;
}

Result<engine::Box> dense_box_in(const std::vector<IndexRange>& ranges, const Shape& shape) {
  FOREBAY_TRY(IndexBox in, box_in(ranges, shape));
  if (!in.stride.empty())
    return fail(ErrorKind::invalid_argument, "--box has steps, which only global arrays are read with", {}, {},
                "leave out the steps, and select from what comes");
  return std::move(in.box);
}

}  // namespace forebay::cli

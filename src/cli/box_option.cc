#include "cli/box_option.h"

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

Result<IndexRange> parse_range(std::string_view text) {
  constexpr size_t kMostParts = 3;
  std::array<std::optional<int64_t>, kMostParts> parts;
  size_t count = 0;
  for (size_t at = 0; at <= text.size(); ++count) {
    const size_t colon = std::min(text.find(':', at), text.size());
    if (count == kMostParts) return no_range(text, "is no range of indices");
    if (colon > at) {
      const auto number = parse_integer(text.substr(at, colon - at));
      if (!number) return no_range(text, "is no range of indices");
      parts[count] = *number;
    }
    at = colon + 1;
  }
  if (count == 1 && !parts[0]) return no_range(text, "is no range of indices");
  if (parts[2].value_or(1) < 1) return no_range(text, "has a step that is not positive");
  return IndexRange{parts[0], parts[1], static_cast<uint64_t>(parts[2].value_or(1)), count == 1};
}

// From the end where negative, and inside of 0 to `length`.
uint64_t place_of(int64_t index, uint64_t length) {
  if (index >= 0) return std::min(static_cast<uint64_t>(index), length);
  const uint64_t from_end = uint64_t{0} - static_cast<uint64_t>(index);
  return from_end >= length ? 0 : length - from_end;
}

std::string text_of(const IndexRange& range) {
  const auto number = [](const std::optional<int64_t>& index) {
    return index ? std::to_string(*index) : std::string();
  };
  return range.is_one ? number(range.begin) : number(range.begin) + ":" + number(range.end);
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
    const uint64_t begin = place_of(range.begin.value_or(0), shape[i]);
    const uint64_t end = range.is_one ? std::min(begin + 1, shape[i])
                         : range.end  ? place_of(*range.end, shape[i])
                                      : shape[i];
    const bool is_outside =
        range.is_one && *range.begin < 0 && -static_cast<double>(*range.begin) > static_cast<double>(shape[i]);
    if (begin >= end || is_outside)
      return bad(fmt::format("--box asks for {} in dimension {} (the first is 0)", text_of(range), i));
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

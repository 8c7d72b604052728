#include "cli/box_option.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/units.h"

namespace forebay::cli {

static Result<IndexRange> parse_range(std::string_view text) {
  const auto bad = [&](std::string_view why) {
    return fail(ErrorKind::invalid_argument, fmt::format("'{}' {}", text, why), {}, {},
                "write FIRST:END for each dimension, as in --box 0:10,5:20; ':' takes a dimension whole");
  };
  const auto parse = [&](std::string_view number, std::optional<uint64_t>& value) {
    const auto parsed = parse_count(number);
    if (parsed) value = *parsed;
    return number.empty() || parsed;
  };
  const size_t colon = text.find(':');
  const std::string_view first = text.substr(0, colon);
  std::optional<uint64_t> begin, end;
  if (!parse(first, begin) || (colon == text.npos && !begin)) return bad("is no range of indices");
  if (colon == text.npos) {
    if (*begin == UINT64_MAX) return bad("is no index");
    return IndexRange{*begin, *begin + 1};
  }
  if (!parse(text.substr(colon + 1), end)) return bad("is no range of indices");
  if (end && *end <= begin.value_or(0)) return bad("holds no index");
  return IndexRange{begin.value_or(0), end};
}

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

Result<engine::Box> box_in(const std::vector<IndexRange>& ranges, const Shape& shape) {
  const auto bad = [&](std::string why) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("{}, and the variable has {}", why,
                            shape.empty() ? "none: it is a scalar" : fmt::format("{}", fmt::join(shape, "x"))));
  };
  if (ranges.size() != shape.size()) return bad(fmt::format("--box names {}", plural(ranges.size(), "dimension")));
  engine::Box box;
  for (size_t i = 0; i < shape.size(); ++i) {
    const uint64_t end = ranges[i].end.value_or(shape[i]);
    if (end > shape[i] || ranges[i].begin >= end)
      return bad(fmt::format("--box asks for {}:{} in dimension {} (the first is 0)", ranges[i].begin, end, i));
    box.begin.push_back(ranges[i].begin);
    box.count.push_back(end - ranges[i].begin);
  }
  return box;
}

}  // namespace forebay::cli

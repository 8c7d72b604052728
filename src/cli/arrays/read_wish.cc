#include "cli/arrays/read_wish.h"

#include <algorithm>

#include <fmt/format.h>

#include "cli/units.h"

namespace forebay::cli {
namespace {

Result<engine::Box> wished_box(const view::Array& array, const Shape& shape, const ReadWish& wish) {
  if (!wish.box) return engine::whole_box(shape);
  auto box = dense_box_in(*wish.box, shape);
  if (!box) box.error().what = fmt::format("'{}': {}", array.name, box.error().what);
  return box;
}

Result<WishedPart> block_part(const view::Step& step, size_t number, const ReadWish& wish) {
  const view::Array& array = step.arrays()[number];
  FOREBAY_TRY(const auto blocks, step.blocks(number));
  const uint64_t block = wish.block.value_or(0);
  if (block >= blocks.size())
    return fail(ErrorKind::invalid_argument,
                fmt::format("'{}' has no block {}, but {} blocks from 0 on", array.name, block, blocks.size()));
  if (!wish.block && array.form == view::Form::local && blocks.size() > 1)
    return fail(ErrorKind::invalid_argument,
                fmt::format("'{}' is {} arrays, one for each block that was written, and no global one", array.name,
                            blocks.size()),
                {}, {}, "choose one with --block; --blocks lists them");
  FOREBAY_TRY(engine::Box box, wished_box(array, blocks[block].place.count, wish));
  const Shape shape = box.count;
  return WishedPart{view::WrittenBlock{block, std::move(box)}, shape};
}

uint64_t product_after(const Shape& shape, size_t d) { return element_count(std::span(shape).subspan(d + 1)); }

}  // namespace

Result<std::pair<uint64_t, uint64_t>> StepRange::of(uint64_t count) const {
  const auto steps = static_cast<int64_t>(count);
  const auto from_begin = [&](int64_t number) { return number < 0 ? number + steps : number; };
  // Ends of a range beyond the steps are theirs, as NumPy has it; one step alone must be there.
  const auto inside = [&](int64_t number) { return is_range ? std::clamp<int64_t>(number, 0, steps) : number; };
  const int64_t begin = inside(from_begin(first));
  // A begin that is too large has no number behind it.
  const int64_t last = !is_range ? (begin < steps ? begin + 1 : begin) : end ? inside(from_begin(*end)) : steps;
  if (begin < 0 || last > steps || begin >= last)
    return fail(ErrorKind::not_found,
                is_range ? fmt::format("there are no steps {}:{}, but {} from 0 on", first,
                                       end ? std::to_string(*end) : "", plural(count, "step"))
                         : fmt::format("there is no step {}, but {} from 0 on", first, plural(count, "step")));
  return std::pair(static_cast<uint64_t>(begin), static_cast<uint64_t>(last));
}

Result<StepRange> parse_steps(std::string_view text) {
  if (text == "latest") return StepRange{};
  StepRange range;
  const size_t colon = text.find(':');
  range.is_range = colon != text.npos;
  range.first = 0;
  const std::string_view first = text.substr(0, colon);
  if (!range.is_range || !first.empty()) {
    FOREBAY_TRY(range.first, parse_integer(first));
  }
  if (range.is_range && colon + 1 < text.size()) {
    FOREBAY_TRY(range.end, parse_integer(text.substr(colon + 1)));
  }
  return range;
}

Result<Shape> parse_numbers(std::string_view text) {
  Shape numbers;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    FOREBAY_TRY(const uint64_t number, parse_count(text.substr(begin, end - begin)));
    numbers.push_back(number);
    begin = end + 1;
  }
  return numbers;
}

Result<view::Points> parse_points(std::string_view text) {
  view::Points points;
  for (size_t at = 0, line_number = 1; at < text.size(); ++line_number) {
    const size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line = text.substr(at, end - at);
    line = line.substr(0, line.find('#'));
    at = end + 1;
    uint64_t indices = 0;
    for (size_t begin = 0; (begin = line.find_first_not_of(", \t\r", begin)) != line.npos; ++indices) {
      const size_t behind = std::min(line.find_first_of(", \t\r", begin), line.size());
      const auto index = parse_count(line.substr(begin, behind - begin));
      if (!index)
        return fail(ErrorKind::invalid_argument,
                    fmt::format("line {}: '{}' is no index", line_number, line.substr(begin, behind - begin)));
      points.indices.push_back(*index);
      begin = behind;
    }
    if (indices == 0) continue;
    if (points.dimensions != 0 && points.dimensions != indices)
      return fail(ErrorKind::invalid_argument, fmt::format("line {} has {} indices, and those before have {}",
                                                           line_number, indices, points.dimensions));
    points.dimensions = indices;
  }
  if (points.dimensions == 0) return fail(ErrorKind::invalid_argument, "there is no point");
  return points;
}

Result<view::Strided> strided_part(const view::Array& array, const ReadWish& wish) {
  auto in = wish.box ? box_in(*wish.box, array.shape) : Result<IndexBox>({engine::whole_box(array.shape), {}});
  if (!in) in.error().what = fmt::format("'{}': {}", array.name, in.error().what);
  FOREBAY_CHECK(in);
  auto& [box, stride] = *in;
  if (wish.stride.empty()) return view::Strided{std::move(box), std::move(stride)};
  if (wish.stride.size() != array.shape.size())
    return fail(ErrorKind::invalid_argument, fmt::format("'{}' has {} dimensions, and there are {} strides", array.name,
                                                         array.shape.size(), wish.stride.size()));
  if (!stride.empty()) return fail(ErrorKind::invalid_argument, "the steps of --box do not go with --stride");
  for (size_t d = 0; d < wish.stride.size(); ++d) {
    if (wish.stride[d] == 0) return fail(ErrorKind::invalid_argument, "a stride of 0 selects nothing");
    if (box.count[d] > 0) box.count[d] = (box.count[d] - 1) / wish.stride[d] + 1;
  }
  return view::Strided{std::move(box), wish.stride};
}

Result<WishedPart> part_of(const view::Step& step, size_t number, const ReadWish& wish) {
  const view::Array& array = step.arrays()[number];
  if (wish.points) return WishedPart{*wish.points, {wish.points->indices.size() / wish.points->dimensions}};
  if (wish.block || array.form != view::Form::global) {
    if (!wish.stride.empty())
      return fail(ErrorKind::invalid_argument, fmt::format("'{}' is no global array: it has no --stride", array.name));
    return block_part(step, number, wish);
  }
  FOREBAY_TRY(view::Strided part, strided_part(array, wish));
  const Shape shape = part.box.count;
  return WishedPart{std::move(part), shape};
}

view::Selection slab_of(const WishedPart& part, const engine::Box& slab) {
  if (const auto* points = std::get_if<view::Points>(&part.selection)) {
    const auto begin = points->indices.begin() + static_cast<ptrdiff_t>(slab.begin[0] * points->dimensions);
    return view::Points{points->dimensions,
                        {begin, begin + static_cast<ptrdiff_t>(slab.count[0] * points->dimensions)}};
  }
  view::Selection selection = part.selection;
  auto* strided = std::get_if<view::Strided>(&selection);
  engine::Box& box = strided != nullptr ? strided->box : *std::get<view::WrittenBlock>(selection).box;
  for (size_t d = 0; d < slab.begin.size(); ++d)
    box.begin[d] += slab.begin[d] * (strided != nullptr && !strided->stride.empty() ? strided->stride[d] : 1);
  box.count = slab.count;
  return selection;
}

void append_indices(const WishedPart& part, uint64_t element, std::string& line) {
  if (const auto* points = std::get_if<view::Points>(&part.selection)) {
    for (uint64_t d = 0; d < points->dimensions; ++d)
      fmt::format_to(std::back_inserter(line), "{},", points->indices[element * points->dimensions + d]);
    return;
  }
  const auto* strided = std::get_if<view::Strided>(&part.selection);
  const engine::Box& box = strided != nullptr ? strided->box : *std::get<view::WrittenBlock>(part.selection).box;
  for (size_t d = 0; d < part.shape.size(); ++d) {
    const uint64_t index = element / product_after(part.shape, d) % part.shape[d];
    const uint64_t stride = strided != nullptr && !strided->stride.empty() ? strided->stride[d] : 1;
    fmt::format_to(std::back_inserter(line), "{},", box.begin[d] + index * stride);
  }
}

}  // namespace forebay::cli

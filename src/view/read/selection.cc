#include "view/read/selection.h"

#include <fmt/format.h>

namespace forebay::view {
namespace {

std::unexpected<Error> outside(const Array& array, size_t dimension, const Shape& shape, const std::string& what) {
  return fail(ErrorKind::invalid_argument, fmt::format("{} is outside of dimension {} of '{}', which has {} elements",
                                                       what, dimension, array.name, shape[dimension]));
}

std::unexpected<Error> wrong_rank(const Array& array, size_t dimensions, size_t given) {
  return fail(ErrorKind::invalid_argument,
              fmt::format("'{}' has {} dimensions, and {} are selected", array.name, dimensions, given));
}

std::unexpected<Error> too_large(const Array& array) {
  return fail(ErrorKind::limit, fmt::format("the selection of '{}' has 2^64 bytes or more", array.name));
}

// The last element that is selected in a dimension, which is not empty; nothing if that is beyond 2^64.
std::optional<uint64_t> last_of(uint64_t begin, uint64_t count, uint64_t stride) {
  uint64_t last = 0;
  if (__builtin_mul_overflow(count - 1, stride, &last) || __builtin_add_overflow(last, begin, &last)) return {};
  return last;
}

Result<void> check(const Array& array, const Shape& shape, const Strided& selection) {
  const Box& box = selection.box;
  if (box.begin.size() != shape.size() || box.count.size() != shape.size())
    return wrong_rank(array, shape.size(), std::max(box.begin.size(), box.count.size()));
  if (!selection.stride.empty() && selection.stride.size() != shape.size())
    return wrong_rank(array, shape.size(), selection.stride.size());
  for (size_t d = 0; d < shape.size(); ++d) {
    const uint64_t stride = selection.stride.empty() ? 1 : selection.stride[d];
    if (stride == 0)
      return fail(ErrorKind::invalid_argument, fmt::format("the stride of dimension {} of '{}' is 0", d, array.name));
    if (box.count[d] == 0) {
      if (box.begin[d] > shape[d]) return outside(array, d, shape, fmt::format("element {}", box.begin[d]));
      continue;
    }
    const auto last = last_of(box.begin[d], box.count[d], stride);
    if (!last || *last >= shape[d])
      return outside(array, d, shape,
                     fmt::format("{} elements from {} on{}", box.count[d], box.begin[d],
                                 stride > 1 ? fmt::format(", each {}th,", stride) : std::string()));
  }
  return {};
}

Result<void> check(const Array& array, const Points& points) {
  const Shape& shape = array.shape;
  if (points.dimensions != shape.size() || points.dimensions == 0)
    return wrong_rank(array, shape.size(), points.dimensions);
  if (points.indices.size() % points.dimensions != 0)
    return fail(ErrorKind::invalid_argument,
                fmt::format("{} indices are not points of {} dimensions", points.indices.size(), points.dimensions));
  for (size_t i = 0; i < points.indices.size(); ++i)
    if (points.indices[i] >= shape[i % shape.size()])
      return outside(array, i % shape.size(), shape,
                     fmt::format("index {} of point {}", points.indices[i], i / shape.size()));
  return {};
}

Result<uint64_t> bytes_of(const Array& array, uint64_t elements) {
  uint64_t bytes = 0;
  if (elements == UINT64_MAX || __builtin_mul_overflow(elements, array.type.bytes(), &bytes)) return too_large(array);
  return bytes;
}

}  // namespace

Result<uint64_t> selection_bytes(const Array& array, const Selection& selection, const Block* block) {
  const bool is_whole_block = array.form != Form::global;
  if (const auto* written = std::get_if<WrittenBlock>(&selection)) {
    if (block == nullptr)
      return fail(ErrorKind::invalid_argument, fmt::format("'{}' has no block {}", array.name, written->block));
    if (written->box) FOREBAY_CHECK(check(array, block->place.count, {*written->box, {}}));
    return bytes_of(array, element_count(written->box ? written->box->count : block->place.count));
  }
  if (const auto* points = std::get_if<Points>(&selection)) {
    if (is_whole_block)
      return fail(ErrorKind::invalid_argument,
                  fmt::format("'{}' is no global array, so that it has no points", array.name), {}, {},
                  "select one of its blocks");
    FOREBAY_CHECK(check(array, *points));
    return bytes_of(array, points->indices.size() / points->dimensions);
  }
  const auto& strided = std::get<Strided>(selection);
  if (!is_whole_block) {
    FOREBAY_CHECK(check(array, array.shape, strided));
    return bytes_of(array, element_count(strided.box.count));
  }
  if (array.form == Form::local && array.blocks != 1)
    return fail(ErrorKind::invalid_argument,
                fmt::format("'{}' is {} arrays, one for each block that was written, and no global one", array.name,
                            array.blocks),
                {}, {}, "select one of its blocks");
  if (block == nullptr) return fail(ErrorKind::invalid_argument, fmt::format("'{}' has no block", array.name));
  if (array.form == Form::scalar) return bytes_of(array, element_count(block->place.count));
  FOREBAY_CHECK(check(array, block->place.count, strided));
  return bytes_of(array, element_count(strided.box.count));
}

}  // namespace forebay::view

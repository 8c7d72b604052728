#include "view/read/filled.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "view/read/cover.h"

namespace forebay::view {
namespace {

constexpr uint64_t kFewBytes = uint64_t{1} << 30;
constexpr uint64_t kMostEmptiness = 4096;

uint64_t sum_of(uint64_t a, uint64_t b) { return a > UINT64_MAX - b ? UINT64_MAX : a + b; }

// All indices from the first to the last that is selected.
Box hull_of(const Strided& selection) {
  Box hull = selection.box;
  for (size_t d = 0; d < selection.stride.size(); ++d)
    if (hull.count[d] > 0) hull.count[d] = (hull.count[d] - 1) * selection.stride[d] + 1;
  return hull;
}

uint64_t elements_of(const Block& block, const Box& hull) {
  if (!block.indices) return volume(intersection(block.place, hull));
  uint64_t elements = block.indices->size();
  for (size_t d = 1; d < hull.count.size(); ++d) elements *= hull.count[d];
  return elements;
}

}  // namespace

Result<void> check_filled(const Step& step, size_t array, const Strided& selection) {
  const Array& of = step.arrays()[array];
  const uint64_t elements = element_count(selection.box.count);
  if (elements <= kFewBytes / of.type.bytes()) return {};
  FOREBAY_TRY(const auto blocks, step.characterised_blocks(array));
  const Box hull = hull_of(selection);
  uint64_t filled = 0;
  for (const Block& block : blocks) filled = sum_of(filled, elements_of(block, hull));
  if (elements / kMostEmptiness <= filled) return {};
  return fail(ErrorKind::corrupt,
              fmt::format("step {}: '{}' would have {} elements ({}), and what ranks wrote of them is {} at most",
                          step.info().number, of.name, elements, fmt::join(selection.box.count, " x "), filled),
              {}, {}, "its shape is damaged, or nearly all of it is empty: take a part that was written, with --box");
}

Result<void> check_stored(const Step& step, size_t array, std::span<const Block> blocks) {
  uint64_t elements = 0;
  for (const Block& block : blocks) elements = sum_of(elements, element_count(block.place.count));
  if (elements <= kFewBytes / step.arrays()[array].type.bytes()) return {};
  FOREBAY_CHECK(step.characterised_blocks(array));
  return {};
}

}  // namespace forebay::view

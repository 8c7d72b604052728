#include "convert/plan/seen.h"

#include <algorithm>

#include <fmt/format.h>

#include "view/read/filled.h"

namespace forebay::convert {

// Whether every block of a scalar is known to have the same value, without reading any.
static bool is_one_value(const view::Array& array) {
  const auto& values = array.characteristics;
  return array.form == view::Form::scalar && array.type.data.is_number() && values && values->nans == 0 &&
         values->count == array.blocks && values->min == values->max;
}

Result<Seen> see(const view::Step& step, Source source, const Wish& wish) {
  const view::Array& array = step.arrays()[source.array];
  Seen seen{.source = source, .type = array.type, .form = array.form, .shape = array.shape};
  if (wish.part) {
    FOREBAY_TRY(seen.part, wish.part(array));
    seen.shape = seen.part->box.count;
  }
  if (array.form == view::Form::global) {
    seen.dimensions = step.dimension_names(source.array);
    FOREBAY_CHECK(
        view::check_filled(step, source.array, seen.part.value_or(view::Strided{engine::whole_box(array.shape), {}})));
    return seen;
  }
  FOREBAY_TRY(const auto blocks, step.blocks(source.array));
  if (blocks.empty())
    return fail(ErrorKind::corrupt, fmt::format("step {}: '{}' has no block", step.info().number, array.name));
  FOREBAY_CHECK(view::check_stored(step, source.array, blocks));
  seen.shape = blocks[0].place.count;
  seen.blocks = blocks.size();
  for (const view::Block& block : blocks) {
    seen.ranks.push_back(block.rank);
    seen.is_equal = seen.is_equal && block.place.count == seen.shape;
  }
  if (!seen.is_equal)
    for (const view::Block& block : blocks) seen.shapes.push_back(block.place.count);
  else if (is_one_value(array))
    seen.blocks = 1;
  return seen;
}

bool Seen::stacks_with(const Seen& other) const {
  return type == other.type && form == other.form && shape == other.shape && blocks == other.blocks && is_equal &&
         other.is_equal && dimensions == other.dimensions && counts_from == other.counts_from;
}

}  // namespace forebay::convert

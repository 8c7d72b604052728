// Characteristics as columns of the index (docs/format.md, "Characteristics").
#pragma once

#include <span>
#include <vector>

#include "container/characteristics.h"
#include "container/column.h"
#include "container/index_codec.h"

namespace forebay::container {

struct CharacteristicsColumns {
  bool present = false, wide = false, has_holes = false;
  ColumnWriter::Column nans, infinities, holes, count_residuals;
  ColumnWriter::Column narrow_minima, narrow_maxima, minima, maxima, sums, sums_of_squares;
};

CharacteristicsColumns put_characteristics(ColumnWriter& out, std::span<const Characteristics> all,
                                           std::span<const VariableFacts> facts);
void add_characteristics(fb::ContentsBuilder& table, const CharacteristicsColumns& columns);

// Into index.characteristics; the catalogue of `index` is there already.
Result<void> get_characteristics(const fb::Contents& table, ColumnReader& in, std::vector<Lease>& kept, Index& index);

}  // namespace forebay::container

// The format of a column, found from its numbers.
#pragma once

#include <span>
#include <vector>

#include "codec/text/lines.h"
#include "codec/text/table.h"

namespace forebay::codec::text {

// The columns, without keys, of lines that have as many numbers as there are columns, which these are line by line. A
// line may have numbers that its columns' formats cannot print.
std::vector<Column> fit_columns(std::span<const Decimal> numbers, size_t columns);

// Whether the line, whose numbers these are, is printed by these columns. Then its keys are stored in `keys`.
bool make_keys(std::span<const Decimal> line, std::span<const Column> columns, std::span<int64_t> keys);

// The blanks in front of a number of `characters`, behind one of `characters_before`; below 0 if it does not fit.
constexpr int64_t blanks_of(const Column& column, int64_t characters, int64_t characters_before) {
  switch (column.padding) {
    case Padding::blanks:
      return column.width;
    case Padding::right:
      return column.width - characters;
    case Padding::left:
      break;
  }
  return column.width - characters_before;
}

}  // namespace forebay::codec::text

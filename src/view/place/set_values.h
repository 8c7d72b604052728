// What recognisers look at, by names: the files of a set with their variables, and small values as numbers.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "format/attributes.h"
#include "view/place/recogniser.h"

namespace forebay::view {

// The most cells that a dimension of a level may have: nobody has as many, and sums of them do not overflow.
inline constexpr uint64_t kMostLevelCells = uint64_t{1} << 40;
inline constexpr int64_t kDeepestLevel = 32;

// In its own order.
Shape shape_of(const engine::OpenSet& set, const StoredArray& stored);
DataType type_of(const engine::OpenSet& set, const StoredArray& stored);

// Values in the machine's byte order as numbers; nothing if they are not integers, or not numbers.
std::optional<std::vector<int64_t>> integers(const DataType& type, std::span<const std::byte> bytes);
std::optional<std::vector<double>> reals(const DataType& type, std::span<const std::byte> bytes);

// Those of a stored array, or of an attribute (which may be null). corrupt if they are no such numbers, and errors as
// of SetLook::values().
Result<std::vector<int64_t>> integers_of(const SetLook& look, const StoredArray& stored);
Result<std::vector<double>> reals_of(const SetLook& look, const StoredArray& stored);
std::optional<std::vector<int64_t>> integers_of(const format::FileAttribute* attribute);
std::optional<std::vector<double>> reals_of(const format::FileAttribute* attribute);
std::vector<std::string> texts_of(const format::FileAttribute* attribute);

// The digits at the end of `name`, if there are `least` of them; what comes before is its stem.
struct Numbered {
  std::string_view stem;
  uint64_t number = 0;
};
std::optional<Numbered> numbered(std::string_view name, size_t least);

// What came of a recogniser that could not read what it needs: no, with a remark, where that is damaged or cannot be
// decoded; an error where nothing can be read.
Result<bool> not_placed(const Error& error, std::string_view format, Recognised& found);

}  // namespace forebay::view

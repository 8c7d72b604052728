#include "view/place/gather.h"

#include <algorithm>

#include <fmt/format.h>

#include "view/place/set_values.h"

namespace forebay::view {
namespace {

constexpr uint64_t kMostParts = uint64_t{1} << 21;
constexpr size_t kMostRemarks = 100;

bool lies_inside(const Shape& begin, const Shape& count, const Shape& shape) {
  if (begin.size() != shape.size() || count.size() != shape.size()) return false;
  for (size_t d = 0; d < shape.size(); ++d)
    if (count[d] == 0 || count[d] > shape[d] || begin[d] > shape[d] - count[d]) return false;
  return true;
}

// Whether a part of that shape is in the stored array where it is said to be.
bool is_stored(const StoredPart& part, const Shape& stored) {
  const uint64_t elements = element_count(part.shape);
  if (part.flat) {
    const uint64_t there = element_count(stored);
    return part.leading.empty() && elements <= there && *part.flat <= there - elements;
  }
  if (part.leading.size() + part.shape.size() != stored.size()) return false;
  const auto split = stored.begin() + static_cast<ptrdiff_t>(part.leading.size());
  return std::ranges::equal(std::span(part.leading), std::span(stored.begin(), split), std::ranges::less{}) &&
         std::ranges::equal(part.shape, std::span(split, stored.end()));
}

}  // namespace

std::optional<std::string> Gather::fault_of(const PlacedPart& part) const {
  if (!lies_inside(part.place.begin, part.place.count, part.global)) return "lies outside of the array";
  if (!is_stored(part.stored, shape_of(set_, found_.arrays.stored[part.stored.array])))
    return "has another shape than what is stored";
  const Shape begin = part.stored.begin.empty() ? Shape(part.stored.shape.size()) : part.stored.begin;
  if (!lies_inside(begin, part.place.count, part.stored.shape)) return "is larger than what is stored of it";
  if (element_count(part.global) == UINT64_MAX) return "is part of an array that is too large";
  return {};
}

bool Gather::add(PlacedPart part) {
  const uint64_t stored = part.stored.array;
  if (refused_.contains(stored)) return false;
  std::optional<std::string> fault = fault_of(part);
  if (++parts_ > kMostParts) fault = "is one too many in this set";
  const DataType type = type_of(set_, found_.arrays.stored[stored]);
  auto& parts = fields_[{part.field, part.level, type.kind, type.size}];
  if (!fault && !parts.empty() && parts.front().global != part.global)
    fault = "disagrees with others about the shape of the array";
  if (fault) {
    refuse(stored, *fault);
    return false;
  }
  parts.push_back(std::move(part));
  return true;
}

void Gather::refuse(uint64_t stored, const std::string& why) {
  refused_[stored] = true;
  if (found_.arrays.remarks.size() >= kMostRemarks) return;
  const StoredArray& array = found_.arrays.stored[stored];
  const Catalogue& catalogue = set_.containers[array.container].catalogue();
  found_.arrays.remarks.push_back(fmt::format("'{}' of {} is taken as it is stored: a block {}",
                                              catalogue.paths[catalogue.variables[array.variable].path],
                                              catalogue.files[array.file].name, why));
}

bool Gather::finish() {
  bool is_any = false;
  for (auto& [key, parts] : fields_) {
    std::erase_if(parts, [this](const PlacedPart& part) { return refused_.contains(part.stored.array); });
    if (parts.empty()) continue;
    const PlacedPart& first = parts.front();
    Array array{.name = first.level.value_or(0) == 0 ? first.field : fmt::format("{}@{}", first.field, *first.level),
                .type = element_type(type_of(set_, found_.arrays.stored[first.stored.array])),
                .form = Form::global,
                .shape = first.global,
                .level = first.level};
    std::vector<Block> blocks;
    for (PlacedPart& part : parts) {
      const StoredArray& stored = found_.arrays.stored[part.stored.array];
      const container::Index& index = set_.containers[stored.container].index();
      const VariableRow& row = index.catalogue.variables[stored.variable];
      Block block{.rank = index.catalogue.files[stored.file].rank, .place = std::move(part.place)};
      // Those that are stored are of the whole stored array.
      if (block.place.count == shape_of(set_, stored) && !index.characteristics.empty() && row.type.is_number() &&
          !row.filtered && !row.partial)
        block.characteristics = index.characteristics[stored.variable];
      found_.is_taken[part.stored.array] = true;
      block.stored = std::move(part.stored);
      blocks.push_back(std::move(block));
    }
    found_.arrays.add(std::move(array), std::move(blocks));
    is_any = true;
  }
  return is_any;
}

}  // namespace forebay::view

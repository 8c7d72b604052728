#include "io/file/part_listing.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>

namespace forebay::io {
namespace {

class Lister {
 public:
  explicit Lister(Listing& listing) : listing_(listing) {}

  void add(const Block& block, const container::Characteristics& characteristics, uint64_t step) {
    const auto [variable, is_new] = variables_.try_emplace(std::tuple(block.name, block.type, block.is_array),
                                                           static_cast<uint32_t>(listing_.variables.size()));
    if (is_new) {
      listing_.variables.push_back({0, block.name, block.type, block.is_array, block.transform});
      listing_.characteristics.push_back({.step = step, .variable = variable->second, .values = {}});
    }
    StepCharacteristics& row = listing_.characteristics[variable->second];
    ++row.blocks;
    row.values.merge(characteristics);
    listing_.patterns[0].writes.push_back({variable->second, slot_of(block)});
  }

 private:
  uint32_t slot_of(const Block& block) {
    Pattern& pattern = listing_.patterns[0];
    const auto [slot, is_new] = places_.try_emplace(std::tuple(block.shape, block.global_shape, block.offsets),
                                                    static_cast<uint32_t>(pattern.slots.size()));
    if (is_new) {
      pattern.slots.push_back({static_cast<uint8_t>(block.shape.size()), !block.global_shape.empty()});
      for (const Shape* shape : {&block.shape, &block.global_shape, &block.offsets})
        listing_.places.insert(listing_.places.end(), shape->begin(), shape->end());
    }
    return slot->second;
  }

  Listing& listing_;
  std::map<std::tuple<std::string, ValueType, bool>, uint32_t> variables_;
  std::map<std::tuple<Shape, Shape, Shape>, uint32_t> places_;
};

}  // namespace

Listing list_process_group(const ProcessGroup& group, std::span<const container::Characteristics> characteristics,
                           uint64_t container_id, ListedPart part) {
  Listing listing;
  listing.files = {{"", container_id}};
  listing.groups = {{group.group, group.time_index_name, group.fortran_order}};
  listing.patterns.emplace_back();
  part.rank = group.rank;
  part.step = group.step;
  part.time_index = group.time_index;
  listing.parts = {part};
  Lister lister(listing);
  for (size_t i = 0; i < group.blocks.size(); ++i) lister.add(group.blocks[i], characteristics[i], group.step);
  for (const AttributeValue& attribute : group.attributes) {
    Listing one;  // what is here twice stays as it was first
    one.groups = listing.groups;
    one.attributes = {{0, group.step, attribute}};
    listing.merge(std::move(one));
  }
  return listing;
}

}  // namespace forebay::io

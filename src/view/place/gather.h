// Blocks that a recogniser has placed, on their way to arrays: what is claimed is checked here.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "view/place/recogniser.h"

namespace forebay::view {

// A part of a stored array that is a block of a field.
struct PlacedPart {
  std::string field;
  std::optional<uint32_t> level;  // of refinement
  Shape global;                   // of the field, on this level
  Box place;                      // of the block in it
  StoredPart stored;
};

class Gather {
 public:
  Gather(const engine::OpenSet& set, Recognised& found) : set_(set), found_(found) {}

  // A part that lies outside of its field or of what is stored, or that disagrees with others about the field's shape,
  // is not placed, and neither are all others of its stored array: false, as for all that come after it.
  bool add(PlacedPart part);

  // Leaves a stored array as it is.
  void refuse(uint64_t stored, const std::string& why);

  // Makes arrays of all that was added. Whether there is any.
  bool finish();

 private:
  using Key = std::tuple<std::string, std::optional<uint32_t>, Kind, uint16_t>;

  std::optional<std::string> fault_of(const PlacedPart& part) const;

  const engine::OpenSet& set_;
  Recognised& found_;
  uint64_t parts_ = 0;
  std::map<Key, std::vector<PlacedPart>> fields_;
  std::map<uint64_t, bool> refused_;  // stored arrays
};

}  // namespace forebay::view

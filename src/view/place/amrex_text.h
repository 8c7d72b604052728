// The text files of a plotfile of AMReX or BoxLib: Header, and the Cell_H of each level. Pure; the texts are hostile.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/shape.h"

namespace forebay::view {

// Cells from the lower corner to the upper one, both included, in the order of the text: x, y, z. None of the numbers
// is beyond 2^31 either way, and the upper ones are no less than the lower ones.
struct AmrexBox {
  std::vector<int64_t> low, high;
};

// The cells of a box with `ghosts` more on each side, z first.
Shape shape_of(const AmrexBox& box, uint64_t ghosts);

struct AmrexHeader {
  std::vector<std::string> fields;
  std::optional<double> time;
  std::vector<AmrexBox> domains;  // of each level: the cells that it would have if it covered all
};

// Where the boxes of a level are stored.
struct AmrexFab {
  AmrexBox box;
  std::string file;  // in the directory of the level
  uint64_t offset = 0;
};
struct AmrexLevelFiles {
  uint64_t components = 0, ghosts = 0;
  std::vector<AmrexFab> fabs;
};

// corrupt, naming what is missing or impossible; unsupported if boxes have more ghost cells along one axis than
// another.
Result<AmrexHeader> parse_amrex_header(std::string_view text);
Result<AmrexLevelFiles> parse_amrex_level(std::string_view text);

}  // namespace forebay::view

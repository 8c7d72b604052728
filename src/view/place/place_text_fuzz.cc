// Texts that say where blocks lie: a layout ('l' first), those of AMReX ('a' first), or Enzo's parameters and hierarchy
// (anything else). They are refused, or what they say is possible.
#include <cstdlib>
#include <string_view>

#include "base/layout.h"
#include "view/place/amrex_text.h"
#include "view/place/enzo_text.h"
#include "view/place/layout_text.h"

using namespace forebay;
using namespace forebay::view;

namespace {

void check_layout(std::string_view text) {
  const auto layout = parse_layout(text);
  if (!layout) return;
  for (const LayoutArray& array : *layout) {
    const size_t dimensions = array.ranks.empty() ? array.shape.size() : array.ranks.size();
    if (array.name.empty() || dimensions == 0 || dimensions > kMaxDims) std::abort();
    if (array.ranks.empty() == array.offset.empty()) std::abort();
    if (!array.shape.empty() && array.shape.size() != dimensions) std::abort();
    if (!array.ghosts.empty() && array.ghosts.size() != dimensions) std::abort();
    if (array.offset.size() > 1 && array.offset.size() != dimensions) std::abort();
    if (element_count(array.shape) == UINT64_MAX || element_count(array.ranks) == UINT64_MAX) std::abort();
  }
}

void check_enzo(std::string_view text) {
  const auto parameters = parse_enzo_parameters(text);
  const auto grids = parse_enzo_hierarchy(text);
  if (!parameters || !grids) return;
  for (const EnzoGrid& grid : *grids)
    if (const auto place = place_of(grid, *parameters))
      for (size_t d = 0; d < place->count.size(); ++d)
        if (place->count[d] == 0 || place->count[d] > place->level_shape[d] ||
            place->offset[d] > place->level_shape[d] - place->count[d])
          std::abort();
}

void check_amrex(std::string_view text) {
  (void)parse_amrex_header(text);
  const auto level = parse_amrex_level(text);
  if (!level) return;
  for (const AmrexFab& fab : level->fabs)
    if (fab.file.empty() || element_count(shape_of(fab.box, level->ghosts)) == 0) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (text.starts_with('l'))
    check_layout(text.substr(1));
  else if (text.starts_with('a'))
    check_amrex(text.substr(1));
  else
    check_enzo(text.empty() ? text : text.substr(1));
  return 0;
}

#include "bp/place.h"

#include <algorithm>

namespace forebay::bp {

Place place_of(const std::vector<Dimension>& dimensions, bool fortran_order, bool has_time) {
  Place place;
  for (const Dimension& dimension : dimensions) {
    place.shape.push_back(dimension.local);
    place.global.push_back(dimension.global);
    place.offsets.push_back(dimension.offset);
  }
  const bool is_global = std::ranges::any_of(place.global, [](uint64_t size) { return size != 0; });
  if (has_time && !dimensions.empty() && place.global.back() == 0) {
    // Time is the slowest dimension. Programs in C that have it last are taken by ADIOS to mean that, too.
    const bool is_last = fortran_order || (place.shape.front() != 1 && is_global);
    const auto at = is_last ? place.shape.end() - 1 : place.shape.begin();
    if (*at == 1) {
      place.shape.erase(at);
      place.global.pop_back();
      place.offsets.pop_back();
    }
  }
  if (fortran_order)
    for (Shape* list : {&place.shape, &place.global, &place.offsets}) std::ranges::reverse(*list);
  if (!is_global) {
    place.global.clear();
    place.offsets.clear();
  }
  return place;
}

}  // namespace forebay::bp

#include "adios/selection.h"

#include <cstdlib>
#include <cstring>

#include "adios/read_file.h"

namespace forebay::adios {
namespace {

constexpr int kMostSelectedDimensions = 64;

ADIOS_SELECTION* new_selection(ADIOS_SELECTION_TYPE type) {
  auto* const made = allocate<ADIOS_SELECTION>(1);
  made->type = type;
  return made;
}

io::Outcome<void> check_selected(int ndim, bool are_arrays_there) {
  if (ndim < 0 || ndim > kMostSelectedDimensions)
    return refuse_reading(err_invalid_argument, "a selection cannot have " + std::to_string(ndim) + " dimensions");
  if (ndim > 0 && !are_arrays_there) return refuse_reading(err_invalid_argument, "the numbers of a selection are NULL");
  return {};
}

Shape numbers_of(const uint64_t* numbers, uint64_t count) { return {numbers, numbers + count}; }

// The indices in a box of what is counted along it.
void append_indices(uint64_t place, const ADIOS_SELECTION_BOUNDINGBOX_STRUCT& box, bool global, uint64_t* out) {
  for (int d = box.ndim; d-- > 0;) {
    const uint64_t count = box.count[d] == 0 ? 1 : box.count[d];
    out[d] = place % count + (global ? box.start[d] : 0);
    place /= count;
  }
}

}  // namespace

io::Outcome<SelectionCopy> copy_selection(const ADIOS_SELECTION& selection) {
  SelectionCopy copy;
  copy.type = selection.type;
  switch (selection.type) {
    case ADIOS_SELECTION_BOUNDINGBOX: {
      const auto& box = selection.u.bb;
      FOREBAY_CHECK(check_selected(box.ndim, box.start && box.count));
      copy.start = numbers_of(box.start, static_cast<uint64_t>(box.ndim));
      copy.count = numbers_of(box.count, static_cast<uint64_t>(box.ndim));
      return copy;
    }
    case ADIOS_SELECTION_POINTS: {
      const auto& points = selection.u.points;
      FOREBAY_CHECK(check_selected(points.ndim, points.points != nullptr || points.npoints == 0));
      copy.dimensions = static_cast<uint64_t>(points.ndim);
      if (points.npoints > (UINT64_MAX >> 4) / std::max<uint64_t>(copy.dimensions, 1))
        return refuse_reading(err_invalid_selection, "a selection cannot have so many points");
      copy.points = numbers_of(points.points, points.npoints * copy.dimensions);
      if (points.container_selection != nullptr) {
        if (points.container_selection->type == ADIOS_SELECTION_POINTS)
          return refuse_reading(err_invalid_selection, "points cannot lie in points");
        FOREBAY_TRY(auto container, copy_selection(*points.container_selection));
        copy.container = std::make_shared<const SelectionCopy>(std::move(container));
      }
      return copy;
    }
    case ADIOS_SELECTION_WRITEBLOCK:
      copy.block = selection.u.block;
      return copy;
    default:
      return refuse_reading(err_operation_not_supported, "files have no selection of this kind",
                            "select a box, points or a block");
  }
}

ADIOS_SELECTION* make_selection(const SelectionCopy& copy) {
  ADIOS_SELECTION* const made = new_selection(copy.type);
  if (copy.type == ADIOS_SELECTION_BOUNDINGBOX) {
    made->u.bb = {static_cast<int>(copy.start.size()), malloc_copy(copy.start), malloc_copy(copy.count)};
  } else if (copy.type == ADIOS_SELECTION_POINTS) {
    auto& points = made->u.points;
    points.ndim = static_cast<int>(copy.dimensions);
    points._free_points_on_delete = 1;
    points.npoints = copy.dimensions == 0 ? 0 : copy.points.size() / copy.dimensions;
    points.points = malloc_copy(Shape(copy.points.begin(), copy.points.end()));
  } else {
    made->u.block = copy.block;
  }
  return made;
}

}  // namespace forebay::adios

using namespace forebay::adios;
using forebay::io::Outcome;

extern "C" {

ADIOS_SELECTION* adios_selection_boundingbox(int ndim, const uint64_t* start, const uint64_t* count) {
  return guarded_pointer([&]() -> Outcome<ADIOS_SELECTION*> {
    FOREBAY_CHECK(check_selected(ndim, start && count));
    SelectionCopy box;
    box.start = numbers_of(start, static_cast<uint64_t>(ndim));
    box.count = numbers_of(count, static_cast<uint64_t>(ndim));
    return make_selection(box);
  });
}

ADIOS_SELECTION* adios_selection_points(int ndim, uint64_t npoints, const uint64_t* points) {
  return guarded_pointer([&]() -> Outcome<ADIOS_SELECTION*> {
    FOREBAY_CHECK(check_selected(ndim, points != nullptr || npoints == 0));
    ADIOS_SELECTION* const made = new_selection(ADIOS_SELECTION_POINTS);
    made->u.points.ndim = ndim;
    made->u.points.npoints = npoints;
    made->u.points.points = const_cast<uint64_t*>(points);
    return made;
  });
}

ADIOS_SELECTION* adios_selection_writeblock(int index) {
  return guarded_pointer([&]() -> Outcome<ADIOS_SELECTION*> {
    ADIOS_SELECTION* const made = new_selection(ADIOS_SELECTION_WRITEBLOCK);
    made->u.block.index = index;
    return made;
  });
}

ADIOS_SELECTION* adios_selection_auto(char* hints) {
  return guarded_pointer([&]() -> Outcome<ADIOS_SELECTION*> {
    ADIOS_SELECTION* const made = new_selection(ADIOS_SELECTION_AUTO);
    made->u.autosel.hints = hints ? malloc_copy(std::string_view(hints)) : nullptr;
    return made;
  });
}

void adios_selection_delete(ADIOS_SELECTION* selection) {
  if (selection == nullptr) return;
  if (selection->type == ADIOS_SELECTION_BOUNDINGBOX) {
    std::free(selection->u.bb.start);
    std::free(selection->u.bb.count);
  } else if (selection->type == ADIOS_SELECTION_POINTS) {
    if (selection->u.points._free_points_on_delete) std::free(selection->u.points.points);
  } else if (selection->type == ADIOS_SELECTION_AUTO) {
    std::free(selection->u.autosel.hints);
  }
  std::free(selection);
}

ADIOS_SELECTION* adios_selection_points_1DtoND(ADIOS_SELECTION* pointsinbox1D, int global) {
  return guarded_pointer([&]() -> Outcome<ADIOS_SELECTION*> {
    const auto* points =
        pointsinbox1D && pointsinbox1D->type == ADIOS_SELECTION_POINTS ? &pointsinbox1D->u.points : nullptr;
    if (points == nullptr || points->ndim != 1 || points->container_selection == nullptr ||
        points->container_selection->type != ADIOS_SELECTION_BOUNDINGBOX ||
        (points->points == nullptr && points->npoints > 0))
      return refuse_reading(err_invalid_selection, "the selection is not of points along a box");
    const auto& box = points->container_selection->u.bb;
    FOREBAY_CHECK(check_selected(box.ndim, box.start && box.count));
    const auto ndim = static_cast<uint64_t>(box.ndim);
    ADIOS_SELECTION* const made = new_selection(ADIOS_SELECTION_POINTS);
    made->u.points = {box.ndim, 1, points->npoints, allocate<uint64_t>(points->npoints * ndim), nullptr};
    if (!global) made->u.points.container_selection = points->container_selection;
    for (uint64_t i = 0; i < points->npoints; ++i)
      append_indices(points->points[i], box, global != 0, made->u.points.points + i * ndim);
    return made;
  });
}
}

// Selections as programs make them, and copies of them that outlive the program's own.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <adios_selection.h>

#include "base/shape.h"
#include "io/group/failure.h"

namespace forebay::adios {

struct SelectionCopy {
  ADIOS_SELECTION_TYPE type = ADIOS_SELECTION_BOUNDINGBOX;
  Shape start, count;            // of a box
  uint64_t dimensions = 0;       // of points
  std::vector<uint64_t> points;  // dimensions numbers for each
  std::shared_ptr<const SelectionCopy> container;
  ADIOS_SELECTION_WRITEBLOCK_STRUCT block{};
};

// err_invalid_selection, err_operation_not_supported.
io::Outcome<SelectionCopy> copy_selection(const ADIOS_SELECTION& selection);

// For a chunk: adios_selection_delete() frees all of it.
ADIOS_SELECTION* make_selection(const SelectionCopy& copy);

}  // namespace forebay::adios

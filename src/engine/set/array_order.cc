#include "engine/set/array_order.h"

#include <algorithm>

#include "base/bytes.h"
#include "format/npy.h"

namespace forebay::engine {

Result<bool> is_reversed(const Catalogue& catalogue, uint32_t file, uint32_t variable, const ReadFile& read) {
  const std::string& format = catalogue.files[file].format;
  const VariableRow& row = catalogue.variables[variable];
  if ((format != "npy" && format != "npz") || catalogue.shapes[row.shape].size() < 2 || row.extent_count != 1)
    return false;
  // The header ends where the array begins. It has 128 bytes mostly, and more where it names many fields.
  const uint64_t end = catalogue.extents[row.first_extent].offset;
  for (const uint64_t most : {uint64_t{512}, uint64_t{64} << 10, uint64_t{2} << 20}) {
    Bytes before(std::min(end, most));
    FOREBAY_CHECK(read(end - before.size(), before));
    if (const auto known = format::is_fortran_npy(before)) return *known;
    if (before.size() == end) break;
  }
  return false;
}

}  // namespace forebay::engine

// The links of a group, however they are kept.
#pragma once

#include <vector>

#include "format/hdf5_object.h"

namespace forebay::format::hdf5 {

// The hard links of the group `object`, in order of the addresses that they lead to (which is, nearly, the order in
// which the objects were made, so that reading them passes through the file once). Empty if it is no group.
Result<std::vector<Link>> list_links(File& file, Object object);

}  // namespace forebay::format::hdf5

// The meshes that a file describes.
#pragma once

#include <string>
#include <vector>

#include "adios/read_file.h"

namespace forebay::adios {

// Of the group that is shown.
std::vector<std::string> mesh_names(const ReadFile& file);

}  // namespace forebay::adios

// All objects of an HDF5 file.
#pragma once

#include <functional>
#include <string>

#include "format/hdf5_object.h"

namespace forebay::format::hdf5 {

// Called with each object and its path: "" for the root.
using VisitObject = std::function<Result<void>(const Object& object, const std::string& path)>;

// Visits every object once, by its address, so that circles of hard links end. Soft and external links are not
// followed. An object of which `visit` or the reading fails is left out if the error concerns it alone (corrupt,
// unsupported), as long as it is not the root.
Result<void> walk_objects(File& file, Read what, const VisitObject& visit);

}  // namespace forebay::format::hdf5

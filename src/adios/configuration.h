// What parameters of methods say to the library itself.
#pragma once

#include <string>

namespace forebay::adios {

// verbose=0..4, quiet, logfile=PATH, abort_on_error, skip_damaged.
void heed(const std::string& parameters);

}  // namespace forebay::adios

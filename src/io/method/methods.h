// The methods of this folder.
#pragma once

#include <string>
#include <vector>

#include "io/method/registry.h"

namespace forebay::io {

MethodEntry null_method();                 // writes nothing
MethodEntry posix_method();                // a file for each rank
MethodEntry mpi_method(std::string name);  // one file for all, by a name of several
MethodEntry var_merge_method();            // another, to which ranks give joined blocks
MethodEntry aggregate_method();            // a file for each so many ranks
MethodEntry store_method();                // sets of a store, merged and compressed while the program goes on

// All of them, in the order in which programs are told of them.
std::vector<MethodEntry> own_methods();

}  // namespace forebay::io

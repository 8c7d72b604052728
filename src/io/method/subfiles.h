// The subfiles of a container NAME, in NAME.dir, that another file is to replace which does not know of them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/error.h"

namespace forebay::io {

// Names in NAME.dir of the subfiles that the container at `path` lists, as methods name them. None if nothing can be
// read there, or nothing is listed.
std::vector<std::string> find_subfiles(const std::string& path);

// Whether what a name of a subfile, or of an unfinished file, stands for may be removed or replaced: it is a container,
// what a power cut may leave of one, or not there. exists otherwise, for somebody else put it there.
Result<void> check_own_file(const std::string& path);

// Removes those from NAME.dir that the file which is now at `path` does not list, and the directory if nothing else is
// in it. What cannot be removed stays.
void remove_subfiles(const std::string& path, std::span<const std::string> names);

}  // namespace forebay::io

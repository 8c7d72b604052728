// Methods that are shared objects: forebay/forebay_method.h says what one is and where it is looked for.
#pragma once

#include <string>
#include <vector>

#include "io/method/registry.h"

namespace forebay::io {

// The directories that are searched, in their order: that of this installation, and those that the user names.
std::vector<std::string> plugin_directories();

// The names of the files there, as find_plugin() takes them, in order: each once. What is in them is not looked at.
std::vector<std::string> plugin_names();

// The method of that name, which counts in any case, from the first directory that has its file. unknown_method if no
// directory has one; another failure, which names the file, if it is there and cannot be used, or if others could have
// put it there (base/posix/own_code.h). What was loaded once stays. Thread-safe.
Outcome<MethodEntry> find_plugin(const std::string& name);

// A method that is found when a program asks for it, so that programs are told of it. `hint` says where it comes from.
MethodEntry plugin_method(std::string name, std::string hint);

}  // namespace forebay::io

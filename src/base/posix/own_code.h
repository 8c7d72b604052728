// The file that this code is in, and the files that it may run: plug-ins, modules and programs, which are all found by
// their place. Whatever is looked for in a directory goes through here; libraries that the system's loader finds by
// their name do not.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"

namespace forebay {

// The file of the program or the shared object that this code is linked into, without symbolic links; empty if the
// system does not say. Thread-safe.
const std::string& own_code();

// The command of the installation or build tree that this code is in: own_code(), but of a program of an extension the
// command beside which it lies. Thread-safe.
const std::string& own_command();

// Where the program `name` of an extension lies: found by the place of own_command() alone.
std::string extension_program(std::string_view name);

// The path of a file, without symbolic links, that nobody but root, this user and the owner of own_code() can have put
// there, or can change: it and the directories above it belong to them, and others cannot write them (trust.h). What is
// above own_code() is not asked about. not_found; permission, with what to do, if others can; invalid_argument if it is
// not a regular file. Thread-safe.
Result<std::string> trusted_file(const std::string& path);

// dlopen() of a trusted file. The errors of trusted_file(); unsupported, with the loader's words, if it cannot be
// loaded. Thread-safe.
Result<void*> load_code(const std::string& path, int mode);

}  // namespace forebay

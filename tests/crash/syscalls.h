// Which system calls change a file system, the instants at which a crash or an error can leave something behind, and
// which ones read from it.
#pragma once

#include <cstdint>
#include <optional>

namespace crash {

struct Syscall {
  const char* name;
  bool allocates;  // a full disk can refuse it
};

// The description of a call that changes a file system, by number and arguments. Opening counts if it may create or
// write; writes to the standard streams do not count, and neither does closing, which the tracer decides by descriptor.
std::optional<Syscall> changing_call(uint64_t number, const uint64_t args[6]);

// What a call changes, as numbers of its arguments: a name, in a directory (-1: that of the process), or, without a
// name
// (-1), an open file. Both are -1 for other calls. Of two names, the new one.
struct Changed {
  int directory = -1, name = -1;
};
Changed changed_by(uint64_t number);

// Whether it is a call that copies the descriptor that is its first argument.
bool copies_descriptor(uint64_t number, const uint64_t args[6]);

// Whether it is a call that opens a file for writing and returns its descriptor.
bool opens_for_writing(uint64_t number, const uint64_t args[6]);

// Whether it is a call that reads from the file or directory whose descriptor is its first argument.
bool reads(uint64_t number);

// The argument of a call that opens a file which is the address of the file's name.
std::optional<int> opened_name(uint64_t number);

}  // namespace crash

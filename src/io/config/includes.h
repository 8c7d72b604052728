// Source text, in the language of the group's program, that writes or reads all its variables: programs include it, so
// that a change of the configuration needs no change of the program. It uses the program's variables adios_handle,
// adios_groupsize, adios_totalsize (in Fortran adios_err as well), and of each variable its gwrite or gread expression,
// or else its name.
#pragma once

#include <cstdint>
#include <string>

#include "io/group/definition.h"

namespace forebay::io {

// "gwrite_GROUP.ch": the size of what is written, then one write for each variable, in order of definition. A group
// without variables gives a comment.
std::string writing_include(const GroupDefinition& group);

enum class ReadStyle : uint8_t {
  selections,  // adios_schedule_read() of each array of the block that rank `rank` wrote, as since ADIOS 1.6; uses `fp`
               // and `s`
  calls,       // adios_read() of each variable between adios_open() in mode "r" and adios_close()
};

// "gread_GROUP.ch". Variables with read="no" are left out.
std::string reading_include(const GroupDefinition& group, ReadStyle style);

// "gwrite_GROUP.ch", "gread_GROUP.fh"; characters of a group's name that a file's name should not have become '_'.
std::string include_name(const GroupDefinition& group, bool is_write);

}  // namespace forebay::io

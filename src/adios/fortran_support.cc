#include "adios/fortran/support.h"
#include "adios/program.h"

using forebay::adios::Program;

extern "C" {

int adios_fortran_is_string(int64_t fd, const char* name) {
  const auto file = Program::instance().file(fd);
  if (!file) return 0;
  const auto place = (*file)->group->variable(name);
  return place && (*file)->group->group().definition.variables[*place].type == forebay::io::ValueType::string;
}

int adios_fortran_is_string_byid(int64_t id) {
  const auto variable = Program::instance().variable(id);
  return variable && variable->group->definition.variables[variable->place].type == forebay::io::ValueType::string;
}

void adios_fortran_order(int64_t group) {
  if (const auto found = Program::instance().group(group)) (*found)->group->definition.fortran_order = true;
}

}  // extern "C"

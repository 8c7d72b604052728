// What libadiosf asks of libadios beside adios.h, and texts as Fortran has them: padded with blanks, their length
// behind all other arguments.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace forebay::adios {

inline std::string from_fortran(const char* text, size_t length) {
  const std::string_view all(text, text ? length : 0);
  const size_t last = all.find_last_not_of(std::string_view(" \0", 2));
  return std::string(all.substr(0, last == std::string_view::npos ? 0 : last + 1));
}

}  // namespace forebay::adios

extern "C" {

// Whether the variable is a string, whose values have an end of their own; 0 if there is no such variable.
int adios_fortran_is_string(int64_t fd, const char* name);
int adios_fortran_is_string_byid(int64_t id);

// The group's arrays are in Fortran's order from now on.
void adios_fortran_order(int64_t group);
}

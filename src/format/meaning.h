// What the attributes of a variable say that its values mean: netCDF's conventions (NUG, appendix A; CF 1.11, 2.5.1 and
// 8.1). Pure.
#pragma once

#include <string_view>

#include "base/meaning.h"
#include "format/attributes.h"

namespace forebay::format {

// Whether an attribute of that name is one of those.
bool says_what_values_mean(std::string_view name);

// Of the variable `object`, whose elements are of `type`; `is_netcdf`: netCDF's own fill value is one for
// floating-point numbers where `_FillValue` names none. Attributes that make no sense are as if they were not there.
Meaning meaning_of(const FileAttributes& attributes, std::string_view object, const DataType& type, bool is_netcdf);

// The same as it is kept; empty if values mean what they are, or if there would be more than a catalogue keeps.
std::string meaning_text(const FileAttributes& attributes, std::string_view object, const DataType& type,
                         bool is_netcdf);

// Whether the file is one of netCDF, by its format and its attributes.
bool is_netcdf(std::string_view format, const FileAttributes& attributes);

}  // namespace forebay::format

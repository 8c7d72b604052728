// Values of any type that Fortran reads.
#include <algorithm>
#include <cstdlib>
#include <cstring>

#include <ISO_Fortran_binding.h>
#include <adios_read.h>

#include "adios/fortran/support.h"

namespace {

ADIOS_FILE* file_at(int64_t handle) { return reinterpret_cast<ADIOS_FILE*>(handle); }

bool is_in_one_piece(const CFI_cdesc_t& values) {
  auto expected = static_cast<ptrdiff_t>(values.elem_len);
  for (int i = 0; i < values.rank; ++i) {
    if (values.dim[i].extent > 1 && values.dim[i].sm != expected) return false;
    expected *= values.dim[i].extent;
  }
  return true;
}

// Fills what a program gave: of texts the rest with blanks.
int fill(const CFI_cdesc_t& out, const void* from, int bytes, enum ADIOS_DATATYPES type) {
  auto* const to = static_cast<char*>(out.base_addr);
  if (type != adios_string) {
    std::memcpy(to, from, static_cast<size_t>(bytes));
    return 0;
  }
  const size_t length = std::strlen(static_cast<const char*>(from)), room = out.elem_len;
  std::memcpy(to, from, std::min(length, room));
  if (length < room) std::memset(to + length, ' ', room - length);
  return 0;
}

// One number of a statistic, where it is known.
void put(const CFI_cdesc_t& out, size_t place, const void* value, size_t bytes) {
  if (value != nullptr && out.base_addr != nullptr)
    std::memcpy(static_cast<char*>(out.base_addr) + place * bytes, value, bytes);
}

}  // namespace

extern "C" {

int adios_fortran_schedule_any(int64_t fp, int64_t sel, const char* name, int from_step, int nsteps,
                               const CFI_cdesc_t* values) {
  if (values->rank > 0 && !is_in_one_piece(*values)) {
    adios_error(err_invalid_argument, const_cast<char*>("adios_schedule_read needs contiguous memory for '%s'"), name);
    return err_invalid_argument;
  }
  return adios_schedule_read(file_at(fp), reinterpret_cast<const ADIOS_SELECTION*>(sel), name, from_step, nsteps,
                             values->base_addr);
}

int adios_fortran_scalar_any(int64_t fp, const char* name, const CFI_cdesc_t* values) {
  ADIOS_VARINFO* const info = adios_inq_var(file_at(fp), name);
  if (info == nullptr) return adios_errno;
  int err = err_no_error;
  if (info->value != nullptr) {
    fill(*values, info->value, adios_type_size(info->type, info->value), info->type);
  } else {
    adios_error(err_invalid_argument, const_cast<char*>("'%s' is no scalar"), name);
    err = err_invalid_argument;
  }
  adios_free_varinfo(info);
  return err;
}

int adios_fortran_attr_any(int64_t fp, const char* name, const CFI_cdesc_t* values) {
  enum ADIOS_DATATYPES type = adios_unknown;
  int size = 0;
  void* data = nullptr;
  const int err = adios_get_attr(file_at(fp), name, &type, &size, &data);
  if (err != err_no_error) return err;
  if (type == adios_string_array) {
    auto* const to = static_cast<char*>(values->base_addr);
    const size_t room = values->elem_len, count = static_cast<size_t>(size) / sizeof(char*);
    for (size_t i = 0; i < count; ++i) {
      const char* const text = static_cast<char**>(data)[i];
      const size_t length = std::min(std::strlen(text), room);
      std::memcpy(to + i * room, text, length);
      std::memset(to + i * room + length, ' ', room - length);
    }
  } else {
    fill(*values, data, size, type);
  }
  std::free(data);
  return err_no_error;
}

int adios_fortran_statistics_any(int64_t fp, const char* name, const CFI_cdesc_t* value, const CFI_cdesc_t* gmin,
                                 const CFI_cdesc_t* gmax, double* gavg, double* gstd_dev, const CFI_cdesc_t* mins,
                                 const CFI_cdesc_t* maxs, double* avgs, double* std_devs) {
  ADIOS_VARINFO* const info = adios_inq_var(file_at(fp), name);
  if (info == nullptr) return adios_errno;
  const int err = adios_inq_var_stat(file_at(fp), info, 1, 0);
  if (err == err_no_error) {
    const ADIOS_VARSTAT& of = *info->statistics;
    const auto bytes = static_cast<size_t>(adios_type_size(info->type, nullptr));
    put(*value, 0, info->value, bytes);
    put(*gmin, 0, of.min, bytes);
    put(*gmax, 0, of.max, bytes);
    if (of.avg) *gavg = *of.avg;
    if (of.std_dev) *gstd_dev = *of.std_dev;
    for (size_t i = 0; i < static_cast<size_t>(info->nsteps); ++i) {
      put(*mins, i, of.steps->mins[i], bytes);
      put(*maxs, i, of.steps->maxs[i], bytes);
      if (of.steps->avgs[i]) avgs[i] = *of.steps->avgs[i];
      if (of.steps->std_devs[i]) std_devs[i] = *of.steps->std_devs[i];
    }
  }
  adios_free_varinfo(info);
  return err;
}
}

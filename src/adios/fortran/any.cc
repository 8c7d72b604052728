// Values of any type, kind and rank, as Fortran 2018 describes them to C.
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include <ISO_Fortran_binding.h>
#include <adios.h>

#include "adios/fortran/support.h"

using forebay::adios::from_fortran;

namespace {

size_t element_count(const CFI_cdesc_t& values) {
  size_t count = 1;
  for (int i = 0; i < values.rank; ++i)
    count *= static_cast<size_t>(values.dim[i].extent < 0 ? 0 : values.dim[i].extent);
  return count;
}

bool is_contiguous(const CFI_cdesc_t& values) {
  ptrdiff_t expected = static_cast<ptrdiff_t>(values.elem_len);
  for (int i = 0; i < values.rank; ++i) {
    if (values.dim[i].extent > 1 && values.dim[i].sm != expected) return false;
    expected *= values.dim[i].extent;
  }
  return true;
}

// The elements one after another, the first dimension fastest.
std::vector<char> packed(const CFI_cdesc_t& values) {
  const size_t count = element_count(values);
  std::vector<char> result(count * values.elem_len);
  std::vector<CFI_index_t> index(static_cast<size_t>(values.rank), 0);
  for (size_t i = 0; i < count; ++i) {
    const char* from = static_cast<const char*>(values.base_addr);
    for (size_t d = 0; d < index.size(); ++d) from += index[d] * values.dim[d].sm;
    std::memcpy(result.data() + i * values.elem_len, from, values.elem_len);
    for (size_t d = 0; d < index.size() && ++index[d] == values.dim[d].extent; ++d) index[d] = 0;
  }
  return result;
}

// Calls `write` with the values as C has them; of one text, which a variable of strings takes, without trailing blanks.
template <class Write>
int with_values(const CFI_cdesc_t& values, int64_t text_length, bool is_string, const Write& write) {
  if (is_string && text_length >= 0 && values.rank == 0) {
    const auto length = static_cast<size_t>(text_length);
    return write(from_fortran(static_cast<const char*>(values.base_addr), length).c_str());
  }
  if (text_length >= 0 && values.rank == 0) return write(values.base_addr);
  if (is_contiguous(values)) return write(values.base_addr);
  return write(packed(values).data());
}

int define_texts(int64_t group, const char* name, const char* path, int nelems, const CFI_cdesc_t& values,
                 size_t length) {
  if (values.rank == 0)
    return adios_define_attribute_byvalue(group, name, path, adios_string, 1,
                                          from_fortran(static_cast<const char*>(values.base_addr), length).c_str());
  const std::vector<char> all = packed(values);
  std::vector<std::string> texts;
  for (size_t i = 0; i < element_count(values) && i < static_cast<size_t>(nelems); ++i)
    texts.push_back(from_fortran(all.data() + i * values.elem_len, length));
  std::vector<const char*> pointers;
  for (const std::string& text : texts) pointers.push_back(text.c_str());
  return adios_define_attribute_byvalue(group, name, path, adios_string_array, static_cast<int>(pointers.size()),
                                        pointers.data());
}

}  // namespace

extern "C" {

int adios_fortran_write_any(int64_t fd, const char* name, const CFI_cdesc_t* values, int64_t text_length) {
  return with_values(*values, text_length, adios_fortran_is_string(fd, name),
                     [&](const void* from) { return adios_write(fd, name, from); });
}

int adios_fortran_write_any_byid(int64_t fd, int64_t id, const CFI_cdesc_t* values, int64_t text_length) {
  return with_values(*values, text_length, adios_fortran_is_string_byid(id),
                     [&](const void* from) { return adios_write_byid(fd, id, from); });
}

int adios_fortran_read_any(int64_t fd, const char* name, const CFI_cdesc_t* values, int64_t bytes) {
  if (values->rank > 0 && !is_contiguous(*values)) {
    adios_error(err_invalid_argument, const_cast<char*>("adios_read needs contiguous memory for '%s'"), name);
    return err_invalid_argument;
  }
  return adios_read(fd, name, values->base_addr, static_cast<uint64_t>(bytes));
}

int adios_fortran_attribute_any(int64_t group, const char* name, const char* path, int type, int nelems,
                                const CFI_cdesc_t* values, int64_t text_length) {
  if (text_length >= 0) return define_texts(group, name, path, nelems, *values, static_cast<size_t>(text_length));
  const std::vector<char> all = packed(*values);
  const auto there = static_cast<int>(element_count(*values));
  return adios_define_attribute_byvalue(group, name, path, static_cast<enum ADIOS_DATATYPES>(type),
                                        nelems < there ? nelems : there, all.data());
}

}  // extern "C"

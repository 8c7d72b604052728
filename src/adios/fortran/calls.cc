// ADIOS's calls as Fortran makes them: gfortran's names with a '_' behind them, arguments by address, the lengths of
// texts behind all others. Programs call them without a module, or by adios_write_mod.
#include <adios.h>

#include "adios/fortran/support.h"

using forebay::adios::from_fortran;

namespace {

MPI_Comm communicator(const int* comm) {
#ifdef _NOMPI
  return *comm;
#else
  return MPI_Comm_f2c(static_cast<MPI_Fint>(*comm));
#endif
}

// Of a variable of strings the length counts; other values need none, and may have come without one.
const void* values_of(const void* var, size_t length, bool is_string, std::string& text) {
  if (!is_string) return var;
  text = from_fortran(static_cast<const char*>(var), length);
  return text.c_str();
}

}  // namespace

extern "C" {

void adios_init_(const char* config, const int* comm, int* err, size_t config_length) {
  *err = adios_init(from_fortran(config, config_length).c_str(), communicator(comm));
}

// A number without meaning, as in C.
void adios_set_application_id_(const int*, int* err) { *err = err_no_error; }

void adios_init_noxml_(const int* comm, int* err) { *err = adios_init_noxml(communicator(comm)); }

void adios_is_initialized_(int* result) { *result = adios_is_initialized(); }

void adios_finalize_(const int* mype, int* err) { *err = adios_finalize(*mype); }

void adios_open_(int64_t* fd, const char* group, const char* name, const char* mode, const int* comm, int* err,
                 size_t group_length, size_t name_length, size_t mode_length) {
  *err = adios_open(fd, from_fortran(group, group_length).c_str(), from_fortran(name, name_length).c_str(),
                    from_fortran(mode, mode_length).c_str(), communicator(comm));
}

void adios_group_size_(const int64_t* fd, const int64_t* data_size, int64_t* total_size, int* err) {
  uint64_t total = 0;
  *err = adios_group_size(*fd, static_cast<uint64_t>(*data_size), &total);
  *total_size = static_cast<int64_t>(total);
}

void adios_write_(const int64_t* fd, const char* name, const void* var, int* err, size_t name_length,
                  size_t var_length) {
  const std::string variable = from_fortran(name, name_length);
  std::string text;
  const bool is_string = adios_fortran_is_string(*fd, variable.c_str());
  *err = adios_write(*fd, variable.c_str(), values_of(var, var_length, is_string, text));
}

void adios_write_byid_(const int64_t* fd, const int64_t* id, const void* var, int* err, size_t var_length) {
  std::string text;
  *err = adios_write_byid(*fd, *id, values_of(var, var_length, adios_fortran_is_string_byid(*id), text));
}

// `buffer` is a place for the address, such as a type(c_ptr).
void adios_get_write_buffer_(const int64_t* fd, const char* name, int64_t* size, void** buffer, int* err,
                             size_t name_length) {
  uint64_t bytes = static_cast<uint64_t>(*size);
  *err = adios_get_write_buffer(*fd, from_fortran(name, name_length).c_str(), &bytes, buffer);
  *size = static_cast<int64_t>(bytes);
}

void adios_read_(const int64_t* fd, const char* name, void* buffer, const int64_t* buffer_size, int* err,
                 size_t name_length) {
  *err = adios_read(*fd, from_fortran(name, name_length).c_str(), buffer, static_cast<uint64_t>(*buffer_size));
}

void adios_set_path_(const int64_t* fd, const char* path, int* err, size_t path_length) {
  *err = adios_set_path(*fd, from_fortran(path, path_length).c_str());
}

void adios_set_path_var_(const int64_t* fd, const char* path, const char* name, int* err, size_t path_length,
                         size_t name_length) {
  *err = adios_set_path_var(*fd, from_fortran(path, path_length).c_str(), from_fortran(name, name_length).c_str());
}

void adios_close_(const int64_t* fd, int* err) { *err = adios_close(*fd); }

void adios_start_calculation_(int* err) { *err = adios_start_calculation(); }
void adios_stop_calculation_(int* err) { *err = adios_stop_calculation(); }
void adios_end_iteration_(int* err) { *err = adios_end_iteration(); }

void adios_timing_write_xml_(const int64_t* fd, const char* filename, size_t length) {
  adios_timing_write_xml(*fd, from_fortran(filename, length).c_str());
}

void adios_allocate_buffer_(const int* megabytes, int* err) {
  *err = adios_allocate_buffer(ADIOS_BUFFER_ALLOC_NOW, static_cast<uint64_t>(*megabytes));
}

void adios_set_max_buffer_size_(const int* megabytes) {
  adios_set_max_buffer_size(static_cast<uint64_t>(*megabytes > 0 ? *megabytes : 0));
}

// The group's arrays are in Fortran's order.
void adios_declare_group_(int64_t* id, const char* name, const char* time_index, const int* stats, int* err,
                          size_t name_length, size_t time_length) {
  *err = adios_declare_group(id, from_fortran(name, name_length).c_str(), from_fortran(time_index, time_length).c_str(),
                             static_cast<enum ADIOS_STATISTICS_FLAG>(*stats));
  if (*err == 0) adios_fortran_order(*id);
}

void adios_free_group_(const int64_t* id, int* err) { *err = adios_free_group(*id); }

void adios_set_time_aggregation_(const int64_t* group, const int64_t* bytes, const int64_t* sync_group, int* err) {
  *err = adios_set_time_aggregation(*group, static_cast<uint64_t>(*bytes), *sync_group);
}

void adios_select_method_(const int64_t* group, const char* method, const char* parameters, const char* base_path,
                          int* err, size_t method_length, size_t parameters_length, size_t base_length) {
  *err = adios_select_method(*group, from_fortran(method, method_length).c_str(),
                             from_fortran(parameters, parameters_length).c_str(),
                             from_fortran(base_path, base_length).c_str());
}

void adios_define_var_(const int64_t* group, const char* name, const char* path, const int* type,
                       const char* dimensions, const char* global_dimensions, const char* offsets, int64_t* id,
                       size_t name_length, size_t path_length, size_t dimensions_length, size_t global_length,
                       size_t offsets_length) {
  *id = adios_define_var(*group, from_fortran(name, name_length).c_str(), from_fortran(path, path_length).c_str(),
                         static_cast<enum ADIOS_DATATYPES>(*type), from_fortran(dimensions, dimensions_length).c_str(),
                         from_fortran(global_dimensions, global_length).c_str(),
                         from_fortran(offsets, offsets_length).c_str());
}

void adios_delete_vardefs_(const int64_t* group, int* err) { *err = adios_delete_vardefs(*group); }
void adios_delete_attrdefs_(const int64_t* group, int* err) { *err = adios_delete_attrdefs(*group); }

void adios_expected_var_size_(const int64_t* id, int64_t* size) {
  *size = static_cast<int64_t>(adios_expected_var_size(*id));
}

void adios_set_transform_(const int64_t* id, const char* transform, int* err, size_t length) {
  *err = adios_set_transform(*id, from_fortran(transform, length).c_str());
}

void adios_define_attribute_(const int64_t* group, const char* name, const char* path, const int* type,
                             const char* value, const char* variable, int* err, size_t name_length, size_t path_length,
                             size_t value_length, size_t variable_length) {
  *err =
      adios_define_attribute(*group, from_fortran(name, name_length).c_str(), from_fortran(path, path_length).c_str(),
                             static_cast<enum ADIOS_DATATYPES>(*type), from_fortran(value, value_length).c_str(),
                             from_fortran(variable, variable_length).c_str());
}

void adios_define_attribute_byvalue_(const int64_t* group, const char* name, const char* path, const int* type,
                                     const int* count, const void* values, int* err, size_t name_length,
                                     size_t path_length, size_t values_length) {
  std::string text;
  const bool is_string = *type == adios_string;
  *err = adios_define_attribute_byvalue(
      *group, from_fortran(name, name_length).c_str(), from_fortran(path, path_length).c_str(),
      static_cast<enum ADIOS_DATATYPES>(*type), *count, values_of(values, values_length, is_string, text));
}

void adios_define_schema_version_(const int64_t* group, const char* version, size_t length) {
  adios_define_schema_version(*group, from_fortran(version, length).data());
}

void adios_define_var_mesh_(const int64_t* group, const char* name, const char* mesh, size_t name_length,
                            size_t mesh_length) {
  adios_define_var_mesh(*group, from_fortran(name, name_length).c_str(), from_fortran(mesh, mesh_length).c_str());
}

void adios_define_var_centering_(const int64_t* group, const char* name, const char* centering, size_t name_length,
                                 size_t centering_length) {
  adios_define_var_centering(*group, from_fortran(name, name_length).c_str(),
                             from_fortran(centering, centering_length).c_str());
}

void adios_define_mesh_file_(const int64_t* group, const char* name, const char* file, size_t name_length,
                             size_t file_length) {
  adios_define_mesh_file(*group, from_fortran(name, name_length).data(), from_fortran(file, file_length).data());
}

// Those that are told of a mesh or a variable, one text each.
#define FOREBAY_DESCRIBE(call)                                                                                       \
  void call##_(const char* value, const int64_t* group, const char* name, size_t value_length, size_t name_length) { \
    call(from_fortran(value, value_length).c_str(), *group, from_fortran(name, name_length).c_str());                \
  }
FOREBAY_DESCRIBE(adios_define_var_timesteps)
FOREBAY_DESCRIBE(adios_define_var_timescale)
FOREBAY_DESCRIBE(adios_define_var_timeseriesformat)
FOREBAY_DESCRIBE(adios_define_var_hyperslab)
FOREBAY_DESCRIBE(adios_define_mesh_timevarying)
FOREBAY_DESCRIBE(adios_define_mesh_timesteps)
FOREBAY_DESCRIBE(adios_define_mesh_timescale)
FOREBAY_DESCRIBE(adios_define_mesh_timeseriesformat)
FOREBAY_DESCRIBE(adios_define_mesh_group)
#undef FOREBAY_DESCRIBE

void adios_define_mesh_uniform_(const char* dimensions, const char* origin, const char* spacing, const char* maximum,
                                const char* nspace, const int64_t* group, const char* name, size_t dimensions_length,
                                size_t origin_length, size_t spacing_length, size_t maximum_length,
                                size_t nspace_length, size_t name_length) {
  adios_define_mesh_uniform(from_fortran(dimensions, dimensions_length).data(),
                            from_fortran(origin, origin_length).data(), from_fortran(spacing, spacing_length).data(),
                            from_fortran(maximum, maximum_length).data(), from_fortran(nspace, nspace_length).data(),
                            *group, from_fortran(name, name_length).c_str());
}

void adios_define_mesh_rectilinear_(const char* dimensions, const char* coordinates, const char* nspace,
                                    const int64_t* group, const char* name, size_t dimensions_length,
                                    size_t coordinates_length, size_t nspace_length, size_t name_length) {
  adios_define_mesh_rectilinear(
      from_fortran(dimensions, dimensions_length).data(), from_fortran(coordinates, coordinates_length).data(),
      from_fortran(nspace, nspace_length).data(), *group, from_fortran(name, name_length).c_str());
}

void adios_define_mesh_structured_(const char* dimensions, const char* points, const char* nspace, const int64_t* group,
                                   const char* name, size_t dimensions_length, size_t points_length,
                                   size_t nspace_length, size_t name_length) {
  adios_define_mesh_structured(from_fortran(dimensions, dimensions_length).data(),
                               from_fortran(points, points_length).data(), from_fortran(nspace, nspace_length).data(),
                               *group, from_fortran(name, name_length).c_str());
}

void adios_define_mesh_unstructured_(const char* points, const char* data, const char* count, const char* cell_type,
                                     const char* npoints, const char* nspace, const int64_t* group, const char* name,
                                     size_t points_length, size_t data_length, size_t count_length,
                                     size_t cell_type_length, size_t npoints_length, size_t nspace_length,
                                     size_t name_length) {
  adios_define_mesh_unstructured(
      from_fortran(points, points_length).data(), from_fortran(data, data_length).data(),
      from_fortran(count, count_length).data(), from_fortran(cell_type, cell_type_length).data(),
      from_fortran(npoints, npoints_length).data(), from_fortran(nspace, nspace_length).data(), *group,
      from_fortran(name, name_length).c_str());
}

}  // extern "C"

// The reading interface's calls as Fortran makes them (calls.cc). Dimensions are turned round: C's first one is the
// slowest.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <adios_read.h>

#include "adios/fortran/support.h"

using forebay::adios::from_fortran;

namespace {

MPI_Comm reading_communicator(const int* comm) {
#ifdef _NOMPI
  return *comm;
#else
  return MPI_Comm_f2c(static_cast<MPI_Fint>(*comm));
#endif
}

ADIOS_FILE* file_of(const int64_t* handle) { return reinterpret_cast<ADIOS_FILE*>(*handle); }
ADIOS_SELECTION* selection_of(const int64_t* handle) { return reinterpret_cast<ADIOS_SELECTION*>(*handle); }
int64_t handle_of(const void* pointer) { return reinterpret_cast<int64_t>(pointer); }

void put_text(const char* text, char* out, size_t room) {
  const size_t length = std::min(std::strlen(text), room);
  std::memcpy(out, text, length);
  std::memset(out + length, ' ', room - length);
}

int put_names(const ADIOS_FILE* fp, char** names, int count, char* out, size_t room) {
  if (fp == nullptr) return err_invalid_file_pointer;
  for (int i = 0; i < count; ++i) put_text(names[i], out + static_cast<size_t>(i) * room, room);
  return err_no_error;
}

std::vector<uint64_t> turned(const int64_t* numbers, int count) {
  std::vector<uint64_t> result(numbers, numbers + std::max(count, 0));
  std::reverse(result.begin(), result.end());
  return result;
}

}  // namespace

extern "C" {

void adios_errmsg_(char* msg, size_t length) { put_text(adios_errmsg(), msg, length); }

void adios_read_init_method_(const int* method, const int* comm, const char* parameters, int* err, size_t length) {
  *err = adios_read_init_method(static_cast<ADIOS_READ_METHOD>(*method), reading_communicator(comm),
                                from_fortran(parameters, length).c_str());
}

void adios_read_finalize_method_(const int* method, int* err) {
  *err = adios_read_finalize_method(static_cast<ADIOS_READ_METHOD>(*method));
}

void adios_read_open_(int64_t* fp, const char* fname, const int* method, const int* comm, const int*,
                      const float* timeout_sec, int* err, size_t length) {
  *fp = handle_of(adios_read_open(from_fortran(fname, length).c_str(), static_cast<ADIOS_READ_METHOD>(*method),
                                  reading_communicator(comm), ADIOS_LOCKMODE_NONE, *timeout_sec));
  *err = *fp == 0 ? adios_errno : err_no_error;
}

void adios_read_open_stream_(int64_t* fp, const char* fname, const int* method, const int* comm, const int* lockmode,
                             const float* timeout_sec, int* err, size_t length) {
  adios_read_open_(fp, fname, method, comm, lockmode, timeout_sec, err, length);
}

void adios_read_open_file_(int64_t* fp, const char* fname, const int* method, const int* comm, int* err,
                           size_t length) {
  *fp = handle_of(adios_read_open_file(from_fortran(fname, length).c_str(), static_cast<ADIOS_READ_METHOD>(*method),
                                       reading_communicator(comm)));
  *err = *fp == 0 ? adios_errno : err_no_error;
}

void adios_read_close_(const int64_t* fp, int* err) { *err = adios_read_close(file_of(fp)); }

void adios_advance_step_(const int64_t* fp, const int* last, const float* timeout_sec, int* err) {
  *err = adios_advance_step(file_of(fp), *last, *timeout_sec);
}

void adios_release_step_(const int64_t* fp, int* err) {
  adios_release_step(file_of(fp));
  *err = err_no_error;
}

void adios_reset_dimension_order_(const int64_t* fp, const int* flag) {
  adios_reset_dimension_order(file_of(fp), *flag);
}

void adios_inq_file_(const int64_t* fp, int* vars_count, int* attrs_count, int* current_step, int* last_step,
                     int* err) {
  const ADIOS_FILE* const file = file_of(fp);
  *err = file ? err_no_error : err_invalid_file_pointer;
  *vars_count = file ? file->nvars : 0;
  *attrs_count = file ? file->nattrs : 0;
  *current_step = file ? file->current_step : -1;
  *last_step = file ? file->last_step : -1;
}

void adios_inq_varnames_(const int64_t* fp, char* vnamelist, int* err, size_t length) {
  const ADIOS_FILE* const file = file_of(fp);
  *err = put_names(file, file ? file->var_namelist : nullptr, file ? file->nvars : 0, vnamelist, length);
}

void adios_inq_attrnames_(const int64_t* fp, char* anamelist, int* err, size_t length) {
  const ADIOS_FILE* const file = file_of(fp);
  *err = put_names(file, file ? file->attr_namelist : nullptr, file ? file->nattrs : 0, anamelist, length);
}

void adios_inq_ngroups_(const int64_t* fp, int* groups_count, int* err) {
  char** names = nullptr;
  const int count = adios_get_grouplist(file_of(fp), &names);
  *groups_count = std::max(count, 0);
  *err = std::min(count, 0);
}

void adios_inq_groupnames_(const int64_t* fp, char* gnamelist, int* err, size_t length) {
  char** names = nullptr;
  const int count = adios_get_grouplist(file_of(fp), &names);
  *err = count < 0 ? count : put_names(file_of(fp), names, count, gnamelist, length);
}

void adios_group_view_(const int64_t* fp, const int* groupid, int* err) {
  *err = adios_group_view(file_of(fp), *groupid);
}

void adios_inq_var_(const int64_t* fp, const char* varname, int* vartype, int* nsteps, int* ndim, int64_t* dims,
                    int* err, size_t length) {
  ADIOS_VARINFO* const info = adios_inq_var(file_of(fp), from_fortran(varname, length).c_str());
  *err = info ? err_no_error : adios_errno;
  *vartype = info ? static_cast<int>(info->type) : -1;
  *nsteps = info ? info->nsteps : -1;
  *ndim = info ? info->ndim : -1;
  for (int i = 0; i < *ndim; ++i) dims[i] = static_cast<int64_t>(info->dims[*ndim - 1 - i]);
  adios_free_varinfo(info);
}

void adios_inq_attr_(const int64_t* fp, const char* attrname, int* attrtype, int* attrsize, int* err, size_t length) {
  enum ADIOS_DATATYPES type = adios_unknown;
  void* data = nullptr;
  *attrsize = 0;
  *err = adios_get_attr(file_of(fp), from_fortran(attrname, length).c_str(), &type, attrsize, &data);
  *attrtype = static_cast<int>(type);
  if (*err == err_no_error) std::free(data);
}

void adios_perform_reads_(const int64_t* fp, int* err) { *err = adios_perform_reads(file_of(fp), 1); }

void adios_selection_boundingbox_(int64_t* sel, const int* ndim, const int64_t* start, const int64_t* count) {
  *sel = handle_of(adios_selection_boundingbox(*ndim, turned(start, *ndim).data(), turned(count, *ndim).data()));
}

void adios_selection_points_(int64_t* sel, const int* ndim, const int64_t* npoints, const int64_t* points) {
  *sel = 0;
  const size_t width = *ndim > 0 ? static_cast<size_t>(*ndim) : 0;
  const size_t count = *npoints > 0 ? static_cast<size_t>(*npoints) : 0;
  auto* const all = static_cast<uint64_t*>(std::calloc(std::max<size_t>(width * count, 1), sizeof(uint64_t)));
  if (all == nullptr) return;
  for (size_t i = 0; i < count; ++i)
    for (size_t d = 0; d < width; ++d) all[i * width + d] = static_cast<uint64_t>(points[i * width + width - 1 - d]);
  ADIOS_SELECTION* const made = adios_selection_points(*ndim, count, all);
  if (made == nullptr) return std::free(all);
  made->u.points._free_points_on_delete = 1;
  *sel = handle_of(made);
}

void adios_selection_writeblock_(int64_t* sel, const int* index) {
  *sel = handle_of(adios_selection_writeblock(*index));
}

void adios_selection_auto_(int64_t* sel, const char* hints, size_t length) {
  *sel = handle_of(adios_selection_auto(from_fortran(hints, length).data()));
}

void adios_selection_delete_(const int64_t* sel) { adios_selection_delete(selection_of(sel)); }

void adios_selection_get_type_(const int64_t* sel, int* seltype) {
  *seltype = *sel ? static_cast<int>(selection_of(sel)->type) : -1;
}

void adios_selection_get_ndim_(const int64_t* sel, int* ndim) {
  const ADIOS_SELECTION* const of = selection_of(sel);
  *ndim = -1;
  if (of && of->type == ADIOS_SELECTION_BOUNDINGBOX) *ndim = of->u.bb.ndim;
  if (of && of->type == ADIOS_SELECTION_POINTS) *ndim = of->u.points.ndim;
}

void adios_selection_get_boundingbox_(const int64_t* sel, int64_t* start, int64_t* count) {
  const ADIOS_SELECTION* const of = selection_of(sel);
  if (of == nullptr || of->type != ADIOS_SELECTION_BOUNDINGBOX) return;
  for (int i = 0; i < of->u.bb.ndim; ++i) {
    start[i] = static_cast<int64_t>(of->u.bb.start[of->u.bb.ndim - 1 - i]);
    count[i] = static_cast<int64_t>(of->u.bb.count[of->u.bb.ndim - 1 - i]);
  }
}

void adios_selection_get_npoints_(const int64_t* sel, int64_t* npoints) {
  const ADIOS_SELECTION* const of = selection_of(sel);
  *npoints = of && of->type == ADIOS_SELECTION_POINTS ? static_cast<int64_t>(of->u.points.npoints) : -1;
}

void adios_selection_get_points_(const int64_t* sel, int64_t* points, const int64_t* from_index,
                                 const int64_t* npoints) {
  const ADIOS_SELECTION* const of = selection_of(sel);
  if (of == nullptr || of->type != ADIOS_SELECTION_POINTS) return;
  const auto width = static_cast<int64_t>(of->u.points.ndim);
  const int64_t end = std::min(*from_index + *npoints, static_cast<int64_t>(of->u.points.npoints));
  for (int64_t i = std::max<int64_t>(*from_index, 0); i < end; ++i)
    for (int64_t d = 0; d < width; ++d)
      *points++ = static_cast<int64_t>(of->u.points.points[i * width + width - 1 - d]);
}

void adios_selection_get_index_(const int64_t* sel, int* index) {
  const ADIOS_SELECTION* const of = selection_of(sel);
  *index = of && of->type == ADIOS_SELECTION_WRITEBLOCK ? of->u.block.index : -1;
}

void adios_selection_get_hints_(const int64_t* sel, char* hints, size_t length) {
  const ADIOS_SELECTION* const of = selection_of(sel);
  const bool is_auto = of && of->type == ADIOS_SELECTION_AUTO && of->u.autosel.hints;
  put_text(is_auto ? of->u.autosel.hints : "", hints, length);
}
}

// The first version of ADIOS's reading interface, on top of the second one. Each group and file of it stands for one
// file of the second version, whose names are taken before the first version's header gives them another meaning.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <adios_read.h>

#include "adios/read_file.h"

namespace forebay::adios::second {

using File = ADIOS_FILE;
using VarInfo = ADIOS_VARINFO;
constexpr auto kMethod = ADIOS_READ_METHOD_BP;
constexpr auto open = &adios_read_open_file;
constexpr auto close = &adios_read_close;
constexpr auto inquire = &adios_inq_var;
constexpr auto inquire_statistics = &adios_inq_var_stat;
constexpr auto free_info = &adios_free_varinfo;
constexpr auto attribute = &adios_get_attr;
constexpr auto type_name = &adios_type_to_string;
constexpr auto type_size = &adios_type_size;
constexpr auto correlation = &adios_stat_cor;
constexpr auto covariance = &adios_stat_cov;

}  // namespace forebay::adios::second

#include <adios_read_v1.h>

namespace forebay::adios {
namespace {

using io::Outcome;

// Behind ADIOS_FILE::internal_data.
struct FirstFile {
  second::File* file = nullptr;
  ReadFile* read = nullptr;
  std::vector<std::string> groups;
};

Outcome<FirstFile*> first_file(const ADIOS_FILE* fp) {
  if (fp != nullptr && fp->internal_data != nullptr) return static_cast<FirstFile*>(fp->internal_data);
  return refuse_reading(err_invalid_file_pointer, "the file is not open",
                        "use what adios_fopen() returned, unless that is NULL");
}

Outcome<FirstFile*> first_file(const ADIOS_GROUP* gp) {
  if (gp != nullptr) return first_file(gp->fp);
  return refuse_reading(err_invalid_group_struct, "the group is not open",
                        "use what adios_gopen() returned, unless that is NULL");
}

char** copy_names(const std::vector<std::string>& names) {
  char** const made = allocate<char*>(names.size());
  for (size_t i = 0; i < names.size(); ++i) made[i] = malloc_copy(std::string_view(names[i]));
  return made;
}

void free_names(char** names, int count) {
  for (int i = 0; i < count; ++i) std::free(names[i]);
  std::free(names);
}

Outcome<ADIOS_FILE*> open_first(const char* name, MPI_Comm comm) {
  second::File* const opened = second::open(name, second::kMethod, comm);
  // What went wrong has been told.
  if (opened == nullptr) return io::refuse(static_cast<io::Code>(adios_errno), adios_errmsg());
  auto state = std::make_unique<FirstFile>();
  state->file = opened;
  state->read = static_cast<ReadFile*>(opened->internal_data);
  state->groups = state->read->groups;
  auto* const fp = allocate<ADIOS_FILE>(1);
  fp->groups_count = static_cast<int>(state->groups.size());
  fp->group_namelist = copy_names(state->groups);
  fp->vars_count = opened->nvars;
  fp->attrs_count = opened->nattrs;
  fp->tidx_start = 1;
  fp->ntimesteps = opened->last_step + 1;
  fp->version = opened->version;
  fp->file_size = opened->file_size;
  fp->endianness = opened->endianness;
  fp->internal_data = state.release();
  return fp;
}

Outcome<ADIOS_GROUP*> open_group(ADIOS_FILE* fp, int number) {
  FOREBAY_TRY(const FirstFile* const file, first_file(fp));
  if (number < 0 || number >= fp->groups_count)
    return refuse_reading(err_invalid_group,
                          file->read->path + " has no group of the number " + std::to_string(number));
  const std::string& name = file->groups[static_cast<size_t>(number)];
  std::vector<std::string> variables, attributes;
  for (const ReadVariable& variable : file->read->variables)
    if (variable.group == name || file->groups.size() == 1) variables.push_back(variable.name);
  for (const view::Attribute& attribute : file->read->attributes)
    if (attribute.group == name || file->groups.size() == 1) attributes.push_back(attribute.name);
  auto* const gp = allocate<ADIOS_GROUP>(1);
  gp->grpid = number;
  gp->vars_count = static_cast<int>(variables.size());
  gp->var_namelist = copy_names(variables);
  gp->attrs_count = static_cast<int>(attributes.size());
  gp->attr_namelist = copy_names(attributes);
  gp->fp = fp;
  gp->timestep = 1;
  gp->lasttimestep = fp->ntimesteps;
  return gp;
}

Outcome<size_t> variable_of(const FirstFile& file, const char* name) {
  const auto variable = name ? file.read->variable(name) : std::nullopt;
  if (variable) return *variable;
  return refuse_reading(err_invalid_varname, file.read->path + " has no variable '" + (name ? name : "") + "'",
                        "gp->var_namelist has the names, which count exactly");
}

Outcome<const char*> name_of(const ADIOS_GROUP& gp, int varid) {
  if (varid >= 0 && varid < gp.vars_count) return gp.var_namelist[varid];
  return refuse_reading(err_invalid_varid, "the group has no variable of the number " + std::to_string(varid));
}

bool has_time(const ReadVariable& variable) { return variable.places.size() > 1; }

Outcome<ADIOS_VARINFO*> inquire(ADIOS_GROUP* gp, const char* name) {
  FOREBAY_TRY(const FirstFile* const file, first_file(gp));
  FOREBAY_TRY(const size_t number, variable_of(*file, name));
  second::VarInfo* const known = second::inquire(file->file, name);
  if (known == nullptr) return io::refuse(static_cast<io::Code>(adios_errno), adios_errmsg());
  auto* const info = allocate<ADIOS_VARINFO>(1);
  info->internal_data = known;
  info->grpid = gp->grpid;
  for (int i = 0; i < gp->vars_count; ++i)
    if (file->read->variable(gp->var_namelist[i]) == number) info->varid = i;
  info->type = known->type;
  info->value = known->value;
  const bool timed = has_time(file->read->variables[number]);
  Shape dims(known->dims, known->dims + known->ndim);
  if (timed) dims.insert(dims.begin(), static_cast<uint64_t>(known->nsteps));
  info->ndim = static_cast<int>(dims.size());
  info->dims = malloc_copy(dims);
  info->timedim = timed ? 0 : -1;
  if (second::inquire_statistics(file->file, known, 1, 0) != err_no_error || !known->statistics) return info;
  info->gmin = known->statistics->min;
  info->gmax = known->statistics->max;
  info->gavg = known->statistics->avg;
  info->gstd_dev = known->statistics->std_dev;
  if (const auto* const steps = known->statistics->steps) {
    info->mins = steps->mins;
    info->maxs = steps->maxs;
    info->avgs = steps->avgs;
    info->std_devs = steps->std_devs;
  }
  return info;
}

// The numbers of a start or a count.
Outcome<Shape> numbers_of(const uint64_t* numbers, size_t count) {
  if (numbers == nullptr && count > 0)
    return refuse_reading(err_invalid_argument, "a box without start or count is asked for");
  return count == 0 ? Shape{} : Shape(numbers, numbers + count);
}

Outcome<uint64_t> read_box(const FirstFile& file, const char* name, const uint64_t* start, const uint64_t* count,
                           void* data) {
  FOREBAY_TRY(const size_t number, variable_of(file, name));
  if (data == nullptr) return refuse_reading(err_invalid_argument, "there is no memory to read into");
  const ReadVariable& variable = file.read->variables[number];
  const bool timed = has_time(variable), is_scalar = variable.form == view::Form::scalar;
  FOREBAY_TRY(Shape begin, numbers_of(start, (is_scalar ? 0 : variable.shape.size()) + timed));
  FOREBAY_TRY(Shape size, numbers_of(count, begin.size()));
  uint64_t first = 0, steps = 1;
  if (timed) {
    first = begin.front();
    steps = size.front();
    begin.erase(begin.begin());
    size.erase(size.begin());
    if (first > variable.places.size() || steps > variable.places.size() - first)
      return refuse_reading(err_out_of_bound, "'" + variable.name + "' has " + std::to_string(variable.places.size()) +
                                                  " steps, and more are asked for");
  }
  std::optional<SelectionCopy> selection;
  if (!is_scalar) {
    selection.emplace();
    selection->start = std::move(begin);
    selection->count = std::move(size);
  }
  uint64_t bytes = 0;
  for (uint64_t i = 0; i < steps; ++i) {
    FOREBAY_TRY(const uint64_t read, read_now(*file.read, number, static_cast<int>(first + i), selection,
                                              static_cast<std::byte*>(data) + bytes));
    bytes += read;
  }
  if (variable.type == io::ValueType::string) static_cast<char*>(data)[bytes] = '\0';
  return bytes;
}

// A box of one block, which counts through all steps.
Outcome<uint64_t> read_block(const FirstFile& file, const char* name, int index, const uint64_t* start,
                             const uint64_t* count, void* data) {
  FOREBAY_TRY(const size_t number, variable_of(file, name));
  if (data == nullptr) return refuse_reading(err_invalid_argument, "there is no memory to read into");
  const ReadVariable& variable = file.read->variables[number];
  auto left = static_cast<uint64_t>(std::max(index, 0));
  size_t at = 0;
  while (at < variable.places.size() && left >= variable.places[at].blocks) left -= variable.places[at++].blocks;
  if (index < 0 || at == variable.places.size())
    return refuse_reading(err_out_of_bound, "'" + variable.name + "' has no block " + std::to_string(index));
  std::optional<view::Box> box;
  if (variable.form != view::Form::scalar) {
    FOREBAY_TRY(Shape begin, numbers_of(start, variable.shape.size()));
    FOREBAY_TRY(Shape size, numbers_of(count, variable.shape.size()));
    box = view::Box{std::move(begin), std::move(size)};
  }
  return read_block_now(*file.read, number, static_cast<int>(at), left, box, static_cast<std::byte*>(data));
}

template <class Read>
int64_t bytes_read(const Read& read) {
  uint64_t bytes = 0;
  const int code = guarded([&]() -> Outcome<void> {
    FOREBAY_TRY(bytes, read());
    return {};
  });
  return code == err_no_error ? static_cast<int64_t>(bytes) : code;
}

double related(ADIOS_VARINFO* x, ADIOS_VARINFO* y, char* what, uint32_t begin, uint32_t end, uint32_t lag,
               decltype(second::correlation) how) {
  const auto info = [](ADIOS_VARINFO* of) {
    return of == nullptr ? nullptr : static_cast<second::VarInfo*>(of->internal_data);
  };
  return how(info(x), info(y), what, begin, end, lag);
}

}  // namespace
}  // namespace forebay::adios

using namespace forebay::adios;
using forebay::io::Outcome;

extern "C" {

int adios_set_read_method(ADIOS_READ_METHOD method) {
  return guarded([&]() -> Outcome<void> {
    const bool reads_files = method == ADIOS_READ_METHOD_BP || method == ADIOS_READ_METHOD_BP_STAGED ||
                             method == ADIOS_READ_METHOD_BP_STAGED1 || method == ADIOS_READ_METHOD_HDF5;
    if (reads_files) return {};
    return refuse_reading(err_invalid_read_method, "this way of reading is not there", "use ADIOS_READ_METHOD_BP");
  });
}

int adios_set_application_id(int) { return err_no_error; }
int adios_read_init(MPI_Comm) { return err_no_error; }
int adios_read_finalize(void) { return err_no_error; }

ADIOS_FILE* adios_fopen(const char* fname, MPI_Comm comm) {
  return guarded_pointer([&] { return open_first(fname, comm); });
}

int adios_fclose(ADIOS_FILE* fp) {
  return guarded([&]() -> Outcome<void> {
    FOREBAY_TRY(FirstFile* const file, first_file(fp));
    second::close(file->file);
    delete file;
    free_names(fp->group_namelist, fp->groups_count);
    std::free(fp);
    return {};
  });
}

void adios_reset_dimension_order(ADIOS_FILE*, int) {}

ADIOS_GROUP* adios_gopen(ADIOS_FILE* fp, const char* grpname) {
  return guarded_pointer([&]() -> Outcome<ADIOS_GROUP*> {
    FOREBAY_TRY(const FirstFile* const file, first_file(fp));
    const auto found = std::ranges::find(file->groups, std::string_view(grpname ? grpname : ""));
    if (found == file->groups.end())
      return refuse_reading(err_invalid_group, file->read->path + " has no group '" + (grpname ? grpname : "") + "'");
    return open_group(fp, static_cast<int>(found - file->groups.begin()));
  });
}

ADIOS_GROUP* adios_gopen_byid(ADIOS_FILE* fp, int grpid) {
  return guarded_pointer([&] { return open_group(fp, grpid); });
}

int adios_gclose(ADIOS_GROUP* gp) {
  return guarded([&]() -> Outcome<void> {
    FOREBAY_CHECK(first_file(gp));
    free_names(gp->var_namelist, gp->vars_count);
    free_names(gp->attr_namelist, gp->attrs_count);
    std::free(gp);
    return {};
  });
}

ADIOS_VARINFO* adios_inq_var(ADIOS_GROUP* gp, const char* varname) {
  return guarded_pointer([&] { return inquire(gp, varname); });
}

ADIOS_VARINFO* adios_inq_var_byid(ADIOS_GROUP* gp, int varid) {
  return guarded_pointer([&]() -> Outcome<ADIOS_VARINFO*> {
    FOREBAY_CHECK(first_file(gp));
    FOREBAY_TRY(const char* const name, name_of(*gp, varid));
    return inquire(gp, name);
  });
}

void adios_free_varinfo(ADIOS_VARINFO* info) {
  if (info == nullptr) return;
  second::free_info(static_cast<second::VarInfo*>(info->internal_data));
  std::free(info->dims);
  std::free(info);
}

double adios_stat_cor(ADIOS_VARINFO* vix, ADIOS_VARINFO* viy, char* characteristic, uint32_t time_start,
                      uint32_t time_end, uint32_t lag) {
  return related(vix, viy, characteristic, time_start, time_end, lag, second::correlation);
}

double adios_stat_cov(ADIOS_VARINFO* vix, ADIOS_VARINFO* viy, char* characteristic, uint32_t time_start,
                      uint32_t time_end, uint32_t lag) {
  return related(vix, viy, characteristic, time_start, time_end, lag, second::covariance);
}

int64_t adios_read_var(ADIOS_GROUP* gp, const char* varname, const uint64_t* start, const uint64_t* count, void* data) {
  return bytes_read([&]() -> Outcome<uint64_t> {
    FOREBAY_TRY(const FirstFile* const file, first_file(gp));
    return read_box(*file, varname, start, count, data);
  });
}

int64_t adios_read_var_byid(ADIOS_GROUP* gp, int varid, const uint64_t* start, const uint64_t* count, void* data) {
  return bytes_read([&]() -> Outcome<uint64_t> {
    FOREBAY_TRY(const FirstFile* const file, first_file(gp));
    FOREBAY_TRY(const char* const name, name_of(*gp, varid));
    return read_box(*file, name, start, count, data);
  });
}

int64_t adios_read_local_var(ADIOS_GROUP* gp, const char* varname, int idx, const uint64_t* start,
                             const uint64_t* count, void* data) {
  return bytes_read([&]() -> Outcome<uint64_t> {
    FOREBAY_TRY(const FirstFile* const file, first_file(gp));
    return read_block(*file, varname, idx, start, count, data);
  });
}

int adios_get_attr(ADIOS_GROUP* gp, const char* attrname, ADIOS_DATATYPES* type, int* size, void** data) {
  second::File* file = nullptr;
  const int code = guarded([&]() -> Outcome<void> {
    FOREBAY_TRY(const FirstFile* const first, first_file(gp));
    file = first->file;
    return {};
  });
  return code == err_no_error ? second::attribute(file, attrname, type, size, data) : code;
}

int adios_get_attr_byid(ADIOS_GROUP* gp, int attrid, ADIOS_DATATYPES* type, int* size, void** data) {
  const char* name = nullptr;
  const int code = guarded([&]() -> Outcome<void> {
    FOREBAY_CHECK(first_file(gp));
    if (attrid < 0 || attrid >= gp->attrs_count)
      return refuse_reading(err_invalid_attrid, "the group has no attribute of the number " + std::to_string(attrid));
    name = gp->attr_namelist[attrid];
    return {};
  });
  return code == err_no_error ? adios_get_attr(gp, name, type, size, data) : code;
}

const char* adios_type_to_string(ADIOS_DATATYPES type) { return second::type_name(type); }
int adios_type_size(ADIOS_DATATYPES type, void* data) { return second::type_size(type, data); }

void adios_print_fileinfo(ADIOS_FILE* fp) {
  if (fp == nullptr) return;
  std::printf("file: %d groups, %d variables, %d attributes, %d steps\n", fp->groups_count, fp->vars_count,
              fp->attrs_count, fp->ntimesteps);
  for (int i = 0; i < fp->groups_count; ++i) std::printf("  %s\n", fp->group_namelist[i]);
}

void adios_print_groupinfo(ADIOS_GROUP* gp) {
  if (gp == nullptr) return;
  std::printf("group %d: %d variables, %d attributes\n", gp->grpid, gp->vars_count, gp->attrs_count);
  for (int i = 0; i < gp->vars_count; ++i) std::printf("  %s\n", gp->var_namelist[i]);
}
}

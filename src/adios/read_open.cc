// Opening files and streams, going on in them, and what they show.
#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

#include <adios_read.h>
#include <sys/stat.h>

#include "adios/configuration.h"
#include "adios/mpi/communicator.h"
#include "adios/read_file.h"
#include "adios/read_mesh.h"
#include "io/method/agreement.h"

namespace forebay::adios {
namespace {

using io::Outcome;
using Clock = std::chrono::steady_clock;

constexpr auto kPollInterval = std::chrono::milliseconds(50);
constexpr uint64_t kLeastReadBytes = uint64_t{256} << 20;  // for indices and what was decoded, of one process

Outcome<void> check_read_method(int method) {
  if (method == ADIOS_READ_METHOD_BP || method == ADIOS_READ_METHOD_BP_AGGREGATE) return {};
  return refuse_reading(err_invalid_read_method, "there is no way of reading with the number " + std::to_string(method),
                        "files are read with ADIOS_READ_METHOD_BP");
}

// A program's patience.
class Deadline {
 public:
  explicit Deadline(float seconds) : is_endless_(seconds < 0) {
    const float bounded = seconds > 0 && seconds < 1e9F ? seconds : (seconds > 0 ? 1e9F : 0);
    end_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<float>(bounded));
  }
  // Waits a little; false when the time is over.
  bool pause() const {
    if (!is_endless_ && Clock::now() >= end_) return false;
    std::this_thread::sleep_for(kPollInterval);
    return true;
  }

 private:
  bool is_endless_;
  Clock::time_point end_;
};

// A store of several series, or one set of it, is named behind a ':'.
Result<std::unique_ptr<view::Run>> open_path(const std::string& path, view::RunOptions options) {
  struct stat status{};
  const size_t colon = path.rfind(':');
  if (stat(path.c_str(), &status) == 0 || colon == std::string::npos) return view::open_run(path, options);
  const std::string store = path.substr(0, colon);
  if (stat(store.c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) return view::open_run(path, options);
  options.series = path.substr(colon + 1);
  auto series = view::open_run(store, options);
  if (series) return series;
  options.set = std::exchange(options.series, {});
  auto set = view::open_run(store, options);
  return set ? std::move(set) : std::move(series);
}

view::RunOptions run_options(uint32_t ranks) {
  view::RunOptions options;
  options.raw = true;  // ADIOS knows no meanings
  const engine::Resources all = options.resources.resolved();
  options.resources.memory_bytes = std::max(kLeastReadBytes, all.memory_bytes / ranks);
  options.resources.threads = std::max(1U, all.threads / ranks);
  return options;
}

io::Failure of_opening(const Error& error) {
  io::Failure failure(error);
  if (error.kind == ErrorKind::unsupported || error.kind == ErrorKind::corrupt)
    failure.code = io::Code::invalid_file_version;
  else if (error.kind == ErrorKind::io)
    failure.code = io::Code::file_read;
  else if (error.kind == ErrorKind::invalid_argument)
    failure.code = io::Code::file_open;
  return failure;
}

// Of the first rank: what all of them will show.
Outcome<Bytes> as_number(uint64_t number) {
  Bytes bytes(sizeof number);
  std::memcpy(bytes.data(), &number, sizeof number);
  return bytes;
}

Outcome<uint64_t> tell_number(io::Communicator& ranks, const Outcome<uint64_t>& of_root) {
  const Outcome<Bytes> mine = of_root ? as_number(*of_root) : Outcome<Bytes>(std::unexpected(of_root.error()));
  FOREBAY_TRY(const Bytes told, io::tell(ranks, mine, 0));
  uint64_t number = 0;
  if (told.size() != sizeof number) return refuse_reading(err_unspecified, "the ranks do not do the same");
  std::memcpy(&number, told.data(), sizeof number);
  return number;
}

void free_names(char**& names, int& count) {
  for (int i = 0; i < count; ++i) std::free(names[i]);
  std::free(names);
  names = nullptr;
  count = 0;
}

template <class Names>
char** make_names(const Names& names) {
  char** const made = allocate<char*>(names.size());
  for (size_t i = 0; i < names.size(); ++i) made[i] = malloc_copy(std::string_view(names[i]));
  return made;
}

void show_names(const ReadFile& file, ADIOS_FILE& fp) {
  free_names(fp.var_namelist, fp.nvars);
  free_names(fp.attr_namelist, fp.nattrs);
  free_names(fp.mesh_namelist, fp.nmeshes);
  std::vector<std::string> variables, attributes;
  for (const size_t i : file.shown_variables) variables.push_back(file.variables[i].name);
  for (const size_t i : file.shown_attributes) attributes.push_back(file.attributes[i].name);
  fp.var_namelist = make_names(variables);
  fp.nvars = static_cast<int>(variables.size());
  fp.attr_namelist = make_names(attributes);
  fp.nattrs = static_cast<int>(attributes.size());
  const std::vector<std::string> meshes = mesh_names(file);
  fp.mesh_namelist = make_names(meshes);
  fp.nmeshes = static_cast<int>(meshes.size());
}

// The first rank looks until the file is there and has a step; the others open what it has seen.
Outcome<std::unique_ptr<ReadFile>> open_everywhere(const std::string& path, MPI_Comm comm, const Deadline& deadline,
                                                   uint64_t& steps) {
  const bool is_nobody = comm == MPI_Comm{};  // what programs of one process pass
  std::unique_ptr<io::Communicator> ranks;
  if (is_nobody)
    ranks = io::single_process();
  else {
    FOREBAY_TRY(ranks, wrap(comm));
  }
  const view::RunOptions options = run_options(ranks->size());
  std::unique_ptr<view::Run> run;
  Outcome<uint64_t> seen = uint64_t{0};
  if (ranks->rank() == 0) do {
      auto opened = open_path(path, options);
      if (opened && !(*opened)->steps().empty()) {
        run = *std::move(opened);
        seen = run->steps().size();
        break;
      }
      seen = std::unexpected(opened ? of_opening({ErrorKind::not_found, "it has no step yet", path, {}, {}})
                                    : of_opening(opened.error()));
    } while (deadline.pause());
  FOREBAY_TRY(steps, tell_number(*ranks, seen));
  Outcome<void> mine;
  if (ranks->rank() != 0) {
    auto opened = open_path(path, options);
    if (!opened)
      mine = std::unexpected(of_opening(opened.error()));
    else if ((*opened)->steps().size() < steps)
      mine = refuse_reading(err_file_read_error, path + " has fewer steps here than on rank 0");
    else
      run = *std::move(opened);
  }
  FOREBAY_CHECK(io::agree(*ranks, mine));
  auto file = std::make_unique<ReadFile>(std::move(run), std::move(ranks));
  file->path = path;
  return file;
}

// The first step from `next` on that is not damaged, of `steps` that there are, where the program leaves damaged ones
// out: as the first rank finds. If there is none, the last one.
Outcome<uint64_t> without_damaged(ReadFile& file, uint64_t next, uint64_t steps) {
  if (!skips_damaged()) return next;
  if (file.ranks().rank() == 0)
    for (; next + 1 < steps; ++next) {
      const auto step = file.run().step(next);
      if (step || step.error().kind != ErrorKind::corrupt) break;
      warn(step.error().message());
    }
  return tell_number(file.ranks(), next);
}

// Of several steps, [begin, end), the first rank opens all, and tells the others what is in them.
Outcome<void> find_everywhere(ReadFile& file, uint64_t begin, uint64_t end) {
  const bool is_told = end - begin > 1 && file.ranks().size() > 1;
  Outcome<void> mine;
  if (!is_told || file.ranks().rank() == 0)
    if (const Result<void> found = file.find(begin, end); !found) mine = std::unexpected(of_reading(found.error()));
  if (!is_told) return io::agree(file.ranks(), mine);
  Outcome<Bytes> told = Bytes{};
  if (file.ranks().rank() == 0) told = mine ? Outcome<Bytes>(file.found()) : std::unexpected(mine.error());
  FOREBAY_TRY(const Bytes found, io::tell(file.ranks(), told, 0));
  if (file.ranks().rank() != 0) mine = file.take_found(found);
  return io::agree(file.ranks(), mine);
}

Outcome<ADIOS_FILE*> open_fp(const char* fname, int method, MPI_Comm comm, bool is_stream, float timeout) {
  FOREBAY_CHECK(check_read_method(method));
  if (fname == nullptr || *fname == '\0') return refuse_reading(err_file_open_error, "the name of the file is missing");
  uint64_t steps = 0;
  FOREBAY_TRY(auto file, open_everywhere(fname, comm, Deadline(is_stream ? timeout : 0), steps));
  uint64_t first = 0;
  if (is_stream) {
    FOREBAY_TRY(first, without_damaged(*file, 0, steps));
  }
  FOREBAY_CHECK(find_everywhere(*file, first, is_stream ? first + 1 : steps));
  ADIOS_FILE* const fp = allocate<ADIOS_FILE>(1);
  fp->current_step = static_cast<int>(first);
  fp->last_step = static_cast<int>(steps - 1);
  fp->is_streaming = is_stream;
  fp->path = malloc_copy(std::string_view(fname));
  fp->endianness = std::endian::native == std::endian::big;
  fp->version = 3;
  struct stat status{};
  if (stat(fname, &status) == 0 && S_ISREG(status.st_mode)) fp->file_size = static_cast<uint64_t>(status.st_size);
  show_names(*file, *fp);
  fp->internal_data = file.release();
  return fp;
}

// Until there is a step behind the current one: how many there are.
Outcome<uint64_t> await_step(ReadFile& file, uint64_t current, const Deadline& deadline) {
  do {
    const auto refreshed = file.run().refresh();
    if (!refreshed) return std::unexpected(of_opening(refreshed.error()));
    if (const uint64_t steps = file.run().steps().size(); steps > current + 1) return steps;
  } while (deadline.pause());
  return refuse_reading(err_step_notready, file.path + " has no step behind step " + std::to_string(current));
}

Outcome<void> advance(ADIOS_FILE* fp, bool to_last, float timeout) {
  FOREBAY_TRY(ReadFile* const file, file_of(fp));
  if (!fp->is_streaming)
    return refuse_reading(err_end_of_stream, file->path + " was opened with all its steps",
                          "adios_read_open() opens one step after another");
  const auto current = static_cast<uint64_t>(fp->current_step);
  Outcome<uint64_t> seen = file->run().steps().size();
  if (file->ranks().rank() == 0 && (to_last || *seen <= current + 1))
    seen = await_step(*file, current, Deadline(timeout));
  FOREBAY_TRY(const uint64_t steps, tell_number(file->ranks(), seen));
  Outcome<void> mine;
  FOREBAY_TRY(const uint64_t next, without_damaged(*file, to_last ? steps - 1 : current + 1, steps));
  if (file->run().steps().size() < steps)
    if (const auto refreshed = file->run().refresh(); !refreshed) mine = std::unexpected(of_opening(refreshed.error()));
  if (mine)
    if (const Result<void> found = file->find(next, next + 1); !found)
      mine = std::unexpected(of_reading(found.error()));
  FOREBAY_CHECK(io::agree(file->ranks(), mine));
  file->scheduled.clear();
  file->performed.clear();
  fp->current_step = static_cast<int>(next);
  fp->last_step = static_cast<int>(steps - 1);
  show_names(*file, *fp);
  return {};
}

Outcome<void> view_group(ADIOS_FILE* fp, int id) {
  FOREBAY_TRY(ReadFile* const file, file_of(fp));
  if (id < -1 || id >= static_cast<int>(file->groups.size()))
    return refuse_reading(err_invalid_group, file->path + " has no group " + std::to_string(id));
  const auto is_shown = [&](const std::string& group) {
    return id == -1 || group == file->groups[static_cast<size_t>(id)];
  };
  file->shown_variables.clear();
  file->shown_attributes.clear();
  for (size_t i = 0; i < file->variables.size(); ++i)
    if (is_shown(file->variables[i].group)) file->shown_variables.push_back(i);
  for (size_t i = 0; i < file->attributes.size(); ++i)
    if (is_shown(file->attributes[i].group)) file->shown_attributes.push_back(i);
  show_names(*file, *fp);
  return {};
}

}  // namespace
}  // namespace forebay::adios

using namespace forebay::adios;
using forebay::io::Outcome;

extern "C" {

const char* adios_errmsg(void) { return adios_get_last_errmsg(); }

int adios_read_init_method(ADIOS_READ_METHOD method, MPI_Comm, const char* parameters) {
  return guarded([&]() -> Outcome<void> {
    FOREBAY_CHECK(check_read_method(method));
    if (parameters != nullptr) heed(parameters);
    return {};
  });
}

int adios_read_finalize_method(ADIOS_READ_METHOD method) {
  return guarded([&] { return check_read_method(method); });
}

ADIOS_FILE* adios_read_open_file(const char* fname, ADIOS_READ_METHOD method, MPI_Comm comm) {
  return guarded_pointer([&] { return open_fp(fname, method, comm, false, 0); });
}

ADIOS_FILE* adios_read_open(const char* fname, ADIOS_READ_METHOD method, MPI_Comm comm, ADIOS_LOCKMODE,
                            float timeout_sec) {
  return guarded_pointer([&] { return open_fp(fname, method, comm, true, timeout_sec); });
}

int adios_read_close(ADIOS_FILE* fp) {
  return guarded([&]() -> Outcome<void> {
    FOREBAY_TRY(ReadFile* const file, file_of(fp));
    delete file;
    free_names(fp->var_namelist, fp->nvars);
    free_names(fp->attr_namelist, fp->nattrs);
    free_names(fp->mesh_namelist, fp->nmeshes);
    std::free(fp->path);
    std::free(fp);
    return {};
  });
}

int adios_advance_step(ADIOS_FILE* fp, int last, float timeout_sec) {
  return guarded([&] { return advance(fp, last != 0, timeout_sec); });
}

void adios_release_step(ADIOS_FILE*) {}

int adios_get_grouplist(ADIOS_FILE* fp, char*** group_namelist) {
  int count = 0;
  guarded([&]() -> Outcome<void> {
    FOREBAY_TRY(ReadFile* const file, file_of(fp));
    if (group_namelist == nullptr)
      return refuse_reading(err_invalid_argument, "there is nowhere to put the list of groups");
    file->group_names.clear();
    for (std::string& group : file->groups) file->group_names.push_back(group.data());
    *group_namelist = file->group_names.data();
    count = static_cast<int>(file->groups.size());
    return {};
  });
  return adios_errno == err_no_error ? count : adios_errno;
}

int adios_group_view(ADIOS_FILE* fp, int groupid) {
  return guarded([&] { return view_group(fp, groupid); });
}

void adios_reset_dimension_order(ADIOS_FILE*, int) {}

void adios_print_fileinfo(ADIOS_FILE* fp) {
  if (fp == nullptr) return;
  std::printf("file %s: %d variables, %d attributes, steps %d - %d\n", fp->path, fp->nvars, fp->nattrs,
              fp->current_step, fp->last_step);
  for (int i = 0; i < fp->nvars; ++i) std::printf("  %s\n", fp->var_namelist[i]);
}

ADIOS_AVAILABLE_READ_METHODS* adios_available_read_methods(void) {
  return guarded_pointer([&]() -> Outcome<ADIOS_AVAILABLE_READ_METHODS*> {
    auto* const methods = allocate<ADIOS_AVAILABLE_READ_METHODS>(1);
    methods->nmethods = 2;
    methods->name = make_names(std::vector<std::string>{"BP", "BP_AGGREGATE"});
    methods->methodID = allocate<ADIOS_READ_METHOD>(2);
    methods->methodID[1] = ADIOS_READ_METHOD_BP_AGGREGATE;
    return methods;
  });
}

void adios_available_read_methods_free(ADIOS_AVAILABLE_READ_METHODS* methods) {
  if (methods == nullptr) return;
  free_names(methods->name, methods->nmethods);
  std::free(methods->methodID);
  std::free(methods);
}
}

// From adios_open() to adios_close().
#include <chrono>
#include <cstring>

#include <adios.h>

#include "adios/mpi/communicator.h"
#include "adios/program.h"
#include "adios/report.h"
#include "io/method/agreement.h"

namespace forebay::adios {
namespace {

using io::Code;
using io::Outcome;
using io::refuse;

double seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

Outcome<io::OpenMode> mode_of(const std::string& text) {
  if (text.size() == 1) switch (text[0]) {
      case 'w':
      case 'W':
        return io::OpenMode::write;
      case 'a':
      case 'A':
        return io::OpenMode::append;
      case 'u':
      case 'U':
        return io::OpenMode::update;
      case 'r':
      case 'R':
        return io::OpenMode::read;
      default:
        break;
    }
  return refuse(Code::invalid_mode, "there is no mode \"" + text + "\"", "use w, a, u or r");
}

// What is wrong with the arguments of an open, before the ranks know of each other's.
Outcome<io::OpenMode> check_open(const int64_t* handle, const std::string& group, const std::string& name,
                                 const std::string& mode) {
  if (!handle) return refuse(Code::invalid_argument, "adios_open() has no place for its handle");
  FOREBAY_TRY(io::Session* const session, Program::instance().session());
  FOREBAY_CHECK(session->find(group));
  if (name.empty()) return refuse(Code::invalid_argument, "a file must have a name");
  return mode_of(mode);
}

Outcome<void> open(int64_t* handle, const std::string& group, const std::string& name, const std::string& mode,
                   MPI_Comm comm) {
  if (handle) *handle = 0;
  const double start = seconds();
  FOREBAY_TRY(io::Session* const session, Program::instance().session());
  const Outcome<io::OpenMode> open_mode = check_open(handle, group, name, mode);
  const Outcome<void> checked = open_mode ? Outcome<void>{} : std::unexpected(open_mode.error());
  const std::string what = "opens \"" + name + "\" with mode " + mode + " for group \"" + group + "\"";
  FOREBAY_TRY(Wrapped wrapped, wrap(comm, io::number_of(what, checked)));
  const std::shared_ptr<io::Communicator> ranks = std::move(wrapped.ranks);
  FOREBAY_CHECK(io::agree_on(*ranks, what, checked, wrapped.sum));
  FOREBAY_TRY(const auto found, session->find(group));
  if (found->methods.empty() && ranks->rank() == 0)
    warn("group \"" + found->definition.name + "\" has no method: nothing is written (adios_select_method, <method>)");
  FileHandle file;
  auto opened = session->open(group, name, *open_mode, ranks, is_alone(comm));
  if (!opened) return std::unexpected(io::of_all(*ranks, opened.error()));
  file.group = std::move(*opened);
  file.open_seconds = seconds() - start;
  *handle = Program::instance().add(std::move(file));
  return {};
}

Outcome<void> write(FileHandle& file, size_t variable, const void* values) {
  const double start = seconds();
  Outcome<void> written = file.group->write(variable, values);
  file.write_seconds += seconds() - start;
  ++file.writes;
  return written;
}

Outcome<void> write_by_id(int64_t handle, int64_t id, const void* values) {
  FOREBAY_TRY(FileHandle* const file, Program::instance().file(handle));
  FOREBAY_TRY(const Program::Variable variable, Program::instance().variable(id));
  if (variable.group.get() != &file->group->group())
    return refuse(Code::invalid_variable_id,
                  "handle " + std::to_string(id) + " is of a variable of group \"" + variable.group->definition.name +
                      "\", and the file is open for group \"" + file->group->group().definition.name + "\"");
  return write(*file, variable.place, values);
}

std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '&')
      result += "&amp;";
    else if (c == '<')
      result += "&lt;";
    else if (c == '"')
      result += "&quot;";
    else
      result += c;
  }
  return result;
}

struct Times {
  double open, write;
  uint64_t writes;
};

Outcome<void> write_times(const FileHandle& file, const std::string& path) {
  const Times mine{file.open_seconds, file.write_seconds, file.writes};
  file.group->announce(0);  // at ranks that have announced nothing: then all have, before they talk to each other
  io::Communicator& ranks = file.group->communicator();
  FOREBAY_TRY(const std::vector<Bytes> all, ranks.gather(std::as_bytes(std::span(&mine, 1)), 0));
  if (ranks.rank() != 0) return {};
  std::FILE* const out = std::fopen(path.c_str(), "w");
  if (!out) return std::unexpected(io::Failure(fail_errno(errno, "open", path).error()));
  std::fprintf(out, "<?xml version=\"1.0\"?>\n<timing group=\"%s\" ranks=\"%u\">\n",
               escaped(file.group->group().definition.name).c_str(), ranks.size());
  for (size_t rank = 0; rank < all.size(); ++rank) {
    Times times{};
    if (all[rank].size() == sizeof times) std::memcpy(&times, all[rank].data(), sizeof times);
    std::fprintf(out, "  <rank number=\"%zu\" open=\"%.6f\" write=\"%.6f\" writes=\"%llu\"/>\n", rank, times.open,
                 times.write, static_cast<unsigned long long>(times.writes));
  }
  std::fprintf(out, "</timing>\n");
  if (std::fclose(out) != 0) return std::unexpected(io::Failure(fail_errno(errno, "write", path).error()));
  return {};
}

}  // namespace
}  // namespace forebay::adios

using namespace forebay::adios;
using Nothing = forebay::io::Outcome<void>;

extern "C" {

int adios_open(int64_t* fd, const char* group_name, const char* name, const char* mode, MPI_Comm comm) {
  return guarded([&] { return open(fd, text_of(group_name), text_of(name), text_of(mode), comm); });
}

int adios_group_size(int64_t fd_p, uint64_t data_size, uint64_t* total_size) {
  return guarded([&]() -> Nothing {
    FOREBAY_TRY(FileHandle* const file, Program::instance().file(fd_p));
    file->group->announce(data_size);
    if (total_size) *total_size = file->group->total_size(data_size);
    return {};
  });
}

int adios_write(int64_t fd_p, const char* name, const void* var) {
  return guarded([&]() -> Nothing {
    FOREBAY_TRY(FileHandle* const file, Program::instance().file(fd_p));
    FOREBAY_TRY(const size_t variable, file->group->variable(text_of(name)));
    return write(*file, variable, var);
  });
}

int adios_write_byid(int64_t fd_p, int64_t id, const void* var) {
  return guarded([&] { return write_by_id(fd_p, id, var); });
}

int adios_get_write_buffer(int64_t fd_p, const char* name, uint64_t* size, void** buffer) {
  return guarded([&]() -> Nothing {
    if (!size || !buffer)
      return refuse(Code::invalid_argument, "adios_get_write_buffer() has no place for its results");
    FOREBAY_TRY(FileHandle* const file, Program::instance().file(fd_p));
    FOREBAY_TRY(const size_t variable, file->group->variable(text_of(name)));
    FOREBAY_TRY(const auto memory, file->group->hand_out(variable, *size));
    *size = memory.size();
    *buffer = memory.data();
    return {};
  });
}

int adios_read(int64_t fd_p, const char* name, void* buffer, uint64_t buffer_size) {
  return guarded([&]() -> Nothing {
    FOREBAY_TRY(FileHandle* const file, Program::instance().file(fd_p));
    FOREBAY_CHECK(file->group->variable(text_of(name)));
    if (!buffer && buffer_size > 0) return refuse(Code::invalid_argument, "there is no memory to read into");
    return file->group->read(text_of(name), {static_cast<std::byte*>(buffer), buffer_size});
  });
}

int adios_set_path(int64_t fd_p, const char* path) {
  return guarded([&]() -> Nothing {
    FOREBAY_TRY(FileHandle* const file, Program::instance().file(fd_p));
    file->group->set_path(text_of(path));
    return {};
  });
}

int adios_set_path_var(int64_t fd_p, const char* path, const char* name) {
  return guarded([&]() -> Nothing {
    FOREBAY_TRY(FileHandle* const file, Program::instance().file(fd_p));
    FOREBAY_TRY(const size_t variable, file->group->variable(text_of(name)));
    file->group->set_path(variable, text_of(path));
    return {};
  });
}

int adios_close(int64_t fd_p) {
  return guarded([&]() -> Nothing {
    FOREBAY_TRY(FileHandle file, Program::instance().take_file(fd_p));
    FOREBAY_TRY(forebay::io::Session* const session, Program::instance().session());
    return session->close(std::move(file.group));
  });
}

void adios_timing_write_xml(int64_t fd_p, const char* filename) {
  guarded([&]() -> Nothing {
    FOREBAY_TRY(FileHandle* const file, Program::instance().file(fd_p));
    return write_times(*file, text_of(filename));
  });
}
}

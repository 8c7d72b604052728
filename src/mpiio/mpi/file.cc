#include "mpiio/mpi/file.h"

#include <cerrno>
#include <shared_mutex>
#include <unordered_map>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

namespace forebay::lock::mpiio {
namespace {

struct Files {
  std::shared_mutex mutex;
  std::unordered_map<MPI_File, std::shared_ptr<File>> by_handle;
};

// Never destroyed: see Job.
Files& files() {
  static Files& the_files = *new Files;
  return the_files;
}

}  // namespace

File::File(MPI_File file, MPI_Comm own_comm, std::string given_name, int access_mode, const Settings& chosen)
    : handle(file),
      comm(own_comm),
      name(std::move(given_name)),
      amode(access_mode),
      settings(chosen),
      view(std::make_shared<const FileView>()) {}

File::~File() {
  if (descriptor_.fd >= 0) ::close(descriptor_.fd);
}

std::shared_ptr<const FileView> File::current_view() {
  const std::lock_guard guard(mutex);
  return view;
}

std::string File::counter_name() {
  const std::lock_guard guard(mutex);
  std::string counter = fmt::format("{}#{}", id, shared.generation);
  if (counters.empty() || counters.back() != counter) counters.push_back(counter);
  return counter;
}

MpiResult<Descriptor> File::descriptor() {
  const std::lock_guard guard(descriptor_mutex_);
  if (descriptor_.fd >= 0) return descriptor_;
  // Writes that sieve have to read, so a file that is opened to write only is opened to read, too, where that is
  // allowed.
  const bool writing = (amode & (MPI_MODE_WRONLY | MPI_MODE_RDWR)) != 0;
  int fd = ::open(path.c_str(), (writing ? O_RDWR : O_RDONLY) | O_CLOEXEC);
  bool readable = true;
  if (fd < 0 && errno == EACCES && (amode & MPI_MODE_WRONLY) != 0) {
    fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    readable = false;
  }
  if (fd < 0) return fail_errno(errno, "open", path);
  descriptor_ = {fd, readable};
  return descriptor_;
}

std::shared_ptr<File> find_file(MPI_File handle) {
  Files& all = files();
  const std::shared_lock guard(all.mutex);
  const auto found = all.by_handle.find(handle);
  return found == all.by_handle.end() ? nullptr : found->second;
}

void remember(std::shared_ptr<File> file) {
  Files& all = files();
  const std::lock_guard guard(all.mutex);
  all.by_handle[file->handle] = std::move(file);
}

std::shared_ptr<File> forget(MPI_File handle) {
  Files& all = files();
  const std::lock_guard guard(all.mutex);
  auto node = all.by_handle.extract(handle);
  return node ? std::move(node.mapped()) : nullptr;
}

}  // namespace forebay::lock::mpiio

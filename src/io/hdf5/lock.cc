#include "io/hdf5/lock.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

namespace forebay::hdf5 {
namespace {

std::unexpected<Fault> being_written(const std::string& path) {
  return std::unexpected(Fault{FOREBAY_METHOD_FILE_OPEN,
                               path + ": another program is writing this file (let it end, or write to another name)"});
}

std::unexpected<Fault> cannot_open(const std::string& path) {
  return std::unexpected(Fault{FOREBAY_METHOD_FILE_OPEN, path + ": open: " + std::strerror(errno)});
}

// Where flock() is a lock of this sort as well, the library would meet it.
bool is_one_sort(int file) {
  struct statfs facts{};
  return fstatfs(file, &facts) == 0 && facts.f_type == NFS_SUPER_MAGIC;
}

// As the library decides it.
bool library_locks() {
  const char* const chosen = std::getenv("HDF5_USE_FILE_LOCKING");
  const std::string_view words = chosen ? chosen : "";
  return words != "FALSE" && words != "0";
}

}  // namespace

// The library locks with flock() what it reads, and programs that write containers what they write. A file that others
// may read is shared with the former by a lock that keeps out the latter; a lock of another sort, which the library
// does not know, keeps these methods apart. Where the file system has no locks, nobody is kept out.
Outcome<void> FileLock::take() {
  if (flock(file_.get(), sort_ | LOCK_NB) != 0 && errno == EWOULDBLOCK) return being_written(path_);
  struct flock all{};
  all.l_type = F_WRLCK;
  all.l_whence = SEEK_SET;
  if (!is_one_sort(file_.get()) && fcntl(file_.get(), F_OFD_SETLK, &all) != 0 && (errno == EAGAIN || errno == EACCES))
    return being_written(path_);
  if (!is_named()) return being_written(path_);  // or has just written it
  return {};
}

Outcome<FileLock> FileLock::of_file(const std::string& path) {
  FileLock lock(Fd(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK)), path, LOCK_SH);
  if (!lock.file_ && errno == EISDIR) return cannot_open(path);
  if (!lock.file_) return FileLock();
  if (Outcome<void> taken = lock.take(); !taken) return std::unexpected(std::move(taken).error());
  return lock;
}

Outcome<FileLock> FileLock::of_new_file(const std::string& path) {
  {
    FileLock left(Fd(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK)), path, LOCK_EX);
    if (!left.file_ && errno != ENOENT) return cannot_open(path);
    if (left.file_) {
      if (Outcome<void> taken = left.take(); !taken) return std::unexpected(std::move(taken).error());
      if (unlink(path.c_str()) != 0) return cannot_open(path);
    }
  }
  FileLock lock(Fd(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666)), path, LOCK_EX);
  if (!lock.file_ && errno == EEXIST) return being_written(path);
  if (!lock.file_) return cannot_open(path);
  if (Outcome<void> taken = lock.take(); !taken) return std::unexpected(std::move(taken).error());
  return lock;
}

Outcome<void> FileLock::keep_readers_out() {
  if (sort_ == LOCK_EX || !library_locks()) return {};
  if (flock(file_.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    return std::unexpected(Fault{FOREBAY_METHOD_FILE_OPEN,
                                 path_ + ": another program has this file open with the HDF5 library, which locks it "
                                         "(close it there first, or set HDF5_USE_FILE_LOCKING=FALSE)"});
  sort_ = LOCK_EX;
  if (!is_named()) return being_written(path_);
  return {};
}

bool FileLock::is_named() const {
  struct stat opened{}, named{};
  return fstat(file_.get(), &opened) == 0 && stat(path_.c_str(), &named) == 0 && opened.st_ino == named.st_ino &&
         opened.st_dev == named.st_dev;
}

}  // namespace forebay::hdf5

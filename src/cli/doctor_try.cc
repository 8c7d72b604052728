// What a directory is good for.
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/posix/ownership.h"
#include "cli/doctor_probe.h"
#include "cli/mount_table.h"
#include "cli/system_text.h"
#include "store/posix_backend.h"
#include "store/store.h"

namespace forebay::cli {
namespace {

namespace fs = std::filesystem;

Failure failure(const char* call, const std::string& path) { return fail_errno(errno, call, path).error().message(); }

// A new hidden directory, which goes with this object.
class Trial {
 public:
  explicit Trial(const std::string& directory) : path_(directory + "/.forebay-doctor-XXXXXX") {
    if (::mkdtemp(path_.data()) == nullptr) {
      failure_ = failure("mkdir", directory);
      path_.clear();
    }
  }
  ~Trial() {
    if (path_.empty()) return;
    for (const char* name : {"a", "b"}) ::unlink(in(name).c_str());
    ::rmdir(path_.c_str());
  }
  Trial(const Trial&) = delete;
  Trial& operator=(const Trial&) = delete;

  const Failure& failed() const { return failure_; }
  const std::string& path() const { return path_; }
  std::string in(const char* name) const { return path_ + "/" + name; }

 private:
  std::string path_;
  Failure failure_;
};

void try_locks(const std::string& path, int fd, PlaceFacts& place) {
  if (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
    place.lock = failure("flock", place.probed);
    return;
  }
  const Fd other(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  place.lock_excludes = other && ::flock(other.get(), LOCK_EX | LOCK_NB) != 0;
}

void try_all(PlaceFacts& place) {
  const Trial trial(place.probed);
  if (!(place.write = trial.failed()).empty()) return;
  const std::string path = trial.in("a");
  const Fd file(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!file || ::write(file.get(), "forebay\n", 8) != 8) {
    place.write = failure(file ? "write" : "open", place.probed);
    return;
  }
  if (::fsync(file.get()) != 0) place.sync = failure("fsync", place.probed);
  try_locks(path, file.get(), place);
  if (::renameat2(AT_FDCWD, path.c_str(), AT_FDCWD, trial.in("b").c_str(), RENAME_NOREPLACE) != 0)
    place.rename_new = failure("renameat2", place.probed);
}

// The nearest directory there is, from `path` upwards.
std::string nearest_directory(const std::string& path) {
  std::error_code ignored;
  fs::path at = fs::absolute(path, ignored).lexically_normal();
  if (!at.has_filename()) at = at.parent_path();
  while (!fs::exists(at, ignored) && at.has_relative_path()) at = at.parent_path();
  return at.string();
}

void look_at_store(PlaceFacts& place) {
  const auto opened = store::Store::open(place.path);
  place.is_store = opened.has_value();
  if (opened || place.probed != place.path) return;
  Error error = opened.error();
  if (error.kind == ErrorKind::not_found) {
    const auto may_become = store::check_may_become_store(place.path);
    if (may_become) return;
    error = may_become.error();
  }
  if (error.path == place.path) error.path.clear();  // the topic names it
  place.store_change = std::exchange(error.hint, {});
  place.store = error.message();
}

void look_at_mount(PlaceFacts& place) {
  struct statx status{};
  if (::statx(AT_FDCWD, place.probed.c_str(), 0, STATX_BASIC_STATS | STATX_MNT_ID, &status) != 0) {
    place.look = failure("statx", place.probed);
    return;
  }
  if (!S_ISDIR(status.stx_mode)) {
    place.look = place.probed + ": is not a directory";
    return;
  }
  place.foreign_owner = status.stx_uid != ::geteuid();
  place.open_to_others = (status.stx_mode & 077) != 0;
  if (place.role == Role::stage && place.probed == place.path)
    if (const auto own = check_own_directory(place.path, "the stage", "choose another directory with --stage"); !own) {
      place.refused = own.error().what;
      place.refused_change = own.error().hint;
    }
  const auto mount = find_mount(text_of_file("/proc/self/mountinfo"), status.stx_mnt_id);
  place.file_system = mount ? mount->type : "unknown file system";
  place.mount_point = mount ? mount->point : place.probed;
  if (mount) place.options = mount->options;
  struct statvfs room{};
  if (::statvfs(place.probed.c_str(), &room) != 0) return;
  place.bytes = static_cast<uint64_t>(room.f_blocks) * room.f_frsize;
  place.free_bytes = static_cast<uint64_t>(room.f_bavail) * room.f_frsize;
  place.files = room.f_files;
  place.free_files = room.f_favail;
}

}  // namespace

PlaceFacts probe_place(Role role, const std::string& path) {
  PlaceFacts place{.role = role, .path = path};
  std::error_code ignored;
  place.probed = nearest_directory(path);
  if (fs::exists(path, ignored)) place.probed = path;
  look_at_mount(place);
  if (!place.look.empty()) return place;
  if (role == Role::store) look_at_store(place);
  try_all(place);
  return place;
}

}  // namespace forebay::cli

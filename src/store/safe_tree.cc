#include "store/safe_tree.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/catalogue.h"
#include "store/fd_cache.h"
#include "store/files.h"
#include "store/sparse_write.h"
#include "store/staging.h"

namespace forebay::store {
namespace {

size_t descriptors_to_keep() {
  constexpr rlim_t kMost = 512;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 64;
  return static_cast<size_t>(std::clamp<rlim_t>(limit.rlim_cur / 4, 1, kMost));
}

// The directory part of a name, empty for the target itself, and the last component.
std::pair<std::string, std::string> split(const std::string& name) {
  const size_t slash = name.rfind('/');
  if (slash == std::string::npos) return {"", name};
  return {name.substr(0, slash), name.substr(slash + 1)};
}

Result<void> check_name(const std::string& name) {
  if (is_safe_name(name)) return {};
  return fail(ErrorKind::invalid_argument, "a name that would lead out of the target", name);
}

std::unexpected<Error> in_the_way(const std::string& path, const char* what) {
  return fail(ErrorKind::exists, what, path, {}, "restore into another directory, or remove what is in the way");
}

bool is_taken(int directory, const std::string& name) {
  struct stat info{};
  return ::fstatat(directory, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0;
}

// Moves a temporary file or link to its place.
Result<void> place(int from_directory, const std::string& from, int to_directory, const std::string& to, bool overwrite,
                   const std::string& path) {
  auto placed = overwrite ? rename_over(from_directory, from, to_directory, to, path)
                          : rename_new(from_directory, from, to_directory, to, path);
  if (!placed && placed.error().kind == ErrorKind::exists)
    return in_the_way(path, overwrite ? "there is a directory of that name" : "the name is taken");
  return placed;
}

timespec as_timespec(const Attributes& attributes) {
  return {static_cast<time_t>(attributes.mtime_s), static_cast<long>(attributes.mtime_ns)};
}

Result<void> set_attributes(int fd, const Attributes& attributes, uint32_t modes, const std::string& path) {
  const timespec times[2] = {{0, UTIME_OMIT}, as_timespec(attributes)};
  if (::fchmod(fd, attributes.mode & modes) != 0) return fail_errno(errno, "chmod", path);
  if (::futimens(fd, times) != 0) return fail_errno(errno, "set the time of", path);
  return {};
}

}  // namespace

struct TargetDir::Shared {
  Shared(std::string path, bool made, bool special_modes, Fd opened, StagingName name, Fd work_fd)
      : root_path(std::move(path)),
        is_new(made),
        modes(special_modes ? 07777 : 07777 & ~kSpecialModes),
        root(std::move(opened)),
        staging(std::move(name)),
        work(std::move(work_fd)),
        cache(descriptors_to_keep()) {}

  const std::string root_path;
  const bool is_new;
  const uint32_t modes;  // the bits that modes may have
  const Fd root;
  const StagingName staging;
  const Fd work;  // the staging directory
  FdCache cache;
  std::atomic<uint64_t> next_id = 0;
  std::mutex mutex;
  std::map<std::string, std::optional<Attributes>> directories;  // all that were touched

  std::string path_of(const std::string& name) const { return name.empty() ? root_path : root_path + "/" + name; }

  Result<Fd> step(int parent, const std::string& component, const std::string& path, bool make) const {
    constexpr int kFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW;
    auto next = open_at(parent, component, kFlags, path);
    if (next) return next;
    struct stat info{};
    const bool is_there = ::fstatat(parent, component.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0;
    if (is_there && S_ISLNK(info.st_mode)) return in_the_way(path, "a symbolic link where a directory is needed");
    if (is_there && !S_ISDIR(info.st_mode)) return in_the_way(path, "a file where a directory is needed");
    if (is_there || !make) return next;
    if (::mkdirat(parent, component.c_str(), 0777) != 0 && errno != EEXIST) return fail_errno(errno, "mkdir", path);
    return open_at(parent, component, kFlags, path);
  }

  // Opens a directory beneath the target component by component, so that no link is followed on the way.
  Result<Fd> walk(const std::string& name, bool make) const {
    FOREBAY_TRY(Fd at, open_at(root.get(), ".", O_RDONLY | O_DIRECTORY, root_path));
    for (size_t begin = 0; begin < name.size();) {
      const size_t end = std::min(name.find('/', begin), name.size());
      FOREBAY_TRY(at, step(at.get(), name.substr(begin, end - begin), path_of(name.substr(0, end)), make));
      begin = end + 1;
    }
    return at;
  }

  // walk(), making what is missing and noting what finish() has to make durable.
  Result<Fd> make_way(const std::string& directory) {
    FOREBAY_TRY(Fd fd, walk(directory, true));
    const std::lock_guard lock(mutex);
    std::string touched = directory;
    while (directories.try_emplace(touched).second && !touched.empty()) touched = split(touched).first;
    return fd;
  }

  Result<void> finish_directory(const std::string& name, const std::optional<Attributes>& attributes) const {
    const std::string path = path_of(name);
    FOREBAY_TRY(const Fd fd, walk(name, false));
    if (attributes) FOREBAY_CHECK(set_attributes(fd.get(), *attributes, modes, path));
    return sync_file(fd.get(), path);
  }
};

struct TargetFile::State {
  std::shared_ptr<TargetDir::Shared> target;
  std::string name, temporary, path;
  uint64_t id = 0, size = 0;
  bool overwrite = false;
  bool is_placed = false;

  Result<std::shared_ptr<const Fd>> open() const {
    return target->cache.get(id, [&] { return open_at(target->work.get(), temporary, O_WRONLY | O_NOFOLLOW, path); });
  }
};

Result<TargetDir> TargetDir::open(const std::string& path, bool special_modes) {
  const bool is_new = ::mkdir(path.c_str(), 0777) == 0;
  if (!is_new && errno != EEXIST) return fail_errno(errno, "mkdir", path);
  FOREBAY_TRY(Fd root, open_at(AT_FDCWD, path, O_RDONLY | O_DIRECTORY, path));
  clean_staging(path, kRestoreLabel);
  FOREBAY_TRY(StagingName staging, StagingName::take(path, kRestoreLabel));
  if (::mkdir(staging.path().c_str(), 0700) != 0) return fail_errno(errno, "mkdir", staging.path());
  FOREBAY_TRY(Fd work, open_at(AT_FDCWD, staging.path(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW, staging.path()));
  return TargetDir(
      std::make_shared<Shared>(path, is_new, special_modes, std::move(root), std::move(staging), std::move(work)));
}

Result<std::unique_ptr<TargetFile>> TargetDir::create_file(const std::string& name, uint64_t size, bool overwrite) {
  FOREBAY_CHECK(check_name(name));
  const std::string path = shared_->path_of(name);
  FOREBAY_TRY(const Fd parent, shared_->make_way(split(name).first));
  if (!overwrite && is_taken(parent.get(), split(name).second)) return in_the_way(path, "the name is taken");
  const uint64_t id = shared_->next_id++;
  std::unique_ptr<TargetFile> file(new TargetFile(std::make_unique<TargetFile::State>(
      TargetFile::State{shared_, name, fmt::format("{}.part", id), path, id, size, overwrite})));
  FOREBAY_TRY(Fd fd, open_at(shared_->work.get(), file->state_->temporary, O_WRONLY | O_CREAT | O_EXCL, path, 0600));
  if (size > INT64_MAX || ::ftruncate(fd.get(), static_cast<off_t>(size)) != 0)
    return fail_errno(size > INT64_MAX ? EFBIG : errno, "make a file of its size", path);
  shared_->cache.put(id, std::move(fd));
  return file;
}

Result<void> TargetDir::make_directory(const std::string& name, const Attributes& attributes) {
  FOREBAY_CHECK(check_name(name));
  FOREBAY_CHECK(shared_->make_way(name));
  const std::lock_guard lock(shared_->mutex);
  shared_->directories[name] = attributes;
  return {};
}

Result<void> TargetDir::make_symlink(const std::string& name, const std::string& target, const Attributes& attributes,
                                     bool overwrite) {
  FOREBAY_CHECK(check_name(name));
  const std::string path = shared_->path_of(name);
  FOREBAY_TRY(const Fd parent, shared_->make_way(split(name).first));
  const std::string temporary = fmt::format("{}.part", shared_->next_id++);
  const int work = shared_->work.get();
  if (::symlinkat(target.c_str(), work, temporary.c_str()) != 0) return fail_errno(errno, "symlink", path);
  const timespec times[2] = {{0, UTIME_OMIT}, as_timespec(attributes)};
  // Some file systems keep no times of links: the link is worth more than its time.
  ::utimensat(work, temporary.c_str(), times, AT_SYMLINK_NOFOLLOW);
  auto placed = place(work, temporary, parent.get(), split(name).second, overwrite, path);
  if (!placed) ::unlinkat(work, temporary.c_str(), 0);
  return placed;
}

Result<void> TargetDir::finish() {
  const std::lock_guard lock(shared_->mutex);
  // In reverse order of names, what is in a directory comes before it.
  for (auto at = shared_->directories.rbegin(); at != shared_->directories.rend(); ++at)
    FOREBAY_CHECK(shared_->finish_directory(at->first, at->second));
  if (!shared_->is_new) return {};
  return sync_parent(shared_->root_path);
}

TargetFile::TargetFile(std::unique_ptr<State> state) : state_(std::move(state)) {}

TargetFile::~TargetFile() {
  state_->target->cache.drop(state_->id);
  if (!state_->is_placed) ::unlinkat(state_->target->work.get(), state_->temporary.c_str(), 0);
}

Result<void> TargetFile::write_at(uint64_t offset, std::span<const std::byte> bytes) {
  if (offset > state_->size || bytes.size() > state_->size - offset)
    return fail(ErrorKind::invalid_argument, "write past the end", state_->path, offset);
  FOREBAY_TRY(const auto fd, state_->open());
  return write_sparse(fd->get(), offset, bytes, state_->path);
}

Result<void> TargetFile::commit(const Attributes& attributes) {
  FOREBAY_TRY(const auto fd, state_->open());
  FOREBAY_CHECK(set_attributes(fd->get(), attributes, state_->target->modes, state_->path));
  FOREBAY_CHECK(sync_file(fd->get(), state_->path));
  FOREBAY_TRY(const Fd parent, state_->target->walk(split(state_->name).first, false));
  FOREBAY_CHECK(place(state_->target->work.get(), state_->temporary, parent.get(), split(state_->name).second,
                      state_->overwrite, state_->path));
  state_->is_placed = true;
  return {};
}

}  // namespace forebay::store

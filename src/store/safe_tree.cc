#include "store/safe_tree.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <map>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/catalogue.h"
#include "base/parallel_for.h"
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

// Of a file in a directory of our own. Needs no descriptor, which may have been closed to make room for others, and
// with attributes that forbid writing could not be had again.
Result<void> set_attributes_at(int directory, const std::string& name, const Attributes& attributes, uint32_t modes,
                               const std::string& path) {
  const timespec times[2] = {{0, UTIME_OMIT}, as_timespec(attributes)};
  if (::fchmodat(directory, name.c_str(), attributes.mode & modes, 0) != 0) return fail_errno(errno, "chmod", path);
  if (::utimensat(directory, name.c_str(), times, AT_SYMLINK_NOFOLLOW) != 0)
    return fail_errno(errno, "set the time of", path);
  return {};
}

Result<void> set_attributes(int fd, const Attributes& attributes, uint32_t modes, const std::string& path) {
  const timespec times[2] = {{0, UTIME_OMIT}, as_timespec(attributes)};
  if (::fchmod(fd, attributes.mode & modes) != 0) return fail_errno(errno, "chmod", path);
  if (::futimens(fd, times) != 0) return fail_errno(errno, "set the time of", path);
  return {};
}

// Whether syncfs() tells of every error of writing since the descriptor was opened, and waits for all that was written:
// Linux does the first since 5.8, and both are sure of these file systems, which are of this machine.
bool syncfs_is_sure(int fd) {
  struct statfs info{};
  utsname system{};
  int major = 0, minor = 0;
  if (::fstatfs(fd, &info) != 0 || ::uname(&system) != 0) return false;
  if (std::sscanf(system.release, "%d.%d", &major, &minor) != 2 || std::pair(major, minor) < std::pair(5, 8))
    return false;
  const auto type = static_cast<unsigned long>(info.f_type);
  return type == EXT4_SUPER_MAGIC || type == XFS_SUPER_MAGIC || type == BTRFS_SUPER_MAGIC || type == TMPFS_MAGIC;
}

// What of all files of this machine waits to be written back. Very much if nobody tells.
uint64_t dirty_bytes() {
  constexpr uint64_t kMost = 64 << 10;
  const auto source = open_at(AT_FDCWD, "/proc/meminfo", O_RDONLY, "/proc/meminfo");
  std::string text(kMost, '\0');
  const ssize_t got = source ? ::read(source->get(), text.data(), text.size()) : -1;
  text.resize(got > 0 ? static_cast<size_t>(got) : 0);
  const size_t at = text.find("\nDirty:");
  unsigned long long kib = 0;
  if (at == std::string::npos || std::sscanf(text.c_str() + at, " Dirty: %llu kB", &kib) != 1) return UINT64_MAX;
  return uint64_t{kib} << 10;
}

}  // namespace

bool sync_together(uint64_t files, uint64_t bytes, uint64_t dirty_bytes) {
  constexpr uint64_t kFewFiles = 32, kLargeFile = 4 << 20, kOthers = 256 << 20;
  if (files < kFewFiles || bytes / files >= kLargeFile) return false;
  return dirty_bytes <= bytes || dirty_bytes - bytes <= kOthers;
}

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
  std::mutex looking;
  std::optional<std::string> looked_at;
  std::shared_ptr<const Fd> seen;
  std::mutex mutex;
  struct Touched {
    uint64_t id = 0;
    std::optional<Attributes> attributes;
  };
  std::map<std::string, Touched> directories;

  std::string path_of(const std::string& name) const { return name.empty() ? root_path : root_path + "/" + name; }

  Result<Fd> step(int parent, const std::string& component, const std::string& path, bool make) const {
    constexpr int kFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW;
    auto next = open_at(parent, component, kFlags, path);
    if (next && is_store_part(parent, component)) return in_the_way(path, "this is a part of a store");
    if (next) return next;
    struct stat info{};
    const bool is_there = ::fstatat(parent, component.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0;
    if (is_there && S_ISLNK(info.st_mode)) return in_the_way(path, "a symbolic link where a directory is needed");
    if (is_there && !S_ISDIR(info.st_mode)) return in_the_way(path, "a file where a directory is needed");
    if (is_there || !make) return next;
    if (is_store_part(parent, component)) return in_the_way(path, "this is a part of a store");
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

  // The directory as it is; null if it is not there. That of the last call is remembered, for names come in order.
  Result<std::shared_ptr<const Fd>> look_into(const std::string& directory) {
    const std::lock_guard lock(looking);
    if (looked_at && *looked_at == directory) return seen;
    auto fd = walk(directory, false);
    const bool is_gone = !fd && fd.error().kind == ErrorKind::not_found;
    if (!fd && !is_gone) return std::unexpected(std::move(fd).error());
    seen = is_gone ? nullptr : std::make_shared<const Fd>(*std::move(fd));
    looked_at = directory;
    return seen;
  }

  Result<void> check_free(int parent, const std::string& last, const std::string& name, Thing becomes,
                          bool overwrite) const {
    struct stat info{};
    if (::fstatat(parent, last.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) return {};
    const std::string path = path_of(name);
    if (becomes == Thing::directory)
      return S_ISDIR(info.st_mode) ? Result<void>() : in_the_way(path, "a file where a directory is needed");
    if (!overwrite) return in_the_way(path, "the name is taken");
    const auto may = may_replace_at(parent, last, path, {.becomes = becomes, .right = Right::named});
    if (!may && may.error().kind == ErrorKind::exists) return in_the_way(path, may.error().what.c_str());
    return may;
  }

  // walk(), making what is missing and noting what finish() has to make durable. Who was there last need not walk
  // again.
  Result<std::shared_ptr<const Fd>> make_way(const std::string& directory) {
    const auto way = [&] { return walk(directory, true); };
    if (const auto id = id_of(directory)) return cache.get(*id, way);
    FOREBAY_TRY(Fd fd, way());
    const uint64_t id = note(directory);
    cache.put(id, std::move(fd));
    return cache.get(id, way);
  }

  // The number by which the cache knows a directory that was touched.
  std::optional<uint64_t> id_of(const std::string& directory) {
    const std::lock_guard lock(mutex);
    const auto found = directories.find(directory);
    return found == directories.end() ? std::nullopt : std::optional(found->second.id);
  }

  // Notes that the directory and those that it lies in are touched.
  uint64_t note(const std::string& directory) {
    const std::lock_guard lock(mutex);
    for (std::string touched = directory;; touched = split(touched).first) {
      const auto [at, is_first] = directories.try_emplace(touched);
      if (is_first) at->second.id = next_id++;
      if (!is_first || touched.empty()) return directories.at(directory).id;
    }
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
  std::mutex making{};
  bool is_made = false;

  // Makes the file when it is first asked for: of many files few can be held open from their beginning to their first
  // bytes.
  Result<std::shared_ptr<const Fd>> open() {
    return target->cache.get(id, [this]() -> Result<Fd> {
      const std::lock_guard lock(making);
      const int flags = O_WRONLY | O_NOFOLLOW | (is_made ? 0 : O_CREAT | O_EXCL);
      FOREBAY_TRY(Fd fd, open_at(target->work.get(), temporary, flags, path, 0600));
      if (!is_made && ::ftruncate(fd.get(), static_cast<off_t>(size)) != 0)
        return fail_errno(errno, "make a file of its size", path);
      is_made = true;
      return fd;
    });
  }

  bool was_made() {
    const std::lock_guard lock(making);
    return is_made;
  }
  Result<void> finish(const Attributes& attributes) {
    if (!was_made()) FOREBAY_CHECK(open());
    return set_attributes_at(target->work.get(), temporary, attributes, target->modes, path);
  }
  Result<void> finish_durably(const Attributes& attributes) {
    FOREBAY_TRY(const auto fd, open());
    FOREBAY_CHECK(set_attributes(fd->get(), attributes, target->modes, path));
    return sync_file(fd->get(), path);
  }
  Result<void> give_name(int directory) {
    FOREBAY_CHECK(target->check_free(directory, split(name).second, name, Thing::file, overwrite));
    FOREBAY_CHECK(place(target->work.get(), temporary, directory, split(name).second, overwrite, path));
    is_placed = true;
    return {};
  }
};

Result<TargetDir> TargetDir::open(const std::string& path, bool special_modes) {
  struct stat info{};
  const bool is_new = ::stat(path.c_str(), &info) != 0;
  if (lies_in_store(path))
    return fail(ErrorKind::exists, "this is a store, or lies in one, where nothing but sets may be", path, {},
                "restore into another directory");
  FOREBAY_CHECK(store::make_directory(path, "restore into another directory"));
  FOREBAY_TRY(Fd root, open_at(AT_FDCWD, path, O_RDONLY | O_DIRECTORY, path));
  clean_staging(path, kRestoreLabel);
  FOREBAY_TRY(StagingName staging, StagingName::take(path, kRestoreLabel));
  if (::mkdir(staging.path().c_str(), 0700) != 0) return fail_errno(errno, "mkdir", staging.path());
  FOREBAY_TRY(Fd work, open_at(AT_FDCWD, staging.path(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW, staging.path()));
  return TargetDir(
      std::make_shared<Shared>(path, is_new, special_modes, std::move(root), std::move(staging), std::move(work)));
}

Result<void> TargetDir::check(const std::string& name, Thing becomes, bool overwrite) const {
  FOREBAY_CHECK(check_name(name));
  const auto [directory, last] = split(name);
  FOREBAY_TRY(const auto parent, shared_->look_into(directory));
  if (!parent) return {};  // nor is what it would lie in
  if (is_store_part(parent->get(), last)) return in_the_way(shared_->path_of(name), "this is a part of a store");
  return shared_->check_free(parent->get(), last, name, becomes, overwrite);
}

Result<std::unique_ptr<TargetFile>> TargetDir::create_file(const std::string& name, uint64_t size, bool overwrite) {
  FOREBAY_CHECK(check_name(name));
  const std::string path = shared_->path_of(name);
  FOREBAY_CHECK(check(name, Thing::file, overwrite));
  const uint64_t id = shared_->next_id++;
  if (size > INT64_MAX) return fail_errno(EFBIG, "make a file of its size", path);
  return std::unique_ptr<TargetFile>(new TargetFile(std::unique_ptr<TargetFile::State>(
      new TargetFile::State{shared_, name, fmt::format("{}.part", id), path, id, size, overwrite})));
}

Result<void> TargetDir::make_directory(const std::string& name, const Attributes& attributes) {
  FOREBAY_CHECK(check_name(name));
  FOREBAY_CHECK(shared_->make_way(name));
  const std::lock_guard lock(shared_->mutex);
  shared_->directories.at(name).attributes = attributes;
  return {};
}

Result<void> TargetDir::make_symlink(const std::string& name, const std::string& target, const Attributes& attributes,
                                     bool overwrite) {
  FOREBAY_CHECK(check_name(name));
  const std::string path = shared_->path_of(name);
  FOREBAY_TRY(const auto parent, shared_->make_way(split(name).first));
  FOREBAY_CHECK(shared_->check_free(parent->get(), split(name).second, name, Thing::link, overwrite));
  const std::string temporary = fmt::format("{}.part", shared_->next_id++);
  const int work = shared_->work.get();
  if (::symlinkat(target.c_str(), work, temporary.c_str()) != 0) return fail_errno(errno, "symlink", path);
  const timespec times[2] = {{0, UTIME_OMIT}, as_timespec(attributes)};
  // Some file systems keep no times of links: the link is worth more than its time.
  ::utimensat(work, temporary.c_str(), times, AT_SYMLINK_NOFOLLOW);
  auto placed = place(work, temporary, parent->get(), split(name).second, overwrite, path);
  if (!placed) ::unlinkat(work, temporary.c_str(), 0);
  return placed;
}

Result<void> TargetDir::commit(std::span<const Finished> files) {
  std::map<std::string, std::vector<TargetFile::State*>> by_directory;
  uint64_t bytes = 0;
  for (const Finished& file : files) {
    by_directory[split(file.file->state_->name).first].push_back(file.file->state_.get());
    bytes += file.file->state_->size;
  }
  const bool together = syncfs_is_sure(shared_->work.get()) && sync_together(files.size(), bytes, dirty_bytes());
  FOREBAY_CHECK(parallel_for(files.size(), kCallsAtOnce, [&](size_t i) {
    const auto& [file, attributes] = files[i];
    return together ? file->state_->finish(attributes) : file->state_->finish_durably(attributes);
  }));
  if (together && ::syncfs(shared_->work.get()) != 0) return fail_errno(errno, "syncfs", shared_->root_path);
  for (const auto& [directory, inside] : by_directory) {
    FOREBAY_CHECK(shared_->make_way(directory));
    FOREBAY_TRY(const Fd parent, shared_->walk(directory, false));
    FOREBAY_CHECK(
        parallel_for(inside.size(), kCallsAtOnce, [&](size_t i) { return inside[i]->give_name(parent.get()); }));
  }
  return {};
}

Result<void> TargetDir::finish() {
  const std::lock_guard lock(shared_->mutex);
  // In reverse order of names, what is in a directory comes before it.
  const auto finish_all = [&]() -> Result<void> {
    for (auto at = shared_->directories.rbegin(); at != shared_->directories.rend(); ++at)
      FOREBAY_CHECK(shared_->finish_directory(at->first, at->second.attributes));
    return shared_->is_new ? sync_parent(shared_->root_path) : Result<void>();
  };
  auto finished = finish_all();
  if (!finished)
    finished.error().what =
        "all files are complete and have their names, which a power cut may take away again: " + finished.error().what;
  return finished;
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
  FOREBAY_CHECK(state_->finish_durably(attributes));
  const std::string directory = split(state_->name).first;
  FOREBAY_CHECK(state_->target->make_way(directory));
  FOREBAY_TRY(const Fd parent, state_->target->walk(directory, false));
  return state_->give_name(parent.get());
}

}  // namespace forebay::store

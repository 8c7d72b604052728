#include "store/files.h"

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <memory>

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/checksum.h"

namespace forebay::store {

Result<Fd> open_at(int directory, const std::string& name, int flags, const std::string& path, unsigned mode) {
  for (;;) {
    const int fd = ::openat(directory, name.c_str(), flags | O_CLOEXEC, mode);
    if (fd >= 0) return Fd(fd);
    if (errno != EINTR) return fail_errno(errno, "open", path);
  }
}

Result<void> write_all(int fd, uint64_t offset, std::span<const std::byte> bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t written = ::pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return fail_errno(errno, "write", path);
    bytes = bytes.subspan(static_cast<size_t>(written));
    offset += static_cast<uint64_t>(written);
  }
  return {};
}

Result<void> make_directory(const std::string& path, const std::string& hint) {
  if (::mkdir(path.c_str(), 0775) == 0) return {};  // never everybody's, whatever the umask
  const int error = errno;
  if (error == EEXIST && !is_no_directory(path)) return {};
  if (error == EEXIST) return fail(ErrorKind::exists, "a file is where a directory should be", path, {}, hint);
  if (error == ENOTDIR) return fail(ErrorKind::exists, "cannot be made: a file is in the way above it", path, {}, hint);
  if (error == ENOENT)
    return fail(ErrorKind::not_found, "cannot be made: the directory that it should lie in is not there", path, {},
                "make that one first, with 'mkdir -p'");
  return fail_errno(error, "mkdir", path);
}

Result<void> sync_file(int fd, const std::string& path) {
  // EINVAL: a file system without fsync, for directories usually.
  if (::fsync(fd) != 0 && errno != EINVAL) return fail_errno(errno, "fsync", path);
  return {};
}

Result<void> sync_directory(const std::string& path) {
  FOREBAY_TRY(const Fd fd, open_at(AT_FDCWD, path, O_RDONLY | O_DIRECTORY, path));
  return sync_file(fd.get(), path);
}

Result<void> sync_parent(const std::string& path) {
  auto synced = sync_directory(path + "/..");
  if (!synced && synced.error().kind == ErrorKind::permission) return {};
  return synced;
}

Result<void> sync_given_name(const std::string& path) {
  const size_t slash = path.rfind('/');
  auto synced = sync_directory(slash == std::string::npos ? "." : path.substr(0, slash + 1));
  if (synced) return synced;
  Error& error = synced.error();
  error.path = path;
  error.what = "it is complete and has its name, which a power cut may take away again: " + error.what;
  if (error.hint.empty()) error.hint = "when the disk is in order, run `sync`, or write it once more";
  return synced;
}

static Result<void> write_file(const std::string& file, int flags, std::string_view text, const std::string& path) {
  FOREBAY_TRY(const Fd fd, open_at(AT_FDCWD, file, O_WRONLY | O_CREAT | flags, path, 0666));
  FOREBAY_CHECK(write_all(fd.get(), 0, as_bytes(text), path));
  return sync_file(fd.get(), path);
}

Result<void> write_unseen_text(const std::string& directory, const std::string& name, std::string_view text) {
  const std::string path = directory + "/" + name;
  return write_file(path, O_TRUNC, text, path);
}

Result<void> write_text(const std::string& directory, const std::string& name, std::string_view text) {
  const std::string path = directory + "/" + name;
  const std::string temporary = directory + "/." + name + "." + random_token();
  const auto write = [&]() -> Result<void> {
    FOREBAY_CHECK(write_file(temporary, O_EXCL, text, path));
    if (::rename(temporary.c_str(), path.c_str()) != 0) return fail_errno(errno, "rename", path);
    return {};
  };
  auto result = write();
  if (!result) ::unlink(temporary.c_str());
  return result;
}

bool is_no_directory(const std::string& path) {
  struct stat info{};
  if (::stat(path.c_str(), &info) == 0) return !S_ISDIR(info.st_mode);
  return errno == ENOENT || errno == ENOTDIR || errno == ELOOP;
}

Result<std::unique_ptr<FileSource>> open_stored(const std::string& path) {
  auto source = FileSource::open(path);
  if (source) return source;
  struct stat info{};
  const bool is_circle = ::stat(path.c_str(), &info) != 0 && errno == ELOOP;
  if (is_circle || source.error().kind == ErrorKind::invalid_argument) source.error().kind = ErrorKind::corrupt;
  return source;
}

Result<std::string> read_text(const std::string& path, uint64_t most) {
  FOREBAY_TRY(const auto source, open_stored(path));
  return read_text(*source, most);
}

Result<std::string> read_text(const ByteSource& source, uint64_t most) {
  const uint64_t size = source.size();
  if (size > most)
    return fail(ErrorKind::limit, fmt::format("{} bytes where {} is the most", size, most), source.name());
  std::string text(size, '\0');
  FOREBAY_CHECK(source.read_at(0, std::as_writable_bytes(std::span(text))));
  return text;
}

static std::unexpected<Error> rename_failed(int error, const std::string& path) {
  if (error == EXDEV)
    return fail(ErrorKind::io, "rename: another file system is mounted in between", path, {},
                "use a directory without mount points in it");
  return fail_errno(error == EISDIR ? EEXIST : error, "rename", path);
}

Result<void> rename_over(int from_directory, const std::string& from, int to_directory, const std::string& to,
                         const std::string& path) {
  if (::renameat(from_directory, from.c_str(), to_directory, to.c_str()) == 0) return {};
  return rename_failed(errno, path);
}

Result<void> rename_new(int from_directory, const std::string& from, int to_directory, const std::string& to,
                        const std::string& path) {
  if (::renameat2(from_directory, from.c_str(), to_directory, to.c_str(), RENAME_NOREPLACE) == 0) return {};
  if (errno != EINVAL && errno != ENOSYS) return rename_failed(errno, path);
  if (::linkat(from_directory, from.c_str(), to_directory, to.c_str(), 0) == 0) {
    ::unlinkat(from_directory, from.c_str(), 0);
    return {};
  }
  if (errno == EEXIST) return rename_failed(errno, path);
  // Directories have no hard links, and rename() itself refuses a directory that is not empty.
  struct stat info{};
  const bool is_taken = ::fstatat(to_directory, to.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0;
  if (is_taken && !S_ISDIR(info.st_mode)) return rename_failed(EEXIST, path);
  return rename_over(from_directory, from, to_directory, to, path);
}

Result<void> exchange_names(const std::string& one, const std::string& other) {
  if (::renameat2(AT_FDCWD, one.c_str(), AT_FDCWD, other.c_str(), RENAME_EXCHANGE) == 0) return {};
  if (errno == EINVAL || errno == ENOSYS || errno == ENOTSUP)
    return fail(ErrorKind::unsupported, "this file system cannot exchange two names in one step", other, {},
                "remove what is there yourself first, if it may go");
  return rename_failed(errno, other);
}

static Result<std::vector<std::string>> names_in_fd(Fd fd, const std::string& path) {
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(::fdopendir(fd.get()), ::closedir);
  if (!stream) return fail_errno(errno, "read directory", path);
  fd.release();  // it belongs to the stream now
  std::vector<std::string> names;
  for (;;) {
    errno = 0;
    const dirent* entry = ::readdir(stream.get());
    if (!entry && errno != 0) return fail_errno(errno, "read directory", path);
    if (!entry) return names;
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
}

Result<std::vector<std::string>> names_in(const std::string& path) {
  FOREBAY_TRY(Fd fd, open_at(AT_FDCWD, path, O_RDONLY | O_DIRECTORY, path));
  return names_in_fd(std::move(fd), path);
}

// Depth is bounded by the descriptors that a process may have open: deeper trees fail with limit.
Result<void> remove_tree(int directory, const std::string& name, const std::string& path) {
  if (::unlinkat(directory, name.c_str(), 0) == 0 || errno == ENOENT) return {};
  const int why = errno;
  struct stat info{};
  const bool is_there = ::fstatat(directory, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0;
  if ((why != EISDIR && why != EPERM) || !is_there || !S_ISDIR(info.st_mode)) return fail_errno(why, "remove", path);
  FOREBAY_TRY(const Fd fd, open_at(directory, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, path));
  FOREBAY_TRY(Fd listed, open_at(fd.get(), ".", O_RDONLY | O_DIRECTORY, path));
  FOREBAY_TRY(const auto names, names_in_fd(std::move(listed), path));
  for (const std::string& child : names) FOREBAY_CHECK(remove_tree(fd.get(), child, path + "/" + child));
  if (::unlinkat(directory, name.c_str(), AT_REMOVEDIR) != 0 && errno != ENOENT)
    return fail_errno(errno, "remove", path);
  return {};
}

std::string random_token() {
  uint64_t value = 0;
  if (::getrandom(&value, sizeof value, 0) == static_cast<ssize_t>(sizeof value)) return fmt::format("{:016x}", value);
  static std::atomic<uint64_t> counter = 0;
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  const uint64_t parts[] = {static_cast<uint64_t>(now.tv_sec), static_cast<uint64_t>(now.tv_nsec),
                            static_cast<uint64_t>(::getpid()), counter++};
  return fmt::format("{:016x}", hash64(std::as_bytes(std::span(parts))));
}

}  // namespace forebay::store

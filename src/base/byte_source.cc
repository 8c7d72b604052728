#include "base/byte_source.h"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace forebay {

static Result<void> check_range(const ByteSource& source, uint64_t offset, uint64_t length) {
  if (offset <= source.size() && length <= source.size() - offset) return {};
  return fail(ErrorKind::invalid_argument, "read past the end", source.name(), offset);
}

FileSource::Identity FileSource::identity_of(const struct stat& info) {
  return {.device = info.st_dev,
          .inode = info.st_ino,
          .size = static_cast<uint64_t>(info.st_size),
          .mtime_s = info.st_mtim.tv_sec,
          .mtime_ns = static_cast<uint32_t>(info.st_mtim.tv_nsec),
          .ctime_ns = info.st_ctim.tv_sec * 1'000'000'000 + info.st_ctim.tv_nsec};
}

Result<std::unique_ptr<FileSource>> FileSource::open(std::string path) {
  std::unique_ptr<FileSource> source(new FileSource);
  source->path_ = std::move(path);
  // O_NONBLOCK: opening a FIFO without a writer must not hang.
  source->fd_ = ::open(source->path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (source->fd_ < 0) return fail_errno(errno, "open", source->path_);
  struct stat info{};
  if (::fstat(source->fd_, &info) != 0) return fail_errno(errno, "stat", source->path_);
  if (!S_ISREG(info.st_mode)) return fail(ErrorKind::invalid_argument, "not a regular file", source->path_);
  source->identity_ = identity_of(info);
  return source;
}

FileSource::~FileSource() {
  if (fd_ >= 0) ::close(fd_);
}

Result<void> FileSource::read_at(uint64_t offset, std::span<std::byte> out) const {
  FOREBAY_CHECK(check_range(*this, offset, out.size()));
  while (!out.empty()) {
    const ssize_t got = ::pread(fd_, out.data(), out.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail_errno(errno, "read", path_);
    if (got == 0)
      return fail(ErrorKind::changed, "the file became shorter while it was read", path_, offset,
                  "let the writer finish, then run again");
    out = out.subspan(static_cast<size_t>(got));
    offset += static_cast<uint64_t>(got);
  }
  return {};
}

Result<void> FileSource::check_unchanged() const {
  struct stat opened{}, named{};
  const std::string hint = "let the writer finish, then run again";
  if (::fstat(fd_, &opened) != 0) return fail_errno(errno, "stat", path_);
  if (::stat(path_.c_str(), &named) != 0) {
    if (errno == ENOENT || errno == ENOTDIR)
      return fail(ErrorKind::changed, "the file vanished while it was read", path_, {}, hint);
    return fail_errno(errno, "stat", path_);
  }
  if (identity_of(opened) != identity_ || identity_of(named) != identity_)
    return fail(ErrorKind::changed, "the file changed while it was read", path_, {}, hint);
  return {};
}

void FileSource::forget_cached() const { (void)::posix_fadvise(fd_, 0, 0, POSIX_FADV_DONTNEED); }

Result<void> MemorySource::read_at(uint64_t offset, std::span<std::byte> out) const {
  FOREBAY_CHECK(check_range(*this, offset, out.size()));
  if (!out.empty()) std::memcpy(out.data(), bytes_.data() + offset, out.size());
  return {};
}

}  // namespace forebay

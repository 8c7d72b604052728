#include "launch/gather/copy_file.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <filesystem>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/byte_source.h"
#include "base/fd.h"
#include "store/files.h"

namespace forebay::launch {
namespace {

constexpr size_t kCopyBytes = 4 << 20;

Result<void> make_parents(const std::string& path) {
  std::error_code error;
  const auto parent = std::filesystem::path(path).parent_path();
  std::filesystem::create_directories(parent, error);
  return error ? fail_errno(error.value(), "mkdir", parent.string()) : Result<void>();
}

std::optional<std::string> link_target(const std::string& path) {
  char target[PATH_MAX];
  const ssize_t size = ::readlink(path.c_str(), target, sizeof target);
  if (size < 0) return std::nullopt;
  return std::string(target, static_cast<size_t>(size));
}

std::unexpected<Error> was_written(const std::string& path) {
  return fail(ErrorKind::changed, "it was written to while it was copied", path);
}

Result<void> copy_bytes(int from, int to, uint64_t bytes, const std::string& from_path, const std::string& to_path) {
  std::vector<std::byte> buffer(std::min<uint64_t>(kCopyBytes, std::max<uint64_t>(bytes, 1)));
  for (uint64_t done = 0; done < bytes;) {
    const size_t wanted = std::min<uint64_t>(buffer.size(), bytes - done);
    const ssize_t got = ::pread(from, buffer.data(), wanted, static_cast<off_t>(done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail_errno(errno, "read", from_path);
    if (got == 0) return was_written(from_path);
    FOREBAY_CHECK(store::write_all(to, done, std::span(buffer).first(static_cast<size_t>(got)), to_path));
    done += static_cast<uint64_t>(got);
  }
  return {};
}

Result<void> copy_regular(const std::string& from, const std::string& to, const CopyLimits& limits) {
  FOREBAY_TRY(const Fd source, store::open_at(AT_FDCWD, from, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, from));
  struct stat before{}, after{};
  if (::fstat(source.get(), &before) != 0) return fail_errno(errno, "stat", from);
  const auto size = static_cast<uint64_t>(before.st_size);
  if (!S_ISREG(before.st_mode) || (limits.size && *limits.size != size)) return was_written(from);
  const uint64_t wanted = std::min(limits.most.value_or(size), size);
  FOREBAY_TRY(const Fd target, store::open_at(AT_FDCWD, to, O_WRONLY | O_CREAT | O_EXCL, to, 0600));
  FOREBAY_CHECK(copy_bytes(source.get(), target.get(), wanted, from, to));
  if (::fstat(source.get(), &after) != 0) return fail_errno(errno, "stat", from);
  if (!limits.most && FileSource::identity_of(before) != FileSource::identity_of(after)) return was_written(from);
  if (::fchmod(target.get(), before.st_mode & 0777u) != 0) return fail_errno(errno, "chmod", to);
  const timespec times[] = {before.st_atim, before.st_mtim};
  if (::futimens(target.get(), times) != 0) return fail_errno(errno, "set the times of", to);
  return {};
}

}  // namespace

Result<void> copy_file(const std::string& from, const std::string& to, const CopyLimits& limits) {
  FOREBAY_CHECK(make_parents(to));
  if (const auto target = link_target(from))
    return ::symlink(target->c_str(), to.c_str()) == 0 ? Result<void>() : fail_errno(errno, "symlink", to);
  auto copied = copy_regular(from, to, limits);
  if (!copied && copied.error().kind != ErrorKind::exists) ::unlink(to.c_str());
  return copied;
}

bool is_same_file(const std::string& one, const std::string& other) {
  const auto link = link_target(one), other_link = link_target(other);
  if (link || other_link) return link == other_link;
  const Fd a(::open(one.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  const Fd b(::open(other.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat of_a{}, of_b{};
  if (!a || !b || ::fstat(a.get(), &of_a) != 0 || ::fstat(b.get(), &of_b) != 0) return false;
  if (!S_ISREG(of_a.st_mode) || !S_ISREG(of_b.st_mode) || of_a.st_size != of_b.st_size) return false;
  std::vector<std::byte> left(kCopyBytes), right(kCopyBytes);
  for (off_t at = 0; at < of_a.st_size;) {
    const ssize_t got = ::pread(a.get(), left.data(), left.size(), at);
    if (got <= 0 || ::pread(b.get(), right.data(), static_cast<size_t>(got), at) != got) return false;
    if (std::memcmp(left.data(), right.data(), static_cast<size_t>(got)) != 0) return false;
    at += got;
  }
  return true;
}

}  // namespace forebay::launch

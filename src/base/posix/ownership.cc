#include "base/posix/ownership.h"

#include <cerrno>

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/posix/trust.h"

namespace forebay {
namespace {

constexpr mode_t kOfOthers = 0077;

std::unexpected<Error> others(const std::string& path, std::string_view what, const struct stat& info,
                              const std::string& hint) {
  return fail(ErrorKind::permission, fmt::format("{} belongs to another user (number {})", what, info.st_uid), path, {},
              hint);
}

std::unexpected<Error> no_directory(const std::string& path, std::string_view what) {
  return fail(ErrorKind::invalid_argument, fmt::format("{} is no directory", what), path);
}

std::unexpected<Error> writable(const std::string& path, std::string_view what, const std::string& who,
                                const std::string& change, const std::string& hint) {
  return fail(ErrorKind::permission, fmt::format("{} can write to {}, and remove what is there", who, what), path, {},
              fmt::format("{}, or {}", change, hint));
}

}  // namespace

bool is_trusted_owner(uid_t owner) { return owner == ::geteuid() || owner == 0; }

Result<void> check_private_directory(const std::string& path, std::string_view what, const std::string& hint) {
  struct stat info{};
  if (::lstat(path.c_str(), &info) != 0) return fail_errno(errno, "stat", path);
  if (!S_ISDIR(info.st_mode)) return no_directory(path, what);
  if (info.st_uid != ::geteuid()) return others(path, what, info, hint);
  if ((info.st_mode & kOfOthers) == 0) return {};
  return fail(ErrorKind::permission, fmt::format("others than its owner can use {}", what), path, {},
              "chmod 700, or " + hint);
}

Result<void> make_private_parents(const std::string& path) {
  for (size_t slash = path.find('/', 1); slash != std::string::npos; slash = path.find('/', slash + 1)) {
    const std::string part = path.substr(0, slash);
    struct stat info{};
    // Where it is there, mkdir() may say that the file system is read-only, or that this user may not write.
    if (::stat(part.c_str(), &info) != 0 && ::mkdir(part.c_str(), 0700) != 0 && errno != EEXIST)
      return fail_errno(errno, "mkdir", part);
  }
  return {};
}

Result<void> check_own_directory(const std::string& path, std::string_view what, const std::string& hint) {
  struct stat info{};
  if (::lstat(path.c_str(), &info) != 0) return fail_errno(errno, "stat", path);
  if (!is_trusted_owner(info.st_uid)) return others(path, what, info, hint);
  if (S_ISLNK(info.st_mode) && ::stat(path.c_str(), &info) != 0) return fail_errno(errno, "stat", path);
  if (!S_ISDIR(info.st_mode)) return no_directory(path, what);
  switch (doubt_of(info.st_uid, info.st_gid, info.st_mode, {.user = ::geteuid(), .group = ::getegid()})) {
    case Doubt::foreign_owner:
      return others(path, what, info, hint);
    case Doubt::writable_by_all:
      return writable(path, what, "everybody", "chmod o-w", hint);
    case Doubt::writable_by_group:
      return writable(path, what, fmt::format("group {}", info.st_gid), "chmod g-w", hint);
    default:
      return {};
  }
}

}  // namespace forebay

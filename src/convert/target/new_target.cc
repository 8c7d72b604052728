#include "convert/target/new_target.h"

#include <cerrno>
#include <cstdio>
#include <filesystem>

#include <fcntl.h>
#include <sys/stat.h>

#include "store/files.h"

namespace forebay::convert {
namespace {

constexpr const char* kReplace = "use --overwrite to replace it";

std::string without_slashes(std::string path) {
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return path;
}

Result<void> check_free(const std::string& path, bool overwrite) {
  struct stat status{};
  if (overwrite || ::lstat(path.c_str(), &status) != 0) return {};
  return fail(ErrorKind::exists, "is there already", path, {}, kReplace);
}

template <class T>
Result<T> explained(Result<T> made, const std::string& path) {
  if (made || made.error().kind != ErrorKind::not_found) return made;
  return fail(ErrorKind::not_found, "cannot be made: the directory that it should lie in is not there", path, {},
              "make that one first, with 'mkdir -p'");
}

// Puts `from` where something may be, which then is gone.
Result<void> replace(const std::string& from, const std::string& path) {
  struct stat status{};
  const bool is_there = ::lstat(path.c_str(), &status) == 0;
  struct stat own{};
  if (::lstat(from.c_str(), &own) != 0) return fail_errno(errno, "look at", from);
  if (!is_there || (!S_ISDIR(status.st_mode) && !S_ISDIR(own.st_mode)))
    return ::rename(from.c_str(), path.c_str()) == 0 ? Result<void>() : fail_errno(errno, "rename", path);
  const std::string aside = path + ".old." + store::random_token();
  if (::rename(path.c_str(), aside.c_str()) != 0) return fail_errno(errno, "rename", path);
  if (::rename(from.c_str(), path.c_str()) != 0) {
    const int why = errno;
    ::rename(aside.c_str(), path.c_str());
    return fail_errno(why, "rename", path);
  }
  return store::remove_tree(AT_FDCWD, aside, aside);
}

}  // namespace

Result<NewTarget> NewTarget::file(std::string path, bool overwrite) {
  FOREBAY_CHECK(check_free(path, overwrite));
  std::string temporary = path + "." + store::random_token() + ".part";
  FOREBAY_TRY(Fd fd,
              explained(store::open_at(AT_FDCWD, temporary, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, path, 0666), path));
  return NewTarget(std::move(path), std::move(temporary), std::move(fd));
}

Result<NewTarget> NewTarget::directory(std::string path, bool overwrite) {
  path = without_slashes(std::move(path));
  FOREBAY_CHECK(check_free(path, overwrite));
  std::string temporary = path + "." + store::random_token() + ".part";
  const auto made = [&]() -> Result<void> {
    return ::mkdir(temporary.c_str(), 0777) == 0 ? Result<void>() : fail_errno(errno, "mkdir", path);
  };
  FOREBAY_CHECK(explained(made(), path));
  return NewTarget(std::move(path), std::move(temporary), Fd());
}

NewTarget::~NewTarget() {
  if (!temporary_.empty()) (void)store::remove_tree(AT_FDCWD, temporary_, temporary_);
}

void NewTarget::begin_sync() const { (void)::sync_file_range(fd_.get(), 0, 0, SYNC_FILE_RANGE_WRITE); }

Result<void> NewTarget::commit(bool overwrite) {
  if (fd_) FOREBAY_CHECK(store::sync_file(fd_.get(), path_));
  if (overwrite) {
    FOREBAY_CHECK(replace(temporary_, path_));
  } else {
    auto named = store::rename_new(AT_FDCWD, temporary_, AT_FDCWD, path_, path_);
    if (!named && named.error().kind == ErrorKind::exists) named.error().hint = kReplace;
    FOREBAY_CHECK(std::move(named));
  }
  temporary_.clear();
  const std::string parent = std::filesystem::path(path_).parent_path().string();
  return store::sync_directory(parent.empty() ? "." : parent);
}

}  // namespace forebay::convert

#include "convert/target/new_target.h"

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <mutex>
#include <set>

#include <fcntl.h>
#include <sys/stat.h>

#include "store/files.h"
#include "store/may_replace.h"

namespace forebay::convert {
namespace {

constexpr const char* kReplace = "use --overwrite to replace it";

std::string without_slashes(std::string path) {
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return path;
}

std::string parent_of(const std::string& path) {
  const std::string parent = std::filesystem::path(path).parent_path().string();
  return parent.empty() ? "." : parent;
}

Result<void> check_place(const std::string& path, store::Thing becomes, bool overwrite, std::string_view begins) {
  struct stat status{};
  if (!overwrite && ::lstat(path.c_str(), &status) == 0)
    return fail(ErrorKind::exists, "is there already", path, {}, kReplace);
  return store::may_replace(path, {.becomes = becomes, .right = store::Right::marked, .begins = begins});
}

// What targets left in a directory that were killed; looked for once, where many files are written.
void clean_once(const std::string& directory) {
  static std::mutex mutex;
  static std::set<std::string> cleaned;
  const std::lock_guard lock(mutex);
  if (cleaned.insert(directory).second) store::clean_staging(directory, kPartLabel);
}

// A name beside `path`.
Result<store::StagingName> take_beside(const std::string& path) {
  const std::string parent = parent_of(path);
  clean_once(parent);
  auto taken = store::StagingName::take(parent, kPartLabel);
  if (taken) return taken;
  if (taken.error().kind == ErrorKind::not_found)
    return fail(ErrorKind::not_found, "cannot be made: the directory that it should lie in is not there", path, {},
                "make that one first, with 'mkdir -p'");
  taken.error().path = path;
  return taken;
}

}  // namespace

Result<NewTarget> NewTarget::file(std::string path, bool overwrite, std::string_view begins) {
  FOREBAY_CHECK(check_place(path, store::Thing::file, overwrite, begins));
  FOREBAY_TRY(auto name, take_beside(path));
  FOREBAY_TRY(Fd fd, store::open_at(AT_FDCWD, name.path(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, path, 0666));
  return NewTarget(std::move(path), begins, std::move(name), std::move(fd));
}

Result<NewTarget> NewTarget::directory(std::string path, bool overwrite) {
  path = without_slashes(std::move(path));
  FOREBAY_CHECK(check_place(path, store::Thing::directory, overwrite, {}));
  return unnamed_directory(std::move(path));
}

Result<NewTarget> NewTarget::unnamed_directory(std::string path) {
  FOREBAY_TRY(auto name, take_beside(path));
  if (::mkdir(name.path().c_str(), 0777) != 0) return fail_errno(errno, "mkdir", path);
  return NewTarget(std::move(path), {}, std::move(name), Fd());
}

void NewTarget::begin_sync() const { (void)::sync_file_range(fd_.get(), 0, 0, SYNC_FILE_RANGE_WRITE); }

Result<void> NewTarget::prepare() const {
  if (fd_) FOREBAY_CHECK(store::sync_file(fd_.get(), path_));
  store::mark_as_made(temporary());
  return {};
}

Result<NewTarget::Named> NewTarget::give_name(bool overwrite, bool keeps_old) const {
  if (overwrite) FOREBAY_CHECK(check_place(path_, fd_ ? store::Thing::file : store::Thing::directory, true, begins_));
  auto named = store::rename_new(AT_FDCWD, temporary(), AT_FDCWD, path_, path_);
  if (named) return Named::as_new;
  if (named.error().kind != ErrorKind::exists) return std::unexpected(std::move(named).error());
  if (!overwrite) {
    named.error().hint = kReplace;
    return std::unexpected(std::move(named).error());
  }
  if (!fd_ || keeps_old) {
    named = store::exchange_names(temporary(), path_);
    if (named) return Named::exchanged;
    if (!fd_ || named.error().kind != ErrorKind::unsupported) return std::unexpected(std::move(named).error());
  }
  FOREBAY_CHECK(store::rename_over(AT_FDCWD, temporary(), AT_FDCWD, path_, path_));
  return Named::over;
}

void NewTarget::take_back(Named named) const {
  if (named == Named::as_new) (void)store::rename_new(AT_FDCWD, path_, AT_FDCWD, temporary(), path_);
  if (named == Named::exchanged) (void)store::exchange_names(temporary(), path_);
}

Result<void> NewTarget::commit(bool overwrite) {
  FOREBAY_CHECK(prepare());
  FOREBAY_CHECK(give_name(overwrite, false));
  return store::sync_given_name(path_);
}

Result<void> NewTarget::commit_both(const NewTarget& first, const NewTarget& second, bool overwrite) {
  FOREBAY_CHECK(first.prepare());
  FOREBAY_CHECK(second.prepare());
  FOREBAY_TRY(const Named named, first.give_name(overwrite, true));
  if (auto last = second.give_name(overwrite, false); !last) {
    first.take_back(named);
    return std::unexpected(std::move(last).error());
  }
  return store::sync_given_name(second.path_);
}

}  // namespace forebay::convert

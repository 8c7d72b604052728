#include "job/stage/levels.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <filesystem>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/posix/ownership.h"
#include "job/stage/stage_notes.h"
#include "store/files.h"

namespace forebay::job {
namespace {

constexpr mode_t kPrivate = 0700;
constexpr const char* kOwner = ".forebay-stage";  // whose level it is: the path of the stage
constexpr const char* kBin = ".forebay-bin";
constexpr uint64_t kMostPath = PATH_MAX;

Result<void> make_own(const std::string& path) {
  // The one above as well, for a node may come back empty; where more is missing, the disk is not there.
  (void)::mkdir(path.substr(0, path.rfind('/')).c_str(), kPrivate);
  if (::mkdir(path.c_str(), kPrivate) != 0 && errno != EEXIST) return fail_errno(errno, "mkdir", path);
  return check_private_directory(path, "the cache level", "name another one");
}

Result<void> check_owner(const std::string& directory, const std::string& stage) {
  const auto owner = store::read_text(directory + "/" + kOwner, kMostPath);
  if (owner && *owner == stage) return {};
  if (owner)
    return fail(ErrorKind::exists, fmt::format("this cache level belongs to the stage {}", *owner), directory, {},
                "name another directory, or remove this one when that job is over");
  if (owner.error().kind != ErrorKind::not_found) return std::unexpected(owner.error());
  return store::write_text(directory, kOwner, stage);
}

}  // namespace

std::string level_of_set(std::span<const LevelOptions> levels, uint64_t number) {
  const LevelOptions* best = nullptr;
  for (const LevelOptions& level : levels)
    if (level.every > 0 && number % level.every == 0 && (best == nullptr || level.every > best->every)) best = &level;
  return best == nullptr ? std::string() : best->directory;
}

Result<Level> Level::take(const std::string& directory, const std::string& stage) {
  if (!directory.starts_with('/') || directory.size() > kMostPath)
    return fail(ErrorKind::invalid_argument, "a cache level is named by an absolute path", directory);
  FOREBAY_CHECK(make_own(directory));
  FOREBAY_TRY(Fd lock, store::open_at(AT_FDCWD, directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, directory));
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0)
    return fail(ErrorKind::exists, "another agent uses this cache level", directory, {}, "name another directory");
  FOREBAY_CHECK(check_owner(directory, stage));
  FOREBAY_CHECK(make_own(directory + "/" + kBin));
  return Level(directory, std::move(lock));
}

Result<void> Level::empty_bin() const {
  const std::string bin = directory_ + "/" + kBin;
  FOREBAY_TRY(const Fd opened, store::open_at(AT_FDCWD, bin, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, bin));
  FOREBAY_TRY(const auto names, store::names_in(bin));
  for (const std::string& name : names) FOREBAY_CHECK(store::remove_tree(opened.get(), name, bin + "/" + name));
  return {};
}

Result<std::vector<std::string>> Level::strangers(std::span<const std::string> places) const {
  FOREBAY_TRY(auto names, store::names_in(directory_));
  std::erase_if(names, [&](const std::string& name) {
    return name.starts_with('.') || name.ends_with(".parity") ||
           std::ranges::find(places, directory_ + "/" + name) != places.end();
  });
  std::ranges::sort(names);
  return names;
}

Result<std::string> make_place(const std::string& level, const std::string& set) {
  std::string place = fmt::format("{}/{}.{}", level, set, store::random_token());
  if (::mkdir(place.c_str(), 0777) != 0) return fail_errno(errno, "mkdir", place);
  return place;
}

std::string level_of(std::string_view place) { return std::string(place.substr(0, place.rfind('/'))); }

std::optional<std::string> place_of(const std::string& stage, const std::string& set) {
  char target[PATH_MAX];
  const ssize_t size = ::readlink((stage + "/" + set).c_str(), target, sizeof target);
  if (size <= 0 || static_cast<size_t>(size) == sizeof target) return std::nullopt;
  const std::string place(target, static_cast<size_t>(size));
  const auto begun = read_begin(stage, set);
  if (!begun || !*begun || (*begun)->place != place) return std::nullopt;
  return place;
}

Result<void> release_place(const std::string& stage, const std::string& set) {
  if (const auto place = place_of(stage, set)) return release_place(*place);
  struct stat info{};
  if (::lstat((stage + "/" + set).c_str(), &info) == 0 || errno != ENOENT) return {};
  const auto begun = read_begin(stage, set);
  return begun && *begun && !(*begun)->place.empty() ? release_place((*begun)->place) : Result<void>();
}

Result<void> release_place(const std::string& place) {
  const std::string bin = level_of(place) + "/" + kBin, to = bin + "/" + store::random_token();
  struct stat info{};
  if (::lstat(place.c_str(), &info) != 0) return errno == ENOENT ? Result<void>() : fail_errno(errno, "stat", place);
  if (::rename(place.c_str(), to.c_str()) == 0) return {};
  if (errno != ENOENT) return fail_errno(errno, "rename", place);
  FOREBAY_CHECK(make_own(bin));
  return ::rename(place.c_str(), to.c_str()) == 0 ? Result<void>() : fail_errno(errno, "rename", place);
}

Result<void> discard_lost(const std::string& stage, const std::string& set) {
  struct stat info{};
  if (::lstat((stage + "/" + set).c_str(), &info) != 0 || !S_ISLNK(info.st_mode)) return {};
  FOREBAY_TRY(const bool is_there, has_set(stage, set));
  return is_there ? Result<void>() : discard_files(stage, set, "");
}

std::string level_name(const std::string& directory) {
  const std::filesystem::path path = std::filesystem::path(directory + "/.").lexically_normal().parent_path();
  std::error_code error;
  const std::filesystem::path above = std::filesystem::canonical(path.parent_path(), error);
  return error ? path.string() : (above / path.filename()).string();
}

}  // namespace forebay::job

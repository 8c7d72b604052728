#include "io/staging/stage_place.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/checksum.h"
#include "base/posix/ownership.h"
#include "store/files.h"
#include "store/names.h"
#include "store/store.h"

namespace forebay::io {
namespace fs = std::filesystem;
namespace {

constexpr unsigned kMostOwners = 256;
constexpr std::string_view kComplete = ".complete";  // of the file that says so, which has the step

// A directory of the user alone; made if it is not there.
Result<void> make_private(const std::string& path) {
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return fail_errno(errno, "mkdir", path);
  return check_private_directory(path, "the directory for staged sets", "name another one by the parameter 'stage'");
}

Result<Fd> lock_in(const std::string& directory) {
  const std::string path = directory + "/lock";
  Fd lock(::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!lock) return fail_errno(errno, "open", path);
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) return Fd();
  // An owner that left may have removed the file between the two calls; then this lock means nothing.
  struct stat locked{}, named{};
  const bool is_current = ::fstat(lock.get(), &locked) == 0 && ::lstat(path.c_str(), &named) == 0 &&
                          locked.st_dev == named.st_dev && locked.st_ino == named.st_ino;
  return is_current ? std::move(lock) : Fd();
}

// What the file says that tells of a complete set: the step, and the name on a line of its own; without, the name is
// that of the directory.
Result<WaitingSet> read_complete(const std::string& directory) {
  const std::string path = directory + std::string(kComplete);
  std::ifstream file(path);
  std::string text;
  WaitingSet set;
  if (!std::getline(file, text) || std::from_chars(text.data(), text.data() + text.size(), set.step).ec != std::errc{})
    return fail(ErrorKind::corrupt, "it does not tell a step", path);
  if (!std::getline(file, set.name)) set.name = fs::path(directory).filename();
  if (!store::is_set_name(set.name)) return fail(ErrorKind::corrupt, "it does not tell the name of a set", path);
  return set;
}

// A directory below that of the user, which whoever leaves as the last one may be removing just now.
Result<void> make_below(const std::string& mine, const std::string& path) {
  constexpr int kAttempts = 100;
  for (int attempt = 1;; ++attempt) {
    auto made = make_private(mine);
    if (made) made = make_private(path);
    if (made || made.error().kind != ErrorKind::not_found || attempt == kAttempts) return made;
  }
}

}  // namespace

Result<StagePlace> StagePlace::own(const std::string& root, const std::string& store) {
  const std::string mine = fmt::format("{}/forebay-io-{}", root, ::geteuid());
  std::error_code ignored;
  const std::string target = fs::weakly_canonical(fs::absolute(store, ignored), ignored).string();
  const uint64_t key = hash64(std::as_bytes(std::span(target)));
  for (unsigned i = 0; i < kMostOwners; ++i) {
    StagePlace place;
    place.directory_ = fmt::format("{}/{:016x}.{}", mine, key, i);
    FOREBAY_CHECK(make_below(mine, place.directory_));
    auto lock = lock_in(place.directory_);
    if (!lock && lock.error().kind == ErrorKind::not_found) continue;  // its owner is removing it
    FOREBAY_TRY(place.lock_, std::move(lock));
    if (!place.lock_) continue;
    FOREBAY_CHECK(place.adopt());
    return place;
  }
  return fail(ErrorKind::limit, fmt::format("{} processes have process groups for {} here", kMostOwners, store), mine);
}

Result<void> StagePlace::adopt() {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(directory_, error)) {
    const std::string path = entry.path().string(), name = entry.path().filename().string();
    if (name == "lock" || name.ends_with(kComplete)) continue;
    auto set = read_complete(path);
    if (set) {
      set->directory = path;
      left_over_.push_back(*std::move(set));
    } else {
      std::error_code ignored;
      fs::remove_all(entry.path(), ignored);
    }
  }
  if (error) return fail(ErrorKind::io, "it cannot be listed: " + error.message(), directory_);
  std::ranges::sort(left_over_, {}, [](const WaitingSet& set) { return std::pair(set.step, set.name); });
  return {};
}

StagePlace::~StagePlace() {
  if (!lock_) return;
  std::error_code error;
  const bool is_empty = std::ranges::distance(fs::directory_iterator(directory_, error)) == 1;
  if (error || !is_empty) return;
  fs::remove(directory_ + "/lock", error);
  ::rmdir(directory_.c_str());
  ::rmdir(fs::path(directory_).parent_path().c_str());  // unless others have something there
}

Result<WaitingSet> StagePlace::begin(const std::string& name, uint64_t step) const {
  for (uint64_t number = 1;; ++number) {
    WaitingSet set{.name = name, .step = step, .directory = directory_ + "/" + store::stored_name(name, number)};
    if (::mkdir(set.directory.c_str(), 0700) == 0) return set;
    if (errno != EEXIST) return fail_errno(errno, "mkdir", set.directory);
  }
}

Result<void> StagePlace::name_directory(WaitingSet& set) const {
  for (uint64_t number = 1;; ++number) {
    std::string named = directory_ + "/" + store::stored_name(set.name, number);
    if (named == set.directory) return {};
    const auto renamed = store::rename_new(AT_FDCWD, set.directory, AT_FDCWD, named, named);
    if (renamed) set.directory = std::move(named);
    if (renamed || renamed.error().kind != ErrorKind::exists) return renamed;
  }
}

Result<void> StagePlace::complete(WaitingSet& set) const {
  FOREBAY_CHECK(name_directory(set));
  const std::string path = set.directory + std::string(kComplete), unfinished = path + ".part";
  {
    std::ofstream file(unfinished);
    file << set.step << '\n' << set.name << '\n';
    if (!file.flush()) return fail(ErrorKind::no_space, "it cannot be written", unfinished);
  }
  if (::rename(unfinished.c_str(), path.c_str()) != 0) return fail_errno(errno, "rename", unfinished);
  return {};
}

void StagePlace::remove(const WaitingSet& set) {
  std::error_code ignored;
  fs::remove(set.directory + std::string(kComplete), ignored);
  fs::remove_all(set.directory, ignored);
}

}  // namespace forebay::io

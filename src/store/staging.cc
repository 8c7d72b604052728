// Who may remove what, step by step.
//
// An owner:
//   1. creates NAME.lock (O_EXCL; NAME ends in a random token) and takes flock(LOCK_EX) on it without waiting;
//   2. looks whether NAME.lock still is the file that it locked; if not, or if the lock was taken, a cleaner came
//   between
//      creating and locking: it starts again with another NAME;
//   3. creates NAME, or moves something there;
//   4. when done, moves NAME out of staging or removes it, and then removes NAME.lock.
// A cleaner, for each NAME.lock:
//   1. takes flock(LOCK_EX) without waiting; if that fails, the owner lives;
//   2. looks whether NAME.lock still is the file that it locked;
//   3. removes NAME, then NAME.lock, and only then unlocks.
// As NAME exists only while NAME.lock does, whatever a kill leaves behind has its lock file, and its lock is free.
//
// On a network file system the lock of an owner on another node may be invisible (Lustre with localflock, NFS with
// local_lock): what another host owned is cleaned only when nothing in it has changed for a day
// (docs/decisions/0003-staging-locks.md).
#include "store/staging.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <mutex>
#include <optional>
#include <set>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/checksum.h"

namespace forebay::store {
namespace {

constexpr std::string_view kLockSuffix = ".lock";

// The names that this process has taken. Never destroyed: threads may outlive what is.
struct TakenNames {
  std::mutex mutex;
  std::set<std::string> paths;

  static TakenNames& instance() {
    static auto* const the = new TakenNames;
    return *the;
  }
  void add(const std::string& path) {
    const std::lock_guard lock(mutex);
    paths.insert(path);
  }
  void forget(const std::string& path) {
    const std::lock_guard lock(mutex);
    paths.erase(path);
  }
};

std::string this_host() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return "unknown";
  return name.data();
}

LockState try_lock(int fd) {
  if (::flock(fd, LOCK_EX | LOCK_NB) == 0) return LockState::free;
  return errno == EWOULDBLOCK || errno == EINTR ? LockState::held : LockState::unknown;
}

bool names_file(const std::string& path, int fd) {
  struct stat named{}, opened{};
  return ::lstat(path.c_str(), &named) == 0 && ::fstat(fd, &opened) == 0 && named.st_ino == opened.st_ino &&
         named.st_dev == opened.st_dev;
}

// Seconds since anything at `path` or directly in it was modified.
int64_t age_of(const std::string& path) {
  struct stat info{};
  if (::lstat(path.c_str(), &info) != 0) return 0;
  int64_t newest = info.st_mtim.tv_sec;
  if (S_ISDIR(info.st_mode))
    for (const std::string& name : names_in(path).value_or(std::vector<std::string>{}))
      if (::lstat((path + "/" + name).c_str(), &info) == 0) newest = std::max<int64_t>(newest, info.st_mtim.tv_sec);
  return ::time(nullptr) - newest;
}

void clean_locked(const std::string& path, bool is_same_host, const LookBeforeRemoval& look) {
  const std::string lock_path = path + std::string(kLockSuffix);
  const auto lock = open_at(AT_FDCWD, lock_path, O_RDWR | O_NOFOLLOW | O_NONBLOCK, lock_path);
  if (!lock) return;
  const LockState state = try_lock(lock->get());
  if (!names_file(lock_path, lock->get())) return;
  struct stat there{};
  int64_t age = age_of(lock_path);
  if (::lstat(path.c_str(), &there) == 0) age = std::min(age, age_of(path));
  if (!may_clean(state, is_same_host, age)) return;
  if (look && !look(path)) return;
  if (remove_tree(AT_FDCWD, path, path)) ::unlink(lock_path.c_str());
}

}  // namespace

bool may_clean(LockState lock, bool is_same_host, int64_t age_seconds) {
  if (lock == LockState::held) return false;
  return (lock == LockState::free && is_same_host) || age_seconds > kForeignAgeSeconds;
}

std::string host_token(std::string_view host_name) {
  constexpr size_t kMost = 24;
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
  };
  if (!host_name.empty() && host_name.size() <= kMost && std::ranges::all_of(host_name, is_plain))
    return std::string(host_name);
  std::string token;
  for (const char c : host_name.substr(0, kMost - 9)) token += is_plain(c) ? c : '-';
  return fmt::format("{}-{:08x}", token, hash64(as_bytes(host_name)) & 0xffffffff);
}

std::optional<StagingParts> parse_staging_name(std::string_view name) {
  const auto take_last = [&](auto is_allowed) -> std::optional<std::string_view> {
    const size_t dot = name.rfind('.');
    if (dot == std::string_view::npos) return {};
    const std::string_view part = name.substr(dot + 1);
    name = name.substr(0, dot);
    if (part.empty() || !std::ranges::all_of(part, is_allowed)) return {};
    return part;
  };
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto random = take_last([&](char c) { return is_digit(c) || (c >= 'a' && c <= 'f'); });
  const auto pid = random ? take_last(is_digit) : std::nullopt;
  const auto host = pid ? take_last([](char) { return true; }) : std::nullopt;
  if (!host || random->size() != 16 || name.empty()) return {};
  return StagingParts{name, *host};
}

Result<StagingName> StagingName::take(const std::string& staging, std::string_view label) {
  constexpr int kAttempts = 100;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    std::string path =
        fmt::format("{}/{}.{}.{}.{}", staging, label, host_token(this_host()), ::getpid(), random_token());
    const std::string lock_path = path + std::string(kLockSuffix);
    FOREBAY_TRY(Fd lock, open_at(AT_FDCWD, lock_path, O_RDWR | O_CREAT | O_EXCL, lock_path, 0666));
    if (try_lock(lock.get()) == LockState::held || !names_file(lock_path, lock.get())) continue;
    TakenNames::instance().add(path);
    return StagingName(std::move(path), std::move(lock));
  }
  return fail(ErrorKind::io, "could not lock a new staging directory", staging);
}

StagingName::~StagingName() {
  if (!lock_) return;
  TakenNames::instance().forget(path_);
  // What cannot be removed now keeps its lock file, so that a cleaner finds it.
  if (remove_tree(AT_FDCWD, path_, path_)) ::unlink((path_ + std::string(kLockSuffix)).c_str());
}

void StagingName::leave_to_cleaner() const { TakenNames::instance().forget(path_); }

void remove_taken_names() {
  constexpr int kAttempts = 10;  // other threads may put something there meanwhile
  TakenNames::instance().mutex.lock();
  for (const std::string& path : TakenNames::instance().paths)
    for (int attempt = 0; attempt < kAttempts; ++attempt)
      if (remove_tree(AT_FDCWD, path, path)) {
        ::unlink((path + std::string(kLockSuffix)).c_str());
        break;
      }
}

void clean_staging(const std::string& staging, std::string_view label, const LookBeforeRemoval& look) {
  const auto names = names_in(staging);
  if (!names) return;
  const std::string host = host_token(this_host());
  for (const std::string& file : *names) {
    if (!file.ends_with(kLockSuffix)) continue;
    const auto name = std::string_view(file).substr(0, file.size() - kLockSuffix.size());
    const auto parts = parse_staging_name(name);
    if (parts && (label.empty() || parts->label == label))
      clean_locked(fmt::format("{}/{}", staging, name), parts->host == host, look);
  }
}

}  // namespace forebay::store

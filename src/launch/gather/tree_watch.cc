#include "launch/gather/tree_watch.h"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <string_view>
#include <utility>

#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/files.h"

namespace forebay::launch {
namespace {

constexpr uint32_t kTreeEvents = IN_MODIFY | IN_CLOSE_WRITE | IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO;
constexpr uint32_t kHowWatched = IN_ONLYDIR | IN_DONT_FOLLOW | IN_EXCL_UNLINK;
constexpr size_t kEventBytes = 64 << 10;
constexpr size_t kMostNames = 3;

}  // namespace

Result<TreeWatch> TreeWatch::create(std::string directory, std::set<FileId> leave_out) {
  Fd inotify(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  if (!inotify) return fail_errno(errno, "inotify_init", directory);
  TreeWatch watch(std::move(directory), std::move(leave_out), std::move(inotify));
  watch.watch("");
  return watch;
}

// The watch comes first, then the look at what is there: what is made in between is seen at least once.
void TreeWatch::watch(const std::string& path) {
  const std::string full = path.empty() ? directory_ : directory_ + "/" + path;
  struct stat info{};
  if (::lstat(full.c_str(), &info) != 0 || !S_ISDIR(info.st_mode) || leave_out_.contains({info.st_dev, info.st_ino}))
    return;
  const int wd = ::inotify_add_watch(inotify_.get(), full.c_str(), kTreeEvents | kHowWatched);
  if (wd < 0) {
    is_blind_ = is_blind_ || (errno != ENOENT && errno != ENOTDIR && errno != ELOOP);
    return;
  }
  by_wd_[wd] = path;
  const auto names = store::names_in(full);
  if (!names) return;
  for (const std::string& name : *names)
    if (!name.starts_with(".forebay")) watch(path.empty() ? name : path + "/" + name);
}

// Watches stay with directories, whatever these are called.
void TreeWatch::follow_move(const Moved& move) {
  for (auto& [wd, path] : by_wd_)
    if (path == move.from)
      path = move.to;
    else if (path.starts_with(move.from + "/"))
      path = move.to + path.substr(move.from.size());
}

void TreeWatch::happened(uint32_t mask, uint32_t cookie, const std::string& path, std::vector<Moved>& moves) {
  if (names_.size() < kMostNames && std::ranges::find(names_, path) == names_.end()) names_.push_back(path);
  if (mask & IN_MOVED_FROM) left_[cookie] = path;
  if ((mask & (IN_CREATE | IN_ISDIR)) == (IN_CREATE | IN_ISDIR)) watch(path);
  if (!(mask & IN_MOVED_TO)) return;
  const auto from = left_.find(cookie);
  // From a directory that is not watched: the file is renamed all the same, from a name that no rule knows.
  moves.push_back({from == left_.end() ? ".forebay-elsewhere/" + path : from->second, path});
  if (from != left_.end()) left_.erase(from);
  if (!(mask & IN_ISDIR)) return;
  follow_move(moves.back());
  watch(path);
}

Result<std::vector<Moved>> TreeWatch::read() {
  std::vector<Moved> moves;
  alignas(inotify_event) std::byte buffer[kEventBytes];
  for (;;) {
    const ssize_t got = ::read(inotify_.get(), buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) return moves;
    if (got <= 0) return fail_errno(errno, "read inotify", directory_);
    for (size_t at = 0; at < static_cast<size_t>(got);) {
      inotify_event event;
      std::memcpy(&event, buffer + at, sizeof event);
      const char* const text = reinterpret_cast<const char*>(buffer + at + offsetof(inotify_event, name));
      const std::string_view name(text, ::strnlen(text, event.len));
      at += sizeof event + event.len;
      if (event.mask & IN_Q_OVERFLOW) is_blind_ = true;
      const auto directory = by_wd_.find(event.wd);
      if (directory == by_wd_.end()) continue;
      if (event.mask & IN_IGNORED)
        by_wd_.erase(directory);
      else if (!name.empty() && !name.starts_with(".forebay"))
        happened(event.mask, event.cookie,
                 directory->second.empty() ? std::string(name) : directory->second + "/" + std::string(name), moves);
    }
  }
}

}  // namespace forebay::launch

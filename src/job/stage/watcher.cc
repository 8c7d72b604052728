#include "job/stage/watcher.h"

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include <dirent.h>
#include <fmt/format.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "job/client/stage_names.h"

namespace forebay::job {
namespace {

constexpr uint32_t kEvents = IN_CLOSE_WRITE | IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO;
constexpr uint32_t kHow = IN_ONLYDIR | IN_DONT_FOLLOW | IN_EXCL_UNLINK;
constexpr size_t kReadBytes = 64 << 10;

std::string notes_root() { return fmt::format("{}/sets", kOwnDirectory); }

std::string join(std::string_view directory, std::string_view name) {
  return directory.empty() ? std::string(name) : fmt::format("{}/{}", directory, name);
}

bool is_below(std::string_view path, std::string_view directory) {
  return path.size() > directory.size() && path.starts_with(directory) && path[directory.size()] == '/';
}

std::vector<std::string> directories_in(const std::string& path) {
  std::vector<std::string> names;
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(::opendir(path.c_str()), ::closedir);
  if (!directory) return names;
  while (const dirent* entry = ::readdir(directory.get())) {
    const std::string name = entry->d_name;
    if (name == "." || name == "..") continue;
    struct stat info{};
    const bool unknown = entry->d_type == DT_UNKNOWN;
    if (entry->d_type == DT_DIR ||
        (unknown && ::lstat((path + "/" + name).c_str(), &info) == 0 && S_ISDIR(info.st_mode)))
      names.push_back(name);
  }
  return names;
}

}  // namespace

Result<Watcher> Watcher::create(std::string stage, const Completion& completion) {
  Fd inotify(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  if (!inotify) return fail_errno(errno, "inotify_init", stage);
  Watcher watcher(std::move(stage), completion, std::move(inotify));
  watcher.watch_all();
  return watcher;
}

// Also what was there before is watched again: a directory that took the place of another has the same name.
void Watcher::watch_all() {
  blind_ = false;
  if (completion_.kind != Completion::Kind::api) watch_tree("");
  watch_tree(notes_root());
  for (const auto& [set, place] : followed_) watch_tree(set);
}

// Of what lies below a place on a cache level there.
std::string Watcher::real_path(const std::string& path) const {
  const size_t slash = path.find('/');
  const auto followed = followed_.find(path.substr(0, slash));
  if (followed == followed_.end() || followed->second.empty()) return join(stage_, path);
  return slash == std::string::npos ? followed->second : followed->second + path.substr(slash);
}

// Whether what appears below `path` is watched, too.
bool Watcher::is_watched_deep(std::string_view path) const {
  const std::string notes = notes_root();
  if (path == kOwnDirectory || is_below(path, kOwnDirectory)) return path == notes || is_below(path, notes);
  if (completion_.kind != Completion::Kind::api) return true;
  return followed_.contains(path.substr(0, path.find('/')));
}

bool Watcher::watch_directory(const std::string& path) {
  const int wd = ::inotify_add_watch(inotify_.get(), real_path(path).c_str(), kEvents | kHow);
  if (wd < 0) {
    const bool is_gone = errno == ENOENT || errno == ENOTDIR || errno == ELOOP;
    blind_ = blind_ || !is_gone;
    return false;
  }
  if (const auto before = by_wd_.find(wd); before != by_wd_.end() && before->second != path)
    by_path_.erase(before->second);
  by_wd_[wd] = path;
  by_path_[path] = wd;
  return true;
}

// The watch comes first, then the look at what is there: what is made in between is seen at least once.
void Watcher::watch_tree(const std::string& path) {
  if (!watch_directory(path)) return;
  for (const std::string& name : directories_in(real_path(path)))
    if (const std::string child = join(path, name); is_watched_deep(child)) watch_tree(child);
}

void Watcher::unwatch_tree(const std::string& path) {
  for (auto at = by_path_.lower_bound(path); at != by_path_.end() && at->first.starts_with(path);) {
    if (at->first != path && !is_below(at->first, path)) {
      ++at;
      continue;
    }
    ::inotify_rm_watch(inotify_.get(), at->second);
    by_wd_.erase(at->second);
    at = by_path_.erase(at);
  }
}

void Watcher::follow(const std::string& set, const std::string& place) {
  if (completion_.kind != Completion::Kind::api && place.empty()) return;
  if (!followed_.emplace(set, place).second) return;
  watch_tree(set);
}

void Watcher::forget(const std::string& set) {
  const auto followed = followed_.find(set);
  if (followed == followed_.end()) return;
  unwatch_tree(set);
  followed_.erase(followed);
}

void Watcher::happened(uint32_t mask, const std::string& directory, std::string_view name, Changes& changes) {
  const std::string path = join(directory, name);
  if (mask & IN_ISDIR) {
    if (mask & (IN_MOVED_FROM | IN_DELETE)) unwatch_tree(path);
    if ((mask & (IN_CREATE | IN_MOVED_TO)) && is_watched_deep(path)) watch_tree(path);
  }
  // Of the notes the markers count; the others are the agent's own.
  if (is_below(directory, notes_root()) && !marker_rank(name)) return;
  auto set = set_of(path, completion_);
  if (!set || (!changes.sets.empty() && changes.sets.back() == *set)) return;
  std::erase(changes.sets, *set);
  changes.sets.push_back(*std::move(set));
}

Result<Watcher::Changes> Watcher::read() {
  Changes changes;
  alignas(inotify_event) std::byte buffer[kReadBytes];
  for (;;) {
    const ssize_t got = ::read(inotify_.get(), buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) break;
    if (got <= 0) return fail_errno(errno, "read inotify", stage_);
    for (size_t at = 0; at < static_cast<size_t>(got);) {
      inotify_event event;
      std::memcpy(&event, buffer + at, sizeof event);
      const char* name = reinterpret_cast<const char*>(buffer + at + offsetof(inotify_event, name));
      at += sizeof event + event.len;
      if (event.mask & IN_Q_OVERFLOW) {
        changes.all = true;
        continue;
      }
      const auto found = by_wd_.find(event.wd);
      if (found == by_wd_.end()) continue;
      const std::string directory = found->second;
      if (event.mask & IN_IGNORED) {
        if (const auto path = by_path_.find(directory); path != by_path_.end() && path->second == event.wd)
          by_path_.erase(path);
        by_wd_.erase(found);
      } else if (event.len > 0) {
        happened(event.mask, directory, std::string_view(name, ::strnlen(name, event.len)), changes);
      }
    }
  }
  if (changes.all) watch_all();
  return changes;
}

}  // namespace forebay::job

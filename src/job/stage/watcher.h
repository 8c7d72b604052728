// Tells which sets of a stage may have changed (inotify). What it tells is a reason to look, no more: whoever looks
// after read() has returned misses nothing, as long as the watcher is not blind.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/error.h"
#include "base/fd.h"
#include "job/stage/stage.h"

namespace forebay::job {

// Not thread-safe.
class Watcher {
 public:
  // Watches what the agents' own notes are about, and, unless sets are complete by forebay.h only, the whole stage.
  static Result<Watcher> create(std::string stage, const Completion& completion);

  int fd() const { return inotify_.get(); }  // readable when there is something to read()

  struct Changes {
    std::vector<std::string> sets;  // in the order in which something has happened to them last
    bool all = false;               // any set may have: more happened than the system could tell
  };
  // Does not wait.
  Result<Changes> read();

  // Also watches what is in STAGE/SET, until forget(). Nothing to do where the whole stage is watched. `place`: where
  // its files lie instead (levels.h); empty: there.
  void follow(const std::string& set, const std::string& place = {});
  void forget(const std::string& set);

  // Whether there is something that cannot be watched, as the system has no more watches: then one has to look now and
  // then.
  bool is_blind() const { return blind_; }

  // How many directories are watched.
  size_t watches() const { return by_wd_.size(); }

 private:
  Watcher(std::string stage, const Completion& completion, Fd inotify)
      : stage_(std::move(stage)), completion_(completion), inotify_(std::move(inotify)) {}

  void watch_all();
  void watch_tree(const std::string& path);
  bool watch_directory(const std::string& path);
  void unwatch_tree(const std::string& path);
  void happened(uint32_t mask, const std::string& directory, std::string_view name, Changes& changes);
  bool is_watched_deep(std::string_view path) const;
  std::string real_path(const std::string& path) const;

  std::string stage_;
  Completion completion_;
  Fd inotify_;
  // Directories, relative to the stage; "" is the stage itself.
  std::unordered_map<int, std::string> by_wd_;
  std::map<std::string, int, std::less<>> by_path_;
  std::map<std::string, std::string, std::less<>> followed_;  // and where their files lie, if not in the stage
  bool blind_ = false;
};

}  // namespace forebay::job

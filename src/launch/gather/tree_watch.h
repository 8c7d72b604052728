// Wakes a reader when something happens below a directory, and says what was renamed there (inotify).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/error.h"
#include "base/fd.h"
#include "launch/gather/tree.h"

namespace forebay::launch {

// Not thread-safe.
class TreeWatch {
 public:
  // Watches `directory` with all below it but Forebay's own directories and `leave_out`, as look_at_tree() has them.
  static Result<TreeWatch> create(std::string directory, std::set<FileId> leave_out);

  int fd() const { return inotify_.get(); }  // readable when something happened

  // What was renamed since the last call, in order. Does not wait.
  Result<std::vector<Moved>> read();

  // Names that something happened to since the last call, a few of them, for messages.
  std::vector<std::string> take_names() { return std::exchange(names_, {}); }

  // Whether something cannot be watched, as the system has no more watches, or events were lost: the directory has to
  // be looked at now and then.
  bool is_blind() const { return is_blind_; }

 private:
  TreeWatch(std::string directory, std::set<FileId> leave_out, Fd inotify)
      : directory_(std::move(directory)), leave_out_(std::move(leave_out)), inotify_(std::move(inotify)) {}

  void watch(const std::string& path);
  void happened(uint32_t mask, uint32_t cookie, const std::string& path, std::vector<Moved>& moves);
  void follow_move(const Moved& move);

  std::string directory_;
  std::set<FileId> leave_out_;
  Fd inotify_;
  std::unordered_map<int, std::string> by_wd_;  // relative; "" is the directory itself
  std::map<uint32_t, std::string> left_;        // by cookie: what was moved from there
  std::vector<std::string> names_;
  bool is_blind_ = false;
};

}  // namespace forebay::launch

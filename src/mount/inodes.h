// The numbers by which the kernel knows files and directories. A file of another set has another number, also at the
// same path, so that pages that the kernel keeps are never taken for those of another set.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>

#include "mount/mounted_store.h"

namespace forebay::mount {

// What tells a set from all others, those that had its name before included, and from itself with other containers.
// While it is open it is found without looking.
struct SetIdentity {
  std::string name;
  int64_t created_ns = 0;
  uint64_t content = 0;  // as MountedSet::content()
  std::weak_ptr<const MountedSet> open;
};

// A file or directory of a set: its place in Tree::nodes().
struct Inode {
  std::shared_ptr<SetIdentity> set;  // null at the root of the store, and of the link to the newest set
  uint32_t node = 0;
  uint64_t parent = 0;                          // where it was last found, for messages
  std::string name;                             // there
  std::shared_ptr<const MountedSet> open = {};  // as find() returns it: the set, while it is open
};

// Thread-safe.
class Inodes {
 public:
  static constexpr uint64_t kRoot = 1, kLatest = 2;  // of the store: itself, and the link

  // The number of a node, which the kernel is told once more.
  uint64_t look_up(const std::shared_ptr<const MountedSet>& set, uint32_t node, uint64_t parent, std::string_view name);

  // What the number stands for. The root and the link have no set; nothing for numbers that were forgotten.
  std::optional<Inode> find(uint64_t number) const;

  // The kernel was told of a number so many times, and knows it no longer.
  void forget(uint64_t number, uint64_t times);

  // "SET/dir/file", for messages.
  std::string path_of(uint64_t number) const;

 private:
  struct Known {
    Inode inode;
    uint64_t times = 0;
  };
  using Key = std::tuple<std::string, int64_t, uint64_t, uint32_t>;

  mutable std::mutex mutex_;
  uint64_t last_ = kLatest;
  std::unordered_map<uint64_t, Known> known_;
  std::map<Key, uint64_t> numbers_;
  std::map<std::tuple<std::string, int64_t, uint64_t>, std::weak_ptr<SetIdentity>> sets_;  // that were ever looked into
};

}  // namespace forebay::mount

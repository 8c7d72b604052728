// A store as a file system that is only read: which sets it has, and what lies in them.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/lru.h"
#include "engine/options.h"
#include "engine/set/shared_reader.h"
#include "mount/tree.h"
#include "store/store.h"

namespace forebay::mount {

// An open set. What is open stays readable when the set is removed from the store. Thread-safe.
class MountedSet {
 public:
  MountedSet(std::string name, int64_t created_ns, std::unique_ptr<engine::SharedReader> reader);

  const std::string& name() const { return name_; }
  int64_t created_ns() const { return created_ns_; }

  // Differs where other containers of the set could be opened, so that its tree has other nodes.
  uint64_t content() const { return content_; }
  const Tree& tree() const { return tree_; }
  uint64_t memory_bytes() const { return memory_bytes_; }                 // of indices and tree
  size_t containers() const { return reader_->set().containers.size(); }  // that are open

  // Reads from a regular file: fewer bytes than `out` has only at its end. corrupt, limit, io.
  Result<size_t> read(const Tree::Node& node, uint64_t offset, std::span<std::byte> out) const;

  // Decodes so many bytes of it, from `offset` on, for somebody who will read them. What fails then fails again there.
  void fetch(const Tree::Node& node, uint64_t offset, uint64_t bytes) const;

 private:
  const std::string name_;
  const int64_t created_ns_;
  const std::unique_ptr<engine::SharedReader> reader_;
  const uint64_t content_;
  const Tree tree_;
  uint64_t memory_bytes_ = 0;
};

struct MountOptions {
  engine::Resources resources;
  std::string series;   // only its sets; empty: all of them
  bool latest = false;  // the newest set of the series lies at the root, whichever that is
};

// Thread-safe.
class MountedStore {
 public:
  using Log = std::function<void(const std::string&)>;

  // not_found and the like as Store::open(); with `latest`, also those of store::choose_series().
  static Result<std::unique_ptr<MountedStore>> open(const std::string& path, const MountOptions& options, Log log);

  const MountOptions& options() const { return options_; }
  int64_t opened_s() const { return opened_s_; }

  // The names of the sets; at most a second old. Sets that are damaged are among them, to be seen: they cannot be
  // opened.
  Result<std::vector<std::string>> set_names();

  // The newest set whose manifest can be read, as of the same time. not_found if there is none.
  Result<std::string> newest_set();

  // An open set by name. not_found; corrupt, naming it, if it is damaged; limit, io.
  Result<std::shared_ptr<const MountedSet>> set(std::string_view name);

  void log(const std::string& text) const { log_(text); }

 private:
  MountedStore(store::Store store, const MountOptions& options, Log log);
  Result<void> look();
  void close_unused(size_t containers);

  const store::Store store_;
  const MountOptions options_;
  const Log log_;
  const std::shared_ptr<engine::FrameCache> cache_;
  const uint64_t index_bytes_;
  const size_t most_containers_;  // that are open at a time
  const int64_t opened_s_;
  std::mutex mutex_;
  std::chrono::steady_clock::time_point looked_;
  bool has_looked_ = false;
  std::vector<store::SetInfo> sets_;                          // as they were when looked
  std::set<std::string> damaged_;                             // of these: which cannot be read
  Lru<std::string, std::shared_ptr<const MountedSet>> open_;  // by their names
};

}  // namespace forebay::mount

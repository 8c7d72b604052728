// A group that a program can open: what it declared, the methods that write it, and what is kept from step to step.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "io/group/definition.h"
#include "io/group/dimensions.h"
#include "io/group/name_index.h"
#include "io/group/process_group.h"
#include "io/method/method.h"
#include "io/session/arena.h"

namespace forebay::io {

struct ChosenMethod {
  std::string name, base_path;
  std::unique_ptr<Method> method;
  Traits traits;
};

// What one rank wrote in one step, with the memory that its blocks lie in.
struct WrittenStep {
  ProcessGroup group;
  Arena arena;
};

// Steps of a group that are kept until they are written together, and the file that they are for.
struct Aggregation {
  std::string path;
  std::shared_ptr<Communicator> communicator;
  std::vector<std::unique_ptr<OpenFile>> files;  // by method
  std::vector<WrittenStep> steps;
  std::optional<uint64_t> buffer_limit;
  uint64_t bytes = 0;    // of all steps
  uint64_t largest = 0;  // of one step
};

// Definitions may change while nothing of the group is open; the rest is the session's. Several files of a group may be
// open at once, each used by a thread of its own.
class Group {
 public:
  explicit Group(GroupDefinition of) : definition(std::move(of)) {}

  GroupDefinition definition;
  std::vector<ChosenMethod> methods;  // in the order of the choices
  std::optional<Aggregation> aggregation;

  // Of the definitions as they are now. The reference is good until definitions change.
  const NameIndex& names() {
    const std::lock_guard lock(mutex_);
    names_.update(definition);
    return names_;
  }

  // To be called after definitions were removed.
  void forget_names() { names_ = NameIndex(definition); }

  // Memory of a step that is over, for the next one.
  Arena take_spare() {
    const std::lock_guard lock(mutex_);
    return std::move(spare_);
  }
  void give_spare(Arena arena) {
    const std::lock_guard lock(mutex_);
    spare_ = std::move(arena);
  }

  // The time index of the step that begins, if none may be less than `least`.
  uint32_t next_time_index(uint32_t least) {
    const std::lock_guard lock(mutex_);
    return time_index_ = std::max(time_index_ + 1, least);
  }

  // The scalars that were written last, whatever the file.
  ScalarValues scalars() const {
    const std::lock_guard lock(mutex_);
    return scalars_;
  }
  void remember(const std::string& name, int64_t value) {
    const std::lock_guard lock(mutex_);
    scalars_[name] = value;
  }
  void forget_scalars() {
    const std::lock_guard lock(mutex_);
    scalars_.clear();
  }

 private:
  mutable std::mutex mutex_;  // guards what follows
  NameIndex names_;
  Arena spare_;
  uint32_t time_index_ = 0;  // of the last step; 0 before the first
  ScalarValues scalars_;
};

}  // namespace forebay::io

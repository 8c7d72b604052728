// A group that a program can open: what it declared, the methods that write it, and what is kept from step to step.
#pragma once

#include <cstdint>
#include <memory>
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

// Definitions may change while nothing of the group is open; the rest is the session's.
class Group {
 public:
  explicit Group(GroupDefinition of) : definition(std::move(of)) {}

  GroupDefinition definition;
  std::vector<ChosenMethod> methods;  // in the order of the choices
  uint32_t time_index = 0;            // of the last step; 0 before the first
  std::optional<Aggregation> aggregation;
  Arena spare;  // memory of the last step, for the next

  ScalarValues scalars;  // of the file that was opened last

  // Of the definitions as they are now.
  const NameIndex& names() {
    names_.update(definition);
    return names_;
  }

  // To be called after definitions were removed.
  void forget_names() { names_ = NameIndex(definition); }

 private:
  NameIndex names_;
};

}  // namespace forebay::io

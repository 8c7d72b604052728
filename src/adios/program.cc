#include "adios/program.h"

#include <utility>

namespace forebay::adios {

using io::Code;
using io::Outcome;
using io::refuse;

Program& Program::instance() {
  static Program program;
  return program;
}

Outcome<io::Session*> Program::session() {
  if (!session_)
    return refuse(Code::invalid_argument, "ADIOS is not initialised", "call adios_init() or adios_init_noxml() before");
  return session_.get();
}

void Program::end() {
  const std::lock_guard lock(mutex_);
  files_.clear();
  variables_.clear();
  handles_.clear();
  groups_.clear();
  session_.reset();
}

int64_t Program::add(FileHandle file) {
  const std::lock_guard lock(mutex_);
  files_.emplace(next_, std::make_unique<FileHandle>(std::move(file)));
  return next_++;
}

Outcome<FileHandle*> Program::file(int64_t handle) {
  const std::lock_guard lock(mutex_);
  const auto it = files_.find(handle);
  if (it == files_.end())
    return refuse(Code::invalid_handle, "handle " + std::to_string(handle) + " is of no open file",
                  "use what adios_open() returned, before adios_close()");
  return it->second.get();
}

Outcome<FileHandle> Program::take_file(int64_t handle) {
  FOREBAY_CHECK(file(handle));
  const std::lock_guard lock(mutex_);
  const auto it = files_.find(handle);
  FileHandle taken = std::move(*it->second);
  files_.erase(it);
  return taken;
}

int64_t Program::add(std::shared_ptr<io::Group> group) {
  const std::lock_guard lock(mutex_);
  const auto [it, is_new] = groups_.emplace(next_, std::make_unique<GroupHandle>(GroupHandle{std::move(group), 0}));
  handles_[it->second->group.get()] = it->second.get();
  return next_++;
}

Outcome<GroupHandle*> Program::group(int64_t handle) {
  const std::lock_guard lock(mutex_);
  const auto it = groups_.find(handle);
  if (it == groups_.end())
    return refuse(Code::invalid_group, "handle " + std::to_string(handle) + " is of no group",
                  "use what adios_declare_group() returned");
  return it->second.get();
}

void Program::forget_group(int64_t handle) {
  const std::lock_guard lock(mutex_);
  const auto it = groups_.find(handle);
  if (it == groups_.end()) return;
  handles_.erase(it->second->group.get());
  groups_.erase(it);
}

int64_t Program::add_variable(const GroupHandle& group, size_t place) {
  const std::lock_guard lock(mutex_);
  variables_[next_] = {group.group, place, group.generation};
  return next_++;
}

Outcome<Program::Variable> Program::variable(int64_t handle) {
  const std::lock_guard lock(mutex_);
  const auto it = variables_.find(handle);
  if (it != variables_.end()) {
    std::shared_ptr<io::Group> group = it->second.group.lock();
    const auto owner = handles_.find(group.get());
    if (group && owner != handles_.end() && owner->second->generation == it->second.generation)
      return Variable{std::move(group), it->second.place};
    variables_.erase(it);
  }
  return refuse(Code::invalid_variable_id, "handle " + std::to_string(handle) + " is of no variable",
                "use what adios_define_var() returned, before its group or its definitions were deleted");
}

}  // namespace forebay::adios

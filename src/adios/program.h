// What adios.h's handles stand for.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "io/session/session.h"

namespace forebay::adios {

inline std::string text_of(const char* text) { return text ? text : ""; }

// A file between adios_open() and adios_close().
struct FileHandle {
  std::unique_ptr<io::OpenGroup> group;
  double open_seconds = 0, write_seconds = 0;
  uint64_t writes = 0;
};

struct VariableHandle {
  std::weak_ptr<io::Group> group;
  size_t place = 0;         // in the group's variables
  uint64_t generation = 0;  // of them: others once they were deleted
};

struct GroupHandle {
  std::shared_ptr<io::Group> group;
  uint64_t generation = 0;
};

// There is one in a process. Thread-safe as adios.h says.
class Program {
 public:
  static Program& instance();

  bool is_initialized() const { return session_ != nullptr; }

  // The session; invalid_argument before initialisation.
  io::Outcome<io::Session*> session();
  void begin(std::shared_ptr<io::Communicator> everybody) {
    session_ = std::make_unique<io::Session>(std::move(everybody));
  }
  void end();

  int64_t add(FileHandle file);
  io::Outcome<FileHandle*> file(int64_t handle);
  io::Outcome<FileHandle> take_file(int64_t handle);

  int64_t add(std::shared_ptr<io::Group> group);
  io::Outcome<GroupHandle*> group(int64_t handle);
  void forget_group(int64_t handle);

  int64_t add_variable(const GroupHandle& group, size_t place);
  struct Variable {
    std::shared_ptr<io::Group> group;
    size_t place;
  };
  io::Outcome<Variable> variable(int64_t handle);

 private:
  std::mutex mutex_;
  std::unique_ptr<io::Session> session_;
  int64_t next_ = 1;
  std::unordered_map<int64_t, std::unique_ptr<FileHandle>> files_;
  std::unordered_map<int64_t, std::unique_ptr<GroupHandle>> groups_;
  std::unordered_map<int64_t, VariableHandle> variables_;
  std::unordered_map<const io::Group*, const GroupHandle*> handles_;  // of the groups
};

}  // namespace forebay::adios

// What a program has: groups, methods, files that are open, and the limit of what may be buffered for them.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "io/group/failure.h"
#include "io/method/communicator.h"
#include "io/session/group.h"
#include "io/session/open_group.h"

namespace forebay::io {

// Between initialisation and finalisation of a program. Files may be opened, written and closed by several threads,
// each file by one of them at a time; everything else needs the session for itself. Groups live until they are removed.
class Session {
 public:
  // `everybody`: all ranks that take part.
  explicit Session(std::shared_ptr<Communicator> everybody) : everybody_(std::move(everybody)) {}

  struct Declared {
    std::shared_ptr<Group> group;
    std::vector<Failure> problems;      // transforms and choices of methods that cannot be, and are left out
    std::vector<std::string> warnings;  // about parameters
  };

  // Of groups with the same name the first is found. The methods of the definition are made.
  Declared declare(GroupDefinition definition);

  // invalid_group with the nearest name.
  Outcome<std::shared_ptr<Group>> find(const std::string& name) const;

  // unknown_method or invalid_argument; the group stays as it was. Otherwise warnings, about parameters.
  Outcome<std::vector<std::string>> add_method(Group& group, MethodChoice choice);

  // Whether this rank speaks for all where one is enough.
  bool is_first() const { return everybody_->rank() == 0; }

  // Collective if steps of it are kept: they are written.
  Outcome<void> remove(const std::shared_ptr<Group>& group);

  // Of one file between open and close at this rank; of none: no limit. Files that are opened later heed it.
  void set_buffer_limit(std::optional<uint64_t> bytes) { buffer_limit_ = bytes; }

  // Collective over `communicator`. `name` without the base path, which is the methods'.
  Outcome<std::unique_ptr<OpenGroup>> open(const std::string& group, const std::string& name, OpenMode mode,
                                           std::shared_ptr<Communicator> communicator, bool is_alone);

  // Collective, ends what open() began; see OpenGroup. Steps of groups that are aggregated until this one is closed are
  // written.
  Outcome<void> close(std::unique_ptr<OpenGroup> file);

  void begin_calculation();
  void end_calculation();
  void end_iteration();

  // Collective over all ranks. The first failure; everything is done that can be done.
  Outcome<void> finalize();

 private:
  std::vector<std::shared_ptr<Group>> all_groups() const;
  template <class Call>
  void on_methods(const Call& call);

  std::shared_ptr<Communicator> everybody_;
  std::optional<uint64_t> buffer_limit_;
  mutable std::mutex mutex_;  // guards groups_
  std::vector<std::shared_ptr<Group>> groups_;
};

}  // namespace forebay::io

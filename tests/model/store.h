// The store of the model: what is staged and committed in it, shared by all coordinators and workers of a job.
#pragma once

#include <map>
#include <set>
#include <string>

#include "disk.h"
#include "job/coordinator/store_commands.h"

namespace forebay::job::model {

using Container = std::map<std::string, Body>;
using Containers = std::map<std::string, Container>;

class Store {
 public:
  enum class Mood : uint8_t { well, full, down };

  struct Committed {
    store::Manifest manifest;
    Containers containers;
    std::string refused;
  };

  Mood mood = Mood::well;  // down: nobody is answered
  std::map<std::string, Committed> sets;
  uint64_t commits = 0;

  // What a coordinator's command is answered; nothing: no answer belongs to it. `owner`: the coordinator's generation.
  std::optional<StoreAnswer> perform(const StoreCommand& command, uint64_t owner);

  // Workers. Nothing: it is not there.
  std::map<std::string, Containers>& staged() { return staged_; }

 private:
  StoreAnswer answer(const LookUp& command) const;
  StoreAnswer answer(const Stage& command, uint64_t owner);
  StoreAnswer answer(const Commit& command, uint64_t owner);
  StoreAnswer answer(const SetAside& command);
  std::vector<store::SetInfo> listed() const;

  std::map<std::string, Containers> staged_;                        // by StagedPlace::staged
  std::map<std::pair<uint64_t, uint64_t>, std::string> staged_by_;  // owner, LookUp::set
  uint64_t next_staged_ = 1;
};

}  // namespace forebay::job::model

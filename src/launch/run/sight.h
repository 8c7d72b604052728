// What a look at a running job shows of it, for those who watch over the application. Pure.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace forebay::launch {

struct Sight {
  struct Node {
    std::string host;                            // as its agent was told that it is called
    std::chrono::milliseconds silent{};          // since its agent was heard
    uint32_t processes = 0;                      // of the application, if the agent looks after them
    std::chrono::milliseconds processor_time{};  // that they have used, since the agent started
  };
  uint64_t generation = 0;      // of the coordinator
  uint64_t sets_completed = 0;  // by the application, since this coordinator leads
  uint64_t restarts = 0;        // that were answered, of all coordinators
  // The set of the last restart that this coordinator answered, as the application and as the store name it; both are
  // empty if it answered none, the second also if only the stages have the set.
  struct Source {
    std::string set, stored_as;
    bool operator==(const Source&) const = default;
  };
  Source restarted_from;
  // Forebay drains a complete set, or brings what all ranks have asked for: the application may be waiting for it.
  bool is_busy = false;
  std::string no_set;       // why none becomes complete any more, for a message; empty: they do, or it is not known yet
  std::string store_fills;  // that the store's room ends soon, for a message; empty: it does not, or it is not known
  std::vector<Node> nodes;  // whose agents are there
  std::vector<std::string> excluded;

  const Node* find(const std::string& host) const;
};

// From what `forebay status --json` prints. Nothing: nobody has answered.
std::optional<Sight> parse_sight(const std::string& status);

}  // namespace forebay::launch

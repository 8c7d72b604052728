// How a worker gets to the agents of a task.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "fabric/credentials.h"
#include "fabric/link.h"
#include "job/wire/messages.h"
#include "job/worker/fabric_choice.h"

namespace forebay::job {

struct AgentAccess {
  fabric::Credentials credentials;
  std::string node;  // fabric::node_identity() of this process
  FabricChoice fabric = FabricChoice::automatic;
  std::chrono::milliseconds patience{10'000};

  // Whether the stage of `peer` may be used as files of this machine.
  bool may_be_here(const wire::PeerT& peer) const;

  // unsupported if only stages of this node may be used; else as Link::open().
  Result<fabric::Link> connect(const wire::PeerT& peer) const;
};

// Which of a task's peers failed. Thread-safe.
class PeerFaults {
 public:
  // Hands `result` on, and remembers its error as that of `peer`, unless it is `limit` or `cancelled`.
  template <class T>
  Result<T> of(uint32_t peer, Result<T> result) {
    if (!result) note(peer, result.error());
    return result;
  }

  // The peer whose error `error` is, if it is that of one.
  std::optional<uint32_t> find(const Error& error) const;

 private:
  void note(uint32_t peer, const Error& error);

  mutable std::mutex mutex_;
  std::vector<std::pair<uint32_t, Error>> faults_;
};

}  // namespace forebay::job

// The transports to one agent, one for each thread that reads.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/error.h"
#include "fabric/remote.h"
#include "job/wire/messages.h"
#include "job/worker/agent_access.h"

namespace forebay::job {

// Thread-safe.
class TransportPool {
 public:
  // `here`: the agent's files if they are files of this node, numbered as transports are asked for them; else empty.
  // `access` outlives the pool.
  TransportPool(const AgentAccess& access, wire::PeerT peer, std::vector<fabric::ExposedFile> here)
      : access_(access), peer_(std::move(peer)), here_(std::move(here)) {}

  bool is_here() const { return !here_.empty(); }
  const std::vector<fabric::ExposedFile>& here() const { return here_; }
  const wire::PeerT& peer() const { return peer_; }

  // A transport that nobody else uses: one that was given back, or a new one.
  Result<std::unique_ptr<fabric::Transport>> take();

  // Only a transport that has finished everything without an error.
  void give_back(std::unique_ptr<fabric::Transport> transport);

  // Makes a transport of a connection with the agent, and keeps it for take().
  Result<void> add(fabric::Link link);

 private:
  Result<std::unique_ptr<fabric::Transport>> make(fabric::Link link) const;

  const AgentAccess& access_;
  const wire::PeerT peer_;
  const std::vector<fabric::ExposedFile> here_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<fabric::Transport>> free_;
};

}  // namespace forebay::job

#include "job/worker/agent_access.h"

#include "fabric/address.h"

namespace forebay::job {

bool AgentAccess::may_be_here(const wire::PeerT& peer) const {
  return (fabric == FabricChoice::automatic || fabric == FabricChoice::node) && !node.empty() && peer.node == node;
}

Result<fabric::Link> AgentAccess::connect(const wire::PeerT& peer) const {
  if (fabric == FabricChoice::node)
    return fail(ErrorKind::unsupported, "the files of this agent are not on this node as they were offered",
                peer.host + ":" + peer.stage, {}, "let the fabric be chosen with auto");
  FOREBAY_TRY(const auto addresses, fabric::parse_addresses(peer.addresses));
  return fabric::Link::open(addresses, credentials, wire::kPurpose, patience);
}

void PeerFaults::note(uint32_t peer, const Error& error) {
  // The memory is this process's, and so is who cancels.
  if (error.kind == ErrorKind::limit || error.kind == ErrorKind::cancelled) return;
  constexpr size_t kKept = 64;  // one for each thread that reads, and some
  const std::lock_guard lock(mutex_);
  if (faults_.size() < kKept) faults_.emplace_back(peer, error);
}

std::optional<uint32_t> PeerFaults::find(const Error& error) const {
  const std::lock_guard lock(mutex_);
  for (const auto& [peer, fault] : faults_)
    if (fault.kind == error.kind && fault.what == error.what && fault.path == error.path) return peer;
  return std::nullopt;
}

}  // namespace forebay::job

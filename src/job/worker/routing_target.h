// A restore's target that leads each file to the stage of its rank's node.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "base/error.h"
#include "engine/restore/target.h"
#include "job/wire/messages.h"
#include "job/worker/agent_access.h"

namespace forebay::job {

class RoutingTarget final : public engine::Target {
 public:
  // Opens the targets of all peers that a rank of the task is with: as directories on this node, else over connections.
  // invalid_argument if the task makes no sense. Errors of peers are noted in `faults`, which outlives the target.
  static Result<std::unique_ptr<RoutingTarget>> open(const AgentAccess& access, const wire::TaskT& task,
                                                     PeerFaults& faults);

  const std::set<uint32_t>& ranks() const { return ranks_; }  // that are with any peer

  Result<std::unique_ptr<engine::TargetFile>> create_file(const FileRow& file) override;
  Result<void> make_directory(const FileRow& directory) override;
  Result<void> make_symlink(const FileRow& link) override;
  Result<void> finish() override;

 private:
  class File;

  RoutingTarget(const wire::TaskT& task, PeerFaults& faults);
  Result<uint32_t> peer_of(const FileRow& row) const;

  const uint32_t first_rank_;
  const std::vector<uint32_t> peer_of_rank_;
  PeerFaults& faults_;
  std::set<uint32_t> ranks_;
  std::vector<std::unique_ptr<engine::Target>> targets_;  // by peer; null: no rank is with it
};

}  // namespace forebay::job

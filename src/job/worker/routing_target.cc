#include "job/worker/routing_target.h"

#include <string>
#include <utility>

#include <fmt/format.h>
#include <sys/stat.h>

#include "job/client/stage_names.h"
#include "job/delivery/delivery.h"

namespace forebay::job {
namespace {

constexpr uint32_t kNobody = 0xffffffff;

bool has_stage_here(const AgentAccess& access, const wire::PeerT& peer) {
  struct stat info{};
  const std::string own = fmt::format("{}/{}", peer.stage, kOwnDirectory);
  return access.may_be_here(peer) && ::stat(own.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

Result<std::unique_ptr<engine::Target>> open_target(const AgentAccess& access, const wire::PeerT& peer,
                                                    const std::string& set) {
  if (has_stage_here(access, peer)) return open_delivered(peer.stage, set);
  FOREBAY_TRY(fabric::Link link, access.connect(peer));
  return open_remote_target(std::move(link), set, access.patience);
}

}  // namespace

class RoutingTarget::File final : public engine::TargetFile {
 public:
  File(std::unique_ptr<engine::TargetFile> file, uint32_t peer, PeerFaults& faults)
      : file_(std::move(file)), peer_(peer), faults_(faults) {}

  Result<void> write_at(uint64_t offset, std::span<const std::byte> bytes) override {
    return faults_.of(peer_, file_->write_at(offset, bytes));
  }
  Result<void> commit() override { return faults_.of(peer_, file_->commit()); }

 private:
  const std::unique_ptr<engine::TargetFile> file_;
  const uint32_t peer_;
  PeerFaults& faults_;
};

RoutingTarget::RoutingTarget(const wire::TaskT& task, PeerFaults& faults)
    : first_rank_(task.first_rank), peer_of_rank_(task.peer_of_rank), faults_(faults), targets_(task.peers.size()) {}

Result<std::unique_ptr<RoutingTarget>> RoutingTarget::open(const AgentAccess& access, const wire::TaskT& task,
                                                           PeerFaults& faults) {
  std::unique_ptr<RoutingTarget> target(new RoutingTarget(task, faults));
  for (uint32_t i = 0; i < task.peer_of_rank.size(); ++i) {
    const uint32_t peer = task.peer_of_rank[i];
    if (peer == kNobody) continue;
    if (peer >= task.peers.size()) return fail(ErrorKind::invalid_argument, "a rank of a task is with no agent");
    target->ranks_.insert(task.first_rank + i);
    if (target->targets_[peer]) continue;
    FOREBAY_TRY(target->targets_[peer], faults.of(peer, open_target(access, *task.peers[peer], task.set)));
  }
  return target;
}

Result<uint32_t> RoutingTarget::peer_of(const FileRow& row) const {
  if (!ranks_.contains(row.rank))
    return fail(ErrorKind::internal, fmt::format("nobody asked for the files of rank {}", row.rank), row.name);
  return peer_of_rank_[row.rank - first_rank_];
}

Result<std::unique_ptr<engine::TargetFile>> RoutingTarget::create_file(const FileRow& file) {
  FOREBAY_TRY(const uint32_t peer, peer_of(file));
  FOREBAY_TRY(auto made, faults_.of(peer, targets_[peer]->create_file(file)));
  return std::make_unique<File>(std::move(made), peer, faults_);
}

Result<void> RoutingTarget::make_directory(const FileRow& directory) {
  FOREBAY_TRY(const uint32_t peer, peer_of(directory));
  return faults_.of(peer, targets_[peer]->make_directory(directory));
}

Result<void> RoutingTarget::make_symlink(const FileRow& link) {
  FOREBAY_TRY(const uint32_t peer, peer_of(link));
  return faults_.of(peer, targets_[peer]->make_symlink(link));
}

Result<void> RoutingTarget::finish() {
  for (uint32_t peer = 0; peer < targets_.size(); ++peer)
    if (targets_[peer]) FOREBAY_CHECK(faults_.of(peer, targets_[peer]->finish()));
  return {};
}

}  // namespace forebay::job

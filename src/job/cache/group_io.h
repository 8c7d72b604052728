// A leader's way to the members of its group: own parts are read here, others come over their agents' connections, one
// for each member; results go into the sinks of the positions that are here, or to the agents of the others.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "job/cache/member_link.h"
#include "job/cache/part.h"
#include "job/cache/piece_sink.h"
#include "job/cache/step_runner.h"

namespace forebay::job {

struct GroupMember {
  std::string name;                 // for messages: its host
  std::string addresses;            // of who serves or receives the position
  uint64_t data = 0, parity = 0;    // exposures there
  PartMap map;                      // of its part
  std::optional<OwnPart> own;       // it is read here
  std::shared_ptr<PieceSink> sink;  // it is received here
};

class GroupIo final : public StepIo {
 public:
  // Called with the checksum of each piece that was read.
  using Seen = std::function<Result<void>(unsigned member, unsigned row, uint64_t piece, uint64_t sum)>;

  GroupIo(EncodingKey leader, std::vector<GroupMember> members, const MemberAccess& access, Seen seen,
          const std::stop_token& stop)
      : leader_(leader), members_(std::move(members)), access_(access), seen_(std::move(seen)), stop_(stop) {}

  Result<void> begin(unsigned member, std::span<const redundancy::Geometry::Range> ranges,
                     std::span<std::byte> out) override;
  Result<void> finish() override;
  Result<void> seen(const redundancy::Step& step, const redundancy::StepEnd& end, uint64_t sum) override;
  bool is_here(unsigned member) const override { return members_[member].sink != nullptr; }
  Result<void> bring(const redundancy::Step& step, const redundancy::StepEnd& end, std::byte* bytes) override;

  // No more pieces come for these positions from here: waits until the agents of those that are elsewhere have
  // written all.
  Result<void> end(const std::vector<unsigned>& receivers);

  // After an error: the member at fault; nothing: this agent itself.
  std::optional<unsigned> fault() const { return fault_; }
  uint64_t moved_bytes() const { return moved_; }  // to and from other agents

 private:
  template <class T>
  Result<T> blamed(unsigned member, Result<T> result);
  Result<PieceSender*> sender(unsigned member);

  EncodingKey leader_;
  std::vector<GroupMember> members_;
  const MemberAccess& access_;
  Seen seen_;
  const std::stop_token& stop_;
  std::map<unsigned, std::unique_ptr<fabric::Transport>> transports_;
  std::vector<unsigned> reading_;
  std::map<unsigned, PieceSender> senders_;
  std::optional<unsigned> fault_;
  uint64_t moved_ = 0;
};

}  // namespace forebay::job

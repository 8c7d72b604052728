// What an agent does to repair a group: it receives the pieces of some positions, and leads for others. Blocking, for
// threads that may.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "job/cache/encode_task.h"
#include "job/cache/group_io.h"
#include "job/cache/stored_encodings.h"
#include "job/wire/messages.h"
#include "redundancy/steps.h"

namespace forebay::job {

// A position that is received here: all of it, or bad pieces of what is here.
class PositionRepair {
 public:
  // `record`: of this position. All of it: makes the parity file and STAGE/SET, unless it is there; files get their
  // names when all is there.
  static Result<std::unique_ptr<PositionRepair>> whole(const std::string& stage, redundancy::Record record);
  // Only `bad`, which stays aside until finish(): others may be reading what is around it.
  static Result<std::unique_ptr<PositionRepair>> pieces(const std::string& stage, redundancy::Record record,
                                                        const std::vector<redundancy::Bad>& bad);
  ~PositionRepair();

  const EncodingKey& key() const;
  const redundancy::Record& record() const;
  const std::shared_ptr<PieceSink>& sink() const { return sink_; }

  // When all leaders have ended: checks that all is there, gives files and markers their names and times, the record
  // its own last.
  Result<void> finish(bool sync);

 private:
  struct Impl;
  PositionRepair(std::shared_ptr<Impl> impl, std::shared_ptr<PieceSink> sink);
  std::shared_ptr<Impl> impl_;
  std::shared_ptr<PieceSink> sink_;
};

// A survivor's share.
struct RepairLead {
  EncodingKey key;            // of the leader
  redundancy::Record record;  // of its position
  std::vector<GroupMember> members;
  std::vector<redundancy::Bad> bad;
  std::vector<unsigned> leaders, receivers;
  MemberAccess access;
};
GroupResult<uint64_t> lead_repair(const RepairLead& lead, const std::stop_token& stop);  // bytes moved

}  // namespace forebay::job

// The caches of one agent: the encodings that protect the sets of its stage, and all that is done with them (decision
// 0037). Used by the hub's thread; what takes long is done by threads of its own:
//   one that leads rows: reads, computes, sends (32 MiB, job/cache/step_runner.h); one thing after another,
//   one that exchanges records and finishes what was received, which may wait for others,
//   one that answers requests for records, and the piece server's, which writes.
// The first waits for nobody but hubs and writers, so that agents do not wait for each other in a circle.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "fabric/hub.h"
#include "fabric/remote.h"
#include "job/cache/encode_task.h"
#include "job/cache/piece_server.h"
#include "job/wire/messages.h"

namespace forebay::job {

class Cache {
 public:
  struct Options {
    std::string stage;
    MemberAccess access;
    // Called with what is to be said; a set's name first.
    std::function<void(fabric::Severity, const std::string&)> log;
  };
  Cache(Options options, fabric::Hub& hub, fabric::Exposures& exposures);
  ~Cache();  // cancels what is under way; what is done to the end stays

  // Takes in what lies in the stage. To be called once, before everything else.
  Result<void> begin();

  // This agent's part of a complete set.
  struct Part {
    redundancy::Record record;  // set, step, ranks, write; members[0]: the own one, without sums
    uint64_t exposure = 0;      // its regular files, in the order of the record
    bool sync = false;          // to be made durable before it counts
  };
  // Protect, and what it ends with. Whatever there was of the set that is neither this nor sealed goes.
  void protect(const wire::ProtectT& order, Part part, std::function<void(wire::ProtectedT)> done);
  void cancel(uint64_t id);  // ProtectCancel
  void seal(uint64_t id, bool sync, std::function<void(wire::SealedT)> done);
  void check(const wire::CheckCachedT& order, std::function<void(wire::CachedCheckedT)> done);
  // `rebuilt`: called before `done` where all went well, with the ranks whose files are new here.
  void repair(const wire::RepairT& order, bool sync,
              std::function<void(wire::RepairedT, const std::vector<uint32_t>& ranks)> done);
  void cancel_repair(uint64_t number);

  // What protects this writing of the set, for an offer, with new exposures: the positions whose files lie in the stage
  // as they were recorded.
  std::vector<std::unique_ptr<wire::EncodingT>> offer(const std::string& set, uint64_t write);
  bool protects(const std::string& set) const;
  // The set's files go, or went: so does what protects them.
  void discard(const std::string& set);
  // Of sets that are not there.
  std::vector<std::string> sets() const;

  static bool handles(uint8_t frame_type) { return PieceServer::handles(frame_type); }
  static bool handles(wire::Body message);
  Result<void> received(fabric::ConnectionId id, const fabric::Frame& frame);
  Result<void> received(fabric::ConnectionId id, const wire::MessageT& message);
  void disconnected(fabric::ConnectionId id);
  // Tells those who wait for this agent that it is alive. To be called every two seconds while is_busy().
  void ping();
  bool is_busy() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace forebay::job

// Used by cache.cc, cache_encode.cc, cache_check.cc and cache_repair.cc alone.
#pragma once

#include <algorithm>
#include <deque>
#include <optional>
#include <set>
#include <stop_token>
#include <utility>

#include "job/cache/cache.h"
#include "job/cache/repair_task.h"
#include "job/cache/stored_encodings.h"
#include "job/thread/serial_worker.h"

namespace forebay::job {

struct Cache::Impl {
  Impl(Options its_options, fabric::Hub& its_hub, fabric::Exposures& its_exposures);

  // What is known of an encoding that has its record, without sums, and without the files of other members.
  struct Held {
    redundancy::Record record;
    std::vector<uint64_t> bytes;  // of the members' parts
    bool is_sealed = false;
    uint64_t data = 0, parity = 0;  // exposures; 0: it is not offered

    const redundancy::MemberRecord& own() const { return record.members[record.position]; }
  };
  struct Asking {
    fabric::ConnectionId who = 0;
    wire::RecordPart part = wire::RecordPart::files;
  };
  // An encoding that is being made.
  struct Encode {
    explicit Encode(redundancy::Geometry geometry) : task(std::move(geometry)) {}
    EncodeTask task;
    uint64_t exposure = 0;
    bool sync = false;
    std::function<void(wire::ProtectedT)> done;
    std::stop_source stop;
    std::optional<EncodeLead> lead;
    std::set<uint32_t> ended;                     // leaders that have sent all their pieces
    size_t leaders = 0;                           // that there are, beside this one
    std::optional<redundancy::MemberRecord> own;  // when all of it is there
    std::vector<Asking> asking;
  };
  // A Repair.
  struct Repair {
    wire::RepairT order;
    bool sync = false;
    std::function<void(wire::RepairedT, const std::vector<uint32_t>&)> done;
    std::stop_source stop;
    std::vector<unsigned> leaders, receivers;
    std::map<unsigned, std::unique_ptr<PositionRepair>> positions;  // that are received here
    std::map<unsigned, std::set<uint32_t>> ended;
    size_t leading = 0;  // positions whose lead is not over
    bool is_finishing = false;
    uint64_t moved = 0;

    bool is_lost(unsigned position) const;
  };

  void say(fabric::Severity severity, const std::string& text) const {
    if (options.log) options.log(severity, text);
  }
  template <class Table>
  void send(fabric::ConnectionId to, Table message) {
    Bytes frame;
    wire::encode(frame, std::move(message));
    hub.send(to, frame);
  }

  // cache.cc
  void forget(uint64_t id);  // it is over: who asks for it is told so
  void refuse(fabric::ConnectionId who);
  bool is_over(uint64_t id) const { return std::ranges::find(over, id) != over.end(); }
  void hold(const EncodingKey& key, redundancy::Record record, bool is_sealed);
  void unexpose(Held& held);
  void drop(const EncodingKey& key);
  std::optional<std::vector<fabric::ExposedFile>> files_of(const Held& held) const;
  void answer(const Asking& asking, const redundancy::MemberRecord& member, bool with_sums);
  void request(fabric::ConnectionId who, const wire::RecordRequestT& wanted);
  void serve(const EncodingKey& key, const Asking& asking);

  // cache_encode.cc
  Result<std::shared_ptr<Encode>> make(const wire::ProtectT& order, Part part);
  void led(const std::shared_ptr<Encode>& encode, GroupResult<EncodeLead> lead);
  void go_on(const std::shared_ptr<Encode>& encode);
  void exchanged(const std::shared_ptr<Encode>& encode, GroupResult<redundancy::Record> record);
  void fail_encode(const std::shared_ptr<Encode>& encode, const GroupFault& fault);
  bool is_current(const std::shared_ptr<Encode>& encode) const;

  // cache_check.cc
  using Bads = std::vector<std::unique_ptr<wire::BadPiecesT>>;
  Result<Bads> check(const EncodingKey& key, uint64_t data, uint64_t parity);
  void renew(Held& held);

  // cache_repair.cc
  void prepared(const std::shared_ptr<Repair>& repair, std::unique_ptr<PositionRepair> position);
  void lead(const std::shared_ptr<Repair>& repair, unsigned position);
  void finish(const std::shared_ptr<Repair>& repair);
  void end(std::shared_ptr<Repair> repair, const Result<void>& result, std::optional<unsigned> fault);
  Result<redundancy::Record> fetch_record(const Repair& repair, const EncodingKey& key) const;
  bool is_current(const std::shared_ptr<Repair>& repair) const;

  const Options options;
  fabric::Hub& hub;
  fabric::Exposures& exposures;
  const StoredEncodings stored;
  std::map<EncodingKey, Held> held;
  std::map<EncodingKey, std::shared_ptr<Encode>> encodes;
  std::map<std::pair<uint64_t, uint32_t>, std::shared_ptr<Repair>> repairs;  // by id and group
  std::map<fabric::ConnectionId, wire::RecordRequestT> unknown;              // of encodings that are not known yet
  std::deque<uint64_t> over;               // encodings that failed or were cancelled, the last ones
  std::set<fabric::ConnectionId> waiting;  // for an answer that is being made
  PieceServer pieces;
  std::stop_source stop;                      // of checks
  SerialWorker leads_, exchanges_, answers_;  // the last: they use the rest
};

// The error that a GroupFault is told with.
template <class Answer>
void set_fault(Answer& answer, const GroupFault& fault) {
  answer.failed = true;
  answer.error = fault.error.message();
  if (fault.position) answer.fault = *fault.position;
  if constexpr (requires { answer.is_full; }) answer.is_full = fault.error.kind == ErrorKind::no_space;
}

}  // namespace forebay::job

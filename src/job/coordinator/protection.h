// One set on its way from complete to sealed (decision 0037):
//   1. the nodes that have parts of it are placed into protection groups; where that leaves one without protection, the
//      set is not protected at all, and says why;
//   2. the encoding gets a number, and all agents are ordered to protect their parts;
//   3. when all have done so, they are ordered to seal it; when all have, it is sealed.
// Who fails, or is lost, while it is encoded ends that encoding: what there is of it is removed, and a new one, with
// another number, is tried after a pause that grows, as soon as all parts are there again. From the first Seal on no
// agent that is lost takes it back, since others may have sealed it: that member is one of those that the group
// survives. A part that is changed does, and so does the end of the set before all have answered (cancel()). After the
// timeout, counted from the first attempt, the set is not protected. Pure.
//
// What there is to send is taken a slice at a time: of a set of many nodes it is much.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "job/coordinator/orders.h"
#include "job/coordinator/phases.h"
#include "job/coordinator/retry.h"
#include "job/coordinator/session.h"
#include "job/wire/messages.h"
#include "redundancy/scheme.h"

namespace forebay::job {

// What an agent has of the set that is protected.
struct ProtectedPart {
  SessionId session = 0;
  std::string host, node, addresses, stage;
  std::vector<std::string> labels;  // of failure groups, KIND=LABEL: no two members of a group share any
  uint64_t exposure = 0, bytes = 0;
  std::vector<uint32_t> ranks;
};

class SetProtection {
 public:
  using Time = std::chrono::steady_clock::time_point;

  struct Tell {
    SessionId to = 0;
    std::variant<wire::ProtectT, wire::ProtectCancelT, wire::SealT> what;
  };
  struct Ended {
    bool is_sealed = false;
    std::string why{};  // not sealed: the reason
  };
  // What is to be done after a call; what is to be sent, take() has.
  struct Actions {
    std::vector<SetEvent> events;  // that the phase of the set goes by, in order
    std::optional<Ended> ended;    // nothing else is to be called then but take() and what is const
    LogLines log;
  };
  // For the status.
  struct Row {
    uint64_t id = 0;
    uint32_t groups = 0;
    size_t members = 0, encoded = 0, sealed = 0, lost = 0;
    uint32_t attempts = 0;
    uint64_t bytes = 0, parity_bytes = 0;  // of the parts, and beside them
    uint64_t sent_bytes = 0, cpu_us = 0;   // as the members have told
    double seconds = 0;                    // of this encoding
  };

  SetProtection(std::string set, redundancy::Protection protection, std::chrono::milliseconds timeout)
      : set_(std::move(set)), protection_(protection), timeout_(timeout) {}

  // Whether begin() may be called: it was not yet, or the pause after a failure is over.
  bool is_ready(Time now) const {
    return fate_ == Fate::open && !order_.is_open() && (retry_.failures() == 0 || now >= retry_.next());
  }
  // All parts of the set are there; they are no others until interrupt(). is_ready(). `number`: of the encoding, never
  // used before, not 0.
  Actions begin(std::vector<ProtectedPart> parts, uint64_t number, Time now);
  // The encoding was made already, by another coordinator's order: all members have it, as their offers say, and it is
  // but to be sealed by those that have not done so. No agent has two positions.
  struct Encoded {
    ProtectedPart part;
    uint32_t group = 0, position = 0;
    bool is_sealed = false;
  };
  Actions adopt(std::vector<Encoded> members, uint32_t groups, uint32_t losses, uint64_t number, Time now);

  // Answers; those of an earlier encoding, and of who is no member, are passed over.
  Actions encoded(SessionId agent, const wire::ProtectedT& answer, Time now);
  Actions sealed(SessionId agent, const wire::SealedT& answer);
  Actions left(SessionId agent, Time now);
  // A part of the set was changed, or is gone. Not while it is sealed if only the agent is lost: left() is for that.
  Actions interrupt(const std::string& why, Time now);
  Actions tick(Time now);
  void forgive(std::chrono::nanoseconds gap) {
    order_.forgive(gap);
    if (since_) *since_ += gap;
  }
  // Nobody wants the set protected any more.
  void cancel();

  // What is to be sent next, at most so many messages.
  std::vector<Tell> take(size_t most);
  bool has_messages() const;

  // Whether no group of the encoding misses more members than it survives: `is_there` says which are.
  template <class Test>
  bool survives(const Test& is_there) const {
    return std::ranges::all_of(groups_, [&](const Group& group) {
      return std::ranges::count_if(group.members, [&](uint32_t one) { return !is_there(members_[one].part); }) <=
             static_cast<std::ptrdiff_t>(group.losses);
    });
  }
  // Whether that part is in the encoding that is under way.
  bool has_part(SessionId agent, uint64_t exposure) const;

  const std::string& set() const { return set_; }
  const redundancy::Protection& protection() const { return protection_; }
  bool is_sealed() const { return fate_ == Fate::sealed; }
  bool has_ended() const { return fate_ != Fate::open; }
  uint64_t id() const { return id_; }  // of the encoding under way, or the last one
  Row row(Time now) const;

 private:
  struct Member {
    ProtectedPart part;
    uint32_t group = 0, position = 0;
  };
  struct Group {
    std::vector<uint32_t> members;  // indices, by position
    uint64_t chunk = 0;
    uint32_t losses = 0;
  };

  bool is_sealing() const { return order_.is(OrderKind::seal); }
  void take_back();
  void fail(const std::string& why, Time now, Actions& actions);
  void end(Ended ended, Actions& actions);
  std::string place(std::vector<ProtectedPart> parts, LogLines& log);  // why it cannot be; empty: it is
  void ask_all(OrderKind kind, Time now);
  void lose(SessionId agent, Actions& actions);
  void end_if_sealed(Actions& actions);
  wire::ProtectT order(const Member& member) const;
  const Member* member_of(SessionId agent) const;

  std::string set_;
  redundancy::Protection protection_;
  std::chrono::milliseconds timeout_;
  enum class Fate : uint8_t { open, sealed, unprotected } fate_ = Fate::open;
  Order order_;                // protect or seal, of all members, as they are in members_
  std::optional<Time> since_;  // the first attempt
  Time encoding_since_{};
  uint32_t attempts_ = 0;
  Retry retry_;
  uint64_t id_ = 0;
  std::vector<Member> members_;
  std::vector<Group> groups_;
  uint64_t sent_bytes_ = 0, cpu_us_ = 0;
  std::deque<std::pair<SessionId, uint64_t>> cancels_;  // to be sent first
  size_t told_ = 0;                                     // members that were sent the order
};

}  // namespace forebay::job

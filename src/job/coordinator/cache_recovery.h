// A cached set is made whole again (decision 0037), before anybody restarts from it or it is stored:
//   1. check: all agents that have positions of its encoding compare what they have with the record; who cannot, or
//      does not answer in time, is taken for lost;
//   2. repair: what is lost or damaged is decoded by those that survive and brought to agents that take it: on a node
//      that has nothing of its group, if there is one, and of these the one whose ranks it is, or one that has little;
//   3. seal: when these have offered what they have got, everything that is not sealed is sealed.
// When an agent fails or is lost, it begins again from 1 with what is left, and gives up with the third failure, or
// when a group has lost more than it survives. Pure.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "job/coordinator/cached_sets.h"
#include "job/coordinator/orders.h"
#include "job/coordinator/session.h"
#include "job/wire/messages.h"

namespace forebay::job {

class CacheRecovery {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // One that is there, and may take what was lost.
  struct Agent {
    SessionId session = 0;
    std::string host, node, addresses, stage;
  };
  using Agents = std::map<std::string, Agent>;  // by key, as CachedSets has it
  struct Tell {
    SessionId to = 0;
    std::variant<wire::CheckCachedT, wire::RepairT, wire::SealT, wire::CancelT> what;
  };
  struct Ended {
    bool is_whole = false;
    std::string why;          // not whole: the reason
    bool is_damaged = false;  // it is not whole since bytes of it are not what they were
  };
  // What is to be done after a call.
  struct Actions {
    std::vector<Tell> tell;
    std::optional<Ended> ended;
    LogLines log;
  };
  // For the status.
  struct Row {
    std::string set;
    std::string_view order;  // that is under way
    size_t waiting = 0;      // for so many answers
    std::string waits_for;   // some of the nodes that have not answered
    uint64_t bad_pieces = 0, lost = 0, repaired_bytes = 0;
    Time since{};
  };

  // `caches` outlives it, is told of what happens before this is, and told by this whose parts are not to be believed.
  CacheRecovery(CachedSets& caches, std::chrono::milliseconds timeout) : caches_(&caches), timeout_(timeout) {}

  // Not while there is one. `set`: as caches.sets() tells it, without `wrong`. `wanted`: which agent waits for which
  // rank; one may not be among the agents.
  Actions begin(const CachedSet& set, std::map<uint32_t, std::string> wanted, Time now);
  // Nobody wants it any more.
  Actions cancel();

  Actions checked(const std::string& agent, const wire::CachedCheckedT& answer, Time now);
  Actions repaired(const std::string& agent, const wire::RepairedT& answer, Time now);
  Actions sealed(const std::string& agent, const wire::SealedT& answer, Time now);
  void joined(const std::string& key, Agent agent) { agents_[key] = std::move(agent); }
  Actions left(const std::string& agent, Time now);
  // Caches have changed.
  Actions changed(Time now);
  Actions tick(Time now);
  void forgive(std::chrono::nanoseconds gap) { order_.forgive(gap); }

  bool is_open() const { return order_.is_open(); }
  const Agents& agents() const { return agents_; }  // that are there
  std::string key_of(SessionId session) const;      // of one of them; empty: it is none
  const CachedSet& set() const { return set_; }
  Row row() const;

 private:
  // What is wrong with a group, and who repairs it.
  struct Plan {
    std::vector<uint32_t> lost;
    std::vector<wire::BadPiecesT> bad;
    std::map<uint32_t, std::string> receivers;  // of lost positions
  };

  void check(Time now, Actions& actions);
  void plan(Time now, Actions& actions);
  std::string plan_group(uint32_t number, const CachedGroup& group, Plan& plan);  // why it cannot be
  std::string receiver_of(const CachedGroup& group, uint32_t position, const Plan& plan) const;
  void repair(uint32_t number, size_t groups, const CachedGroup& group, const Plan& plan, Actions& actions);
  void seal_if_repaired(Time now, Actions& actions);
  void again(const std::string& why, bool counts, Time now, Actions& actions);
  void end(Ended ended, Actions& actions);
  void begin_order(OrderKind kind, Time now);
  void end_order(Actions& actions);
  SessionId session_of(const std::string& key) const;

  CachedSets* caches_;
  std::chrono::milliseconds timeout_;
  Order order_;  // the one that is under way
  CachedSet set_;
  Agents agents_;
  std::map<uint32_t, std::string> wanted_;
  Time since_{};
  uint32_t failures_ = 0;
  std::set<std::string> avoided_;                                   // agents that have failed to take what was lost
  std::map<uint32_t, std::vector<wire::BadPiecesT>> bad_;           // by group
  std::map<std::string, size_t> burden_;                            // lost positions that agents take
  std::map<std::pair<uint32_t, uint32_t>, std::string> repairing_;  // who has or gets a position that takes part
  bool is_damaged_ = false;
  uint64_t bad_pieces_ = 0, lost_ = 0, repaired_bytes_ = 0;
};

}  // namespace forebay::job

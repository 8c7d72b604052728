// Who is connected with a coordinator: agents, workers and those who ask, when each was heard last, and the nodes that
// the job goes on without. Pure.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/error.h"
#include "job/coordinator/session.h"
#include "job/wire/messages.h"

namespace forebay::job {

struct Session {
  using Time = std::chrono::steady_clock::time_point;
  enum class Role : uint8_t { none, agent, worker, asker };
  std::string peer;
  Role role = Role::none;
  Time last_heard{};
  std::unique_ptr<wire::AgentHelloT> agent;         // of an agent
  std::unique_ptr<wire::WorkerHelloT> worker;       // of a worker
  std::string key;                                  // of an agent: of its node and stage
  std::set<uint64_t> sets;                          // of which an agent has a part
  uint32_t processes = 0;                           // of the application, as an agent tells
  uint64_t processor_ms = 0;                        // that they have used
  uint32_t ranks = 0;                               // connected with an agent, as it tells
  std::vector<std::unique_ptr<wire::LeftT>> begun;  // in the directory of a code, as an agent tells
};

class Roster {
 public:
  using Time = Session::Time;

  explicit Roster(std::set<std::string> excluded = {}) : excluded_(std::move(excluded)) {}

  // `id` was never used before.
  void connected(SessionId id, std::string peer, Time now) {
    sessions_[id] = {.peer = std::move(peer), .last_heard = now};
  }
  // The session, which has said something now; null if there is none.
  Session* heard(SessionId id, Time now);
  // Null if there is none.
  Session* find(SessionId id);
  const Session* find(SessionId id) const;

  // A session that is there says who it is; corrupt if it did before. `replaced`: an agent that is there already under
  // the same node and stage, and is to be taken for gone; 0: none. One of an excluded node is not let in.
  struct Welcome {
    bool is_excluded = false;
    SessionId replaced = 0;
  };
  Result<Welcome> greet(SessionId id, std::unique_ptr<wire::AgentHelloT> hello);
  Result<void> greet(SessionId id, std::unique_ptr<wire::WorkerHelloT> hello);
  // It asks; it is an asker if it has not said who it is.
  void asks(SessionId id);

  // It is gone for everybody after this. Nothing if it was.
  std::optional<Session> left(SessionId id);

  // Agents, workers, and who has not said who it is, that have said nothing for so long; who asks may wait for ever.
  std::vector<SessionId> silent(Time now, std::chrono::milliseconds patience) const;
  // Time in which nobody could be heard does not count.
  void forgive(std::chrono::nanoseconds gap);

  // The node's agents, which are to leave, and are let in no more; nothing if that is known already.
  std::optional<std::vector<SessionId>> exclude(const std::string& host);

  // Whether there is a worker of another process than that one.
  bool has_other_workers(const std::string& host, uint64_t pid) const;

  const std::map<SessionId, Session>& sessions() const { return sessions_; }
  const std::unordered_map<std::string, SessionId>& agents() const { return agents_; }  // by key
  // The agents' hosts, by key.
  const std::unordered_map<std::string, std::string>& hosts() const { return hosts_; }
  // Ranks that are connected with agents.
  uint32_t connected_ranks() const;
  const std::set<std::string>& excluded() const { return excluded_; }

 private:
  std::map<SessionId, Session> sessions_;
  std::unordered_map<std::string, SessionId> agents_;
  std::unordered_map<std::string, std::string> hosts_;
  std::set<std::string> excluded_;
};

}  // namespace forebay::job

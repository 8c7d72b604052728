// The ranks that are connected with an agent, and the questions of theirs that are not answered yet. Pure.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/error.h"
#include "fabric/hub.h"
#include "job/wire/messages.h"

namespace forebay::job {

// A connected rank.
struct ConnectedRank {
  uint32_t rank = 0, ranks = 1;
  uint64_t pid = 0;
  uint64_t attempt = 0;  // of the application to start; 0: not known
};

// A client has one at most.
struct Question {
  enum class Kind : uint8_t { begin, wait, restart, reject } kind = Kind::begin;
  std::string set;
  std::optional<int64_t> step;
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
  std::optional<wire::SetPolicyT> policy = {};  // begin
};

class Clients {
 public:
  using Id = fabric::ConnectionId;
  using Time = std::chrono::steady_clock::time_point;

  // Whether this is the first one of another start of the application than before, as its attempt tells, or that the
  // rank was another process. corrupt if it cannot be a rank.
  Result<bool> joined(Id id, const ConnectedRank& client);
  // Its question is gone, too. Nothing if it is no client.
  std::optional<ConnectedRank> left(Id id);
  const ConnectedRank* find(Id id) const;  // null if it is none
  size_t count() const { return clients_.size(); }
  // Those of the latest start that are connected.
  std::set<uint32_t> ranks() const;
  // Whether this process is, as the latest one of that rank.
  bool is_connected(uint32_t rank, uint64_t pid) const;

  // corrupt if the client has one that is not answered.
  Result<void> may_ask(Id id) const;
  // The question cannot be answered yet.
  void wait(Id id, Question question) { questions_.insert_or_assign(id, std::move(question)); }

  // Calls `settle` for each question that waits, and forgets those for which it is true: they are answered. One answer
  // may be another's hindrance: one at a time.
  template <class Settle>
  void settle_each(const Settle& settle) {
    for (auto at = questions_.begin(); at != questions_.end();)
      at = settle(at->first, at->second) ? questions_.erase(at) : std::next(at);
  }
  // Those whose time is over wait no more, and are to be answered.
  std::vector<std::pair<Id, Question>> expired(Time now);
  Time next_deadline() const;  // Time::max(): none has one

  // Who waits for an answer.
  const std::map<Id, Question>& questions() const { return questions_; }

 private:
  std::map<uint32_t, uint64_t> connected() const;

  std::unordered_map<Id, ConnectedRank> clients_;
  std::map<uint32_t, uint64_t> processes_;  // of the latest start, by rank; also those that are not connected now
  uint64_t attempt_ = 0;                    // the latest one
  std::map<Id, Question> questions_;
};

// When a question is to be answered that may wait for `timeout_ms`; negative, or more than a year: Time::max().
Clients::Time deadline_after(int64_t timeout_ms, Clients::Time now);

}  // namespace forebay::job

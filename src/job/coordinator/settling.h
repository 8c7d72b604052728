// What the stages hold when the application has ended, or waits for a restart:
//   1. every agent is asked; it offers what is complete, now that nobody writes, and names the rest;
//   2. when all have answered, who wanted to know is told.
// An agent that is lost may come back and is asked then; one that does not come back, or does not answer, is not waited
// for without end. Pure.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "job/coordinator/orders.h"
#include "job/coordinator/session.h"
#include "job/wire/messages.h"

namespace forebay::job {

class Settling {
 public:
  using Time = std::chrono::steady_clock::time_point;

  struct Options {
    uint32_t agents = 0;                        // that there should be; 0: not known
    std::chrono::milliseconds peer_timeout{0};  // twice that is waited for agents that are not there
    std::chrono::milliseconds set_timeout{0};   // and that for those that do not answer
  };
  struct Agent {
    SessionId id = 0;
    std::string key, host;  // key: of its node and stage, the same when it comes again
  };
  // Something that is neither in the store nor on its way, as an agent has said. Without a name: what is not known.
  struct Left {
    std::string host, name, reason;
    std::string place{};  // the directory where it is; empty: the stage
  };

  // What is to be done after a call.
  struct Actions {
    std::vector<SessionId> ask;   // are to be sent Settle with number()
    bool ended = false;           // nothing is asked any more
    bool all_said = false;        // ended: all agents that there should be, of which the number is known, have answered
    std::vector<SessionId> tell;  // ended: who wanted to know; some may have gone
    LogLines log;
  };

  explicit Settling(const Options& options) : options_(options) {}

  // All agents are asked, again where they are being asked. `asker`: who is to be told; 0: nobody. Who waits already
  // is told when this ends.
  Actions begin(SessionId asker, Time now);
  // As begin(), and agents that come from now on are asked as well, whenever that is.
  Actions begin_for_good(Time now);

  // `agent` was not there before; begin() asks those that are. One that comes while it lasts is asked at once.
  Actions joined(const Agent& agent, Time now);
  Actions left(SessionId agent, Time now);
  // Nobody wants to know any more what it has said.
  void excluded(const std::string& key) { said_.erase(key); }
  // An answer with another number, or to nothing, is passed over.
  Actions answered(SessionId agent, const wire::SettledT& answer, Time now);
  Actions tick(Time now);
  void forgive(std::chrono::nanoseconds gap) { order_.forgive(gap); }

  bool is_open() const { return order_.is_open(); }
  bool is_for_good() const { return for_good_; }
  uint64_t number() const { return order_.number(); }  // another one each time that it begins
  // Of the last time, as far as the agents have answered.
  std::vector<Left> rows() const;

 private:
  void open(Time now);
  void ask(const Agent& agent, Actions& actions);
  void end_if_all_is_said(Time now, Actions& actions);

  Options options_;
  std::map<SessionId, Agent> agents_;  // that are there
  bool for_good_ = false;
  Order order_;
  std::vector<SessionId> askers_;                  // who is told when all have
  std::map<std::string, std::vector<Left>> said_;  // by key
  std::vector<Left> unknown_;                      // for those that have not
};

}  // namespace forebay::job

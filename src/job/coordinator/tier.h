// Where a restart can bring sets from (decision 0031). A restart asks its tiers in order: the first one has what lies
// nearest to the ranks. Pure.
#pragma once

#include <chrono>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "job/coordinator/session.h"
#include "job/coordinator/store_commands.h"
#include "job/wire/messages.h"

namespace forebay::job {

// An agent some of whose ranks want to restart.
struct Asker {
  SessionId id = 0;
  std::string host, node, addresses, stage;
  std::vector<uint32_t> ranks;  // in order
  uint64_t attempt = 0;         // as the agent's request has it
  bool any_ranks = false;       // its ranks can read a set of any number of ranks
  std::string newest;           // they want no set that is newer than this one; empty: any
};

// All of them. by_rank[r] is who has asked for rank r, 0 if nobody has; of several the first.
struct Askers {
  std::map<SessionId, Asker> all;
  std::vector<SessionId> by_rank;
};

// A set as a tier knows it.
struct TierSet {
  std::string name;              // in the tier, also for messages
  std::string application_name;  // what the ranks know it by
  std::optional<int64_t> step;
  uint64_t ordinal = 0;                                   // its place in the series; 0: it has none
  int64_t time_ns = std::numeric_limits<int64_t>::min();  // when it was written, since 1970; not known: long ago
  uint64_t ranks = 0;                                     // that wrote it; 0: not told
  std::string stored_as;                                  // its name in the store, if it is there, too
  uint64_t number = 0;                                    // the tier's own
  std::string suspicion;  // why it may not be whole, and is the last choice; empty: nothing speaks against it
  std::string wrong;      // why it cannot be brought whole, as far as that is known; empty: it can, for all we know
};

// What a tier says that it can give.
struct TierAnswer {
  std::vector<TierSet> sets;  // oldest first
  std::string none;           // why there are none, if there are none
  std::string left_alone;     // sets that are not of the job, in words; empty: there are none
};

// What it takes to bring a set, once that is known.
struct Prepared {
  enum class How : uint8_t {
    deliver,   // by the deliveries of the tier
    in_place,  // it is where the ranks are that ask
    leave,     // it cannot be in place: another tier has the same set, and brings it
    again,     // likewise, but the tiers must be asked anew
    pass_over  // it cannot be brought
  };
  How how = How::deliver;
  std::string why;        // pass_over
  uint64_t encoding = 0;  // in_place: that protects it
};

// What a tier needs from others before it can answer.
struct TierNeeds {
  bool settle = false;                 // all agents are to be asked what their stages hold (settling.h)
  bool void_incomplete = false;        // sets that not all ranks have completed are over
  std::vector<StoreCommand> commands;  // answered by what the tier itself has for that
  LogLines log;
};

// One piece of work: a worker brings it.
struct Delivery {
  uint32_t part = 0;  // of the set: the tier's own number
  SessionId to = 0;   // the agent that gets all of it; 0: each gets the files of its ranks
  std::string home;   // the node that it had best be done on
};

class Tier {
 public:
  using Time = std::chrono::steady_clock::time_point;

  virtual ~Tier() = default;

  // What the time that is spent on asking is called in the log and in the status.
  virtual const char* step() const = 0;

  // What can it give to ranks that wait for it? An earlier question counts no more.
  virtual void ask(Time now, TierNeeds& needs) = 0;
  // Nobody wants to know any more.
  virtual void forget() = 0;
  // To be called when something has happened, and with time: what it needs further, and the answer to ask(), once;
  // nothing as long as it is not known. There is no limit of its own to the time that it takes.
  virtual std::optional<TierAnswer> answer(Time now, TierNeeds& needs) = 0;

  // A set of the answer is to be brought, and nothing else is asked until that is done, or forget() is called.
  // prepared() tells how, once it is known; nothing as long as it is not.
  virtual void prepare(const TierSet&, const Askers&, Time) {}
  virtual std::optional<Prepared> prepared(Time) { return Prepared{}; }
  // in_place: what this agent has of it is not what it has offered, and counts no more until it offers it again.
  virtual void misplaced(SessionId, const TierSet&) {}

  // deliver: how a set of the answer comes to the askers: all of these, in any order. Empty: there is nothing to bring.
  virtual std::vector<Delivery> deliveries(const TierSet& set, const Askers& askers) const = 0;
  // The task that brings one of them, but for its id.
  virtual wire::TaskT task(const TierSet& set, const Delivery& delivery, const Askers& askers) const = 0;
};

}  // namespace forebay::job

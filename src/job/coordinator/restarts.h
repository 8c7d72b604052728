// Restart rounds:
//   1. every rank of the job has asked;
//   2. all tiers are asked, in their order, and the newest set that any of them has is chosen; of a set that several
//   have,
//      the first tier's. If it is of as many ranks, it is brought; if not, each agent gets all of it where all ranks
//      have asked for that, and else the restart ends with that answer: neither an older set nor a start from scratch
//      is what anybody wants;
//   3. its tier says how it is brought: it is in place already, or there are deliveries. When it turns out damaged, it
//   is
//      passed over for everybody, and the next older one is chosen;
//   4. all agents publish what was delivered, or is in place;
//   5. when all have done so, and not before, all ranks get the same answer: what fails at one of them fails for all.
//   Who
//      cannot put in place what it has is to blame: its part counts no more, and the set is prepared again, three times
//      at most; then the next one is chosen, which may be the same set of a later tier.
// An agent that is lost before the answer must ask again: what was delivered to it may be gone. Ranks that cease to ask
// before it, since they have ended, let the round gather anew.
// A round is of one start of the application (attempt): when ranks of a later one ask, those of earlier ones are
// refused, and what they had asked for counts no more. Ranks that do not know their attempt (0) are of any.
// Pure.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "job/coordinator/coverage.h"
#include "job/coordinator/orders.h"
#include "job/coordinator/phases.h"
#include "job/coordinator/restart_candidates.h"
#include "job/coordinator/session.h"
#include "job/coordinator/steps.h"
#include "job/coordinator/tier.h"
#include "job/wire/messages.h"

namespace forebay::job {

class Restarts {
 public:
  using Time = std::chrono::steady_clock::time_point;

  struct Options {
    std::string series;                        // for messages
    std::chrono::milliseconds set_timeout{0};  // for ranks to ask, and for agents to publish
  };

  // What is to be done after a call, in the order of each list.
  struct Tell {
    SessionId to = 0;
    std::variant<wire::RestartReadyT, wire::RestartInPlaceT, wire::RestartDoneT, wire::RefusedT> what;
  };
  struct Work {
    enum class Kind : uint8_t { add, remove, retry };  // retry: after a pause that grows
    Kind kind = Kind::add;
    uint32_t delivery = 0;
    std::string home;  // add: the node that it had best be done on
  };
  struct Actions {
    std::vector<Tell> tell;
    std::vector<Work> work;
    bool settle = false;                 // for a tier
    bool void_incomplete = false;        // likewise: TierNeeds has them
    std::vector<StoreCommand> commands;  // for a tier
    // Suspect sets that the store has, and that are newer than the chosen one: what the stages have of them is to go
    // aside before the application writes sets of these names again.
    std::vector<TierSet> aside;
    // Restarts that were answered: the rounds, as agents have them, and the places of the sets; 0: there is nothing to
    // restart from.
    struct Answered {
      uint64_t round = 0, place = 0;
    };
    std::vector<Answered> answered;
    LogLines log;
  };

  // One that has brought a set.
  struct Last {
    std::string set, stored_as;  // as the ranks and as the store call it; stored_as: empty if the store has it not
    uint32_t ranks = 0;
    std::string passed_over;  // newer sets, and why
    Steps steps;
  };
  // The round that is under way, for the status.
  struct Row {
    uint32_t ranks = 0;
    size_t ranks_asked = 0, deliveries = 0, deliveries_done = 0, publishing = 0;
    std::string set, passed_over;
    Time since{};
  };

  // `tiers`: in the order in which they are asked, at least one; they outlive this, and nobody else asks them.
  Restarts(Options options, std::vector<Tier*> tiers) : options_(std::move(options)), tiers_(std::move(tiers)) {}

  // An agent's request; its `ranks`, `attempt` and `any_ranks` are those of the message.
  Actions requested(Asker asker, const wire::RestartRequestT& request, Time now);
  Actions left(SessionId agent, Time now);
  Actions published(SessionId agent, const wire::RestartPublishedT& report, Time now);
  // How a delivery ended, one that was added and not removed.
  Actions delivered(uint32_t delivery, const wire::TaskDoneT& done, Time now);
  // A tier may have an answer now, or nothing is in the way of the next step any more.
  Actions advance(Time now);
  Actions tick(Time now);
  void forgive(std::chrono::nanoseconds gap) { publishing_.forgive(gap); }
  // The round under way, if there is one, ends with this answer to all that have asked.
  Actions refuse(ErrorKind kind, const std::string& message, Time now);

  // The task of a delivery that was added and not removed, but for its id.
  wire::TaskT task(uint32_t delivery) const;

  bool is_open() const { return round_.has_value(); }
  std::string chosen() const { return round_ && round_->chosen ? round_->chosen->name : std::string(); }
  std::optional<Row> row() const;
  const std::optional<Last>& last() const { return last_; }

 private:
  struct Round {
    using Phase = RestartPhase;
    Phase phase = Phase::gathering;
    Time since{};  // it began, or began anew
    uint32_t total = 0;
    Steps steps;  // those of the tiers, deliver, publish
    Askers askers;
    Coverage coverage;
    size_t tier = 0;  // that is asked, or whose set is brought
    RestartCandidates candidates;
    std::string none, left_alone;  // as the tiers have said
    std::optional<TierSet> chosen;
    std::optional<uint64_t> in_place;  // the chosen one is: its encoding
    uint32_t tries = 0;                // to put it in its place
    std::vector<Delivery> deliveries;
    std::vector<uint32_t> failures;  // by delivery
    std::set<uint32_t> open;         // deliveries that are not done
    std::string passed_over;
    std::vector<std::pair<Asker, wire::RestartRequestT>> later;  // that came when others had all that is delivered
  };

  void go(RestartEvent event) { round_->phase = next_phase(restart_transitions(), round_->phase, event); }
  void request(Asker asker, const wire::RestartRequestT& request, Time now, Actions& actions);
  void join(Asker asker, const wire::RestartRequestT& request, Time now, Actions& actions);
  void supersede(uint64_t attempt, uint32_t total, Time now, Actions& actions);
  void leave(SessionId agent, Time now, Actions& actions);
  bool drop(SessionId agent);
  void gather_anew(Time now, Actions& actions);
  void end_round(Time now, Actions& actions);
  void go_on(Time now, Actions& actions);
  void ask_tiers(Time now, Actions& actions);
  void hear_tiers(Time now, Actions& actions);
  void order_candidates();
  void choose(Time now, Actions& actions);
  void prepare(RestartCandidates::Candidate candidate, Time now, Actions& actions);
  void hear_prepared(Time now, Actions& actions);
  void deliver(Time now, Actions& actions);
  void pass_over(const TierSet& set, const std::string& why, Actions& actions);
  void stop_delivering(Actions& actions);
  void publish(Time now, Actions& actions);
  wire::RestartReadyT ready(const Asker& asker) const;
  wire::RestartInPlaceT in_place(const Asker& asker) const;
  void place_again(Time now, Actions& actions);
  void finish(Time now, Actions& actions);
  void refuse_other_ranks(const TierSet& set, Time now, Actions& actions);
  void nothing(const std::string& why, uint32_t other_ranks, Time now, Actions& actions);
  void refuse_all(ErrorKind kind, const std::string& message, Time now, Actions& actions);
  Tier& tier() const { return *tiers_[round_->tier]; }

  Options options_;
  std::vector<Tier*> tiers_;
  std::optional<Round> round_;
  uint64_t last_attempt_ = 0;  // the latest start of the application that is known of
  // Of this round, or an earlier one. Until all have answered, nothing is delivered: it would be mixed with what they
  // are at.
  Order publishing_;
  std::optional<Last> last_;
};

}  // namespace forebay::job

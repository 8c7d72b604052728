// What the ranks of one node ask for when they want to restart, and where the round of the job is, as their agent has
// it: who has asked, what the coordinator is to be told, who is told what, and what is kept for ranks that ceased to
// wait. Pure.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "base/error.h"
#include "job/agent/clients.h"
#include "job/wire/messages.h"

namespace forebay::job {

class RankRestart {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using IsConnected = std::function<bool(uint32_t rank, uint64_t pid)>;

  // The rank wants to restart, from no set that is newer than `newest`, if that is one. cancelled if a later start of
  // the application has asked.
  Result<void> ask(const ConnectedRank& client, bool any_ranks, Time now, const std::string& newest = {});
  // It has ended, or lost the connection and will ask again.
  void stop_asking(const ConnectedRank& client, Time now);
  // A later start of the application is here: who is not connected asks no more, and is told no more.
  void forget_gone(const IsConnected& is_connected, Time now);

  // When request() is to be called; Time::max(): not before something else happens.
  Time request_at() const { return request_at_; }
  // What the coordinator is to be told, if anything; to be called when one is there that has said Welcome.
  std::optional<wire::RestartRequestT> request();
  // There is no coordinator that it could be told.
  void cannot_request() { request_at_ = Time::max(); }

  // RestartReady has come from the coordinator of that generation.
  enum class Step : uint8_t {
    go_on,     // whatever the ranks had begun is over; found: the set is to be published; else nothing_found() follows
    too_late,  // it is of an earlier start of the application, whose ranks are gone; found: that is to be reported
  };
  // corrupt if the last one is still being published.
  Result<Step> ready(const wire::RestartReadyT& ready, uint64_t generation);

  // What was delivered is being put in its place, or that is done: so long nothing may be delivered, and the
  // coordinator is asked for nothing.
  void begin_publishing() { is_publishing_ = true; }
  // The coordinator was told that the set of that round is in its place here.
  void placed(uint64_t round);
  void end_publishing(Time now);

  // How the round has ended, for the ranks that asked: take_answer() has it then. done(): nothing if it is of another
  // round.
  wire::RestartedT nothing_found(Time now);
  std::optional<wire::RestartedT> done(const wire::RestartDoneT& done, Time now);
  // The coordinator cannot make sense of what the ranks want together, or the set cannot be had on all nodes, or a
  // later start of the application asks. Whether it is meant for a rank that waits:
  bool is_refused(const ConnectedRank& client, const wire::RefusedT& refused) const;
  void refused(const wire::RefusedT& refused);
  // The coordinator is lost: the next one is asked again, also for what is published already. If that is in its place,
  // the one before may have answered other nodes, and the next one knows: done() takes its word.
  void interrupted();

  // The answer for a rank that waits, once; nothing if there is none for this process of it.
  std::optional<wire::RestartedT> take_answer(const ConnectedRank& client);

 private:
  using Askers = std::map<uint32_t, uint64_t>;  // rank to process
  struct Ending {
    wire::RestartReadyT ready;
    Askers asked;
    uint64_t generation = 0;
    bool is_placed = false;
  };

  void request_soon(Time now);
  wire::RestartedT hand_out(wire::RestartedT answer, Time now);

  Askers asked_;  // of the next round
  uint32_t total_ = 0;
  std::string newest_;
  std::set<uint32_t> strict_;   // ranks that can only read a set of `total` ranks
  uint64_t attempt_ = 0;        // whose ranks these are: the latest start of the application that has asked
  bool has_requested_ = false;  // the coordinator knows of some
  // RestartReady has come: these ranks are told when the coordinator says that all nodes are as far.
  std::optional<Ending> ending_;
  std::optional<Ending> before_;  // that of a coordinator that was lost, which may have answered others
  std::map<uint32_t, std::pair<uint64_t, wire::RestartedT>> kept_;  // for ranks that had ceased to wait
  Time request_at_ = Time::max();
  bool is_publishing_ = false;
};

}  // namespace forebay::job

// The thread of an agent: what arrives over the hub, from the stage and with time. Used by agent.cc alone.
//
// What it decides, machines decide that know no sockets, files or clocks: agent_sets.h (the sets of the stage),
// set_looks.h (when to look at which), clients.h (ranks and their questions) and rank_restart.h (what they restart
// from). Here is what is done with that: agent_core.cc hands on what happens; agent_stage.cc looks at sets and offers
// them; agent_clients.cc serves the application, agent_restart.cc its restarts, agent_settle.cc its end, and
// agent_workers.cc workers and the coordinator; agent_found.cc is about what was there before; agent_cache.cc what the
// caches of the job's nodes are asked for, and agent_levels.cc the cache levels.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/pack/tree.h"
#include "fabric/hub.h"
#include "fabric/remote.h"
#include "job/agent/agent.h"
#include "job/agent/agent_sets.h"
#include "job/agent/clients.h"
#include "job/agent/rank_processes.h"
#include "job/agent/rank_restart.h"
#include "job/agent/set_looks.h"
#include "job/cache/cache.h"
#include "job/delivery/delivery.h"
#include "job/rendezvous/linger.h"
#include "job/rendezvous/rendezvous.h"
#include "job/stage/levels.h"
#include "job/stage/reminder.h"
#include "job/stage/stage_scan.h"
#include "job/stage/strangers.h"
#include "job/stage/watcher.h"
#include "job/thread/serial_worker.h"
#include "job/wire/messages.h"

namespace forebay::job {

class AgentCore final : public fabric::HubHandler {
 public:
  using ConnectionId = fabric::ConnectionId;

  // `find_coordinator` is called whenever there is none any more; adopt() follows.
  AgentCore(const AgentOptions& options, std::string node, fabric::Hub& hub, Watcher watcher,
            std::function<void()> find_coordinator);

  // Before the hub runs: what other agents have left in the stage. `strangers`: what is none of theirs; nothing: all
  // may be taken.
  Result<void> begin(std::optional<Strangers> strangers);
  // What lies in the stage and is left alone, in a sentence; empty if there is nothing, or it was named before.
  const std::string& left_alone() const { return left_alone_; }
  // By the hub's thread.
  void adopt(Reached reached);

  void connected(ConnectionId id, const std::string& peer) override;
  Result<void> received(ConnectionId id, const fabric::Frame& frame) override;
  void disconnected(ConnectionId id, Ending ending) override;
  void tick(Time now) override;
  Time next_tick() const override;

 private:
  // What lies behind an exposure.
  struct Exposed {
    uint64_t number = 0;  // a later offer has a higher one
    wire::OfferT offer;
    std::vector<engine::SourceFile> files;  // the regular ones, which come first in the offer
  };
  struct Coordinator {
    ConnectionId id = 0;
    uint64_t generation = 0;
    Time heard{};
    std::chrono::milliseconds ping{2'000}, lost{10'000};
    bool is_welcome = false;
    uint32_t ranks = 0;  // of the job, that are connected with agents
  };
  // agent_core.cc
  template <class Table>
  void send(ConnectionId to, Table message);
  void refuse(ConnectionId to, const Error& error);
  void log(fabric::Severity severity, const std::string& text) const;
  void warn_once(const std::string& set, const std::string& text);
  void watch_stage();
  void see_changes();
  bool is_needed() const;

  // agent_found.cc
  Result<void> take_stage_as_it_is();
  Result<void> resume_noted(const std::string& set);
  // Whether what lies in STAGE/SET is none of this agent's business.
  bool is_left_alone(const std::string& set) const;
  // Whether it may ever be removed.
  bool is_ours(const std::string& set) const;
  // exists or permission if something lies there that no set may replace or be written to.
  Result<void> check_free(const std::string& set) const;
  // Notes that the set has come, or has gone.
  void note_sight(const std::string& set);

  // agent_stage.cc
  std::set<uint32_t> awaited(const std::string& set) const { return sets_.awaited(set, clients_.ranks()); }
  void look_at_all();
  void put_in_order(std::vector<std::string>& sets);
  void look(const std::string& set);
  void follow(const std::string& set, const AgentSets::Decision& decision);
  void check_then_offer(const std::string& set, Listing listing, Content content);
  void offer(const std::string& set, const Listing& listing, const Content& content);
  void unexpose(uint64_t exposure);
  void withdraw(const std::string& set, uint64_t exposure, const std::string& reason);
  void finish(const std::string& set);
  void discard(const std::string& set);
  // Whether its files are still those that have become durable or were skipped: others may be written at this moment.
  bool is_as_it_ended(const std::string& set) const;
  void tidy();
  Result<std::string> fingerprint_in_stage(const std::string& set) const;

  // agent_clients.cc
  Result<void> greet(ConnectionId id, const wire::ClientHelloT& hello);
  void drop_stale_markers(bool is_new_start, const ConnectedRank& client);
  // Names the sets that cannot become complete, now that this rank has left.
  void miss(const ConnectedRank& client);
  Result<void> answer(ConnectionId id, const ConnectedRank& client, wire::MessageT message);
  Result<void> ask(ConnectionId id, Question question);
  // Answers it, if that is possible by now.
  bool settle(ConnectionId id, const Question& question);
  bool settle_begin(ConnectionId id, const Question& question);
  void give_up(const std::string& set, uint32_t rank);
  bool settle_wait(ConnectionId id, const Question& question);
  void overtake_reject(const std::string& set);
  bool settle_reject(ConnectionId id, const Question& question);
  void tell_state(ConnectionId id, const std::string& set);
  void settle_all();
  void expire(Time now);

  // agent_levels.cc
  void take_levels();
  const Level* level(const std::string& directory);
  std::string level_for(const Question& question);
  bool has_room(const std::string& level, const std::string& set);
  uint64_t bytes_at(const std::string& set) const;
  std::string place_on(const std::string& level, const std::string& set);
  AgentSets::Keep keep() const;

  // agent_restart.cc
  bool settle_restart(ConnectionId id);
  void send_restart_request();
  Result<void> restart_ready(const wire::RestartReadyT& ready);
  void forget_unfinished();
  void publish(const wire::RestartReadyT& ready);
  void published(ConnectionId coordinator, const wire::RestartReadyT& ready, const Result<bool>& result);
  void restart_done(const wire::RestartDoneT& done);
  void restart_refused(const wire::RefusedT& refused);

  // agent_cache.cc
  // Whether it was one of the messages about caches.
  bool hear_about_caches(const wire::MessageT& message);
  Result<Cache::Part> part_of(const wire::ProtectT& order) const;
  void protect(const wire::ProtectT& order);
  void repaired(const std::string& set, uint64_t ordinal, const wire::RepairedT& answer,
                const std::vector<uint32_t>& ranks);
  Result<void> restart_in_place(const wire::RestartInPlaceT& order);
  void quarantine(const std::string& set, const std::string& reason, bool removes);
  void release_quarantined(int64_t written_ns);
  // The offer again, with what is known now.
  void offer_again(uint64_t exposure);
  void send_rejects();
  void rejected(const wire::RejectT& confirmed);
  // An answer, if the coordinator that has asked is still there.
  template <class Table>
  void answer_coordinator(ConnectionId asked_by, Table answer) {
    if (coordinator_ && coordinator_->id == asked_by) send(asked_by, std::move(answer));
  }

  // agent_rule.cc
  void watch_rule(Time now);
  void tell_misfit(const std::string& set, const std::string& reason);
  void tell(const std::string& text) const;
  std::vector<std::unique_ptr<wire::LeftT>> begun_in_code() const;

  // agent_settle.cc
  void settle(uint64_t number);
  // Answers, if nothing is left to find out.
  void tell_settled();
  std::optional<std::string> why_left(const std::string& set) const;
  Result<std::vector<wire::LeftT>> what_is_left() const;

  // agent_workers.cc
  Result<void> hear_coordinator(wire::MessageT message);
  Result<void> hear_other(ConnectionId id, wire::MessageT message);
  void serve_layouts(ConnectionId id, const wire::LayoutRequestT& request);
  void offer_everything();
  void keep_place(const wire::PlacedT& placed);
  void keep_in_touch(Time now);
  std::chrono::milliseconds ping_interval() const;
  void lose_coordinator();

  const AgentOptions& options_;
  std::string stage_, node_;
  fabric::Hub& hub_;
  Watcher watcher_;
  std::function<void()> find_coordinator_;
  fabric::Exposures exposures_;
  fabric::TransportServer transports_;
  DeliveryServer deliveries_;
  Cache cache_;
  std::map<std::string, wire::RejectT> rejects_;  // that no coordinator has confirmed, by set
  std::optional<Strangers> strangers_;
  std::string left_alone_;
  RuleWatch rule_watch_{std::chrono::steady_clock::now()};
  Reminder reminder_;
  AgentSets sets_;
  std::map<std::string, Level> levels_;  // that are this stage's, by directory
  uint64_t begun_ = 0, offered_ = 0;     // sets, since the agent started
  std::map<std::string, Time> began_;    // those that are not complete, and when
  std::optional<Coordinator> coordinator_;
  uint32_t block_at_ = 0;
  Clients clients_;
  std::map<uint64_t, std::shared_ptr<const Exposed>> exposed_;
  std::set<ConnectionId> reading_, delivering_;  // workers that wait for layouts, that have delivered something
  RankRestart restart_;
  SetLooks looks_;
  RestingStage resting_;
  WallTime at_rest_ = WallTime::min();  // nobody wrote to the stage then
  Time watch_again_ = Time::max(), look_at_all_ = Time::max(), ping_at_ = Time::max();
  std::unique_ptr<RankProcesses> rank_processes_;  // null: nobody wants to know
  Linger linger_;
  std::atomic<uint64_t> moves_ = 0;  // of readings of layouts
  SerialWorker worker_;              // the last one: it ends first
};

template <class Table>
void AgentCore::send(ConnectionId to, Table message) {
  Bytes frames;
  wire::encode(frames, std::move(message));
  hub_.send(to, frames);
}

}  // namespace forebay::job

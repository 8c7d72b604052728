// An agent of the model: the pure machines of src/job/agent (AgentSets, Clients, RankRestart, SetLooks), in a shell
// that does to a Disk what the real one (AgentCore) does to a directory. The shell follows AgentCore function by
// function; a change there that moves a decision into the shell has to come here, too.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "job/agent/agent_sets.h"
#include "job/agent/clients.h"
#include "job/agent/rank_restart.h"
#include "job/agent/set_looks.h"
#include "job/stage/stage.h"
#include "world.h"

namespace forebay::job::model {

class Agent {
 public:
  Agent(World& world, std::string node, Disk& disk, unsigned keep, uint64_t number);

  void begin();
  void adopt(LinkId link, uint64_t generation);
  void lose_coordinator();
  void hear_coordinator(wire::MessageT message);

  // Ranks of this node.
  void hear_rank(LinkId link, wire::MessageT message);
  void rank_gone(LinkId link);

  // Workers: what lies behind an exposure; null if it is not offered any more.
  const std::map<std::string, Body>* exposed_files(uint64_t exposure) const;
  bool deliver(const std::string& stored_as, const std::map<std::string, Body>& files);
  // Other agents: whether this one takes part in that encoding, or that repair, or has done so.
  bool encodes(uint64_t id, uint32_t position, uint32_t group) const;
  bool repairs(uint64_t id, uint32_t group, uint64_t number) const;
  // Something in the stage has changed.
  void see(const std::string& set);

  const ProcessRef& process() const { return process_; }
  const std::string& node() const { return node_; }
  std::string address() const;
  const AgentSets& sets() const { return sets_; }
  bool protects(const std::string& set) const;  // with others
  bool has_coordinator() const { return coordinator_ && coordinator_->is_welcome; }

 private:
  struct Exposed {
    uint64_t number = 0;
    wire::OfferT offer;
    std::map<std::string, Body> files;
  };
  struct Coordinator {
    LinkId link = 0;
    uint64_t generation = 0;
    Time heard{};
    Duration lost = 10s;
    bool is_welcome = false;
  };
  struct Encode {
    wire::ProtectT order;
    uint64_t exposure = 0;
    Time until{};
    LinkId asked_by = 0;
  };
  struct Repair {
    wire::RepairT order;
    Time until{};
    LinkId asked_by = 0;
  };

  // agent.cc
  template <class Table>
  void say_to(LinkId link, Table body) {
    world_.net().send(link, process_, std::move(body));
  }
  template <class Table>
  void answer_coordinator(LinkId asked_by, Table answer) {
    if (coordinator_ && coordinator_->link == asked_by) say_to(asked_by, std::move(answer));
  }
  void refuse(LinkId to, const Error& error);
  int64_t wall_ns() const;
  void tick();
  void tick_soon();
  void keep_in_touch();
  void offer_everything();
  void offer_again(uint64_t exposure);
  void settle(uint64_t number);
  std::optional<std::string> why_left(const std::string& set) const;

  // agent_stage.cc
  void look_at_all();
  void look(const std::string& set);
  void follow(const std::string& set, const AgentSets::Decision& decision);
  void offer(const std::string& set, const Listing& listing, const Content& content);
  void withdraw(const std::string& set, uint64_t exposure, const std::string& reason);
  void finish(const std::string& set);
  void discard(const std::string& set);
  void discard_notes(const std::string& set);
  void drop_encodings(const std::string& set);
  void forget_unfinished();
  void tidy();
  std::set<uint32_t> awaited(const std::string& set) const { return sets_.awaited(set, clients_.ranks()); }
  Listing scan(const std::string& set, const std::set<uint32_t>& wanted, const Completion& completion) const;
  std::string fingerprint_in_stage(const std::string& set) const;
  bool is_as_it_ended(const std::string& set) const;
  bool has_set(const std::string& set) const;

  // agent_ranks.cc
  void greet(LinkId link, const wire::ClientHelloT& hello);
  bool answer(LinkId link, const Question& question);
  bool answer_begin(LinkId link, const Question& question);
  bool answer_wait(LinkId link, const Question& question);
  bool answer_restart(LinkId link);
  void tell_state(LinkId link, const std::string& set);
  void settle_all();
  void send_restart_request();
  void restart_ready(const wire::RestartReadyT& ready);
  void publish(const wire::RestartReadyT& ready);
  void published(LinkId coordinator, const wire::RestartReadyT& ready, const Result<bool>& result);
  void restart_in_place(const wire::RestartInPlaceT& order);
  void restart_refused(const wire::RefusedT& refused);
  void send_rejects();
  void rejected(const wire::RejectT& confirmed);

  // agent_cache.cc
  bool hear_about_caches(const wire::MessageT& message);
  std::vector<std::unique_ptr<wire::EncodingT>> encodings(const std::string& set, uint64_t write);
  void protect(const wire::ProtectT& order);
  void encode(uint64_t id);
  void encoded(uint64_t id, std::optional<uint32_t> fault, const std::string& why, bool is_full = false);
  void cancel(uint64_t id);
  void seal(const wire::SealT& order);
  void check(const wire::CheckCachedT& order);
  void repair(const wire::RepairT& order);
  void go_on_repairing(uint64_t id, uint32_t group, uint64_t number);
  void repaired(uint64_t id, uint32_t group, std::optional<uint32_t> fault, const std::string& why);
  void quarantine(const wire::QuarantineT& order);
  bool is_recorded(const PartKey& key, const HeldPart& held) const;

  World& world_;
  const std::string node_;
  const ProcessRef process_ = std::make_shared<Process>();
  Disk& disk_;
  const unsigned keep_;
  const uint64_t number_;  // of all agents
  uint64_t next_exposure_ = 1;
  AgentSets sets_;
  Clients clients_;
  RankRestart restart_;
  SetLooks looks_;
  std::optional<Coordinator> coordinator_;
  std::map<std::string, wire::RejectT> rejects_;
  uint32_t block_at_ = 0;
  uint64_t offered_ = 0;
  std::map<uint64_t, Exposed> exposed_;
  std::map<uint64_t, Encode> encodes_;
  std::map<std::pair<uint64_t, uint32_t>, Repair> repairs_;
  std::set<std::tuple<uint64_t, uint32_t, uint64_t>> repaired_;
  Time ping_at_ = Time::max(), ticks_at_ = Time::max();
  uint64_t work_ = 0;
};

}  // namespace forebay::job::model

// Nodes with caches for tests of the coordinator: agents that do at once what they are told, unless a test holds them.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "job/coordinator/test_coordinator.h"

namespace forebay::job {

// What an agent has of a position of an encoding.
struct FakeEncoding {
  wire::ProtectT order;
  bool is_encoded = false, is_sealed = false;
};

struct FakeCacheSet {
  std::vector<uint32_t> ranks;
  std::optional<int64_t> step;
  uint64_t write = 0, exposure = 0, ordinal = 0;
  uint32_t total = 0;
  wire::SetState state = wire::SetState::incomplete;
  std::string stored_as;
  std::vector<FakeEncoding> encodings;
};

struct FakeCacheAgent {
  std::string node;
  SessionId session = 0;  // 0: it is gone
  std::map<std::string, FakeCacheSet> stage;
  std::vector<wire::BadPiecesT> bad;  // what its next check finds
  bool is_held = false;               // it does nothing
  std::string level;                  // on which its sets lie
  uint32_t misplaces = 0;             // so often it finds that what it is to put in place is gone
  std::map<std::string, std::string> quarantine;
};

class CacheWorld {
 public:
  explicit CacheWorld(CoordinatorOptions with, uint32_t nodes, uint32_t ranks_per_node = 1, Facts facts = {})
      : s(std::move(with), 1, std::move(facts)), per_node(ranks_per_node) {
    for (uint32_t i = 0; i < nodes; ++i) agents.push_back({.node = "n" + std::to_string(i)});
    for (FakeCacheAgent& agent : agents) agent.session = s.agent(agent.node);
    worker = s.worker("w");
    s.agents_settle = false;
  }

  uint32_t total() const { return ranks; }
  // All nodes complete the set, node i ranks i * per_node and up.
  void write(const std::string& set, int64_t step) {
    ++writes;
    for (uint32_t i = 0; i < ranks / per_node; ++i) write_on(i, set, step);
    run();
  }
  void write_on(uint32_t node, const std::string& set, int64_t step) {
    FakeCacheSet one{.step = step, .write = writes, .total = ranks};
    for (uint32_t r = 0; r < per_node; ++r) one.ranks.push_back(node * per_node + r);
    agents[node].stage[set] = one;
    offer(agents[node], set);
  }
  void offer(FakeCacheAgent& agent, const std::string& name) {
    if (agent.session == 0) return;
    FakeCacheSet& set = agent.stage.at(name);
    if (set.exposure == 0) set.exposure = ++exposures;
    wire::OfferT offered = offer_of(name, set.ranks, set.total, set.exposure);
    if (set.step) offered.step = *set.step;
    offered.complete = set.ranks;
    offered.policy = std::make_unique<wire::SetPolicyT>();
    offered.policy->write = set.write;
    offered.policy->flush = flush;
    offered.state = set.state;
    offered.stored_as = set.stored_as;
    offered.ordinal = set.ordinal;
    offered.level = agent.level;
    for (const FakeEncoding& one : set.encodings) {
      auto& encoding = *offered.encodings.emplace_back(std::make_unique<wire::EncodingT>());
      encoding.id = one.order.id;
      encoding.group = one.order.group;
      encoding.groups = one.order.groups;
      encoding.position = one.order.position;
      encoding.losses = one.order.losses;
      encoding.chunk = one.order.chunk;
      encoding.is_encoded = one.is_encoded;
      encoding.is_sealed = one.is_sealed;
      for (const auto& member : one.order.members) encoding.members.push_back(std::make_unique<wire::MemberT>(*member));
    }
    s.send(agent.session, std::move(offered));
  }

  // The node is gone, with all that it had.
  void lose(uint32_t node) {
    const SessionId id = std::exchange(agents[node].session, 0);
    agents[node].stage.clear();
    if (id != 0) s.leave(id);
  }
  // A node that comes; `with`: its stage.
  void join(uint32_t node) {
    agents[node].session = s.agent(agents[node].node);
    for (auto& [name, set] : agents[node].stage) {
      set.exposure = 0;
      offer(agents[node], name);
    }
  }
  void ask(uint32_t node, std::vector<uint32_t> of, const std::string& newest = {}) {
    wire::RestartRequestT request;
    request.ranks = std::move(of);
    request.total = ranks;
    request.newest = newest;
    s.send(agents[node].session, std::move(request));
  }
  // The ranks of each node ask there, those of nodes that are gone at `spare`.
  void ask_all(uint32_t spare = 0) {
    std::map<uint32_t, std::vector<uint32_t>> asking;
    for (uint32_t rank = 0; rank < ranks; ++rank) {
      const uint32_t home = rank / per_node;
      asking[agents[home].session != 0 ? home : spare].push_back(rank);
    }
    for (auto& [node, of] : asking) ask(node, std::move(of));
    run();
  }

  // One agent does one thing; false: there is nothing to do.
  bool act(FakeCacheAgent& agent) {
    if (agent.session == 0 || agent.is_held) return false;
    Inbox& box = s.inbox[agent.session];
    const auto next = [](auto& queue) {
      auto one = std::move(queue.front());
      queue.pop_front();
      return one;
    };
    if (!box.protects.empty()) {
      wire::ProtectT order = next(box.protects);
      wire::ProtectedT done;
      done.id = order.id;
      const auto set = agent.stage.find(order.set);
      done.failed = set == agent.stage.end() || order.members[order.position]->data != set->second.exposure;
      done.error = "another exposure";
      if (!done.failed) set->second.encodings.push_back({std::move(order), true, false});
      s.send(agent.session, std::move(done));
    } else if (!box.protect_cancels.empty()) {
      const uint64_t id = next(box.protect_cancels);
      for (auto& [name, set] : agent.stage)
        std::erase_if(set.encodings, [&](const auto& one) { return one.order.id == id && !one.is_sealed; });
    } else if (!box.seals.empty()) {
      const uint64_t id = next(box.seals);
      wire::SealedT done;
      done.id = id;
      done.failed = true;
      for (auto& [name, set] : agent.stage)
        for (FakeEncoding& one : set.encodings)
          if (one.order.id == id) one.is_sealed = true, done.failed = false;
      s.send(agent.session, std::move(done));
    } else if (!box.placed.empty()) {
      const wire::PlacedT placed = next(box.placed);
      const auto set = agent.stage.find(placed.set);
      if (set != agent.stage.end() && set->second.exposure == placed.exposure) set->second.ordinal = placed.ordinal;
    } else if (!box.news.empty()) {
      const wire::SetNewsT news = next(box.news);
      const auto set = agent.stage.find(news.set);
      if (set == agent.stage.end() || set->second.exposure != news.exposure) return true;
      set->second.state = news.state;
      set->second.stored_as = news.stored_as;
      const bool is_kept = news.state == wire::SetState::cached ||
                           (news.state == wire::SetState::durable && !set->second.encodings.empty());
      if (is_kept) offer(agent, news.set);
    } else if (!box.quarantines.empty()) {
      const wire::QuarantineT one = next(box.quarantines);
      if (agent.stage.erase(one.set) != 0) agent.quarantine[one.set] = one.reason;
    } else if (!box.checks.empty()) {
      wire::CachedCheckedT done;
      done.number = next(box.checks).number;
      for (const auto& run : std::exchange(agent.bad, {})) done.bad.push_back(std::make_unique<wire::BadPiecesT>(run));
      s.send(agent.session, std::move(done));
    } else if (!box.repairs.empty()) {
      repair(agent, next(box.repairs));
    } else if (!box.settles.empty()) {
      const uint64_t number = next(box.settles);
      for (auto& [name, set] : agent.stage) offer(agent, name);
      s.send(agent.session, settled(number));
    } else if (!box.in_place.empty()) {
      const wire::RestartInPlaceT place = next(box.in_place);
      const bool is_gone = agent.misplaces > 0 && agent.misplaces-- > 0;
      if (is_gone) agent.stage.erase(place.set);
      if (!is_gone) published[agent.node] = place.set;
      answer(agent, place.round, is_gone);
    } else if (!box.ready.empty()) {
      const wire::RestartReadyT ready = next(box.ready);
      messages.push_back(ready.message);
      if (!ready.found) ++nothing;
      if (!ready.found) return true;
      published[agent.node] = "store:" + ready.stored_as;
      answer(agent, ready.round);
    } else {
      return false;
    }
    return true;
  }
  // Until nobody has anything to do.
  void run() {
    uint32_t turns = 0;
    for (bool some = true; some;) {
      if (++turns > 10'000) throw std::runtime_error("agents and coordinator are never done: " + s.log.substr(0, 4000));
      some = false;
      for (FakeCacheAgent& agent : agents) some = act(agent) || some;
      auto& tasks = s.inbox[worker].tasks;
      while (works && !tasks.empty()) {
        const wire::TaskT task = std::move(tasks.front());
        tasks.pop_front();
        s.send(worker, success(task));
        some = true;
      }
      some = some || !s.commands.empty();
      s.serve_store();
    }
  }
  void pass(std::chrono::milliseconds time) {
    const auto end = s.now + time;
    while (s.now < end) {
      std::vector<SessionId> alive{worker};
      for (const FakeCacheAgent& agent : agents)
        if (agent.session != 0) alive.push_back(agent.session);
      s.pass(std::min<std::chrono::milliseconds>(std::chrono::duration_cast<std::chrono::milliseconds>(end - s.now),
                                                 std::chrono::milliseconds(1000)),
             alive);
      run();
    }
  }
  size_t told(wire::SetState state, const std::string& set) const {
    size_t count = 0;
    for (const FakeCacheAgent& agent : agents)
      if (const auto found = agent.stage.find(set); found != agent.stage.end()) count += found->second.state == state;
    return count;
  }

  Stand s;
  uint32_t per_node = 1, ranks = 4;
  std::vector<FakeCacheAgent> agents;
  SessionId worker = 0;
  bool works = true;
  wire::FlushWish flush = wire::FlushWish::job;
  uint64_t exposures = 0, writes = 100, repairs = 0;
  uint32_t nothing = 0;
  std::map<std::string, std::string> published;  // what a node restarts from
  std::vector<std::string> messages;

 private:
  void answer(FakeCacheAgent& agent, uint64_t round, bool failed = false) {
    wire::RestartPublishedT done;
    done.round = round;
    done.failed = failed;
    if (failed) done.error = "it is not in this stage any more";
    s.send(agent.session, std::move(done));
  }
  void repair(FakeCacheAgent& agent, wire::RepairT order) {
    ++repairs;
    bool took = false;
    for (const uint32_t position : order.self) {
      if (std::ranges::find(order.lost, position) == order.lost.end()) continue;
      took = true;
      FakeCacheSet& set = agent.stage[order.set];
      for (const auto& other : agents)
        if (const auto known = other.stage.find(order.set); known != other.stage.end() && known->second.total != 0) {
          set.step = known->second.step;
          set.write = known->second.write;
          set.total = known->second.total;
          set.ordinal = order.ordinal;
        }
      for (const uint32_t rank : order.members[position]->ranks) set.ranks.push_back(rank);
      std::ranges::sort(set.ranks);
      set.ranks.erase(std::ranges::unique(set.ranks).begin(), set.ranks.end());
      set.exposure = 0;
      FakeEncoding one{.is_encoded = true};
      one.order.id = order.id;
      one.order.set = order.set;
      one.order.group = order.group;
      one.order.groups = order.groups;
      one.order.position = position;
      one.order.losses = order.losses;
      one.order.chunk = order.chunk;
      for (const auto& member : order.members) one.order.members.push_back(std::make_unique<wire::MemberT>(*member));
      set.encodings.push_back(std::move(one));
    }
    if (took) offer(agent, order.set);
    wire::RepairedT done;
    done.number = order.number;
    done.group = order.group;
    s.send(agent.session, std::move(done));
  }
};

inline CoordinatorOptions caching(uint32_t flush_every = 0, redundancy::Scheme scheme = redundancy::Scheme::xor_) {
  CoordinatorOptions with;
  with.group_size = 2;
  with.profile = "balanced";
  with.scheme = "auto";
  with.protection = {.scheme = scheme, .group_size = 4, .losses = 2};
  with.flush_every = flush_every;
  with.numbers = [next = uint64_t{1000}]() mutable { return ++next; };
  return with;
}

// Four nodes with a rank each, and a spare one.
class CachesTest : public testing::Test {
 protected:
  CacheWorld w{caching(), 5};
};

inline wire::StopRequestT stop_and_drain() {
  wire::StopRequestT stop;
  stop.drain = stop.settle = true;
  return stop;
}

}  // namespace forebay::job

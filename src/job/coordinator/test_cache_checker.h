// The way of sets from the first byte to the seal, and back after a crash (decision 0037), through all orders of steps:
// the coordinator's own machines (SetProtection, CachedSets, CacheRecovery) decide, and nodes that are but notes of
// what lies on them do as they are told. At every step all processes may crash, or a node be lost for good. Then
// - the newest set that is whole must be taken, and only one that is,
// - and none older than what was promised.
// Variants of the protocol that leave out one of its precautions must be caught.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "job/coordinator/cache_recovery.h"
#include "job/coordinator/cached_sets.h"
#include "job/coordinator/protection.h"
#include "job/coordinator/test_cache_state.h"

namespace forebay::job::cache_check {

class Checker {
 public:
  explicit Checker(const Setup& setup) : setup_(setup) {}

  // What went wrong, or empty. Through all states, breadth first, or along random ways.
  std::string run() {
    std::deque<State> todo{start()};
    seen_.insert(todo.front().key());
    while (!todo.empty() && fault_.empty()) {
      const State state = std::move(todo.front());
      todo.pop_front();
      for (State& next : after(state))
        if (seen_.insert(next.key()).second) todo.push_back(std::move(next));
    }
    return fault_;
  }
  std::string sample(unsigned ways, uint64_t seed) {
    std::mt19937_64 random(seed);
    for (unsigned i = 0; i < ways && fault_.empty(); ++i) {
      State state = start();
      for (;;) {
        std::vector<State> next = after(state);
        if (next.empty() || !fault_.empty()) break;
        // Crashes come last: rarely.
        const size_t steps = next.size() - std::min(next.size(), crashes_of_last_);
        const bool crash = steps == 0 || (steps < next.size() && random() % 12 == 0);
        state = std::move(next[crash ? steps + random() % (next.size() - steps) : random() % steps]);
        ++sampled_;
      }
    }
    return fault_;
  }
  size_t states() const { return seen_.size() + sampled_; }

 private:
  static constexpr SetProtection::Time kNow{};
  static std::string key_of(unsigned node) { return "agent" + std::to_string(node); }
  static std::string set_of(unsigned set) { return "dump_" + std::to_string(set); }
  bool is(Variant variant) const { return setup_.variant == variant; }
  uint32_t all() const { return (1u << setup_.nodes) - 1; }

  State start() const {
    State state;
    state.nodes.assign(setup_.nodes, Node(setup_.sets + 1));
    state.stored_parts.assign(setup_.sets + 1, 0);
    state.stored_write.assign(setup_.sets + 1, 0);
    state.committed.assign(setup_.sets + 1, false);
    begin_attempt(state, 1);
    return state;
  }

  void begin_attempt(State& state, unsigned first) const {
    state.first = first;
    state.recovery.clear();
    state.recovered = 0;
    state.ways.assign(setup_.sets + 1, Way{.stage = std::vector<uint8_t>(setup_.nodes), .machine = nullptr});
  }

  void wrong(const std::string& what) {
    if (fault_.empty()) fault_ = what;
  }

  // ---- what the nodes say, and what is true

  CachedSets reports(const Nodes& nodes) const {
    CachedSets caches;
    for (unsigned v = 1; v <= setup_.sets; ++v) {
      uint32_t sealed_id = 0;
      for (const Node& node : nodes)
        for (const Held& held : node[v].held)
          if (held.sealed) sealed_id = held.id;
      for (unsigned i = 0; i < setup_.nodes; ++i) {
        Copy copy = nodes[i][v];
        if (is(Variant::any_seal_believed) && sealed_id != 0 && copy.held.empty())
          copy.held.push_back({.id = static_cast<uint8_t>(sealed_id), .sealed = false, .good = false});
        offer(caches, i, v, copy);
      }
    }
    return caches;
  }

  void offer(CachedSets& caches, unsigned i, unsigned v, const Copy& copy) const {
    if (!copy.marker && copy.held.empty()) return;
    CachedPart part{.session = i + 1, .host = key_of(i), .node = key_of(i), .addresses = {}, .stage = "/stage"};
    part.exposure = v;
    part.write = is(Variant::no_write_number) ? 0 : copy.write;
    part.total = setup_.nodes;
    if (copy.marker) part.ranks = {i};
    part.written_ns = v;
    part.ordinal = v;
    part.step = v;
    part.bytes = 10;
    part.state = wire::SetState::waiting;
    std::vector<std::unique_ptr<wire::EncodingT>> encodings;
    for (const Held& held : copy.held) {
      auto& one = *encodings.emplace_back(std::make_unique<wire::EncodingT>());
      one.id = held.id;
      one.groups = 1;
      one.position = i;
      one.losses = 1;
      one.chunk = 10;
      one.is_encoded = true;
      one.is_sealed = held.sealed;
      for (unsigned j = 0; j < setup_.nodes; ++j) {
        auto& member = *one.members.emplace_back(std::make_unique<wire::MemberT>());
        member.host = member.node = key_of(j);
        member.bytes = 10;
        member.ranks = {j};
      }
    }
    caches.offered(key_of(i), set_of(v), std::move(part), encodings);
  }

  // Whether the bytes of that writing can be brought together, whatever markers say.
  bool is_whole(const Nodes& nodes, unsigned v, uint8_t write) const {
    unsigned missing = 0;
    for (const Node& node : nodes) missing += !(node[v].data && node[v].write == write);
    if (missing == 0) return true;
    if (missing > 1) return false;
    std::vector<unsigned> good(256);
    for (const Node& node : nodes)
      if (node[v].data && node[v].write == write)
        for (const Held& held : node[v].held) good[held.id] += held.good;
    return std::ranges::max(good) == setup_.nodes - 1;
  }
  // The newest set that can be had, going by markers that are true.
  unsigned newest_whole(const State& state, const Nodes& nodes) const {
    for (unsigned v = setup_.sets; v > 0; --v) {
      if (state.committed[v]) return v;
      for (const Node& one : nodes) {
        Nodes marked = nodes;
        for (Node& node : marked) node[v].data = node[v].data && node[v].marker;
        if (one[v].write != 0 && is_whole(marked, v, one[v].write)) return v;
      }
    }
    return 0;
  }

  // ---- steps of processes that live

  std::vector<State> after(const State& state) {
    std::vector<State> next;
    if (!state.recovery.empty()) {
      recover(state, next);
    } else {
      for (unsigned v = 1; v <= setup_.sets; ++v) {
        for (unsigned i = 0; i < setup_.nodes; ++i) {
          write(state, v, i, next);
          protect(state, v, i, next);
          news(state, v, i, next);
        }
        flush(state, v, next);
      }
      const bool is_due = setup_.flush && state.ways[1].promised && !state.committed[1];
      if (next.empty() && is_due) wrong("a set that is due is never stored");
    }
    const size_t steps = next.size();
    if (state.crashes < setup_.crashes) {
      crash(state, -1, next);
      for (unsigned i = 0; i < setup_.nodes && setup_.losses; ++i) crash(state, static_cast<int>(i), next);
    }
    crashes_of_last_ = next.size() - steps;
    return next;
  }

  // A rank writes the next set when it has completed the one before.
  void write(const State& state, unsigned v, unsigned i, std::vector<State>& next) const {
    const uint8_t stage = state.ways[v].stage[i];
    if (stage == 2 || v < state.first || (v > state.first && state.ways[v - 1].stage[i] < 2)) return;
    State to = state;
    Copy& copy = to.nodes[i][v];
    if (stage == 0) {
      copy = {.write = static_cast<uint8_t>(state.attempt + 1), .data = false, .marker = false, .held = {}};
      if (is(Variant::room_at_begin)) remove_older(to, v, i);
    }
    ((stage == 0) != is(Variant::marker_before_data) ? copy.data : copy.marker) = true;
    ++to.ways[v].stage[i];
    const auto is_complete = [](uint8_t one) { return one == 2; };
    const auto& stages = to.ways[v].stage;
    if (is(Variant::marker_before_data) || is(Variant::encoded_before_complete)
            ? to.ways[v].machine == nullptr && copy.marker &&
                  std::ranges::count_if(stages, is_complete) +
                          (is(Variant::marker_before_data) ? std::ranges::count(stages, 1) : setup_.nodes) >=
                      setup_.nodes
            : std::ranges::all_of(stages, is_complete))
      begin_protection(to, v);
    next.push_back(std::move(to));
  }

  void begin_protection(State& state, unsigned v) const {
    std::vector<ProtectedPart> parts;
    for (unsigned i = 0; i < setup_.nodes; ++i)
      parts.push_back({.session = i + 1,
                       .host = key_of(i),
                       .node = key_of(i),
                       .addresses = {},
                       .stage = "/stage",
                       .labels = {},
                       .exposure = v,
                       .bytes = 10,
                       .ranks = {i}});
    SetProtection machine(set_of(v), {.scheme = redundancy::Scheme::xor_}, std::chrono::minutes(10));
    const uint64_t id = state.attempt * setup_.sets + v;
    take_over(state, v, std::move(machine), [&](SetProtection& one) { return one.begin(std::move(parts), id, kNow); });
  }

  // Does something to the machine, and notes what it says.
  template <class Do>
  void take_over(State& state, unsigned v, SetProtection machine, const Do& act) const {
    Way& way = state.ways[v];
    const auto actions = act(machine);
    for (const SetProtection::Tell& tell : machine.take(100)) {
      if (std::holds_alternative<wire::ProtectT>(tell.what)) way.protect_told |= 1u << (tell.to - 1);
      if (std::holds_alternative<wire::SealT>(tell.what)) way.seal_told |= 1u << (tell.to - 1);
    }
    if (actions.ended && actions.ended->is_sealed) {
      way.promised = true;
      state.promised = std::max(state.promised, v);
      if (v + 1 >= state.first) state.lost = -1;
    }
    way.machine = std::make_shared<const SetProtection>(std::move(machine));
  }

  void protect(const State& state, unsigned v, unsigned i, std::vector<State>& next) const {
    const Way& way = state.ways[v];
    const uint32_t me = 1u << i;
    if (way.machine == nullptr) return;
    const auto id = static_cast<uint8_t>(way.machine->id());
    if ((way.protect_told & me) != 0 && (way.encoded & me) == 0) {  // it encodes its part
      State to = state;
      to.ways[v].encoded |= me;
      Copy& own = to.nodes[i][v];
      const bool good =
          std::ranges::all_of(to.nodes, [&](const Node& node) { return node[v].data && node[v].write == own.write; });
      // What is not there any more cannot be read; what is not there yet is not noticed.
      const bool reads_all = good || is(Variant::encoded_before_complete) || is(Variant::marker_before_data);
      if (reads_all) own.held.push_back({.id = id, .sealed = false, .good = good});
      if (is(Variant::removed_before_sealed)) remove_older(to, v, i);
      if (reads_all) next.push_back(std::move(to));
    }
    const bool says_so = is(Variant::protected_before_encoded) ? (way.protect_told & me) != 0 : (way.encoded & me) != 0;
    if (says_so && (way.encoded_told & me) == 0) {
      State to = state;
      to.ways[v].encoded_told |= me;
      wire::ProtectedT answer;
      answer.id = id;
      take_over(to, v, *way.machine, [&](SetProtection& one) { return one.encoded(i + 1, answer, kNow); });
      next.push_back(std::move(to));
    }
    if ((way.seal_told & me) != 0 && (way.sealed & me) == 0) {  // it notes the seal
      State to = state;
      to.ways[v].sealed |= me;
      for (Held& held : to.nodes[i][v].held)
        if (held.id == id) held.sealed = true;
      next.push_back(std::move(to));
    }
    if ((way.sealed & me) != 0 && (way.sealed_told & me) == 0) {
      State to = state;
      to.ways[v].sealed_told |= me;
      wire::SealedT answer;
      answer.id = id;
      take_over(to, v, *way.machine, [&](SetProtection& one) { return one.sealed(i + 1, answer); });
      next.push_back(std::move(to));
    }
  }

  void remove_older(State& state, unsigned v, unsigned i) const {
    for (unsigned older = 1; older < v; ++older) {
      const bool is_due = setup_.flush && older == 1 && !state.committed[older];
      if (!is_due || is(Variant::removed_while_due)) state.nodes[i][older] = {};
    }
  }

  // An agent hears that a set is cached, and removes older ones.
  void news(const State& state, unsigned v, unsigned i, std::vector<State>& next) const {
    if (!state.ways[v].promised || (state.ways[v].news & 1u << i) != 0) return;
    State to = state;
    to.ways[v].news |= 1u << i;
    remove_older(to, v, i);
    next.push_back(std::move(to));
  }

  // The first set is due to be stored: its parts, then its manifest.
  void flush(const State& state, unsigned v, std::vector<State>& next) const {
    if (!setup_.flush || v != 1 || !state.ways[v].promised || state.committed[v]) return;
    for (unsigned i = 0; i < setup_.nodes; ++i) {
      const Copy& copy = state.nodes[i][v];
      if (!copy.data || (state.stored_write[v] == copy.write && (state.stored_parts[v] & 1u << i) != 0)) continue;
      State to = state;
      if (to.stored_write[v] != copy.write) to.stored_parts[v] = 0;
      to.stored_write[v] = copy.write;
      to.stored_parts[v] |= 1u << i;
      next.push_back(std::move(to));
    }
    if (state.stored_parts[v] == all() || (is(Variant::committed_before_all) && state.stored_parts[v] != 0)) {
      State to = state;
      to.committed[v] = true;
      next.push_back(std::move(to));
    }
  }

  // ---- crashes and restarts

  void crash(const State& state, int loses, std::vector<State>& next) {
    Nodes nodes = state.nodes;
    if (loses >= 0) nodes[static_cast<size_t>(loses)].assign(setup_.sets + 1, {});
    const bool within = state.lost != -2 && (loses < 0 || state.lost == -1 || state.lost == loses);
    const Restart& restart = restart_from(nodes);
    const std::optional<CachedSet>& chosen = restart.chosen;
    unsigned v = chosen ? static_cast<unsigned>(*chosen->step) : 0;
    bool from_store = false;
    for (unsigned one = 1; one <= setup_.sets; ++one)
      if (state.committed[one] && one > v) {
        v = one;
        from_store = true;
      }
    if (within && v < state.promised)
      return wrong("set " + std::to_string(state.promised) + " was promised, and set " + std::to_string(v) +
                   " is what there is");
    if (v < newest_whole(state, nodes)) return wrong("a newer set was whole");
    if (from_store && state.stored_parts[v] != all()) return wrong("the store's set is not whole");
    State to = state;
    to.nodes = std::move(nodes);
    ++to.crashes;
    ++to.attempt;
    to.promised = std::min(state.promised, v);
    if (loses >= 0) to.lost = within ? loses : -2;
    begin_attempt(to, v + 1);
    if (v != 0 && !from_store) {
      if (!can_be_whole(to.nodes, v, chosen->write)) return wrong("the set that is taken is not whole");
      to.recovery = restart.steps;
    } else {
      to.lost = -1;
    }
    next.push_back(std::move(to));
  }

  // What the coordinator takes, and how it brings it together.
  struct Restart {
    std::optional<CachedSet> chosen;
    std::vector<Nodes> steps;
  };
  const Restart& restart_from(const Nodes& nodes) {
    std::string key;
    for (const Node& node : nodes) State::put(key, node);
    const auto [at, is_new] = restarts_.try_emplace(std::move(key));
    if (!is_new) return at->second;
    const CachedSets caches = reports(nodes);
    for (const CachedSet& set : caches.sets())
      if (set.wrong.empty()) at->second.chosen = set;
    if (const auto& set = at->second.chosen)
      at->second.steps = steps_of_recovery(caches, *set, static_cast<unsigned>(*set->step), nodes);
    return at->second;
  }

  bool can_be_whole(const Nodes& nodes, unsigned v, uint64_t write) const {
    if (write != 0) return is_whole(nodes, v, static_cast<uint8_t>(write));
    return std::ranges::any_of(nodes, [&](const Node& node) { return is_whole(nodes, v, node[v].write); });
  }

  // Has the coordinator's machine bring the set together, with agents that do it in one order: what the nodes have
  // after each step.
  std::vector<Nodes> steps_of_recovery(CachedSets caches, const CachedSet& set, unsigned v, Nodes nodes) {
    std::vector<Nodes> steps{nodes};
    const auto note = [&] { steps.push_back(nodes); };
    CacheRecovery recovery(caches, std::chrono::minutes(10));
    std::map<uint32_t, std::string> wanted;
    for (unsigned i = 0; i < setup_.nodes; ++i) {
      recovery.joined(key_of(i),
                      {.session = i + 1, .host = key_of(i), .node = key_of(i), .addresses = {}, .stage = "/stage"});
      wanted[i] = key_of(i);
    }
    std::vector<CacheRecovery::Tell> tell;
    std::optional<CacheRecovery::Ended> ended;
    const auto take = [&](CacheRecovery::Actions actions) {
      for (auto& one : actions.tell) tell.push_back(std::move(one));
      if (actions.ended) ended = std::move(actions.ended);
    };
    take(recovery.begin(set, wanted, kNow));
    for (size_t at = 0; at < tell.size(); ++at) {
      const auto i = static_cast<unsigned>(tell[at].to - 1);
      const auto what = std::move(tell[at].what);
      Copy& copy = nodes[i][v];
      if (const auto* check = std::get_if<wire::CheckCachedT>(&what)) {
        wire::CachedCheckedT answer;
        answer.number = check->number;
        take(recovery.checked(key_of(i), answer, kNow));
      } else if (const auto* repair = std::get_if<wire::RepairT>(&what)) {
        if (std::ranges::find(repair->lost, i) != repair->lost.end()) {
          if (copy.write != set.write)
            copy = {.write = static_cast<uint8_t>(set.write), .data = false, .marker = false, .held = {}};
          copy.data = true;
          note();
          copy.marker = true;
          note();
          if (is(Variant::restored_without_encoding)) break;
          copy.held.push_back({.id = static_cast<uint8_t>(repair->id), .sealed = false, .good = true});
          note();
          offer(caches, i, v, copy);
        }
        wire::RepairedT answer;
        answer.number = repair->number;
        answer.group = repair->group;
        take(recovery.repaired(key_of(i), answer, kNow));
      } else if (const auto* seal = std::get_if<wire::SealT>(&what)) {
        for (Held& held : copy.held)
          if (held.id == seal->id) held.sealed = true;
        note();
        offer(caches, i, v, copy);
        wire::SealedT answer;
        answer.id = seal->id;
        take(recovery.sealed(key_of(i), answer, kNow));
      }
    }
    if (is(Variant::restored_without_encoding)) {
      for (Node& node : nodes)
        for (unsigned older = 1; older < v; ++older) node[older] = {};
      note();
    } else if (!ended || !ended->is_whole) {
      wrong("a set that was whole was not brought together");
    }
    return steps;
  }

  void recover(const State& state, std::vector<State>& next) const {
    State to = state;
    to.nodes = state.recovery[state.recovered];
    if (++to.recovered < state.recovery.size()) {
      next.push_back(std::move(to));
      return;
    }
    const unsigned v = state.first - 1;
    begin_attempt(to, state.first);
    // All of it is there: if it is not sealed, it is protected as any set is that was completed just now.
    to.ways[v].stage.assign(setup_.nodes, 2);
    const bool is_sealed = std::ranges::all_of(
        to.nodes, [&](const Node& node) { return std::ranges::any_of(node[v].held, &Held::sealed); });
    if (is_sealed || is(Variant::restored_without_encoding)) {
      to.ways[v].promised = true;
      to.promised = std::max(to.promised, v);
      to.lost = -1;
    } else {
      begin_protection(to, v);
    }
    next.push_back(std::move(to));
  }

  Setup setup_;
  std::unordered_set<std::string> seen_;
  std::unordered_map<std::string, Restart> restarts_;  // by what the nodes have
  std::string fault_;
  size_t sampled_ = 0, crashes_of_last_ = 0;
};

}  // namespace forebay::job::cache_check

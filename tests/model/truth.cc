#include "truth.h"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>

namespace forebay::job::model {
namespace {

constexpr int64_t kGhosts = 30'000'000'000;  // a loss that is not noticed yet

bool is_of(const Body& body, const std::string& set, uint64_t write) { return body.set == set && body.write == write; }

bool is_good(const Body& body, const std::string& set, uint64_t write) {
  return is_of(body, set, write) && body.damaged_ns == 0;
}

}  // namespace

Truth::Writing& Truth::writing(const std::string& set, uint64_t write) {
  for (Writing& one : writings_)
    if (one.set == set && one.write == write) return one;
  return writings_.emplace_back(Writing{.set = set, .write = write, .complete = {}, .stored_as = {}});
}

void Truth::wrote(const std::string& set, uint64_t write, uint32_t rank) {
  Writing& one = writing(set, write);
  one.complete.insert(rank);
  if (one.complete.size() == ranks_ && one.ordinal == 0) one.ordinal = next_ordinal_++;
}

void Truth::refuses(const std::string& set) {
  for (Writing& one : writings_)
    if (one.set == set) one.is_refused = true;
}

void Truth::refused(const std::string& set) {
  for (Writing& one : writings_)
    if (one.set == set) one.is_refused_for_good = true;
}

// In the stages of nodes that are up, or in what is left of an encoding.
bool Truth::is_in_caches(const Writing& writing, const std::vector<NodeView>& nodes, int64_t steady_since,
                         int64_t ghosts_since, Rot rot) const {
  const auto counts = [&](const Body& body) {
    return rot == Rot::is_unseen ? is_of(body, writing.set, writing.write) : is_good(body, writing.set, writing.write);
  };
  std::set<uint32_t> whole;
  std::map<uint64_t, std::map<uint32_t, std::pair<std::set<uint32_t>, const HeldPart*>>> encodings;
  for (const NodeView& node : nodes) {
    const bool has_it = node.is_up ? node.steady_since <= steady_since : node.lost_at > ghosts_since;
    if (!has_it || node.disk == nullptr) continue;
    const auto staged = node.disk->sets.find(writing.set);
    if (staged == node.disk->sets.end()) continue;
    for (const auto& [rank, marker] : staged->second.markers)
      if (const auto file = staged->second.files.find(file_of(rank));
          file != staged->second.files.end() && counts(file->second))
        whole.insert(rank);
    for (const auto& [key, held] : node.disk->held) {
      if (held.set != writing.set || held.write != writing.write) continue;
      const auto& [id, group, position] = key;
      const bool has_files = std::ranges::all_of(held.members[position].files, [&](const auto& one) {
        const auto file = staged->second.files.find(one.first);
        return file != staged->second.files.end() && counts(file->second);
      });
      if (!has_files) continue;
      auto& [positions, known] = encodings[id][group];
      positions.insert(position);
      known = &held;
    }
  }
  if (whole.size() == ranks_) return true;
  return std::ranges::any_of(encodings, [](const auto& encoding) {
    const auto& groups = encoding.second;
    return groups.begin()->second.second->groups == groups.size() && std::ranges::all_of(groups, [](const auto& group) {
             const auto& [positions, held] = group.second;
             return positions.size() + held->losses >= held->members.size();
           });
  });
}

bool Truth::is_in_store(const Writing& writing, const Store& store) const {
  return std::ranges::any_of(store.sets, [&](const auto& one) {
    if (!one.second.refused.empty()) return false;
    std::set<uint32_t> ranks;
    for (const auto& [name, container] : one.second.containers)
      for (const auto& [file, body] : container)
        if (is_good(body, writing.set, writing.write)) ranks.insert(body.rank);
    return ranks.size() == ranks_;
  });
}

bool Truth::is_restorable(const Writing& writing, const std::vector<NodeView>& nodes, const Store& store,
                          int64_t steady_since, int64_t ghosts_since, Rot rot) const {
  return is_in_store(writing, store) || is_in_caches(writing, nodes, steady_since, ghosts_since, rot);
}

void Truth::sealed(const std::string& set, const std::vector<NodeView>& nodes, const Store& store, int64_t now) {
  for (Writing& one : writings_)
    if (one.set == set && one.ordinal != 0)
      one.was_sealed = one.was_sealed || is_restorable(one, nodes, store, INT64_MAX, now - kGhosts, Rot::is_unseen);
}

void Truth::promised(const std::string& set, uint64_t write, const std::string& stored_as, bool is_protected,
                     const std::vector<NodeView>& nodes, const Store& store, int64_t now) {
  if (write == 0) return;  // from the store, by a restart
  Writing& one = writing(set, write);
  if (one.is_refused) return;
  if (!stored_as.empty()) {
    one.is_promised = true;
    one.stored_as = stored_as;
    if (store.mood != Store::Mood::down && !is_in_store(one, store) && !store.sets.contains(stored_as))
      wrong(fmt::format("{} is said to be durable as {}, and is not in the store", set, stored_as));
    else if (store.mood != Store::Mood::down && !is_in_store(one, store))
      wrong(fmt::format("{} is said to be durable as {}, which does not have all of it", set, stored_as));
    return;
  }
  if (!is_protected) return;
  one.is_promised = one.is_protected = true;
  if (one.was_sealed) return;
  const Writing* const newest = newest_promised(nodes, store, Rot::counts);
  if (newest != nullptr && newest->ordinal > one.ordinal) return;  // it may be on its way out
  if (!is_restorable(one, nodes, store, INT64_MAX, now - kGhosts, Rot::is_unseen))
    wrong(fmt::format("{} is said to be safe in the caches, and cannot be had from them", set));
}

void Truth::asks(uint64_t attempt, int64_t now) {
  int64_t& first = asked_[attempt];
  first = std::max(first, now);
}

void Truth::answered(uint64_t attempt, uint32_t rank, const std::string& set, const std::string& stored_as,
                     const std::map<std::string, Body>* files, const std::vector<NodeView>& nodes, const Store& store) {
  const bool found = files != nullptr;
  uint64_t write = 0;
  if (found) {
    const auto own = files->find(file_of(rank));
    if (own == files->end())
      return wrong(fmt::format("rank {} restarts from {}, and its file is not there", rank, set));
    // What rots after the check, nobody sees.
    if (own->second.damaged_ns != 0 && own->second.damaged_ns < asked_[attempt])
      return wrong(fmt::format("rank {} restarts from a damaged file of {}", rank, set));
    if (own->second.rank != rank || own->second.set != set)
      return wrong(fmt::format("rank {} restarts from {}, and gets rank {} of {}", rank, set, own->second.rank,
                               own->second.set));
    write = own->second.write;
  }
  const auto [known, is_first] = answers_.try_emplace(attempt, Answer{set, stored_as, write, found, 0});
  ++known->second.ranks;
  if (known->second.found != found || known->second.set != set)
    return wrong(fmt::format("start {} is answered '{}' and '{}'", attempt, known->second.set, set));
  if (known->second.write != write)
    return wrong(fmt::format("ranks of start {} restart from two writings of {}", attempt, set));
  if (!is_first) return;
  uint64_t ordinal = 0;
  if (found) {
    Writing& one = writing(set, write);
    if (one.ordinal == 0)
      return wrong(fmt::format("start {} restarts from {}, which was never complete", attempt, set));
    if (one.is_refused_for_good)
      return wrong(fmt::format("start {} restarts from {}, which was refused", attempt, set));
    ordinal = one.ordinal;
  }
  for (Writing& one : writings_) {
    if (one.ordinal <= ordinal) continue;
    const bool is_had = one.is_promised && !one.is_void && !one.is_refused &&
                        ((store.mood != Store::Mood::down && is_in_store(one, store)) ||
                         is_in_caches(one, nodes, asked_[attempt], INT64_MAX));
    if (is_had)
      wrong(fmt::format("start {} {}, and {} was promised and can be had", attempt,
                        found ? "restarts from " + set : "begins from scratch", one.set));
    one.is_void = true;
  }
}

Truth::Writing* Truth::newest_promised(const std::vector<NodeView>& nodes, const Store& store, Rot rot) {
  Writing* newest = nullptr;
  for (Writing& one : writings_)
    if (one.is_promised && !one.is_void && !one.is_refused && (newest == nullptr || one.ordinal > newest->ordinal) &&
        (is_in_store(one, store) || is_in_caches(one, nodes, INT64_MAX, INT64_MAX, rot)))
      newest = &one;
  return newest;
}

void Truth::removing(const std::vector<NodeView>& nodes, const Store& store) {
  const Writing* const newest = newest_promised(nodes, store, Rot::is_unseen);
  before_ = newest == nullptr ? 0 : newest->ordinal;
}

void Truth::removed(const std::string& node, const std::string& set, const std::vector<NodeView>& nodes,
                    const Store& store) {
  const Writing* const newest = newest_promised(nodes, store, Rot::is_unseen);
  const uint64_t after = newest == nullptr ? 0 : newest->ordinal;
  if (after >= before_) return;
  for (const Writing& one : writings_)
    if (one.ordinal == before_)
      wrong(fmt::format("{} removes its part of {}, and {} was the newest that could be had", node, set, one.set));
}

// Nodes that were troubled lately count for nothing: the end waits for them, but not for ever.
void Truth::ended(int code, int64_t now, const std::vector<NodeView>& nodes, const Store& store) {
  constexpr int64_t kSteady = 60'000'000'000;
  Writing* newest = nullptr;
  for (Writing& one : writings_)
    if (one.ordinal != 0 && !one.is_void && !one.is_refused && (newest == nullptr || one.ordinal > newest->ordinal))
      newest = &one;
  if (newest == nullptr || store.mood == Store::Mood::down) return;
  const bool is_stored = is_in_store(*newest, store);
  if (code == 0 && !is_stored)
    wrong(fmt::format("the job ends with 0, and {}, the newest complete set, is not stored", newest->set));
  const auto is_steady = [&](const NodeView& node) { return node.is_up && node.steady_since <= now - kGhosts; };
  if (code == 11 && is_stored && std::ranges::all_of(nodes, is_steady))
    wrong(fmt::format("the job ends with 11, and {}, the newest complete set, is stored", newest->set));
  if (code == 11 && !is_stored && store.mood == Store::Mood::well && newest->is_promised &&
      is_in_caches(*newest, nodes, now - kSteady, INT64_MAX))
    wrong(fmt::format("the job ends with 11, and {} could be stored from the caches", newest->set));
}

}  // namespace forebay::job::model

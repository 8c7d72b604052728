#include "store.h"

#include <algorithm>

#include <fmt/format.h>

#include "store/names.h"
#include "store/series.h"

namespace forebay::job::model {
namespace {

std::unexpected<Error> full() { return fail(ErrorKind::no_space, "no space left on the device", "/store"); }

}  // namespace

std::optional<StoreAnswer> Store::perform(const StoreCommand& command, uint64_t owner) {
  if (const auto* abandon = std::get_if<Abandon>(&command)) {
    if (const auto known = staged_by_.find({owner, abandon->set}); known != staged_by_.end()) {
      staged_.erase(known->second);
      staged_by_.erase(known);
    }
    return std::nullopt;
  }
  if (const auto* one = std::get_if<LookUp>(&command)) return answer(*one);
  if (const auto* one = std::get_if<Stage>(&command)) return answer(*one, owner);
  if (const auto* one = std::get_if<Commit>(&command)) return answer(*one, owner);
  if (const auto* one = std::get_if<SetAside>(&command)) return answer(*one);
  return ListedSets{listed()};
}

std::vector<store::SetInfo> Store::listed() const {
  std::vector<store::SetInfo> all;
  for (const auto& [name, set] : sets) {
    all.push_back({name, {}, set.manifest});
    if (!set.refused.empty()) all.back().refused = set.refused;
  }
  store::sort_oldest_first(all);
  return all;
}

StoreAnswer Store::answer(const LookUp& command) const {
  std::vector<StoredSet> found;
  for (uint64_t n = 1; sets.contains(store::stored_name(command.name, n)); ++n) {
    const std::string name = store::stored_name(command.name, n);
    const store::Manifest& manifest = sets.at(name).manifest;
    found.push_back({name, manifest.sources, manifest.ordinal});
  }
  const auto all = listed();
  const uint64_t taken = found.size();
  LookedUp answer{command.set, std::move(found), taken, store::newest_place(all, command.series)};
  if (const auto* newest = store::newest_of(all, command.series)) answer.newest = *newest->manifest;
  return answer;
}

StoreAnswer Store::answer(const Stage& command, uint64_t owner) {
  if (mood == Mood::full) return Staged{command.set, full()};
  StagedPlace place;
  for (place.number = 1;; ++place.number) {
    place.name = store::stored_name(command.name, place.number);
    if (!sets.contains(place.name)) break;
  }
  place.staged = fmt::format("{}.{}", place.name, next_staged_++);
  staged_[place.staged];
  staged_by_[{owner, command.set}] = place.staged;
  return Staged{command.set, std::move(place)};
}

StoreAnswer Store::answer(const Commit& command, uint64_t owner) {
  const auto known = staged_by_.find({owner, command.set});
  if (known == staged_by_.end())
    return forebay::job::Committed{command.set,
                                   fail(ErrorKind::internal, "a set is to be committed that is not staged")};
  if (mood == Mood::full) return forebay::job::Committed{command.set, full()};
  const std::string& name = command.manifest.name;
  if (sets.contains(name))
    return forebay::job::Committed{command.set, fail(ErrorKind::exists, "there is such a set already", name)};
  Committed made{.manifest = command.manifest, .containers = {}, .refused = {}};
  for (const auto& entry : command.manifest.containers)
    made.containers[entry.name] = staged_[known->second][entry.name];
  sets[name] = std::move(made);
  staged_.erase(known->second);
  staged_by_.erase(known);
  ++commits;
  return forebay::job::Committed{command.set, {}};
}

StoreAnswer Store::answer(const SetAside& command) {
  if (const auto found = sets.find(command.name); found != sets.end()) found->second.refused = command.reason;
  return WasSetAside{command.name, {}};
}

}  // namespace forebay::job::model

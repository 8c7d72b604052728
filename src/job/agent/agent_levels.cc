// The part of an agent that decides where sets lie: in the stage, or on which cache level.
#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <sys/stat.h>

#include "job/agent/agent_core.h"
#include "job/stage/stage_notes.h"

namespace forebay::job {

using fabric::Severity;

// Those of the options, and those where sets lie already. What else lies there is told, and left alone.
void AgentCore::take_levels() {
  for (const LevelOptions& one : options_.levels) (void)level(one.directory);
  const auto noted = noted_sets(stage_);
  if (!noted) return;
  std::vector<std::string> places;
  for (const std::string& set : *noted)
    if (auto place = place_of(stage_, set)) {
      (void)level(level_of(*place));
      places.push_back(*std::move(place));
    }
  if (const auto aside = quarantined_sets(stage_))
    for (const Quarantined& set : *aside)
      if (std::string place = quarantined_place(stage_, set.set); !place.empty()) {
        (void)level(level_of(place));
        places.push_back(std::move(place));
      }
  for (const auto& [directory, level] : levels_) {
    const auto strangers = level.strangers(places);
    if (strangers && !strangers->empty())
      log(Severity::warning,
          fmt::format("{}: {} sets lie there of which the stage knows nothing, as after a power cut ({} is the first): "
                      "nobody restarts from them, and nobody removes them",
                      directory, strangers->size(), strangers->front()));
  }
}

// Null, with a warning, if it cannot be used.
const Level* AgentCore::level(const std::string& directory) {
  struct stat own{}, its{};
  const bool is_stage = ::stat(stage_.c_str(), &own) == 0 && ::stat(directory.c_str(), &its) == 0 &&
                        own.st_dev == its.st_dev && own.st_ino == its.st_ino;
  if (is_stage) return nullptr;
  if (const auto known = levels_.find(directory); known != levels_.end()) return &known->second;
  auto taken = Level::take(directory, stage_);
  if (taken) return &levels_.emplace(directory, *std::move(taken)).first->second;
  warn_once(directory,
            fmt::format("sets do not lie on this cache level, but in the stage: {}", taken.error().message()));
  return nullptr;
}

// As the set asks, else by its number.
std::string AgentCore::level_for(const Question& question) {
  const bool asks = question.policy && !question.policy->level.empty();
  const std::string wanted = asks ? level_name(question.policy->level) : level_of_set(options_.levels, begun_ + 1);
  return wanted.empty() || level(wanted) == nullptr ? std::string() : wanted;
}

AgentSets::Keep AgentCore::keep() const {
  AgentSets::Keep keep{.stage = options_.keep};
  for (const LevelOptions& level : options_.levels) keep.levels[level.directory] = level.keep;
  return keep;
}

// Makes room on a level for the set that is about to be begun. False: there may be some later.
bool AgentCore::has_room(const std::string& level, const std::string& begun) {
  uint64_t capacity = level.empty() ? options_.capacity : 0;
  for (const LevelOptions& one : options_.levels)
    if (one.directory == level) capacity = one.capacity;
  const AgentSets::Room room = sets_.room(level, capacity, begun);
  if (room.may_come) return false;
  for (const std::string& set : room.leaving)
    if (is_ours(set) && is_as_it_ended(set)) {
      log(Severity::info, fmt::format("{}: makes room on {}", set, level.empty() ? stage_ : level));
      discard(set);
    }
  if (!room.leaving.empty()) tidy();
  if (!room.fits)
    warn_once(
        level.empty() ? stage_ : level,
        fmt::format("its capacity of {} bytes is too small for the sets that have to stay and one more", capacity));
  return true;
}

// Of the files of a set that an agent before this one has left, where somebody counts them.
uint64_t AgentCore::bytes_at(const std::string& set) const {
  const bool counts =
      options_.capacity > 0 || std::ranges::any_of(options_.levels, [](const auto& one) { return one.capacity > 0; });
  uint64_t bytes = 0;
  std::error_code error;
  if (counts)
    for (std::filesystem::recursive_directory_iterator at(stage_ + "/" + set + "/", error), end; !error && at != end;
         at.increment(error))
      if (at->is_regular_file(error)) bytes += at->file_size(error);
  return bytes;
}

// Where the files of a set come to lie on a level; empty: in the stage, as nothing else can be.
std::string AgentCore::place_on(const std::string& level, const std::string& set) {
  struct stat info{};
  const bool is_free = ::lstat((stage_ + "/" + set).c_str(), &info) != 0 || S_ISLNK(info.st_mode);
  if (level.empty() || !is_free) return {};
  auto place = make_place(level, set);
  if (place) return *std::move(place);
  warn_once(level, "a set lies in the stage instead: " + place.error().message());
  return {};
}

}  // namespace forebay::job

// A set from the groups that it is cut into to the commit.
#include <algorithm>

#include <fmt/format.h>

#include "engine/set/set_files.h"
#include "job/coordinator/set_drain.h"
#include "job/wire/convert.h"

namespace forebay::job {
namespace {

constexpr uint32_t kMaxFailures = 3;
constexpr size_t kSlice = 16384;  // files that are cut in one call: some milliseconds

// What no other try can mend.
bool is_final(const wire::TaskDoneT& done) {
  const ErrorKind kind = wire::error_of(done).kind;
  return kind == ErrorKind::changed && done.side == wire::FaultSide::source;
}

// What may be over in a while, so that only time limits the tries.
bool may_pass(const wire::TaskDoneT& done) {
  const ErrorKind kind = wire::error_of(done).kind;
  return done.side != wire::FaultSide::other && kind != ErrorKind::corrupt && kind != ErrorKind::internal &&
         kind != ErrorKind::unsupported && kind != ErrorKind::invalid_argument;
}

bool is_ready(const RankGroup& group) {
  return std::ranges::all_of(group.parts, [](const Part* part) { return part->session != 0; });
}

bool lies_in(const RankGroup& group, const Part& part) {
  return std::ranges::find(group.parts, &part) != group.parts.end();
}

}  // namespace

SetDrain::Actions SetDrain::drain(uint64_t staging, uint64_t group_size, Time now) {
  staging_ = staging;
  group_size_ = group_size;
  drained_since_ = now;
  was_drained_ = true;
  steps_.end("gather", now);
  go(SetEvent::turn);
  cutter_.emplace(parts_, group_size);
  return cut(now);
}

SetDrain::Actions SetDrain::cut(Time) {
  Actions actions;
  const auto done = cutter_->work(kSlice);
  if (!done) {
    give_up(done.error().message(), actions);
    return actions;
  }
  if (!*done) return actions;
  groups_ = cutter_->take();
  cutter_.reset();
  actions.log.info(fmt::format("set {} is complete: {} ranks on {} nodes, {} files, {} bytes", name_, groups_.ranks,
                               parts_.size(), groups_.files, groups_.bytes));
  go(SetEvent::cut);
  stage(actions);
  return actions;
}

void SetDrain::stage(Actions& actions) {
  actions.commands.emplace_back(Stage{.set = staging_,
                                      .name = name_,
                                      .profile = options_->remembers ? options_->profile : "",
                                      .ranks = groups_.ranks,
                                      .group_size = group_size_,
                                      .series = options_->origin.series});
}

SetDrain::Actions SetDrain::answered(Staged answer, Time now) {
  Actions actions;
  if (answer.set != staging_) return actions;
  if (!answer.place) {
    store_failed(answer.place.error(), now, actions);
    return actions;
  }
  store_retry_.succeeded();
  // Somebody has committed since the store was asked: perhaps an earlier coordinator, with this very set.
  if (answer.place->number > taken_ + 1) {
    undo(now, actions);
    look_up(actions);
    return actions;
  }
  place_ = *std::move(answer.place);
  go(SetEvent::staged);
  steps_.end("stage", now);
  states_.resize(groups_.groups.size());
  for (uint32_t i = 0; i < groups_.groups.size(); ++i)
    actions.work.push_back({Work::Kind::add, i, groups_.groups[i].home, is_ready(groups_.groups[i])});
  return actions;
}

bool SetDrain::needs(const Part& part) const {
  if (phase_ == Phase::cutting || phase_ == Phase::staging) return true;
  for (size_t i = 0; i < states_.size(); ++i)
    if (!states_[i].is_done && lies_in(groups_.groups[i], part)) return true;
  return false;
}

bool SetDrain::needs_lost(const std::string& host) const {
  return std::ranges::any_of(away_, [&](const auto& one) {
    const Part& part = parts_.at(one.first);
    return part.host == host && needs(part);
  });
}

bool SetDrain::needs_lost() const {
  return std::ranges::any_of(away_, [&](const auto& one) { return needs(parts_.at(one.first)); });
}

void SetDrain::update_ready(const Part& part, Actions& actions) {
  if (phase_ != Phase::packing) return;
  for (uint32_t i = 0; i < states_.size(); ++i) {
    const RankGroup& group = groups_.groups[i];
    if (!states_[i].is_done && lies_in(group, part))
      actions.work.push_back({Work::Kind::set_ready, i, {}, is_ready(group)});
  }
}

// Who makes the first attempt may still be writing when it was given up.
std::string SetDrain::container_name(uint32_t group, AttemptId attempt) const {
  return engine::container_name(group, groups_.groups.size(), attempt == states_[group].first ? 0 : attempt);
}

wire::TaskT SetDrain::task(uint32_t group, AttemptId attempt) {
  Group& state = states_[group];
  has_others_ = has_others_ || state.first != 0;
  if (state.first == 0) state.first = attempt;
  wire::TaskT task = make_task(groups_.groups[group]);
  task.id = attempt;
  task.set = name_;
  task.staged = place_.staged;
  task.container = container_name(group, attempt);
  task.set_before = place_.before;
  if (!place_.before.empty()) task.container_before = engine::container_name(group, groups_.groups.size(), 0);
  return task;
}

SetDrain::Actions SetDrain::task_ended(uint32_t group, AttemptId attempt, const wire::TaskDoneT& done, Time now) {
  Actions actions;
  if (done.failed)
    pack_failed(group, done, now, actions);
  else
    packed(group, attempt, done, now, actions);
  return actions;
}

void SetDrain::packed(uint32_t group, AttemptId attempt, const wire::TaskDoneT& done, Time now, Actions& actions) {
  auto report = engine::parse_group_report(done.report);
  if (!report || report->entry.name != container_name(group, attempt)) {
    wire::TaskDoneT wrong = done;
    wrong.side = wire::FaultSide::other;
    set_error(wrong,
              {.kind = ErrorKind::corrupt,
               .what = report ? "the worker reports another container than it was to make" : report.error().message()});
    return pack_failed(group, wrong, now, actions);
  }
  raw_done_ += report->entry.raw_bytes;
  stored_done_ += report->entry.bytes;
  reports_[group] = *std::move(report);
  states_[group].is_done = true;
  actions.work.push_back({Work::Kind::remove, group, {}, {}});
  if (reports_.size() == groups_.groups.size()) make_manifest(now, actions);
}

void SetDrain::make_manifest(Time now, Actions& actions) {
  engine::SetFacts facts;
  facts.name = place_.name;
  facts.application_name = name_;
  facts.step = step_;
  facts.ordinal = ordinal_;
  facts.suspicion = suspicion_;
  for (const auto& [key, part] : parts_)
    if (facts.suspicion.empty()) facts.suspicion = part.suspicion;
  facts.profile = options_->profile;
  facts.scheme = options_->scheme;
  facts.ranks = groups_.ranks;
  facts.group_size = groups_.group_size;
  facts.since_chosen = place_.since_chosen;
  facts.lossy = options_->lossy;
  facts.origin = options_->origin;
  steps_.end("pack", now);
  for (const auto& [name, seconds] : steps_.seconds())
    facts.stages.push_back({.stage = std::string(name), .clock_ns = static_cast<uint64_t>(seconds * 1e9)});
  auto manifest = engine::make_manifest(facts, reports_);
  if (!manifest) return give_up(manifest.error().message(), actions);
  manifest_ = *std::move(manifest);
  for (const auto& [key, part] : parts_) manifest_.sources.push_back(hash_text(part.hash));
  std::ranges::sort(manifest_.sources);
  const auto same = std::ranges::unique(manifest_.sources);
  manifest_.sources.erase(same.begin(), same.end());
  go(SetEvent::packed);
  commit(actions);
}

void SetDrain::pack_failed(uint32_t group, const wire::TaskDoneT& done, Time now, Actions& actions) {
  std::string what = fmt::format("{}: {}", engine::container_name(group, groups_.groups.size()), done.error);
  if (is_final(done)) return give_up(what, actions);
  if (wire::error_of(done).kind == ErrorKind::limit) {
    if (halve_groups(what, now, actions)) return;
    what += "; this is one rank alone";
  }
  Retry& retry = states_[group].retry;
  retry.failed(now);
  actions.work.push_back({Work::Kind::retry, group, {}, {}});
  if (!may_pass(done) && retry.failures() >= kMaxFailures) return give_up(what, actions);
  if (now - retry.since() >= options_->set_timeout) return give_up(what, actions);
  actions.log.warn(fmt::format("set {}: a task is tried again: {}", name_, what));
}

// A group whose catalogue does not fit in a worker's memory is too large: the set is cut anew, into groups of half the
// size, so that all are equal, and later sets are cut like that at once. False: a rank cannot be cut.
bool SetDrain::halve_groups(const std::string& why, Time now, Actions& actions) {
  const uint64_t ranks = std::min<uint64_t>(groups_.group_size, groups_.ranks);
  if (ranks <= 1) return false;
  actions.group_size = (ranks + 1) / 2;
  actions.log.warn(
      fmt::format("set {}: {}; ranks are packed in groups of {} from now on", name_, why, actions.group_size));
  undo(now, actions);
  consider(actions);
  return true;
}

void SetDrain::commit(Actions& actions) { actions.commands.emplace_back(Commit{staging_, has_others_, manifest_}); }

SetDrain::Actions SetDrain::answered(Committed answer, Time now) {
  Actions actions;
  if (answer.set != staging_) return actions;
  if (answer.result) {
    steps_.end("commit", now);
    end(wire::SetState::durable, place_.name, {}, actions);
  } else if (answer.result.error().kind == ErrorKind::corrupt) {
    give_up(answer.result.error().message(), actions);
  } else if (answer.result.error().kind != ErrorKind::exists) {
    store_failed(answer.result.error(), now, actions);
  } else {
    // Somebody else has the name now: perhaps an earlier coordinator, with this very set.
    actions.log.warn(fmt::format("set {}: {}", name_, answer.result.error().message()));
    undo(now, actions);
    look_up(actions);
  }
  return actions;
}

void SetDrain::remove_units(Actions& actions) {
  for (uint32_t i = 0; i < states_.size(); ++i)
    if (!states_[i].is_done) actions.work.push_back({Work::Kind::remove, i, {}, {}});
  states_.clear();
}

void SetDrain::undo(Time now, Actions& actions) {
  if (is_staged()) actions.commands.emplace_back(Abandon{staging_});
  remove_units(actions);
  reports_.clear();
  has_others_ = false;
  cutter_.reset();
  groups_ = {};
  raw_done_ = stored_done_ = 0;
  store_waits_ = false;
  staging_ = 0;
  since_ = now;
  drained_since_.reset();
  go(SetEvent::undone);
  for (const auto& [key, since] : away_) drop_part(key);
  away_.clear();
}

}  // namespace forebay::job

// A set that is drained:
//   1. it is cut into rank groups, and the store makes a directory for it (staging);
//   2. each group becomes a container there; a second attempt at one writes under another name (packing);
//   3. the store commits (committing).
// Errors of the store are tried again, with growing pauses, until the set timeout has passed since the first of a row.
#include <algorithm>

#include <fmt/format.h>

#include "engine/set/set_files.h"
#include "job/coordinator/coordinator_impl.h"

namespace forebay::job {
namespace {

constexpr int kPackPriority = 1;  // after deliveries: there the application waits
constexpr uint32_t kMaxFailures = 3;

// What no other try can mend.
bool is_final(const wire::TaskDoneT& done) {
  const auto kind = static_cast<ErrorKind>(done.error_kind);
  return kind == ErrorKind::changed && done.side == wire::FaultSide::source;
}

// What may be over in a while, so that only time limits the tries.
bool may_pass(const wire::TaskDoneT& done) {
  const auto kind = static_cast<ErrorKind>(done.error_kind);
  return done.side != wire::FaultSide::other && kind != ErrorKind::corrupt && kind != ErrorKind::internal &&
         kind != ErrorKind::unsupported && kind != ErrorKind::invalid_argument;
}

}  // namespace

void Coordinator::Impl::drain(Set& set) {
  set.drained_since = now;
  set.steps.end("gather", now);
  auto cut = cut_groups(set.parts, group_size);
  if (!cut) return give_up(set.id, cut.error().message());
  set.cut = *std::move(cut);
  info(fmt::format("set {} is complete: {} ranks on {} nodes, {} files, {} bytes", set.name, set.cut.ranks,
                   set.parts.size(), set.cut.files, set.cut.bytes));
  set.phase = Set::Phase::staging;
  set.staging = next_staging++;
  stage(set);
}

void Coordinator::Impl::stage(Set& set) {
  out.commands.push_back(Stage{.set = set.staging,
                               .name = set.name,
                               .profile = options.remembers ? options.profile : "",
                               .ranks = set.cut.ranks,
                               .group_size = group_size,
                               .series = options.origin.series});
}

void Coordinator::Impl::answered(Staged answer) {
  Set* const found = staged_set(answer.set);
  if (found == nullptr) return;  // it was given up or changed, and abandoned
  Set& set = *found;
  if (!answer.place) return store_failed(set, answer.place.error());
  set.store_retry.succeeded();
  // Somebody has committed since the store was asked: perhaps an earlier coordinator, with this very set.
  if (answer.place->number > set.taken + 1) {
    undo_drain(set);
    return look_up(set);
  }
  set.place = *std::move(answer.place);
  set.phase = Set::Phase::packing;
  set.steps.end("stage", now);
  for (uint32_t i = 0; i < set.cut.groups.size(); ++i) {
    const RankGroup& group = set.cut.groups[i];
    const bool ready = std::ranges::all_of(group.parts, [](const Part* part) { return part->session != 0; });
    set.units.push_back(add_unit(set.id, i, kPackPriority, group.home, ready));
  }
}

void Coordinator::Impl::store_failed(Set& set, const Error& error) {
  const auto kind = error.kind;
  if (kind == ErrorKind::invalid_argument || kind == ErrorKind::limit || kind == ErrorKind::unsupported ||
      kind == ErrorKind::internal)
    return give_up(set.id, error.message());
  set.store_retry.failed(now);
  set.store_error = error.message();
  if (now - set.store_retry.since() >= options.set_timeout) return give_up(set.id, error.message());
  set.store_waits = true;
  warn(fmt::format("set {}: the store fails, and is tried again: {}", set.name, error.message()));
}

Coordinator::Impl::Set* Coordinator::Impl::staged_set(uint64_t staging) {
  const auto found = std::ranges::find_if(sets, [&](const auto& one) { return one.second.staging == staging; });
  return found == sets.end() ? nullptr : &found->second;
}

bool Coordinator::Impl::needs(const Set& set, const Part& part) const {
  if (set.phase == Set::Phase::staging) return true;
  for (size_t i = 0; i < set.units.size(); ++i)
    if (set.units[i] != 0 && std::ranges::find(set.cut.groups[i].parts, &part) != set.cut.groups[i].parts.end())
      return true;
  return false;
}

void Coordinator::Impl::update_ready(Set& set, const Part& part) {
  if (set.phase != Set::Phase::packing) return;
  for (uint32_t i = 0; i < set.units.size(); ++i) {
    const RankGroup& group = set.cut.groups[i];
    if (set.units[i] == 0 || std::ranges::find(group.parts, &part) == group.parts.end()) continue;
    board.set_ready(set.units[i], std::ranges::all_of(group.parts, [](const Part* p) { return p->session != 0; }));
  }
}

void Coordinator::Impl::packed(Set& set, uint32_t group, AttemptId attempt, wire::TaskDoneT& done) {
  auto report = engine::parse_group_report(done.report);
  const std::string& container = containers[attempt];
  if (!report || report->entry.name != container) {
    done.side = wire::FaultSide::other;
    done.error_kind = static_cast<uint8_t>(ErrorKind::corrupt);
    done.error = report ? "the worker reports another container than it was to make" : report.error().message();
    return pack_failed(set, group, done);
  }
  set.raw_done += report->entry.raw_bytes;
  set.stored_done += report->entry.bytes;
  set.reports[group] = *std::move(report);
  remove_unit(std::exchange(set.units[group], 0));
  if (set.reports.size() < set.cut.groups.size()) return;

  engine::SetFacts facts;
  facts.name = set.place.name;
  facts.application_name = set.name;
  facts.step = set.step;
  facts.profile = options.profile;
  facts.scheme = options.scheme;
  facts.ranks = set.cut.ranks;
  facts.group_size = set.cut.group_size;
  facts.since_chosen = set.place.since_chosen;
  facts.lossy = options.lossy;
  facts.origin = options.origin;
  auto manifest = engine::make_manifest(facts, set.reports);
  if (!manifest) return give_up(set.id, manifest.error().message());
  set.manifest = *std::move(manifest);
  for (const auto& [key, part] : set.parts) set.manifest.sources.push_back(hash_text(part.hash));
  std::ranges::sort(set.manifest.sources);
  const auto same = std::ranges::unique(set.manifest.sources);
  set.manifest.sources.erase(same.begin(), same.end());
  set.phase = Set::Phase::committing;
  set.steps.end("pack", now);
  commit(set);
}

void Coordinator::Impl::pack_failed(Set& set, uint32_t group, const wire::TaskDoneT& done) {
  std::string what = fmt::format("{}: {}", engine::container_name(group, set.cut.groups.size()), done.error);
  if (is_final(done)) return give_up(set.id, what);
  if (static_cast<ErrorKind>(done.error_kind) == ErrorKind::limit) {
    if (halve_groups(set, what)) return;
    what += "; this is one rank alone";
  }
  const UnitId unit = set.units[group];
  ++totals.tasks_again;
  const Retry& retry = board.failed(unit, now);
  if (!may_pass(done) && retry.failures() >= kMaxFailures) return give_up(set.id, what);
  if (now - retry.since() >= options.set_timeout) return give_up(set.id, what);
  warn(fmt::format("set {}: a task is tried again: {}", set.name, what));
}

// A group whose catalogue does not fit in a worker's memory is too large: the set is cut anew, into groups of half the
// size, so that all are equal, and later sets are cut like that at once. False: a rank cannot be cut.
bool Coordinator::Impl::halve_groups(Set& set, const std::string& why) {
  const uint64_t ranks = std::min<uint64_t>(set.cut.group_size, set.cut.ranks);
  if (ranks <= 1) return false;
  group_size = std::min(group_size, (ranks + 1) / 2);
  warn(fmt::format("set {}: {}; ranks are packed in groups of {} from now on", set.name, why, group_size));
  const uint64_t id = set.id;
  undo_drain(set);
  consider(id);
  return true;
}

void Coordinator::Impl::commit(Set& set) { out.commands.push_back(Commit{set.staging, set.has_others, set.manifest}); }

void Coordinator::Impl::answered(Committed answer) {
  Set* const found = staged_set(answer.set);
  if (found == nullptr) return;
  Set& set = *found;
  if (answer.result) {
    set.steps.end("commit", now);
    totals.raw_bytes += set.raw_done;
    totals.stored_bytes += set.stored_done;
    return finish(set.id, wire::SetState::durable, set.place.name, {});
  }
  if (answer.result.error().kind == ErrorKind::corrupt) return give_up(set.id, answer.result.error().message());
  if (answer.result.error().kind != ErrorKind::exists) return store_failed(set, answer.result.error());
  // Somebody else has the name now: perhaps an earlier coordinator, with this very set.
  warn(fmt::format("set {}: {}", set.name, answer.result.error().message()));
  undo_drain(set);
  look_up(set);
}

void Coordinator::Impl::undo_drain(Set& set) {
  out.commands.push_back(Abandon{set.staging});
  for (const UnitId unit : set.units) remove_unit(unit);
  set.units.clear();
  set.reports.clear();
  set.has_others = false;
  set.cut = {};
  set.raw_done = set.stored_done = 0;
  set.store_waits = false;
  set.staging = 0;
  set.since = now;
  set.phase = Set::Phase::incomplete;
  for (const auto& [key, since] : set.away) drop_part(set, key);
  set.away.clear();
}

}  // namespace forebay::job

#include <algorithm>
#include <nlohmann/json.hpp>

#include <fmt/format.h>

#include "job/coordinator/coordinator_impl.h"

namespace forebay::job {
namespace {

using nlohmann::json;
using Impl = Coordinator::Impl;

constexpr size_t kMaxRows = 1024;     // of workers
constexpr size_t kMaxAgents = 65536;  // likewise; who has started them looks whether all are there
constexpr size_t kMaxPast = 64;       // sets that are over

double seconds(std::chrono::nanoseconds time) { return std::chrono::duration<double>(time).count(); }

// The tasks that are under way, summed for each set.
struct Running {
  uint64_t raw_bytes = 0, stored_bytes = 0;
};

// Null for an empty one.
json text_or_null(const std::string& text) { return text.empty() ? json() : json(text); }

template <class T>
json value_or_null(const std::optional<T>& value) {
  return value ? json(*value) : json();
}

json steps_row(const Steps& steps) {
  json row = json::object();
  for (const auto& [name, time] : steps.seconds()) row[std::string(name)] = time;
  return row;
}

const char* name_of(wire::SetState state) {
  switch (state) {
    case wire::SetState::durable:
      return "durable";
    case wire::SetState::skipped:
      return "skipped";
    case wire::SetState::cached:
      return "cached";
    default:
      return "failed";
  }
}

json past_row(const FinishedSet& fate) {
  const json cpu = {{"fetch", fate.cpu.fetch}, {"encode", fate.cpu.encode}, {"write", fate.cpu.write}};
  return {{"name", fate.name},
          {"step", value_or_null(fate.step)},
          {"state", name_of(fate.state)},
          {"void", fate.is_void},
          {"stored_as", text_or_null(fate.stored_as)},
          {"message", text_or_null(fate.message)},
          {"raw_bytes", fate.raw_bytes},
          {"stored_bytes", fate.stored_bytes},
          {"seconds", fate.seconds},
          {"seconds_by_step", steps_row(fate.steps)},
          {"cpu_seconds_by_stage", cpu}};
}

json levels_of(const Parts& parts) {
  std::set<std::string> levels;
  for (const auto& [key, part] : parts)
    if (!part.level.empty()) levels.insert(part.level);
  return levels;
}

json set_row(const Impl& impl, const SetDrain& set, const Running& running) {
  const SetDrain::Row now = set.row();
  json row = {{"name", set.name()},
              {"state", name_of(set.phase())},
              {"step", value_or_null(set.step())},
              {"complete", set.phase() != SetPhase::incomplete || set.is_complete()},
              {"node_count", set.parts().size()},
              {"rank_count", now.ranks},
              {"offered_rank_count", now.ranks_offered},
              {"levels", levels_of(set.parts())},
              {"seconds_since_offer", seconds(impl.now - now.since)}};
  const bool is_incomplete = set.phase() == SetPhase::incomplete;
  row["missing"] = is_incomplete ? text_or_null(set.what_is_missing(impl.roster.hosts())) : json();
  for (const char* key : {"stored_as", "file_count", "total_bytes", "raw_bytes", "stored_bytes", "container_count",
                          "done_container_count", "seconds", "bytes_per_second", "store_failure_count"})
    row[key] = json();
  if (!set.is_drained()) return row;
  const uint64_t raw = now.raw_done + running.raw_bytes;
  const double time = set.seconds(impl.now);
  row["stored_as"] = text_or_null(now.stored_as);
  row["file_count"] = now.files;
  row["total_bytes"] = now.bytes;
  row["raw_bytes"] = raw;
  row["stored_bytes"] = now.stored_done + running.stored_bytes;
  row["container_count"] = now.containers;
  row["done_container_count"] = now.containers_done;
  row["seconds"] = time;
  row["bytes_per_second"] = time > 0 ? static_cast<double>(raw) / time : 0;
  row["store_failure_count"] = now.store_failures;
  return row;
}

json task_row(const Impl& impl, const UnitId& unit, const TaskBoard::Progress& progress) {
  json row = {{"container_index", unit.index},
              {"raw_bytes", progress.raw_bytes},
              {"stored_bytes", progress.stored_bytes},
              {"seconds", seconds(impl.now - progress.since)},
              {"still_seconds", seconds(impl.now - progress.last)}};
  if (unit.set == 0) {
    row["kind"] = "deliver";
    row["set"] = text_or_null(impl.restarts.chosen());
    row["total_bytes"] = json();
  } else {
    const SetDrain& set = impl.sets.at(unit.set).drain;
    row["kind"] = "pack";
    row["set"] = set.name();
    row["total_bytes"] = set.group_bytes(unit.index);
  }
  return row;
}

json worker_rows(const Impl& impl, std::map<uint64_t, Running>& running) {
  json rows = json::array();
  for (const auto& [id, session] : impl.roster.sessions()) {
    if (session.role != Session::Role::worker) continue;
    json row = {{"host", session.worker->host},
                {"pid", session.worker->pid},
                {"profile", session.worker->profile},
                {"scheme", session.worker->scheme},
                {"memory_bytes", session.worker->memory_bytes},
                {"silent_seconds", seconds(impl.now - session.last_heard)},
                {"stream_count", session.worker->streams},
                {"tasks", json::array()}};
    for (const auto& [attempt, progress] : impl.board.attempts_of(id)) {
      if (!attempt.unit) continue;
      running[attempt.unit->set].raw_bytes += progress.raw_bytes;
      running[attempt.unit->set].stored_bytes += progress.stored_bytes;
      row["tasks"].push_back(task_row(impl, *attempt.unit, progress));
    }
    if (rows.size() < kMaxRows) rows.push_back(std::move(row));
  }
  return rows;
}

// Of the sets that the agent `key` has a part of, and that are not over.
uint64_t staged_bytes(const Impl& impl, const std::string& key, const Session& session) {
  uint64_t bytes = 0;
  for (const uint64_t id : session.sets) {
    const SetRow* const row = impl.sets.find(id);
    if (row == nullptr) continue;
    const auto part = row->drain.parts().find(key);
    if (part != row->drain.parts().end()) bytes += part->second.bytes;
  }
  return bytes;
}

json agent_rows(const Impl& impl) {
  json rows = json::array();
  for (const auto& [key, id] : impl.roster.agents()) {
    if (rows.size() == kMaxAgents) break;
    const Session& session = *impl.roster.find(id);
    rows.push_back({{"host", session.agent->host},
                    {"pid", session.agent->pid},
                    {"stage", session.agent->stage},
                    {"set_count", session.sets.size()},
                    {"staged_bytes", staged_bytes(impl, key, session)},
                    {"process_count", session.processes},
                    {"cpu_seconds", static_cast<double>(session.processor_ms) / 1000},
                    {"silent_seconds", seconds(impl.now - session.last_heard)}});
  }
  return rows;
}

json restart_row(const Impl& impl, const Restarts::Row& round) {
  return {{"rank_count", round.ranks},
          {"asked_rank_count", round.ranks_asked},
          {"set", text_or_null(round.set)},
          {"container_count", round.deliveries},
          {"done_container_count", round.deliveries_done},
          {"publishing_agent_count", round.publishing},
          {"seconds", seconds(impl.now - round.since)},
          {"passed_over", text_or_null(round.passed_over)}};
}

// Of the whole job, but for the tasks, which are this coordinator's.
json totals_row(const Impl& impl) {
  const decided::Counts& all = impl.facts.sums.counts;
  return {{"durable_count", all.durable},
          {"skipped_count", all.skipped},
          {"failed_count", all.failed},
          {"cached_count", all.cached},
          {"restart_count", all.restarts},
          {"raw_bytes", all.raw_bytes},
          {"stored_bytes", all.stored_bytes},
          {"task_count", impl.task_counts.tasks},
          {"repeated_task_count", impl.task_counts.again},
          {"redrain_count", impl.task_counts.redrains}};
}

json encoding_row(const Encoding& encoding) {
  const SetProtection::Row& row = encoding.row;
  return {{"name", encoding.set},
          {"scheme", encoding.scheme},
          {"encoding", fmt::format("{:016x}", row.id)},
          {"group_count", row.groups},
          {"member_count", row.members},
          {"encoded_member_count", row.encoded},
          {"sealed_member_count", row.sealed},
          {"lost_member_count", row.lost},
          {"attempt_count", row.attempts},
          {"raw_bytes", row.bytes},
          {"parity_bytes", row.parity_bytes},
          {"sent_bytes", row.sent_bytes},
          {"cpu_seconds", static_cast<double>(row.cpu_us) / 1e6},
          {"seconds", row.seconds}};
}

// The sets that the caches hold, as far as agents have offered them since this coordinator began.
json cached_rows(const Impl& impl) {
  json rows = json::array();
  for (const CachedSet& set : impl.caches.sets()) {
    if (rows.size() == kMaxPast) break;
    rows.push_back({{"name", set.name},
                    {"step", value_or_null(set.step)},
                    {"state", !set.wrong.empty() ? "broken"
                              : set.is_sealed    ? "sealed"
                                                 : "encoded"},
                    {"encoding", set.encoding != 0 ? json(fmt::format("{:016x}", set.encoding)) : json()},
                    {"rank_count", set.ranks},
                    {"raw_bytes", set.bytes},
                    {"levels", set.levels},
                    {"lost_member_count", set.lost},
                    {"stored_as", text_or_null(set.stored_as)},
                    {"message", text_or_null(set.wrong)}});
  }
  return rows;
}

json recovery_row(const Impl& impl, const CacheRecovery::Row& row) {
  return {{"set", row.set},
          {"state", fmt::format("{}ing", row.order)},
          {"seconds", seconds(impl.now - row.since)},
          {"agent_count", row.waiting},
          {"awaited_nodes", text_or_null(row.waits_for)},
          {"bad_piece_count", row.bad_pieces},
          {"lost_member_count", row.lost},
          {"repaired_bytes", row.repaired_bytes}};
}

json cache_row(const Impl& impl) {
  json encoding = json::array(), sealed = json::array(), aside = json::array();
  const auto& past = impl.finished.all();
  for (size_t i = past.size() - std::min(past.size(), kMaxPast); i < past.size(); ++i)
    if (past[i].encoding) sealed.push_back(encoding_row(*past[i].encoding));
  for (const auto& [id, one] : impl.sets)
    if (const auto row = impl.encoding_of(one)) (one.is_sealed() ? sealed : encoding).push_back(encoding_row(*row));
  for (const auto& one : impl.caches.all_quarantined())
    aside.push_back({{"name", one.set}, {"reason", one.reason}, {"where", "stages"}});
  for (const auto& [name, reason] : impl.store_tier.refused())
    aside.push_back({{"name", name}, {"reason", reason}, {"where", "store"}});
  json row = {{"redundancy", redundancy::to_text(impl.options.protection)},
              {"flush_every", impl.options.flush_every},
              {"failure_group", text_or_null(impl.options.failure_group)},
              {"encoding_sets", std::move(encoding)},
              {"sealed_sets", std::move(sealed)},
              {"sets", cached_rows(impl)},
              {"sets_aside", std::move(aside)}};
  row["recovery"] = impl.recovery.is_open() ? recovery_row(impl, impl.recovery.row()) : json();
  return row;
}

// How often sets come, and how often they should (job/plan/interval_model.h).
json cadence_row(const Impl& impl) {
  const MeasuredRun measured = impl.cadence.measured(impl.now);
  json row = {{"set_count", impl.cadence.sets()},
              {"failure_count", measured.failures},
              {"set_seconds", measured.set_seconds},
              {"interval_seconds", measured.interval},
              {"advice", json()}};
  if (const auto advice = advise(measured))
    row["advice"] = {{"interval_seconds", advice->interval},
                     {"mtbf_seconds", advice->mtbf},
                     {"efficiency", advice->efficiency},
                     {"best_efficiency", advice->best_efficiency}};
  return row;
}

json room_row(const StoreRoom& room, std::optional<uint64_t> sets_left) {
  return {{"free_bytes", room.free_bytes},
          {"capacity_bytes", room.total_bytes},
          {"left_set_count", value_or_null(sets_left)}};
}

json left_rows(const Impl& impl) {
  json rows = json::array();
  for (const Settling::Left& left : impl.settling.rows())
    if (rows.size() < kMaxRows)
      rows.push_back({{"host", left.host},
                      {"name", text_or_null(left.name)},
                      {"reason", left.reason},
                      {"place", text_or_null(left.place)}});
  for (const auto& [name, one] : impl.facts.not_stored)
    if (rows.size() < kMaxRows)
      rows.push_back({{"host", json()},
                      {"name", json()},
                      {"reason", fmt::format("set {} of the caches is not stored: {}", name, one.reason)},
                      {"place", json()}});
  return rows;
}

json begun_rows(const Impl& impl) {
  json rows = json::array();
  for (const auto& [key, id] : impl.roster.agents()) {
    const Session& session = *impl.roster.find(id);
    for (const auto& row : session.begun)
      if (rows.size() < kMaxRows)
        rows.push_back({{"host", session.agent->host},
                        {"name", row->name},
                        {"reason", row->reason},
                        {"place", text_or_null(row->place)}});
  }
  return rows;
}

json traffic_row(const Impl::TrafficByKind& traffic) {
  json row = json::object();
  for (const auto& [kind, one] : traffic)
    row[wire::EnumNameBody(kind)] = {{"message_count", one.messages}, {"message_bytes", one.bytes}};
  return row;
}

}  // namespace

std::string Coordinator::Impl::status() const { return status(facts.excluded); }

std::string Coordinator::Impl::status(const std::set<std::string>& excluded) const {
  std::map<uint64_t, Running> running;
  json workers = worker_rows(*this, running);
  json set_rows = json::array(), past = json::array();
  for (const auto& [id, row] : sets) set_rows.push_back(set_row(*this, row.drain, running[id]));
  const auto& history = finished.all();
  for (size_t i = history.size() - std::min(history.size(), kMaxPast); i < history.size(); ++i)
    past.push_back(past_row(history[i]));
  json body = {{"generation", generation},
               {"host", options.host},
               {"series", text_or_null(options.origin.series)},
               {"seconds", seconds(now - started)},
               {"profile", options.profile},
               {"scheme", options.scheme},
               {"group_size", group_size},
               {"backlog", to_string(options.backlog)},
               {"ending", draining_to_end},
               {"store_silent_seconds", answers_owed == 0 ? 0 : seconds(now - owed_since)},
               {"log_silent_seconds", outbox.waits() ? seconds(now - outbox.since()) : 0},
               {"sets", std::move(set_rows)},
               {"past_sets", std::move(past)},
               {"agents", agent_rows(*this)},
               {"agent_count", roster.agents().size()},
               {"excluded", excluded},
               {"completed_set_count", sets_completed},
               {"workers", std::move(workers)},
               {"worker_count", board.workers()},
               {"left", left_rows(*this)},
               {"cache", cache_row(*this)},
               {"begun", begun_rows(*this)},
               {"totals", totals_row(*this)},
               {"received", traffic_row(received)},
               {"sent", traffic_row(sent)},
               {"errors", errors},
               {"cadence", cadence_row(*this)}};
  body["looks_older"] = text_or_null(looks_older);
  body["no_set"] = text_or_null(no_set);
  body["run"] = text_or_null(options.origin.run);
  body["store_fills"] = text_or_null(store_room.warning());
  for (const char* key : {"newest_durable", "store_room", "restart", "last_restart"}) body[key] = json();
  if (!newest_durable.empty())
    body["newest_durable"] = {{"name", newest_durable}, {"seconds", seconds(now - newest_durable_at)}};
  if (const auto room = store_room.room()) body["store_room"] = room_row(*room, store_room.sets_left());
  if (const auto row = restarts.row()) body["restart"] = restart_row(*this, *row);
  if (const auto& last = restarts.last())
    body["last_restart"] = {{"set", text_or_null(last->set)},
                            {"stored_as", text_or_null(last->stored_as)},
                            {"rank_count", last->ranks},
                            {"passed_over", text_or_null(last->passed_over)},
                            {"seconds_by_step", steps_row(last->steps)}};
  return body.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace forebay::job

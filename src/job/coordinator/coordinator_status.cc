#include <algorithm>
#include <nlohmann/json.hpp>

#include "job/coordinator/coordinator_impl.h"

namespace forebay::job {
namespace {

using nlohmann::json;
using Impl = Coordinator::Impl;

constexpr size_t kMaxRows = 1024;     // of workers
constexpr size_t kMaxAgents = 65536;  // likewise; who has started them looks whether all are there
constexpr size_t kMaxPast = 64;       // sets that are over

double seconds(std::chrono::nanoseconds time) { return std::chrono::duration<double>(time).count(); }

const char* name_of(Impl::Set::Phase phase) {
  using Phase = Impl::Set::Phase;
  switch (phase) {
    case Phase::incomplete:
      return "incomplete";
    case Phase::waiting:
      return "waiting";
    case Phase::staging:
      return "staging";
    case Phase::packing:
      return "packing";
    case Phase::committing:
      return "committing";
  }
  return "?";
}

// The tasks that are under way, summed for each set.
struct Running {
  uint64_t raw_bytes = 0, stored_bytes = 0;
};

json steps_row(const Steps& steps) {
  json row = json::object();
  for (const auto& [name, time] : steps.seconds()) row[std::string(name)] = time;
  return row;
}

json past_row(const Impl::FinishedSet& fate) {
  json row = {{"name", fate.name},
              {"state", fate.state == wire::SetState::durable   ? "durable"
                        : fate.state == wire::SetState::skipped ? "skipped"
                                                                : "failed"},
              {"stored_as", fate.stored_as},
              {"message", fate.message},
              {"raw_bytes", fate.raw_bytes},
              {"stored_bytes", fate.stored_bytes},
              {"seconds", fate.seconds},
              {"steps", steps_row(fate.steps)},
              {"cpu", {{"fetch", fate.cpu.fetch}, {"encode", fate.cpu.encode}, {"write", fate.cpu.write}}}};
  if (fate.step) row["step"] = *fate.step;
  return row;
}

json set_row(const Impl& impl, const Impl::Set& set, const Running& running) {
  json row = {{"name", set.name},
              {"state", name_of(set.phase)},
              {"complete", set.phase != Impl::Set::Phase::incomplete || impl.is_complete(set)},
              {"nodes", set.parts.size()},
              {"ranks", set.is_drained() ? set.cut.ranks : set.ranks},
              {"ranks_offered", set.coverage.size()},
              {"seconds_since_offer", seconds(impl.now - set.since)}};
  if (set.step) row["step"] = *set.step;
  if (set.phase == Impl::Set::Phase::incomplete) row["missing"] = impl.what_is_missing(set);
  if (!set.is_drained()) return row;
  const uint64_t raw = set.raw_done + running.raw_bytes;
  const double time = seconds(impl.now - set.drained_since);
  row["stored_as"] = set.place.name;
  row["files"] = set.cut.files;
  row["total_bytes"] = set.cut.bytes;
  row["raw_bytes"] = raw;
  row["stored_bytes"] = set.stored_done + running.stored_bytes;
  row["containers"] = set.cut.groups.size();
  row["containers_done"] = set.reports.size();
  row["seconds"] = time;
  row["bytes_per_second"] = time > 0 ? static_cast<double>(raw) / time : 0;
  row["store_failures"] = set.store_retry.failures();
  return row;
}

json task_row(const Impl& impl, const Impl::UnitOwner& owner, const TaskBoard::Progress& progress) {
  json row = {{"container", owner.index},
              {"raw_bytes", progress.raw_bytes},
              {"stored_bytes", progress.stored_bytes},
              {"seconds", seconds(impl.now - progress.since)},
              {"still_seconds", seconds(impl.now - progress.last)}};
  if (owner.set == 0) {
    row["kind"] = "deliver";
    row["set"] = impl.round->chosen->name;
  } else {
    const Impl::Set& set = impl.sets.at(owner.set);
    row["kind"] = "pack";
    row["set"] = set.name;
    row["total_bytes"] = set.cut.groups[owner.index].bytes;
  }
  return row;
}

json worker_rows(const Impl& impl, std::map<uint64_t, Running>& running) {
  json rows = json::array();
  for (const auto& [id, session] : impl.sessions) {
    if (session.role != Impl::Session::Role::worker) continue;
    json row = {{"host", session.worker->host},
                {"pid", session.worker->pid},
                {"profile", session.worker->profile},
                {"scheme", session.worker->scheme},
                {"memory_bytes", session.worker->memory_bytes},
                {"silent_seconds", seconds(impl.now - session.last_heard)}};
    const auto attempt = impl.board.attempt_of(id);
    const auto owner = attempt ? impl.owners.find(attempt->unit) : impl.owners.end();
    if (owner != impl.owners.end()) {
      const TaskBoard::Progress progress = impl.board.progress_of(id);
      running[owner->second.set].raw_bytes += progress.raw_bytes;
      running[owner->second.set].stored_bytes += progress.stored_bytes;
      row["task"] = task_row(impl, owner->second, progress);
    }
    if (rows.size() < kMaxRows) rows.push_back(std::move(row));
  }
  return rows;
}

json agent_rows(const Impl& impl) {
  json rows = json::array();
  for (const auto& [key, id] : impl.agents) {
    if (rows.size() == kMaxAgents) break;
    const Impl::Session& session = impl.sessions.at(id);
    rows.push_back({{"host", session.agent->host},
                    {"pid", session.agent->pid},
                    {"stage", session.agent->stage},
                    {"sets", session.sets.size()},
                    {"processes", session.processes},
                    {"processor_seconds", static_cast<double>(session.processor_ms) / 1000},
                    {"silent_seconds", seconds(impl.now - session.last_heard)}});
  }
  return rows;
}

json restart_row(const Impl& impl) {
  const Impl::Round& round = *impl.round;
  return {{"ranks", round.total},
          {"ranks_asked", round.coverage.size()},
          {"set", round.chosen ? round.chosen->name : ""},
          {"containers", round.units.size()},
          {"containers_done", round.done},
          {"agents_publishing", impl.publishing.size()},
          {"seconds", seconds(impl.now - round.since)},
          {"passed_over", round.passed_over}};
}

// Of the whole job, but for the tasks, which are this coordinator's.
json totals_row(const Impl& impl) {
  const wire::TallyT all = impl.tally();
  return {{"durable", all.durable},     {"skipped", all.skipped},
          {"failed", all.failed},       {"restarts", all.restarts},
          {"raw_bytes", all.raw_bytes}, {"stored_bytes", all.stored_bytes},
          {"tasks", impl.totals.tasks}, {"tasks_again", impl.totals.tasks_again}};
}

json left_rows(const Impl& impl) {
  json rows = json::array();
  const auto add = [&](const Impl::Left& left) {
    if (rows.size() < kMaxRows) rows.push_back({{"host", left.host}, {"name", left.name}, {"reason", left.reason}});
  };
  for (const auto& [key, list] : impl.left) std::ranges::for_each(list, add);
  std::ranges::for_each(impl.unknown, add);
  return rows;
}

json traffic_row(const Impl::TrafficByKind& traffic) {
  json row = json::object();
  for (const auto& [kind, one] : traffic)
    row[wire::EnumNameBody(kind)] = {{"messages", one.messages}, {"bytes", one.bytes}};
  return row;
}

}  // namespace

std::string Coordinator::Impl::status() const {
  std::map<uint64_t, Running> running;
  json workers = worker_rows(*this, running);
  json set_rows = json::array(), past = json::array();
  for (const auto& [id, set] : sets) set_rows.push_back(set_row(*this, set, running[id]));
  for (size_t i = history.size() - std::min(history.size(), kMaxPast); i < history.size(); ++i)
    past.push_back(past_row(history[i]));
  json body = {{"generation", generation},
               {"host", options.host},
               {"series", options.origin.series},
               {"seconds", seconds(now - started)},
               {"profile", options.profile},
               {"scheme", options.scheme},
               {"group_size", group_size},
               {"backlog", to_string(options.backlog)},
               {"ending", draining_to_end},
               {"store_silent_seconds", answers_owed == 0 ? 0 : seconds(now - owed_since)},
               {"sets", std::move(set_rows)},
               {"past_sets", std::move(past)},
               {"agents", agent_rows(*this)},
               {"agent_count", agents.size()},
               {"excluded", excluded},
               {"sets_completed", sets_completed},
               {"workers", std::move(workers)},
               {"worker_count", board.workers()},
               {"left", left_rows(*this)},
               {"totals", totals_row(*this)},
               {"received", traffic_row(received)},
               {"sent", traffic_row(sent)},
               {"errors", errors}};
  if (round) body["restart"] = restart_row(*this);
  if (last_restart)
    body["last_restart"] = {{"stored_as", last_restart->stored_as},
                            {"ranks", last_restart->ranks},
                            {"steps", steps_row(last_restart->steps)}};
  return body.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace forebay::job

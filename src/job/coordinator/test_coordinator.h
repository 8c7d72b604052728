// A coordinator between agents, workers and a store that a test plays.
#pragma once

#include <algorithm>
#include <chrono>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/pack/group_report.h"
#include "job/coordinator/coordinator.h"
#include "job/test_job.h"
#include "store/names.h"
#include "store/series.h"

namespace forebay::job {

using namespace std::chrono_literals;

inline std::unique_ptr<wire::FileT> offered_file(std::string name, int rank, uint64_t size = 100, int64_t mtime = 7) {
  auto file = std::make_unique<wire::FileT>();
  file->name = std::move(name);
  file->mode = 0644;
  file->size = size;
  file->mtime_s = mtime;
  file->rank = rank;
  return file;
}

// One file of each of `ranks`.
inline wire::OfferT offer_of(const std::string& set, std::vector<uint32_t> ranks, uint32_t total, uint64_t exposure,
                             int64_t mtime = 7) {
  wire::OfferT offer;
  offer.set = set;
  offer.exposure = exposure;
  offer.ranks = total;
  for (const uint32_t rank : ranks)
    offer.files.push_back(offered_file("rank" + std::to_string(rank), static_cast<int>(rank), 100 + rank, mtime));
  return offer;
}

// An agent's answer to Settle: nothing is left.
inline wire::SettledT settled(uint64_t number) {
  wire::SettledT settled;
  settled.number = number;
  return settled;
}

inline wire::TaskDoneT success(const wire::TaskT& task, uint64_t stored_bytes = 10) {
  wire::TaskDoneT done;
  done.id = task.id;
  if (task.kind == wire::TaskKind::deliver) return done;
  engine::GroupReport report;
  report.entry = {.name = task.container, .bytes = stored_bytes, .files = task.files.size()};
  for (const auto& file : task.files) report.entry.raw_bytes += file->file->size;
  done.report = engine::to_text(report);
  return done;
}

inline wire::TaskDoneT failure(const wire::TaskT& task, wire::FaultSide side, ErrorKind kind,
                               const std::string& what = "it failed") {
  wire::TaskDoneT done;
  done.id = task.id;
  done.failed = true;
  done.side = side;
  done.error_kind = static_cast<uint8_t>(kind);
  done.error = what;
  return done;
}

// What came to one session.
struct Inbox {
  std::deque<wire::SetNewsT> news;
  std::deque<wire::PlacedT> placed;
  std::deque<wire::TaskT> tasks;
  std::deque<uint64_t> cancels;
  std::deque<wire::RestartReadyT> ready;
  std::deque<uint64_t> restarted;  // RestartDone: the rounds
  std::deque<uint64_t> settles;
  std::deque<wire::ProtectT> protects;
  std::deque<uint64_t> protect_cancels, seals;
  std::deque<wire::CheckCachedT> checks;
  std::deque<wire::RepairT> repairs;
  std::deque<wire::RestartInPlaceT> in_place;
  std::deque<wire::QuarantineT> quarantines;
  std::deque<wire::RejectT> rejects;
  std::deque<wire::RefusedT> refused;
  std::deque<std::string> status, stops;
  uint64_t messages = 0, pings = 0;
  bool welcome = false, closed = false;
};

class Stand {
 public:
  explicit Stand(CoordinatorOptions with = {}, uint64_t generation = 1, Facts facts = {})
      : options(std::move(with)), coordinator(options, generation, now, std::move(facts)) {}
  // After `before`, which may have died before it heard that what it decided last is logged.
  Stand(CoordinatorOptions with, uint64_t generation, const Stand& before)
      : Stand(std::move(with), generation, before.logged) {
    stored = before.stored;
  }

  // As agent, worker or somebody else.
  SessionId join() {
    coordinator.connected(++last_session, "test", now);
    return last_session;
  }
  SessionId agent(const std::string& node, const std::string& stage = "/stage") {
    const SessionId id = join();
    wire::AgentHelloT hello;
    hello.host = node;
    hello.node = node;
    hello.addresses = "tcp:" + node + ":1";
    hello.stage = stage;
    send(id, std::move(hello));
    return id;
  }
  SessionId worker(const std::string& node) {
    const SessionId id = join();
    wire::WorkerHelloT hello;
    hello.host = node;
    hello.node = node;
    hello.profile = options.profile;
    hello.scheme = options.scheme;
    send(id, std::move(hello));
    return id;
  }

  template <class Table>
  void send(SessionId id, Table body) {
    wire::MessageT message;
    message.body.Set(std::move(body));
    check(coordinator.received(id, std::move(message), now));
    collect();
  }
  void leave(SessionId id) {
    coordinator.disconnected(id, now);
    collect();
  }

  // Time passes; those of `alive` say something now and then.
  void pass(std::chrono::milliseconds time, const std::vector<SessionId>& alive = {}) {
    const auto end = now + time;
    while (now < end) {
      now = std::min<Coordinator::Time>(end, now + 500ms);
      for (const SessionId id : alive) send(id, wire::PingT{});
      coordinator.tick(now);
      collect();
    }
  }

  // The store answers everything, as if it was empty and all went well, but for what `stored` says.
  void serve_store() {
    while (!commands.empty()) {
      const StoreCommand command = std::move(commands.front());
      commands.pop_front();
      std::visit([this](const auto& one) { perform(one); }, command);
      collect();
    }
  }
  template <class Command>
  Command take_command() {
    if (commands.empty()) throw std::runtime_error("no command for the store");
    const StoreCommand command = std::move(commands.front());
    commands.pop_front();
    return std::get<Command>(command);
  }
  void answer(StoreAnswer with) {
    coordinator.answered(std::move(with), now);
    collect();
  }

  void collect() {
    take_output();
    while (coordinator.next_tick() <= now && !coordinator.stopped()) {
      coordinator.tick(now);
      take_output();
    }
  }
  void take_output() {
    CoordinatorOutput out = coordinator.take_output();
    for (const Decision& decision : out.decisions) waiting.push_back(decision);
    most_messages = std::max(most_messages, out.messages.size());
    for (auto& one : out.messages) deliver(inbox[one.to], one.message);
    for (const SessionId id : out.closed) inbox[id].closed = true;
    for (auto& command : out.commands) commands.push_back(std::move(command));
    if (out.step_down) step_down = out.step_down;
    for (LogLine& line : out.log) log += line.text + "\n";
    if (log_works && !waiting.empty()) {
      write_log();
      take_output();
    }
    // Agents have nothing to say of their stages, unless a test speaks for them.
    for (auto& [id, box] : inbox)
      while (agents_settle && !box.settles.empty()) {
        const uint64_t number = box.settles.front();
        box.settles.pop_front();
        send(id, settled(number));
      }
  }

  // What was decided gets into the log.
  void write_log() {
    const uint64_t written = waiting.size();
    for (const Decision& decision : std::exchange(waiting, {})) logged.apply(decision);
    coordinator.logged(written, now);
  }

  CoordinatorOptions options;
  Coordinator::Time now{1000h};
  Coordinator coordinator;
  SessionId last_session = 0;
  std::map<SessionId, Inbox> inbox;
  std::deque<StoreCommand> commands;
  std::string log;
  std::optional<std::string> step_down;
  std::map<std::string, store::Manifest> stored;
  std::vector<Commit> commits;
  std::vector<uint64_t> abandoned;
  std::vector<SetAside> aside;
  std::vector<Prune> prunes;
  uint32_t lists = 0;             // of the store, that were asked for
  std::optional<StoreRoom> room;  // that the store has after a set
  Facts logged;                   // what is in the log
  std::vector<Decision> waiting;  // what is not
  bool log_works = true;
  bool agents_settle = true;
  size_t most_messages = 0;  // of one call

 private:
  static void deliver(Inbox& to, wire::MessageT& message) {
    ++to.messages;
    switch (message.body.type) {
      case wire::Body::Ping:
        ++to.pings;
        break;
      case wire::Body::Welcome:
        to.welcome = true;
        break;
      case wire::Body::SetNews:
        to.news.push_back(*message.body.AsSetNews());
        break;
      case wire::Body::Placed:
        to.placed.push_back(*message.body.AsPlaced());
        break;
      case wire::Body::Task:
        to.tasks.push_back(*message.body.AsTask());
        break;
      case wire::Body::Cancel:
        to.cancels.push_back(message.body.AsCancel()->id);
        break;
      case wire::Body::RestartReady:
        to.ready.push_back(*message.body.AsRestartReady());
        break;
      case wire::Body::RestartDone:
        to.restarted.push_back(message.body.AsRestartDone()->round);
        break;
      case wire::Body::Settle:
        to.settles.push_back(message.body.AsSettle()->number);
        break;
      case wire::Body::Protect:
        to.protects.push_back(std::move(*message.body.AsProtect()));
        break;
      case wire::Body::ProtectCancel:
        to.protect_cancels.push_back(message.body.AsProtectCancel()->id);
        break;
      case wire::Body::Seal:
        to.seals.push_back(message.body.AsSeal()->id);
        break;
      case wire::Body::CheckCached:
        to.checks.push_back(*message.body.AsCheckCached());
        break;
      case wire::Body::Repair:
        to.repairs.push_back(std::move(*message.body.AsRepair()));
        break;
      case wire::Body::RestartInPlace:
        to.in_place.push_back(*message.body.AsRestartInPlace());
        break;
      case wire::Body::Quarantine:
        to.quarantines.push_back(*message.body.AsQuarantine());
        break;
      case wire::Body::Reject:
        to.rejects.push_back(*message.body.AsReject());
        break;
      case wire::Body::Refused:
        to.refused.push_back(*message.body.AsRefused());
        break;
      case wire::Body::Status:
        to.status.push_back(message.body.AsStatus()->json);
        break;
      case wire::Body::Stop:
        to.stops.push_back(message.body.AsStop()->message);
        break;
      default:
        throw std::runtime_error("a message that a coordinator does not send");
    }
  }

  void perform(const LookUp& command) {
    std::vector<StoredSet> sets;
    for (uint64_t n = 1; stored.contains(store::stored_name(command.name, n)); ++n) {
      const std::string name = store::stored_name(command.name, n);
      sets.push_back({name, stored.at(name).sources, stored.at(name).ordinal});
    }
    const uint64_t taken = sets.size();
    const std::vector<store::SetInfo> all = listed();
    LookedUp answer{command.set, std::move(sets), taken, store::newest_place(all, command.series)};
    if (const auto* newest = store::newest_of(all, command.series)) answer.newest = *newest->manifest;
    coordinator.answered(std::move(answer), now);
  }
  void perform(const Stage& command) {
    uint64_t n = 1;
    while (stored.contains(store::stored_name(command.name, n))) ++n;
    const std::string name = store::stored_name(command.name, n);
    coordinator.answered(Staged{command.set, StagedPlace{.name = name, .staged = "staged-" + name, .number = n}}, now);
  }
  void perform(const Commit& command) {
    commits.push_back(command);
    stored[command.manifest.name] = command.manifest;
    coordinator.answered(Committed{command.set, {}, room}, now);
  }
  void perform(const SetAside& command) {
    aside.push_back(command);
    coordinator.answered(WasSetAside{command.name, {}}, now);
  }
  void perform(const Prune& command) { prunes.push_back(command); }  // takes long: a test answers
  void perform(const Abandon& command) { abandoned.push_back(command.set); }
  void perform(const ListSets&) {
    ++lists;
    coordinator.answered(ListedSets{listed()}, now);
  }
  std::vector<store::SetInfo> listed() const {
    std::vector<store::SetInfo> sets;
    for (const auto& [name, manifest] : stored) sets.push_back({name, {}, manifest});
    store::sort_oldest_first(sets);
    return sets;
  }
};

}  // namespace forebay::job

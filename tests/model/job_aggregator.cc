// Aggregators of the model: elections, coordinators at work, and workers.
#include <algorithm>

#include <fmt/format.h>

#include "engine/pack/group_report.h"
#include "job.h"
#include "job/wire/convert.h"

namespace forebay::job::model {
namespace {

constexpr auto kLookAgain = 100ms;
constexpr uint32_t kTriesBeforeElection = 12;  // with a leader that does not answer

}  // namespace

Job::Aggregator* Job::leader() {
  for (const auto& one : aggregators_)
    if (one->coordinator && one->process->is_alive && one->generation == generation_) return one.get();
  return nullptr;
}

// As rendezvous/election does it: a leader that answers is followed; where none does, one of the aggregators takes the
// next generation.
void Job::look_for_coordinator(const ProcessRef& process, const std::string& from, uint32_t tries,
                               std::function<void(LinkId, uint64_t)> found, std::function<Net::End()> end) {
  if (is_over_) return;
  Aggregator* const one = leader();
  if (one != nullptr && !one->process->is_paused && !one->coordinator->stopped()) {
    const LinkId link = connect_to(*one, end());
    return found(link, one->generation);
  }
  if (one == nullptr || tries >= kTriesBeforeElection) elect();
  loop_.after(kLookAgain + net_.delay(++delays_), process,
              [this, process, from, tries, found = std::move(found), end = std::move(end)]() mutable {
                look_for_coordinator(process, from, tries + 1, std::move(found), std::move(end));
              });
}

void Job::elect() {
  if (std::exchange(is_electing_, true)) return;
  loop_.after(200ms + net_.delay(++delays_), nullptr, [this] {
    is_electing_ = false;
    if (Aggregator* const now = leader(); now != nullptr && !now->process->is_paused) return;
    for (const auto& node : nodes_) {
      Aggregator* const one = node->aggregator;
      if (one == nullptr || !one->process->is_alive || one->process->is_paused || one->coordinator) continue;
      return lead(*one);
    }
  });
}

void Job::lead(Aggregator& one) {
  CoordinatorOptions options;
  options.group_size = 2;
  options.agents = setup_.nodes;
  options.peer_timeout = 5s;
  options.set_timeout = 60s;
  options.stall_timeout = 20s;
  options.profile = "balanced";
  options.scheme = "auto";
  options.host = one.node;
  options.protection = redundancy::parse_protection(setup_.scheme).value();
  options.flush_every = setup_.flush;
  options.numbers = [this] { return ++numbers_; };
  one.generation = ++generation_;
  // What the log amounts to, as the next one reads it.
  Facts facts;
  for (const Decision& decision : records_of(facts_)) facts.apply(decision);
  log_of_ = one.generation;
  one.coordinator = std::make_unique<Coordinator>(options, one.generation, loop_.now, std::move(facts));
  one.leads->name = fmt::format("g{}", one.generation);
  trace_.add(one.leads->name, "coordinates, on " + one.node);
  one.ticks_at = Time::max();
  flush(one);
}

// Another one coordinates, or it steps down.
void Job::end_leading(Aggregator& one) {
  for (const auto& [link, open] : std::exchange(one.sessions, {})) net_.close(link, one.leads);
  one.coordinator.reset();
  one.commands.clear();
  one.decisions.clear();
  one.is_at_store = one.is_logging = false;
}

LinkId Job::connect_to(Aggregator& one, Net::End end) {
  const uint64_t generation = one.generation;
  auto id = std::make_shared<LinkId>(0);
  const auto mine = [&one, generation] { return one.coordinator != nullptr && one.generation == generation; };
  Net::End server{.process = one.leads, .node = one.node, .received = {}, .closed = {}};
  server.received = [this, &one, mine, id](wire::MessageT message) {
    if (!mine()) return;
    if (meter_ != nullptr) meter_->coded(message);
    call(one, [&] {
      const auto taken = one.coordinator->received(*id, std::move(message), loop_.now);
      if (taken) return;
      trace_.add(one.leads->name, "closes a connection: " + taken.error().message());
      one.sessions.erase(*id);
      net_.close(*id, one.leads);
      one.coordinator->disconnected(*id, loop_.now);
    });
  };
  server.closed = [this, &one, mine, id] {
    if (!mine()) return;
    one.sessions.erase(*id);
    call(one, [&] { one.coordinator->disconnected(*id, loop_.now); });
  };
  *id = net_.open(std::move(end), std::move(server));
  one.sessions[*id] = true;
  call(one, [&] { one.coordinator->connected(*id, "model", loop_.now); });
  return *id;
}

CoordinatorOutput Job::take_output(Aggregator& one) {
  CoordinatorOutput out;
  if (meter_ == nullptr) return one.coordinator->take_output();
  meter_->run([&] { out = one.coordinator->take_output(); });
  for (const auto& [to, message, at_once] : out.messages) meter_->coded(message);
  return out;
}

void Job::flush(Aggregator& one) {
  const std::string& name = one.leads->name;
  CoordinatorOutput out = take_output(one);
  for (const LogLine& line : out.log) trace_.add(name, line.text);
  for (const auto& [to, message, at_once] : out.messages)
    if (one.sessions.contains(to)) net_.send(to, one.leads, message);
  for (const SessionId id : out.closed) {
    one.sessions.erase(id);
    net_.close(id, one.leads);
  }
  for (Decision& decision : out.decisions) one.decisions.push_back(std::move(decision));
  for (StoreCommand& command : out.commands) one.commands.push_back(std::move(command));
  if (out.step_down) {
    trace_.add(name, "steps down: " + *out.step_down);
    return end_leading(one);
  }
  work_on_store(one);
  write_log(one);
  const Time next = one.coordinator->next_tick();
  if (next >= one.ticks_at || one.coordinator->stopped()) return;
  one.ticks_at = std::max(next, loop_.now);
  loop_.at(one.ticks_at, one.leads, [this, &one, generation = one.generation, at = one.ticks_at] {
    if (!one.coordinator || one.generation != generation || one.ticks_at != at) return;
    one.ticks_at = Time::max();
    if (generation < generation_) return end_leading(one);
    call(one, [&] { one.coordinator->tick(loop_.now); });
  });
}

// What is decided while a file is written goes into the next one together. The process may be killed before and after.
void Job::write_log(Aggregator& one) {
  if (one.is_logging || one.decisions.empty()) return;
  one.is_logging = true;
  const uint64_t generation = one.generation;
  const auto mine = [&one, generation] { return one.coordinator != nullptr && one.generation == generation; };
  loop_.after(net_.delay(++delays_), one.leads, [this, &one, generation, mine] {
    if (!mine()) return;
    if (log_of_ != generation) return end_leading(one);
    const uint64_t count = one.decisions.size();
    for (const Decision& decision : std::exchange(one.decisions, {})) {
      facts_.apply(decision);
      if (const auto* sealed = std::get_if<decided::Sealed>(&decision); sealed != nullptr && meter_ == nullptr)
        truth_.sealed(sealed->set, views(), store_, nanoseconds());
    }
    loop_.after(net_.delay(++delays_), one.leads, [this, &one, count, mine] {
      if (!mine()) return;
      one.is_logging = false;
      call(one, [&] { one.coordinator->logged(count, loop_.now); });
    });
  });
}

// One command after another; what is under way when the process is killed may have been done.
void Job::work_on_store(Aggregator& one) {
  if (one.is_at_store || one.commands.empty()) return;
  one.is_at_store = true;
  const uint64_t generation = one.generation;
  loop_.after(net_.delay(++delays_), one.leads, [this, &one, generation] {
    if (!one.coordinator || one.generation != generation) return;
    one.is_at_store = false;
    if (store_.mood == Store::Mood::down) {
      loop_.after(200ms, one.leads, [this, &one, generation] {
        if (one.coordinator && one.generation == generation) work_on_store(one);
      });
      return;
    }
    const StoreCommand command = std::move(one.commands.front());
    one.commands.pop_front();
    if (const auto* commit = std::get_if<Commit>(&command)) trace_.add("store", "commits " + commit->manifest.name);
    auto answer = store_.perform(command, generation);
    if (!answer) return work_on_store(one);
    one.is_at_store = true;
    loop_.after(net_.delay(++delays_), one.leads,
                [this, &one, generation, answer = std::make_shared<StoreAnswer>(*std::move(answer))] {
                  if (!one.coordinator || one.generation != generation) return;
                  one.is_at_store = false;
                  call(one, [&] { one.coordinator->answered(std::move(*answer), loop_.now); });
                });
  });
}

// ---- workers

namespace {

wire::TaskDoneT failed(wire::FaultSide side, ErrorKind kind, const std::string& what, uint32_t peer = 0xffffffff) {
  wire::TaskDoneT done;
  done.failed = true;
  done.side = side;
  done.error_kind = static_cast<uint8_t>(kind);
  done.error = what;
  done.peer = peer;
  return done;
}

}  // namespace

void Job::find_coordinator(Aggregator& one) {
  look_for_coordinator(
      one.process, one.node, 0,
      [this, &one](LinkId link, uint64_t) {
        one.link = link;
        one.heard = loop_.now;
        wire::WorkerHelloT hello;
        hello.host = hello.node = one.node;
        hello.profile = "balanced";
        hello.scheme = "auto";
        net_.send(link, one.process, std::move(hello));
      },
      [this, &one] {
        return Net::End{.process = one.process,
                        .node = one.node,
                        .received = [this, &one](wire::MessageT message) { worker_hears(one, std::move(message)); },
                        .closed =
                            [this, &one] {
                              one.link = 0;
                              one.tasks.clear();
                              find_coordinator(one);
                            }};
      });
}

void Job::worker_hears(Aggregator& one, wire::MessageT message) {
  one.heard = loop_.now;
  if (auto* task = message.body.AsTask()) {
    const uint64_t id = task->id;
    one.tasks[id] = std::move(*task);
    loop_.after(net_.delay(++delays_), one.process, [this, &one, id] { perform(one, id); });
  } else if (const auto* cancel = message.body.AsCancel()) {
    if (one.tasks.erase(cancel->id) == 0) return;
    wire::TaskDoneT done = failed(wire::FaultSide::other, ErrorKind::cancelled, "it is not wanted any more");
    done.id = cancel->id;
    net_.send(one.link, one.process, std::move(done));
  }
}

void Job::perform(Aggregator& one, uint64_t id) {
  const auto found = one.tasks.find(id);
  if (found == one.tasks.end() || one.link == 0) return;
  if (store_.mood == Store::Mood::down) return loop_.after(200ms, one.process, [this, &one, id] { perform(one, id); });
  const wire::TaskT task = std::move(one.tasks.extract(found).mapped());
  wire::TaskDoneT done = task.kind == wire::TaskKind::pack ? pack(task) : deliver(task);
  done.id = id;
  net_.send(one.link, one.process, std::move(done));
}

wire::TaskDoneT Job::pack(const wire::TaskT& task) {
  const auto staged = store_.staged().find(task.staged);
  if (staged == store_.staged().end())
    return failed(wire::FaultSide::store, ErrorKind::not_found, "there is no such staged set");
  if (store_.mood == Store::Mood::full)
    return failed(wire::FaultSide::store, ErrorKind::no_space, "no space left on the device");
  Container container;
  engine::GroupReport report;
  for (const auto& file : task.files) {
    const wire::PeerT& peer = *task.peers.at(file->peer);
    Agent* const agent = agent_at(peer.addresses);
    if (agent == nullptr)
      return failed(wire::FaultSide::source, ErrorKind::disconnected, peer.host + " does not answer", file->peer);
    const auto* files = agent->exposed_files(peer.exposure);
    if (files == nullptr || !files->contains(file->file->name))
      return failed(wire::FaultSide::source, ErrorKind::changed, "the files are not offered any more", file->peer);
    Body& body = container[file->file->name] = files->at(file->file->name);
    body.damaged_ns = 0;  // what rots before it is packed is what is packed: nothing compares it with the record
    report.entry.raw_bytes += file->file->size;
  }
  report.entry.name = task.container;
  report.entry.bytes = 10;
  report.entry.files = task.files.size();
  staged->second[task.container] = std::move(container);
  wire::TaskDoneT done;
  done.report = engine::to_text(report);
  return done;
}

wire::TaskDoneT Job::deliver(const wire::TaskT& task) {
  const auto set = store_.sets.find(task.set);
  if (set == store_.sets.end() || !set->second.containers.contains(task.container))
    return failed(wire::FaultSide::store, ErrorKind::not_found, "the set has no container of that name");
  std::map<uint32_t, std::map<std::string, Body>> by_peer;
  for (const auto& [name, body] : set->second.containers.at(task.container))
    if (const uint32_t index = body.rank - task.first_rank; index < task.peer_of_rank.size())
      by_peer[task.peer_of_rank[index]][name] = body;
  for (const auto& [peer, files] : by_peer) {
    if (peer >= task.peers.size()) continue;
    Agent* const agent = agent_at(task.peers[peer]->addresses);
    if (agent == nullptr)
      return failed(wire::FaultSide::source, ErrorKind::disconnected, task.peers[peer]->host + " does not answer",
                    peer);
    agent->deliver(task.set, files);
  }
  return {};
}

}  // namespace forebay::job::model

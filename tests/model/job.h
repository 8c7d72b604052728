// A job in one process: the real coordinators (job/coordinator), agents of the real pure machines, and stand-ins for
// workers, the store, the ranks of an application and `forebay run`, under one clock. Commands make things go wrong;
// Truth says whether what must hold does.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent.h"
#include "cost.h"
#include "job/coordinator/coordinator.h"
#include "job/decisions/facts.h"
#include "script.h"
#include "store.h"
#include "trace.h"
#include "truth.h"

namespace forebay::job::model {

class Job final : public World {
 public:
  Job(const Setup& setup, bool traces);
  ~Job() override;

  // What the command says, or the error of a command that cannot be. Time goes on for some of them.
  Result<void> apply(const Command& command);
  // Until the job is over, or can be taken to hang.
  void finish();

  const std::string& fault() const { return truth_.fault(); }
  Trace& trace() { return trace_; }
  uint64_t steps() const { return loop_.steps(); }
  uint64_t restarts() const { return restarts_; }
  Time now() const { return loop_.now; }
  bool is_over() const { return is_over_; }
  // From now on the coordinator's calls are measured, and take time; nothing is judged, which takes much.
  void measure(Meter& meter) { meter_ = &meter; }
  // As a coordinator told `run` last; JSON.
  const std::string& status() const { return status_; }

 private:
  // A process that packs, and may be the coordinator (job_aggregator.cc).
  struct Aggregator {
    ProcessRef process;
    std::string node;
    LinkId link = 0;  // of the worker to the coordinator
    Time heard{};
    std::map<uint64_t, wire::TaskT> tasks;
    std::unique_ptr<Coordinator> coordinator;
    ProcessRef leads = std::make_shared<Process>();  // the same process, as the coordinator
    uint64_t generation = 0;
    std::map<LinkId, bool> sessions;
    std::deque<StoreCommand> commands;
    bool is_at_store = false;
    std::deque<Decision> decisions;  // for the log
    bool is_logging = false;
    Time ticks_at = Time::max();
  };
  struct Node {
    std::string name;
    Disk disk;
    bool is_up = true, is_excluded = false;
    Agent* agent = nullptr;
    Aggregator* aggregator = nullptr;
    Time trouble{}, lost_at{};
    uint32_t vanished = 0;  // files, so far
  };
  struct Rank {
    ProcessRef process;
    uint32_t number = 0;
    Node* node = nullptr;
    LinkId link = 0;
    uint64_t pid = 0;
    std::function<void(LinkId)> question;
    std::string waits_for;
    Time lost_at{};
  };
  struct Application {
    uint64_t attempt = 0;
    std::vector<std::unique_ptr<Rank>> ranks;
    uint32_t done = 0;  // ranks that have come as far
    int64_t position = 0;
    bool is_over = false;
  };

  // World
  Loop& loop() override { return loop_; }
  Net& net() override { return net_; }
  void find_coordinator(Agent& agent) override;
  Agent* agent_at(const std::string& address) override;
  void heard(const Agent& agent, const std::string& set, const std::string& stored_as) override;
  void removing() override;
  void removed(const Agent& agent, const std::string& set, bool is_refused) override;
  void say(const Agent& agent, const std::string& text) override;

  // job.cc
  void sent(const std::string& from, const std::string& to, const wire::MessageT& message);
  Node* node(const std::string& name);
  std::vector<NodeView> views() const;
  int64_t nanoseconds() const;
  void start_daemons(Node& node);
  void start_agent(Node& node);
  void start_aggregator(Node& node);
  void kill(const ProcessRef& process);
  void lose(Node& node);
  Result<void> until(const Command& command);
  Result<void> do_to_node(const Command& command);
  void pause(const ProcessRef& process, Duration time);
  std::optional<std::string> newest_sealed(const Node& node) const;

  // job_aggregator.cc: coordinators and workers
  Aggregator* leader();
  void look_for_coordinator(const ProcessRef& process, const std::string& node, uint32_t tries,
                            std::function<void(LinkId, uint64_t)> found, std::function<Net::End()> end);
  void elect();
  void lead(Aggregator& one);
  void end_leading(Aggregator& one);
  LinkId connect_to(Aggregator& one, Net::End end);
  // A call of the coordinator, and what follows from it.
  template <class Call>
  void call(Aggregator& one, const Call& call) {
    if (meter_ == nullptr) {
      call();
      return flush(one);
    }
    meter_->run(call);
    flush(one);
    loop_.spend(meter_->end_call());
  }
  CoordinatorOutput take_output(Aggregator& one);
  void flush(Aggregator& one);
  void work_on_store(Aggregator& one);
  void write_log(Aggregator& one);
  void find_coordinator(Aggregator& one);
  void worker_hears(Aggregator& one, wire::MessageT message);
  void perform(Aggregator& one, uint64_t task);
  wire::TaskDoneT pack(const wire::TaskT& task);
  wire::TaskDoneT deliver(const wire::TaskT& task);

  // job_application.cc: ranks and `forebay run`
  void launch();
  void connect(Rank& rank);
  void ask(Rank& rank, std::string what, std::function<void(LinkId)> question);
  void rank_hears(Rank& rank, wire::MessageT message);
  void restarted(Rank& rank, const wire::RestartedT& answer);
  void begin_set(Rank& rank);
  void write(Rank& rank, const std::string& set);
  void rank_is_done(Rank& rank);
  void next_set();
  void reject();
  void end_application(bool good, const std::string& why);
  void look_after_nodes(std::function<void()> then);
  void control(const wire::MessageT& request, bool until_stop, std::function<void()> done);
  void drain();
  void over(int code);
  void say(const std::string& text) { trace_.add("run", text); }

  const Setup setup_;
  Loop loop_;
  Trace trace_;
  Net net_;
  Truth truth_;
  Store store_;
  Facts facts_;          // of the log of decisions
  uint64_t log_of_ = 0;  // whose it is: a generation before can append no more
  std::vector<std::unique_ptr<Node>> nodes_;
  std::vector<std::unique_ptr<Agent>> agents_;  // dead ones, too
  std::vector<std::unique_ptr<Aggregator>> aggregators_;
  std::vector<std::string> in_use_, spares_;
  std::vector<std::unique_ptr<Application>> applications_;
  std::vector<std::unique_ptr<Disk>> ghosts_;  // of lost nodes
  std::vector<NodeView> ghost_views_;
  uint64_t generation_ = 0, numbers_ = 0, agent_numbers_ = 0, pids_ = 1000, delays_ = 0, restarts_ = 0;
  bool is_electing_ = false, is_over_ = false, rejects_ = false;
  std::optional<std::pair<std::string, std::string>> refused_;  // set, and its name in the store
  std::string placement_ = "home", status_;
  int exit_code_ = -1;
  Meter* meter_ = nullptr;
  ProcessRef run_ = std::make_shared<Process>();
  // until: a message of this kind, with these words
  std::optional<Command> awaited_;
  std::vector<std::string> homes_;  // of ranks, by node in use
};

}  // namespace forebay::job::model

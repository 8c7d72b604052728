// Random histories: agents, workers and coordinators that die and come back, a store that fails, files that change; and
// what must hold all the same.
#include <optional>
#include <random>
#include <set>

#include <gmock/gmock.h>

#include "job/coordinator/offered_part.h"
#include "job/coordinator/test_coordinator.h"

namespace forebay::job {
namespace {

using wire::SetState;

constexpr uint32_t kRanksPerNode = 2;

// Outlives coordinators.
struct FakeStore {
  struct Staged {
    std::string name;
    std::set<std::string> containers;  // that workers have written
  };
  std::map<std::string, store::Manifest> sets;
  std::map<std::pair<uint64_t, uint64_t>, Staged> staged;  // by generation and number
};

struct FakeAgent {
  struct OnStage {
    uint64_t exposure = 0;
    int64_t mtime = 0;
    SetState state = SetState::incomplete;
  };
  std::string node;
  std::vector<uint32_t> ranks;
  SessionId session = 0;  // 0: dead
  std::map<std::string, OnStage> stage;
};

struct FakeWorker {
  std::string node;
  SessionId session = 0;
  std::optional<wire::TaskT> task;
  bool cancelled = false, hangs = false;
};

class History {
 public:
  History(uint32_t seed, Backlog backlog) : random_(seed) {
    options_.group_size = 3;
    options_.backlog = backlog;
    options_.set_timeout = 60s;
    options_.stall_timeout = 20s;
    options_.profile = "p";
    options_.scheme = "s";
    for (uint32_t i = 0; i < 3; ++i) {
      FakeAgent& agent = agents_.emplace_back();
      agent.node = "n" + std::to_string(i);
      for (uint32_t r = 0; r < kRanksPerNode; ++r) agent.ranks.push_back(i * kRanksPerNode + r);
    }
    for (uint32_t i = 0; i < 3; ++i) workers_.push_back({.node = "n" + std::to_string(i)});
    elect();
  }

  void run(int steps) {
    for (int step = 0; step < steps && !testing::Test::HasFailure(); ++step) {
      if (calm_) connect_all();
      act();
      settle();
    }
  }

  // Nobody dies any more, and all that was offered comes to an end.
  void calm() {
    calm_ = true;
    for (FakeWorker& worker : workers_) worker.hangs = false;
    for (int i = 0; i < 200 && unfinished() != 0; ++i) run(100);
    EXPECT_EQ(unfinished(), 0) << log_;
    EXPECT_GE(logged_.sums.counts.durable, heard_.size()) << "nobody hears of what the next one does not know";
    EXPECT_LE(logged_.sums.counts.durable, store_.sets.size());
  }

  uint32_t commits() const { return commits_; }

 private:
  // Sets on the stages whose agents do not know yet what became of them.
  std::ptrdiff_t unfinished() const {
    std::ptrdiff_t count = 0;
    for (const FakeAgent& agent : agents_)
      count += std::ranges::count_if(agent.stage, [](const auto& one) { return one.second.state < SetState::durable; });
    return count;
  }
  bool chance(int percent) { return static_cast<int>(random_() % 100) < percent; }
  size_t pick(size_t count) { return random_() % count; }
  uint32_t ranks() const { return static_cast<uint32_t>(agents_.size()) * kRanksPerNode; }

  template <class Table>
  void send(SessionId from, Table body) {
    wire::MessageT message;
    message.body.Set(std::move(body));
    ASSERT_TRUE(coordinator_->received(from, std::move(message), now_));
  }

  // ---- who is there

  void elect() {
    ++generation_;
    // What the one before has asked of the store may be done, but nobody hears of it.
    while (!commands_.empty() && chance(50)) perform(true);
    commands_.clear();
    // Some of what it has decided last is in the log, though it has not heard of that.
    while (!deciding_.empty() && chance(70)) write_next();
    deciding_.clear();
    coordinator_ = std::make_unique<Coordinator>(options_, generation_, now_, logged_);
    for (FakeAgent& agent : agents_) agent.session = 0;
    for (FakeWorker& worker : workers_) worker = {.node = worker.node};
    answers_.clear();
  }

  void connect(FakeAgent& agent) {
    agent.session = ++last_session_;
    coordinator_->connected(agent.session, "agent", now_);
    wire::AgentHelloT hello;
    hello.host = hello.node = agent.node;
    hello.addresses = "tcp:x:1";
    hello.stage = "/s";
    send(agent.session, std::move(hello));
    for (auto& [name, set] : agent.stage) {
      if (set.state >= SetState::durable && !chance(20)) continue;  // some do not know what they knew
      set.state = SetState::incomplete;
      offer(agent, name, set);
    }
  }
  void offer(FakeAgent& agent, const std::string& name, FakeAgent::OnStage& set) {
    set.exposure = ++last_exposure_;
    wire::OfferT offer = offer_of(name, agent.ranks, ranks(), set.exposure, set.mtime);
    offer.step = std::stoll(name.substr(1));
    send(agent.session, std::move(offer));
  }
  void connect(FakeWorker& worker) {
    worker = {.node = worker.node, .session = ++last_session_};
    coordinator_->connected(worker.session, "worker", now_);
    wire::WorkerHelloT hello;
    hello.host = hello.node = worker.node;
    hello.profile = options_.profile;
    hello.scheme = options_.scheme;
    send(worker.session, std::move(hello));
  }
  void connect_all() {
    for (FakeAgent& agent : agents_)
      if (agent.session == 0) connect(agent);
    for (FakeWorker& worker : workers_)
      if (worker.session == 0) connect(worker);
  }
  template <class One>
  void kill(One& one) {
    if (one.session == 0) return;
    coordinator_->disconnected(one.session, now_);
    one.session = 0;
  }

  void write_next() {
    logged_.apply(deciding_.front());
    deciding_.pop_front();
  }
  void write_log() {
    const uint64_t written = deciding_.size();
    while (!deciding_.empty()) write_next();
    coordinator_->logged(written, now_);
  }

  // ---- what they do

  void act() {
    now_ += std::chrono::milliseconds(random_() % 1000);
    const int what = static_cast<int>(random_() % 100);
    FakeAgent& agent = agents_[pick(agents_.size())];
    FakeWorker& worker = workers_[pick(workers_.size())];
    if (what < 20 && !calm_)
      write_set(agent);
    else if (what < 35)
      work(worker);
    else if (what < 60)
      perform(false);
    else if (what < 70)
      answer();
    else if (calm_)
      return;
    else if (what < 80)
      agent.session == 0 ? connect(agent) : chance(20) ? kill(agent) : void();
    else if (what < 92)
      worker.session == 0 ? connect(worker) : chance(20) ? kill(worker) : void();
    else if (what < 94)
      worker.hangs = true;
    else if (what < 95)
      change(agent);
    else if (what < 96 && chance(30))
      elect();
  }

  // The next set of this node: all nodes write the same ones.
  void write_set(FakeAgent& agent) {
    constexpr size_t kMost = 30;
    if (agent.stage.size() == kMost) return;
    const std::string name = "s" + std::to_string(agent.stage.size() + 1);
    auto& set = agent.stage[name];
    set.mtime = 100;
    if (agent.session != 0) offer(agent, name, set);
  }

  void change(FakeAgent& agent) {
    if (agent.stage.empty() || agent.session == 0) return;
    auto at = agent.stage.begin();
    std::advance(at, static_cast<std::ptrdiff_t>(pick(agent.stage.size())));
    if (at->second.state >= SetState::durable) return;
    at->second.mtime += 1;
    offer(agent, at->first, at->second);
  }

  void work(FakeWorker& worker) {
    if (worker.session == 0 || !worker.task || worker.hangs) return;
    const wire::TaskT task = std::move(*worker.task);
    worker.task.reset();
    const bool was_cancelled = std::exchange(worker.cancelled, false);
    if (was_cancelled && chance(70))
      return send(worker.session, failure(task, wire::FaultSide::other, ErrorKind::cancelled));
    if (!calm_ && chance(10)) return send(worker.session, failure(task, wire::FaultSide::store, ErrorKind::no_space));
    if (!calm_ && chance(5))
      return send(worker.session, failure(task, wire::FaultSide::source, ErrorKind::disconnected));
    for (auto& [key, staged] : store_.staged)
      if (id_of(key) == task.staged) {
        EXPECT_TRUE(staged.containers.insert(task.container).second) << "two attempts under one name";
      }
    send(worker.session, success(task));
  }

  static std::string id_of(std::pair<uint64_t, uint64_t> key) {
    return "staged." + std::to_string(key.first) + "." + std::to_string(key.second);
  }

  // ---- the store

  void perform(bool unheard) {
    if (commands_.empty()) return;
    const StoreCommand command = std::move(commands_.front());
    commands_.pop_front();
    const uint64_t generation = unheard ? generation_ - 1 : generation_;
    auto answer = std::visit([&](const auto& one) { return perform(one, generation); }, command);
    if (!unheard && answer) answers_.push_back(*std::move(answer));
  }
  std::optional<StoreAnswer> perform(const Prune&, uint64_t) { return std::nullopt; }
  std::optional<StoreAnswer> perform(const SetAside& command, uint64_t) { return WasSetAside{command.name, {}}; }
  std::optional<StoreAnswer> perform(const LookUp& command, uint64_t) {
    if (!calm_ && chance(10)) return LookedUp{command.set, fail(ErrorKind::io, "EIO")};
    std::vector<StoredSet> sets;
    for (uint64_t n = 1; store_.sets.contains(store::stored_name(command.name, n)); ++n)
      sets.push_back(
          {store::stored_name(command.name, n), store_.sets.at(store::stored_name(command.name, n)).sources});
    return LookedUp{command.set, sets};
  }
  std::optional<StoreAnswer> perform(const Stage& command, uint64_t generation) {
    if (!calm_ && chance(10)) return Staged{command.set, fail(ErrorKind::no_space, "full")};
    uint64_t n = 1;
    while (store_.sets.contains(store::stored_name(command.name, n))) ++n;
    const std::pair key(generation, command.set);
    EXPECT_FALSE(store_.staged.contains(key));
    store_.staged[key] = {.name = store::stored_name(command.name, n), .containers = {}};
    return Staged{command.set, StagedPlace{.name = store::stored_name(command.name, n), .staged = id_of(key)}};
  }
  std::optional<StoreAnswer> perform(const Commit& command, uint64_t generation) {
    if (!calm_ && chance(10)) return Committed{command.set, fail(ErrorKind::io, "EIO")};
    const auto staged = store_.staged.find({generation, command.set});
    EXPECT_NE(staged, store_.staged.end()) << "committed without being staged";
    if (staged == store_.staged.end()) return {};
    EXPECT_EQ(staged->second.name, command.manifest.name);
    if (store_.sets.contains(command.manifest.name)) return Committed{command.set, fail(ErrorKind::exists, "taken")};
    check_commit(command, staged->second);
    store_.sets[command.manifest.name] = command.manifest;
    store_.staged.erase(staged);
    ++commits_;
    return Committed{command.set, {}};
  }
  std::optional<StoreAnswer> perform(const Abandon& command, uint64_t generation) {
    store_.staged.erase({generation, command.set});
    return {};
  }
  std::optional<StoreAnswer> perform(const ListSets&, uint64_t) { return {}; }

  void check_commit(const Commit& command, const FakeStore::Staged& staged) {
    EXPECT_EQ(command.manifest.containers.size(), 2u);
    for (const store::ContainerEntry& container : command.manifest.containers)
      EXPECT_TRUE(staged.containers.contains(container.name)) << container.name << " was never written";
    EXPECT_TRUE(command.has_others || staged.containers.size() == 2) << "others were written";
    EXPECT_EQ(command.manifest.files(), ranks());
    for (const auto& [name, other] : store_.sets)
      EXPECT_FALSE(store::application_name(other) == store::application_name(command.manifest) &&
                   other.sources == command.manifest.sources)
          << name << " and " << command.manifest.name << " are one set";
  }

  void answer() {
    if (answers_.empty()) return;
    coordinator_->answered(std::move(answers_.front()), now_);
    answers_.pop_front();
  }

  // ---- what comes of it

  void settle() {
    if (calm_ || chance(70)) {
      for (const FakeAgent& agent : agents_)
        if (agent.session != 0) send(agent.session, wire::PingT{});
      for (const FakeWorker& worker : workers_)
        if (worker.session != 0) send(worker.session, wire::PingT{});
    }
    if (now_ >= coordinator_->next_tick()) coordinator_->tick(now_);
    CoordinatorOutput out = coordinator_->take_output();
    for (Decision& decision : out.decisions) deciding_.push_back(std::move(decision));
    if (calm_ || chance(60)) write_log();
    for (auto& [to, message, at_once] : out.messages) receive(to, message);
    for (const SessionId id : out.closed) {
      for (FakeAgent& agent : agents_)
        if (agent.session == id) agent.session = 0;
      for (FakeWorker& worker : workers_)
        if (worker.session == id) worker.session = 0;
    }
    for (StoreCommand& command : out.commands) commands_.push_back(std::move(command));
    for (const LogLine& line : out.log) log_ += std::to_string(generation_) + ": " + line.text + "\n";
  }

  void receive(SessionId to, wire::MessageT& message) {
    for (FakeAgent& agent : agents_)
      if (agent.session == to && message.body.type == wire::Body::SetNews) news(agent, *message.body.AsSetNews());
    for (FakeWorker& worker : workers_) {
      if (worker.session != to) continue;
      if (message.body.type == wire::Body::Task) give(worker, *message.body.AsTask());
      if (message.body.type == wire::Body::Cancel && worker.task && worker.task->id == message.body.AsCancel()->id) {
        worker.cancelled = true;
        worker.hangs = worker.hangs && !chance(50);
      }
    }
  }

  void news(FakeAgent& agent, const wire::SetNewsT& news) {
    auto& set = agent.stage.at(news.set);
    if (news.exposure != set.exposure) return;
    EXPECT_GE(news.state, SetState::durable);
    set.state = news.state;
    if (news.state != SetState::durable) return;
    heard_.insert(news.stored_as);
    ASSERT_TRUE(store_.sets.contains(news.stored_as)) << news.stored_as << " is not stored";
    wire::OfferT same = offer_of(news.set, agent.ranks, ranks(), 1, set.mtime);
    EXPECT_THAT(store_.sets.at(news.stored_as).sources, testing::Contains(hash_text(value(make_part(same)).hash)));
  }

  void give(FakeWorker& worker, const wire::TaskT& task) {
    EXPECT_FALSE(worker.task) << "a worker that is busy gets a task";
    for (const FakeWorker& other : workers_)
      if (other.session != 0 && other.task && !other.cancelled) {
        EXPECT_FALSE(other.task->staged == task.staged && other.task->first_rank == task.first_rank)
            << "two live workers have one task";
      }
    worker.task = task;
    worker.cancelled = false;
  }

  std::mt19937 random_;
  CoordinatorOptions options_;
  Coordinator::Time now_{1000h};
  uint64_t generation_ = 0, last_exposure_ = 0;
  SessionId last_session_ = 0;
  std::unique_ptr<Coordinator> coordinator_;
  std::vector<FakeAgent> agents_;
  std::vector<FakeWorker> workers_;
  FakeStore store_;
  std::deque<StoreCommand> commands_;
  std::deque<StoreAnswer> answers_;
  std::deque<Decision> deciding_;  // what is not in the log yet
  Facts logged_;
  std::set<std::string> heard_;  // durable sets, as agents have
  bool calm_ = false;
  uint32_t commits_ = 0;
  std::string log_;
};

class HistoryTest : public testing::TestWithParam<Backlog> {};

TEST_P(HistoryTest, NothingIsLostOrStoredTwice) {
  constexpr uint32_t kSeeds = 60;
  uint32_t commits = 0;
  for (uint32_t seed = 0; seed < kSeeds; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    History history(seed, GetParam());
    history.run(1500);
    history.calm();
    if (HasFailure()) return;
    commits += history.commits();
  }
  EXPECT_GT(commits, kSeeds) << "too little happens for this test to tell anything";
}

INSTANTIATE_TEST_SUITE_P(Coordinator, HistoryTest, testing::Values(Backlog::newest, Backlog::skip, Backlog::block),
                         [](const auto& one) { return std::string(to_string(one.param)); });

// What a set costs in messages must not depend on how long it takes, or on how many sets there were.
TEST(MessagesOfASet, AreFewForEachNodeAndGroup) {
  CoordinatorOptions options;
  options.group_size = 4;
  Stand stand(options);
  std::vector<SessionId> agents;
  for (uint32_t i = 0; i < 16; ++i) agents.push_back(stand.agent("n" + std::to_string(i)));
  const SessionId worker = stand.worker("n0");
  for (uint64_t step = 0; step < 5; ++step) {
    for (auto& [id, inbox] : stand.inbox) inbox.messages = 0;
    for (uint32_t i = 0; i < agents.size(); ++i) {
      std::vector<uint32_t> ranks;
      for (uint32_t r = 0; r < 8; ++r) ranks.push_back(i * 8 + r);
      stand.send(agents[i], offer_of("s" + std::to_string(step), ranks, 128, step));
    }
    stand.serve_store();
    while (!stand.inbox[worker].tasks.empty()) {
      const wire::TaskT task = std::move(stand.inbox[worker].tasks.front());
      stand.inbox[worker].tasks.pop_front();
      stand.send(worker, success(task));
      stand.serve_store();
    }
    for (const SessionId agent : agents) EXPECT_EQ(stand.inbox[agent].messages, 2u) << "its place, and its end";
    EXPECT_EQ(stand.inbox[worker].messages, 32u);
  }
}

}  // namespace
}  // namespace forebay::job

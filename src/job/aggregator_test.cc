#include "job/aggregator.h"

#include <atomic>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>

#include <gmock/gmock.h>

#include "job/agent/agent.h"
#include "job/client/client.h"
#include "job/rendezvous/rendezvous.h"
#include "job/test_job.h"
#include "store/store.h"

namespace forebay::job {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

template <class Condition>
bool wait_for(Condition condition, std::chrono::seconds time = 20s) {
  for (const auto end = std::chrono::steady_clock::now() + time; std::chrono::steady_clock::now() < end;) {
    if (condition()) return true;
    std::this_thread::sleep_for(20ms);
  }
  return false;
}

class AggregatorTest : public TempTest {
 protected:
  std::jthread aggregator() {
    return std::jthread([this](std::stop_token stop) {
      AggregatorOptions options;
      options.rendezvous = path("r");
      options.store = path("store");
      options.listen = {{.kind = fabric::Address::Kind::tcp, .host = "127.0.0.1"}};
      options.coordinator.peer_timeout = 2s;
      options.coordinator.quiet = 200ms;
      options.coordinator.stall_timeout = stall_;
      options.listening = [this](const auto& addresses) {
        const std::scoped_lock lock(mutex_);
        addresses_ = addresses;
      };
      options.worker.resources.memory_bytes = 128 << 20;
      options.worker.resources.threads = 1;
      options.log = [this](fabric::Severity, const std::string& text) {
        const std::scoped_lock lock(mutex_);
        log_ += text + "\n";
      };
      const auto result = run_aggregator(options, stop);
      EXPECT_TRUE(result) << result.error().message();
    });
  }

  std::jthread agent(const std::string& stage) {
    const auto rendezvous = value(Rendezvous::open(path("r")));
    return std::jthread([this, stage, secret = rendezvous.secret()](std::stop_token stop) {
      AgentOptions options;
      options.stage = path(stage);
      options.rendezvous = path("r");
      options.credentials.secret = secret;
      options.priority = Priority::normal;
      options.ready = [this](const auto&) { agent_ready_ = true; };
      const auto result = run_agent(options, stop);
      EXPECT_TRUE(result) << result.error().message();
    });
  }

  // One request to the coordinator, and its answer of that type.
  template <class Request>
  std::optional<wire::MessageT> ask(Request request, wire::Body answer) {
    const auto rendezvous = Rendezvous::open_existing(path("r"));
    if (!rendezvous) return {};
    auto reached = reach_coordinator(*rendezvous, {.secret = rendezvous->secret()}, 1s);
    if (!reached) return {};
    Bytes bytes;
    wire::encode(bytes, std::move(request));
    if (!reached->link.send(bytes, 1s)) return {};
    while (true) {
      const auto frame = reached->link.receive(wire::kMaxBody, 5s);
      if (!frame) return {};
      auto message = wire::decode(*frame);
      if (!message) return {};
      if (message->body.type == answer) return *std::move(message);
    }
  }
  nlohmann::json status() {
    const auto answer = ask(wire::StatusRequestT{}, wire::Body::Status);
    return answer ? nlohmann::json::parse(answer->body.AsStatus()->json) : nlohmann::json::object();
  }
  bool has_workers(size_t count, uint64_t generation) {
    return wait_for([&] {
      const auto now = status();
      return now.value("worker_count", 0u) == count && now.value("generation", 0u) == generation;
    });
  }

  std::string log() {
    const std::scoped_lock lock(mutex_);
    return log_;
  }

  // With the aggregator that was started last, as an agent.
  fabric::Link join_early() {
    std::vector<fabric::Address> addresses;
    EXPECT_TRUE(wait_for([&] {
      const std::scoped_lock lock(mutex_);
      addresses = std::exchange(addresses_, {});
      return !addresses.empty();
    }));
    const auto secret = value(Rendezvous::open_existing(path("r"))).secret();
    fabric::Link link = value(fabric::Link::open(addresses, {.secret = secret}, wire::kPurpose, 5s));
    Bytes bytes;
    wire::encode(bytes, wire::AgentHelloT{.host = "h", .node = "n", .addresses = "tcp:127.0.0.1:1", .stage = "/s"});
    check(link.send(bytes, 1s));
    return link;
  }
  // The generation of the coordinator that welcomes it; nothing: the connection was closed.
  static std::optional<uint64_t> welcome(fabric::Link& link) {
    while (true) {
      const auto frame = link.receive(wire::kMaxBody, 10s);
      if (!frame) {
        EXPECT_EQ(frame.error().kind, ErrorKind::disconnected);
        return {};
      }
      const auto message = value(wire::decode(*frame));
      if (const auto* welcome = message.body.AsWelcome()) return welcome->generation;
    }
  }

  std::atomic<bool> agent_ready_ = false;
  std::chrono::milliseconds stall_ = 120s;

 private:
  std::mutex mutex_;
  std::vector<fabric::Address> addresses_;
  std::string log_;
};

TEST_F(AggregatorTest, OneOfThemIsTheCoordinator) {
  std::vector<std::jthread> all;
  for (int i = 0; i < 3; ++i) all.push_back(aggregator());
  ASSERT_TRUE(has_workers(3, 1)) << log();
  nlohmann::json now = status();
  EXPECT_EQ(now["host"], value(Rendezvous::open_existing(path("r"))).aggregators().value()[0].host);
  EXPECT_EQ(now["received"]["WorkerHello"]["message_count"], 3);
  EXPECT_EQ(now["sent"]["Welcome"]["message_count"], 3);
  EXPECT_GT(now["sent"]["Welcome"]["message_bytes"], 3 * fabric::kFrameHeaderBytes);
}

TEST_F(AggregatorTest, AnotherOneTakesThePlaceOfOneThatIsGone) {
  std::jthread first = aggregator();
  ASSERT_TRUE(has_workers(1, 1)) << log();
  std::jthread second = aggregator(), third = aggregator();
  ASSERT_TRUE(has_workers(3, 1)) << log();
  first.request_stop();
  first.join();
  EXPECT_TRUE(has_workers(2, 2)) << log();
}

TEST_F(AggregatorTest, FollowsAHigherGeneration) {
  const std::jthread only = aggregator();
  ASSERT_TRUE(has_workers(1, 1)) << log();
  // Somebody took it, and died before it could answer.
  const auto rendezvous = value(Rendezvous::open_existing(path("r")));
  EXPECT_TRUE(value(rendezvous.take(2, {.addresses = "tcp:127.0.0.1:1", .host = "h", .node = "n", .pid = 1})));
  EXPECT_TRUE(has_workers(1, 3)) << log();
}

// Agents and aggregators reach it still, and would take it for a coordinator for ever.
TEST_F(AggregatorTest, OneThatCannotBeginItsLogLeavesThePostToAnother) {
  const auto rendezvous = value(Rendezvous::open(path("r")));
  const std::string log_of_first = path("r") + "/decisions.1";
  fs::create_directory_symlink("decisions.1", log_of_first);
  std::jthread first = aggregator();
  ASSERT_TRUE(wait_for([&] { return log().contains("this cannot be coordinator 1"); })) << log();
  fs::remove(log_of_first);
  std::jthread second = aggregator();
  EXPECT_TRUE(has_workers(2, 3)) << log();
}

// A coordinator that others can reach already, and that never begins: its log hangs, for all that they see.
class Mute final : public fabric::HubHandler {
 public:
  Mute(const Rendezvous& rendezvous, uint64_t generation)
      : hub_(value(fabric::Hub::create({.listen = {{.kind = fabric::Address::Kind::tcp, .host = "127.0.0.1"}},
                                        .credentials = {.secret = rendezvous.secret()},
                                        .purpose = std::string(wire::kPurpose),
                                        .max_body = wire::kMaxBody}))),
        thread_([this] { EXPECT_TRUE(hub_->run(*this)); }) {
    const std::string addresses = fabric::to_string(hub_->addresses().front());
    EXPECT_TRUE(value(rendezvous.take(generation, {.addresses = addresses, .host = "h", .node = "n", .pid = 1})));
  }
  ~Mute() override { hub_->stop(); }

  void connected(fabric::ConnectionId, const std::string&) override { ++reached_; }
  Result<void> received(fabric::ConnectionId, const fabric::Frame&) override {
    return fail(ErrorKind::disconnected, "nobody coordinates here");
  }
  void disconnected(fabric::ConnectionId, Ending) override {}
  void tick(Time) override {}
  Time next_tick() const override { return Time::max(); }
  int reached() const { return reached_; }

 private:
  std::unique_ptr<fabric::Hub> hub_;
  std::atomic<int> reached_ = 0;
  std::jthread thread_;
};

TEST_F(AggregatorTest, ACoordinatorThatNeverBeginsIsReplaced) {
  stall_ = 1500ms;
  const Mute first(value(Rendezvous::open(path("r"))), 1);
  const std::jthread second = aggregator();
  EXPECT_TRUE(has_workers(1, 2)) << log();
  EXPECT_GT(first.reached(), 2) << "it was given time to begin";
}

// Its address is known before it coordinates.
TEST_F(AggregatorTest, WhoComesBeforeTheElectionIsOverIsHeardAfterIt) {
  stall_ = 1s;
  const Mute first(value(Rendezvous::open(path("r"))), 1);
  const std::jthread second = aggregator();
  fabric::Link early = join_early();
  EXPECT_EQ(welcome(early), 2u) << log();
}

TEST_F(AggregatorTest, WhoComesToOneThatStandsByIsLetGo) {
  const std::jthread first = aggregator();
  ASSERT_TRUE(has_workers(1, 1)) << log();
  fabric::Link lost = join_early();
  EXPECT_EQ(welcome(lost), 1u);
  const std::jthread second = aggregator();
  fabric::Link early = join_early();
  EXPECT_FALSE(welcome(early)) << "it looks for the one that coordinates then";
}

TEST_F(AggregatorTest, TheEndIsForAll) {
  std::jthread first = aggregator(), second = aggregator();
  ASSERT_TRUE(has_workers(2, 1)) << log();
  wire::StopRequestT stop;
  stop.drain = true;
  EXPECT_TRUE(ask(std::move(stop), wire::Body::Stop));
  first.join();
  second.join();
  EXPECT_FALSE(fs::exists(path("r")));
}

// Two ranks on one node write a set, and wait until it is durable.
class JobTest : public AggregatorTest {
 protected:
  void SetUp() override {
    first_ = aggregator();
    ASSERT_TRUE(has_workers(1, 1)) << log();
    second_ = aggregator();
    ASSERT_TRUE(has_workers(2, 1)) << log();
    agent_ = agent("stage");
    ASSERT_TRUE(wait_for([&] { return agent_ready_.load(); }));
  }

  static std::string content_of(uint32_t rank, int64_t step) {
    return std::string(100'000, static_cast<char>('a' + rank)) + std::to_string(step);
  }

  Client::News dump(int64_t step) {
    const std::string set = "s" + std::to_string(step);
    std::vector<std::unique_ptr<Client>> ranks;
    for (uint32_t rank = 0; rank < 2; ++rank) {
      ranks.push_back(value(Client::connect(path("stage"), rank, 2)));
      check(ranks.back()->begin(set, step, 5s));
    }
    for (uint32_t rank = 0; rank < 2; ++rank) {
      std::ofstream(value(ranks[rank]->path("rank" + std::to_string(rank)))) << content_of(rank, step);
      check(ranks[rank]->complete());
    }
    return value(ranks[0]->wait(set, 20s));
  }

  // What each rank finds; nothing if there is nothing.
  std::vector<std::optional<std::string>> restart() {
    std::vector<std::optional<std::string>> contents(2);
    std::vector<std::jthread> ranks;
    for (uint32_t rank = 0; rank < 2; ++rank)
      ranks.emplace_back([this, rank, &contents] {
        const auto client = value(Client::connect(path("stage"), rank, 2));
        const auto found = client->restart(20s);
        EXPECT_TRUE(found) << found.error().message();
        if (!found || !found->found) return;
        std::ifstream in(value(client->restart_path("rank" + std::to_string(rank))));
        contents[rank] = std::string(std::istreambuf_iterator<char>(in), {});
      });
    ranks.clear();
    return contents;
  }

  std::jthread first_, second_, agent_;
};

TEST_F(JobTest, SetsAreDrainedAcrossTheDeathOfACoordinator) {
  EXPECT_EQ(dump(1).state, wire::SetState::durable) << log();
  first_.request_stop();
  first_.join();
  EXPECT_EQ(dump(2).state, wire::SetState::durable) << log();
  EXPECT_EQ(status()["generation"], 2);
  const auto store = value(store::Store::open(path("store")));
  const auto sets = value(store.list());
  ASSERT_EQ(sets.size(), 2u);
  for (const store::SetInfo& set : sets) {
    EXPECT_EQ(value(set.manifest).ranks, 2u);
    EXPECT_EQ(value(set.manifest).files(), 2u);
  }
}

TEST_F(JobTest, ARestartBringsTheNewestSetThatIsNotDamaged) {
  EXPECT_EQ(restart(), std::vector<std::optional<std::string>>(2));
  for (const int64_t step : {1, 2}) EXPECT_EQ(dump(step).state, wire::SetState::durable) << log();
  for (const char* set : {"s1", "s2"}) fs::remove_all(path("stage") + "/" + set);
  EXPECT_EQ(restart(), (std::vector<std::optional<std::string>>{content_of(0, 2), content_of(1, 2)})) << log();
  fs::resize_file(path("store/sets/s2/00000-of-00001.fbc"), 100);
  EXPECT_EQ(restart(), (std::vector<std::optional<std::string>>{content_of(0, 1), content_of(1, 1)})) << log();
}

}  // namespace
}  // namespace forebay::job

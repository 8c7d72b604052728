// What a rank says to its agent, which is played here.
#include "job/client/client.h"

#include <deque>
#include <mutex>
#include <thread>

#include <gtest/gtest.h>

#include "fabric/hub.h"
#include "job/client/stage_names.h"
#include "job/test_agent.h"

namespace forebay::job {
namespace {

using namespace testing_support;
using namespace std::chrono_literals;

// Takes everything, and answers what was given to it.
class PlayedAgent final : public fabric::HubHandler {
 public:
  // Listens at once; goes on with connections after `before`.
  explicit PlayedAgent(
      const std::string& stage, std::optional<fabric::Secret> own = {}, std::function<void()> before = [] {}) {
    fabric::HubOptions options;
    options.credentials.secret = own;
    options.purpose = wire::kPurpose;
    options.max_body = wire::kMaxBody;
    options.listen = {{fabric::Address::Kind::unix_socket, {}, 0, agent_socket(stage)}};
    hub_ = fabric::Hub::create(std::move(options)).value();
    thread_ = std::thread([this, before = std::move(before)] {
      before();
      EXPECT_TRUE(hub_->run(*this));
    });
  }
  ~PlayedAgent() override {
    hub_->stop();
    thread_.join();
  }
  void connected(fabric::ConnectionId, const std::string&) override {}
  Result<void> received(fabric::ConnectionId connection, const fabric::Frame& frame) override {
    FOREBAY_TRY(wire::MessageT message, wire::decode(frame));
    const std::scoped_lock hold(lock_);
    if (message.body.type == wire::Body::ClientHello) return {};
    taken_.push_back(std::move(message));
    if (answers_.empty()) return {};
    hub_->send(connection, answers_.front());
    answers_.pop_front();
    return {};
  }
  void disconnected(fabric::ConnectionId, Ending) override {}
  void tick(Time) override {}
  Time next_tick() const override { return Time::max(); }

  template <class Table>
  void will_answer(Table table) {
    Bytes frames;
    wire::encode(frames, std::move(table));
    const std::scoped_lock hold(lock_);
    answers_.push_back(std::move(frames));
  }
  wire::MessageT next() {
    for (int look = 0; look < 1000; ++look) {
      {
        const std::scoped_lock hold(lock_);
        if (!taken_.empty()) {
          wire::MessageT first = std::move(taken_.front());
          taken_.pop_front();
          return first;
        }
      }
      std::this_thread::sleep_for(5ms);
    }
    ADD_FAILURE() << "nothing was said";
    return {};
  }

 private:
  std::unique_ptr<fabric::Hub> hub_;
  std::mutex lock_;
  std::deque<wire::MessageT> taken_;
  std::deque<Bytes> answers_;
  std::thread thread_;
};

class ClientTest : public TempTest {};

// The agent listens before its secret is there: a rank that comes in between has none, or that of the agent before.
TEST_F(ClientTest, ReachesAnAgentThatTakesThePlaceOfAnotherOne) {
  for (const bool there_was_one : {false, true}) {
    const std::string stage = make_stage(path(there_was_one ? "with" : "without"));
    if (there_was_one) {
      EXPECT_TRUE(fabric::write_secret(secret_path(stage), fabric::new_secret()));
    }
    const fabric::Secret own = fabric::new_secret();
    const PlayedAgent agent(stage, own, [&] {
      std::this_thread::sleep_for(300ms);
      ASSERT_TRUE(fabric::write_secret(stage + "/new", own));
      std::filesystem::rename(stage + "/new", secret_path(stage));
    });
    const auto client = Client::connect(stage, 0, 1);
    EXPECT_TRUE(client) << client.error().message();
  }
}

TEST_F(ClientTest, SaysWhatIsWrongWithItsSecret) {
  const std::string stage = make_stage(path("stage"));
  ASSERT_TRUE(fabric::write_secret(secret_path(stage), fabric::new_secret()));
  const PlayedAgent agent(stage, fabric::new_secret());
  const auto client = Client::connect(stage, 0, 1);
  ASSERT_FALSE(client);
  EXPECT_EQ(client.error().kind, ErrorKind::permission);
}

TEST_F(ClientTest, SaysHowASetIsToBeKeptAndWhatCannotBeUsed) {
  const std::string stage = make_stage(path("stage"));
  PlayedAgent agent(stage);
  auto client = Client::connect(stage, 0, 1).value();

  wire::SetPolicyT policy;
  policy.write = 77;
  policy.scheme = wire::Scheme::rs;
  policy.level = "/ssd";
  policy.flush = wire::FlushWish::never;
  agent.will_answer(wire::BegunT{.directory = "dump_1", .marker = ".forebay/sets/dump_1/rank-0"});
  ASSERT_TRUE(client->begin("dump_1", 1, 5s, &policy));
  const auto begin = agent.next();
  ASSERT_TRUE(begin.body.AsBegin() && begin.body.AsBegin()->policy);
  EXPECT_EQ(begin.body.AsBegin()->policy->write, 77u);
  EXPECT_EQ(begin.body.AsBegin()->policy->scheme, wire::Scheme::rs);
  EXPECT_EQ(begin.body.AsBegin()->policy->level, "/ssd");
  EXPECT_EQ(begin.body.AsBegin()->policy->flush, wire::FlushWish::never);

  agent.will_answer(wire::BegunT{.directory = "dump_2", .marker = ".forebay/sets/dump_2/rank-0"});
  ASSERT_TRUE(client->begin("dump_2", 2, 5s));
  EXPECT_FALSE(agent.next().body.AsBegin()->policy) << "what nobody has said is left to the job's options";

  wire::SetNewsT cached;
  cached.set = "dump_1";
  cached.state = wire::SetState::cached;
  agent.will_answer(std::move(cached));
  const auto news = client->wait("dump_1", 5s);
  ASSERT_TRUE(news);
  EXPECT_EQ(news->state, wire::SetState::cached);
  agent.next();

  agent.will_answer(wire::RestartedT{
      .found = true, .set = "dump_1", .step = 1, .directory = "dump_1", .ranks = 1, .stored_as = "dump_1+2"});
  EXPECT_EQ(client->restart(5s, false, "dump_1")->found->stored_as, "dump_1+2");
  EXPECT_EQ(agent.next().body.AsRestart()->newest, "dump_1");

  agent.will_answer(wire::RejectT{.set = "dump_1"});
  ASSERT_TRUE(client->reject("dump_1", "dump_1.2", "the pressure is not a number", 5s));
  const auto reject = agent.next();
  ASSERT_TRUE(reject.body.AsReject());
  EXPECT_EQ(reject.body.AsReject()->set, "dump_1");
  EXPECT_EQ(reject.body.AsReject()->stored_as, "dump_1.2");
  EXPECT_EQ(reject.body.AsReject()->reason, "the pressure is not a number");
  EXPECT_FALSE(client->restart_path("x")) << "what was rejected is not to be read";
}

}  // namespace
}  // namespace forebay::job

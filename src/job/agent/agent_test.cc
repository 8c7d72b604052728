// The agent as a process, ranks through the application's library, and a coordinator of the test's own.
#include "job/agent/agent.h"

#include <filesystem>
#include <fstream>
#include <future>
#include <thread>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/pack/headers.h"
#include "job/agent/test_agent_stage.h"
#include "job/client/client.h"
#include "job/test_job.h"

namespace forebay::job {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using namespace testing_support;
using wire::SetState;

TEST_F(AgentTest, OffersServesAndTells) {
  ScriptedCoordinator coordinator(rendezvous_);
  auto zero = rank(0, 2), one = rank(1, 2);
  dump(*zero, 0, "dump_1", 1);
  EXPECT_EQ(value(zero->wait("dump_1", 100ms)).state, SetState::incomplete);
  EXPECT_EQ(coordinator.offers(), 0u) << "rank 1 is known, and has not completed it";
  dump(*one, 1, "dump_1", 1);
  const auto offer = coordinator.next_offer("dump_1");
  ASSERT_TRUE(offer);
  EXPECT_EQ(offer->ranks, 2u);
  EXPECT_EQ(offer->step, 1);
  EXPECT_EQ(offer->complete, (std::vector<uint32_t>{0, 1}));
  ASSERT_EQ(offer->files.size(), 2u);
  EXPECT_EQ(pull(coordinator, *offer), (std::vector{text_of(0, "dump_1"), text_of(1, "dump_1")}));

  auto waiting = std::async(std::launch::async, [&] { return value(zero->wait("dump_1", kForEver)); });
  coordinator.say_state(*offer, SetState::durable);
  EXPECT_EQ(waiting.get().state, SetState::durable);
  EXPECT_EQ(value(one->wait("dump_1", 0ms)).state, SetState::durable);
  EXPECT_EQ(error(one->wait("dump_2", 0ms)).kind, ErrorKind::not_found);
  EXPECT_TRUE(has_set("dump_1")) << "the newest one is kept";
  EXPECT_EQ(coordinator.offers(), 1u);

  dump(*zero, 0, "dump_2", 2);
  dump(*one, 1, "dump_2", 2);
  const auto second = coordinator.next_offer("dump_2");
  ASSERT_TRUE(second);
  coordinator.say_state(*second, SetState::failed, "the store is full");
  const auto news = value(zero->wait("dump_2", 5s));
  EXPECT_EQ(news.state, SetState::failed);
  EXPECT_EQ(news.message, "the store is full");

  dump(*zero, 0, "dump_3", 3);
  dump(*one, 1, "dump_3", 3);
  coordinator.say_state(coordinator.next_offer("dump_3").value(), SetState::durable);
  EXPECT_EQ(value(zero->wait("dump_3", 5s)).state, SetState::durable);
  EXPECT_TRUE(eventually([&] { return !has_set("dump_1"); }));
  EXPECT_TRUE(has_set("dump_2") && has_set("dump_3")) << "what was given up stays";
  EXPECT_EQ(value(zero->wait("dump_1", 0ms)).state, SetState::durable) << "without its files, too";
}

// The coordinator asks for one every 200 ms, and may count a second of silence as a loss.
TEST_F(AgentTest, PingsAsOftenAsTheCoordinatorWantsIt) {
  ScriptedCoordinator coordinator(rendezvous_);
  EXPECT_TRUE(eventually([&] { return coordinator.pings() > 10; })) << "one every 2 s would take 20";
}

TEST_F(AgentTest, TellsLayoutsOfWhatItOffers) {
  ScriptedCoordinator coordinator(rendezvous_);
  auto zero = rank(0, 1);
  dump(*zero, 0, "dump_1", 1);
  const auto offer = coordinator.next_offer("dump_1").value();
  const auto addresses = fabric::parse_addresses(coordinator.hellos().back().addresses).value();
  auto link = value(fabric::Link::open(addresses, credentials(), wire::kPurpose, 5s));
  const auto ask = [&](uint64_t exposure, uint32_t file) {
    wire::LayoutRequestT request;
    request.exposure = exposure;
    request.files = {file};
    Bytes frame;
    wire::encode(frame, std::move(request));
    check(link.send(frame, 5s));
    return value(wire::decode(value(link.receive(wire::kMaxBody, 5s))));
  };
  auto message = ask(offer.exposure, 0);
  ASSERT_NE(message.body.AsLayouts(), nullptr);
  const auto& bytes = message.body.AsLayouts()->headers;
  const auto headers = value(engine::decode_headers(std::as_bytes(std::span(bytes)), 1 << 20));
  ASSERT_EQ(headers.catalogue.files.size(), 1u);
  EXPECT_EQ(headers.catalogue.files[0].name, file_of(0));
  for (const auto& [exposure, file] : {std::pair{offer.exposure, 1u}, {offer.exposure + 1, 0u}}) {
    message = ask(exposure, file);
    ASSERT_NE(message.body.AsRefused(), nullptr);
    EXPECT_EQ(message.body.AsRefused()->error_kind, static_cast<uint8_t>(ErrorKind::not_found));
  }
}

TEST_F(AgentTest, GoesOnAfterItWasKilled) {
  ScriptedCoordinator coordinator(rendezvous_);
  auto zero = rank(0, 2), one = rank(1, 2);
  dump(*zero, 0, "dump_1", 1);
  dump(*one, 1, "dump_1", 1);
  coordinator.say_state(coordinator.next_offer("dump_1").value(), SetState::durable);
  EXPECT_EQ(value(zero->wait("dump_1", 5s)).state, SetState::durable);
  dump(*zero, 0, "dump_2", 2);
  dump(*one, 1, "dump_2", 2);
  ASSERT_TRUE(coordinator.next_offer("dump_2"));
  write(*zero, 0, "dump_3", 3);
  write(*one, 1, "dump_3", 3);

  std::jthread waiting([&] { EXPECT_EQ(error(one->wait("dump_2", kForEver)).kind, ErrorKind::disconnected); });
  agent_->kill();
  waiting.join();
  EXPECT_EQ(error(zero->complete()).kind, ErrorKind::disconnected) << "it is remembered";
  EXPECT_EQ(error(one->wait("dump_2", 0ms)).kind, ErrorKind::disconnected);

  agent_->start();
  const auto again = coordinator.next_offer("dump_2");
  ASSERT_TRUE(again) << "offered again";
  EXPECT_EQ(pull(coordinator, *again), (std::vector{text_of(0, "dump_2"), text_of(1, "dump_2")}));
  check(one->complete());
  auto third = coordinator.next_offer("dump_3");
  // Without the ranks' word the agent cannot know that there are two: it offers what is there, and then all.
  while (third && third->complete.size() < 2) third = coordinator.next_offer("dump_3");
  ASSERT_TRUE(third);
  EXPECT_EQ(third->files.size(), 2u);
  coordinator.say_state(*again, SetState::durable);
  coordinator.say_state(*third, SetState::durable);
  EXPECT_EQ(value(zero->wait("dump_2", 5s)).state, SetState::durable);
  EXPECT_EQ(value(one->wait("dump_3", 5s)).state, SetState::durable);
  EXPECT_EQ(value(one->wait("dump_1", 5s)).state, SetState::durable) << "known by the one before";
}

TEST_F(AgentTest, FollowsTheNextCoordinator) {
  auto zero = rank(0, 1);
  dump(*zero, 0, "dump_1", 1);
  {
    ScriptedCoordinator first(rendezvous_, 1);
    ASSERT_TRUE(first.next_offer("dump_1"));
  }
  ScriptedCoordinator second(rendezvous_, 2);
  const auto offer = second.next_offer("dump_1");
  ASSERT_TRUE(offer);
  second.say_state(*offer, SetState::durable);
  EXPECT_EQ(value(zero->wait("dump_1", 5s)).state, SetState::durable);
}

TEST_F(AgentTest, NeverOffersWhatAKilledRankHasLeft) {
  ScriptedCoordinator coordinator(rendezvous_);
  {
    auto zero = rank(0, 2), one = rank(1, 2);
    dump(*zero, 0, "dump_1", 1);
    write(*one, 1, "dump_1", 1);
  }
  std::this_thread::sleep_for(300ms);
  EXPECT_EQ(coordinator.offers(), 0u);

  // The next run, in another process: what the first one has left is void, and rank 1 alone is not enough.
  const pid_t child = ::fork();
  if (child == 0) {
    auto one = rank(1, 2);
    dump(*one, 1, "dump_1", 1);
    // The coordinator is the other process's: what this one can know is what the agent says of the set.
    const bool early = value(one->wait("dump_1", 300ms)).state != SetState::incomplete;
    auto zero = rank(0, 2);
    dump(*zero, 0, "dump_1", 1);
    ::_exit(early ? 1 : 0);
  }
  const auto offer = coordinator.next_offer("dump_1");
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  ASSERT_TRUE(offer);
}

TEST_F(AgentTest, WithdrawsWhatIsWrittenToWhileItDrains) {
  ScriptedCoordinator coordinator(rendezvous_);
  auto zero = rank(0, 1);
  dump(*zero, 0, "dump_1", 1);
  const auto offer = coordinator.next_offer("dump_1").value();
  write_text(stage_ + "/dump_1/" + file_of(0), "something else");
  const auto news = value(zero->wait("dump_1", 5s));
  EXPECT_EQ(news.state, SetState::failed);
  EXPECT_NE(news.message.find(file_of(0)), std::string::npos) << news.message;
  ASSERT_TRUE(eventually([&] { return coordinator.withdrawn().size() == 1; }));
  EXPECT_EQ(coordinator.withdrawn()[0].exposure, offer.exposure);

  dump(*zero, 0, "dump_2", 2);
  ASSERT_TRUE(coordinator.next_offer("dump_2"));
  fs::remove_all(stage_ + "/dump_2");
  EXPECT_EQ(value(zero->wait("dump_2", 5s)).state, SetState::failed);
  EXPECT_TRUE(eventually([&] { return coordinator.withdrawn().size() == 2; }));
}

TEST_F(AgentTest, ASetThatIsBegunAgainIsAnotherOne) {
  ScriptedCoordinator coordinator(rendezvous_);
  auto zero = rank(0, 1);
  dump(*zero, 0, "same", 1);
  const auto first = coordinator.next_offer("same").value();
  check(zero->begin("same", 2, 5s));
  ASSERT_TRUE(eventually([&] { return coordinator.withdrawn().size() == 1; }));
  EXPECT_FALSE(fs::exists(stage_ + "/same/" + file_of(0)));
  write_text(value(zero->path("other")), "new");
  check(zero->complete());
  const auto second = coordinator.next_offer("same");
  ASSERT_TRUE(second);
  EXPECT_EQ(second->step, 2);
  EXPECT_NE(second->exposure, first.exposure);
  EXPECT_EQ(pull(coordinator, *second), std::vector<std::string>{"new"});
  coordinator.say_state(first, SetState::durable);
  EXPECT_EQ(value(zero->wait("same", 200ms)).state, SetState::incomplete) << "news of the first are old";
  coordinator.say_state(*second, SetState::durable);
  EXPECT_EQ(value(zero->wait("same", 5s)).state, SetState::durable);
}

TEST_F(AgentTest, BeginWaitsForTheDrain) {
  ScriptedCoordinator coordinator(rendezvous_, 1, 1);
  auto zero = rank(0, 1);
  ASSERT_TRUE(eventually([&] { return coordinator.hellos().size() == 1; }));
  dump(*zero, 0, "dump_1", 1);
  const auto offer = coordinator.next_offer("dump_1").value();
  EXPECT_EQ(error(zero->begin("dump_2", 2, 100ms)).kind, ErrorKind::timeout);
  auto beginning = std::async(std::launch::async, [&] { return zero->begin("dump_2", 2, kForEver).has_value(); });
  coordinator.say_state(offer, SetState::durable);
  EXPECT_TRUE(beginning.get());
}

TEST_F(AgentTest, EndsWithTheJob) {
  ScriptedCoordinator coordinator(rendezvous_);
  auto zero = rank(0, 1);
  ASSERT_TRUE(eventually([&] { return coordinator.hellos().size() == 1; }));
  coordinator.say(wire::StopT());
  EXPECT_EQ(agent_->wait(), 0);
  EXPECT_EQ(error(zero->begin("dump_1", 1, 1s)).kind, ErrorKind::disconnected);
  EXPECT_FALSE(fs::exists(agent_socket(stage_)));
  EXPECT_FALSE(fs::exists(secret_path(stage_)));
}

TEST_F(AgentTest, AStoppedAgentHoldsNobodyBeyondTheDeadline) {
  auto zero = rank(0, 1);
  dump(*zero, 0, "dump_1", 1);
  agent_->signal(SIGSTOP);
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(error(zero->wait("dump_1", 100ms)).kind, ErrorKind::disconnected);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 4s);
  agent_->signal(SIGCONT);
  EXPECT_EQ(value(zero->wait("dump_1", 0ms)).state, SetState::incomplete);
}

TEST_F(AgentTest, UsesNoProcessorWhileNothingHappens) {
  ScriptedCoordinator coordinator(rendezvous_);
  auto zero = rank(0, 1);
  ASSERT_TRUE(eventually([&] { return coordinator.hellos().size() == 1; }));
  const auto used = [&] {
    std::ifstream stat("/proc/" + std::to_string(agent_->pid()) + "/schedstat");
    uint64_t ns = 0;
    stat >> ns;
    return ns;
  };
  const uint64_t before = used();
  std::this_thread::sleep_for(1s);
  EXPECT_LT(used() - before, 10'000'000u) << "1 % of a processor";
}

TEST_F(AgentTest, StrangersAreRefused) {
  fabric::Credentials other;
  other.secret = fabric::new_secret();
  const fabric::Address address{fabric::Address::Kind::unix_socket, {}, 0, agent_socket(stage_)};
  EXPECT_EQ(error(fabric::Link::open({address}, other, wire::kPurpose, 5s)).kind, ErrorKind::permission);
}

TEST_F(AgentTest, ASecondAgentOfAStageIsRefused) {
  AgentOptions options;
  options.stage = stage_;
  options.rendezvous = rendezvous_;
  options.credentials = credentials();
  EXPECT_EQ(error(run_agent(options, {})).kind, ErrorKind::exists);
  EXPECT_TRUE(Client::connect(stage_, 0, 1)) << "the first one goes on";
}

class MarkerAgentTest : public AgentTest {
 protected:
  MarkerAgentTest() : AgentTest("marker:{set}.done") {}
};

TEST_F(MarkerAgentTest, OffersWhatTheApplicationHasMarked) {
  ScriptedCoordinator coordinator(rendezvous_);
  write_text(stage_ + "/dump_5/sub/x", "abc");
  write_text(stage_ + "/dump_5/y", "de");
  ASSERT_TRUE(eventually([&] { return coordinator.hellos().size() == 1; }));
  ASSERT_TRUE(coordinator.settle(1)) << "it has looked at everything";
  EXPECT_EQ(coordinator.offers(), 0u);
  write_text(stage_ + "/dump_5.done", "");
  const auto offer = coordinator.next_offer("dump_5");
  ASSERT_TRUE(offer);
  EXPECT_EQ(offer->ranks, 0u);
  EXPECT_EQ(offer->step, 5);
  ASSERT_EQ(offer->files.size(), 3u);
  EXPECT_EQ(offer->files[0]->rank, -1);
  coordinator.say_state(*offer, SetState::skipped);
  ASSERT_TRUE(coordinator.settle(2)) << "it has heard that";
  EXPECT_TRUE(has_set("dump_5")) << "nothing newer is durable";
  let_file_time_pass(path("clock"));
  write_text(stage_ + "/dump_6/x", "abc");
  write_text(stage_ + "/dump_6.done", "");
  coordinator.say_state(coordinator.next_offer("dump_6").value(), SetState::durable);
  EXPECT_TRUE(eventually([&] { return !has_set("dump_5") && !fs::exists(stage_ + "/dump_5.done"); }));
  EXPECT_TRUE(has_set("dump_6"));
  write_text(stage_ + "/dump_5/y", "again");
  write_text(stage_ + "/dump_5.done", "");
  EXPECT_TRUE(coordinator.next_offer("dump_5")) << "another set of the name";
}

}  // namespace
}  // namespace forebay::job

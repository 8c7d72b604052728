// The agent as a process, ranks through the application's library, and a coordinator of the test's own.
#include "job/agent/agent.h"

#include <filesystem>
#include <fstream>
#include <future>
#include <thread>

#include <gtest/gtest.h>
#include <sys/resource.h>

#include "engine/headers.h"
#include "fabric/remote.h"
#include "job/agent/test_bed.h"
#include "job/client/client.h"
#include "job/delivery/delivery.h"
#include "job/stage/stage_notes.h"
#include "job/test_job.h"

namespace forebay::job {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using namespace testing_support;
using wire::SetState;

constexpr Client::Timeout kForEver{-1};

class AgentTest : public TempTest {
 protected:
  explicit AgentTest(const char* completion = "api") : stage_(path("stage")), rendezvous_(path("rendezvous")) {
    AgentOptions options;
    options.stage = stage_;
    options.rendezvous = rendezvous_;
    options.credentials = credentials();
    options.listen = {{fabric::Address::Kind::tcp, "127.0.0.1", 0, {}}};
    options.completion = parse_completion(completion).value();
    agent_.emplace(options);
    agent_->start();
  }

  std::unique_ptr<Client> rank(uint32_t number, uint32_t ranks) const {
    return value(Client::connect(stage_, number, ranks));
  }

  static std::string text_of(uint32_t rank, const std::string& set) {
    return std::string(10'000, static_cast<char>('a' + rank)) + set;
  }
  static void write(Client& client, uint32_t number, const std::string& set, int64_t step) {
    check(client.begin(set, step, 5s));
    write_text(value(client.path(file_of(number))), text_of(number, set));
  }
  static void dump(Client& client, uint32_t number, const std::string& set, int64_t step) {
    write(client, number, set, step);
    check(client.complete());
  }
  static std::string file_of(uint32_t rank) { return "d/rank" + std::to_string(rank); }

  // What a worker would read of the offer, by messages.
  static std::vector<std::string> pull(ScriptedCoordinator& coordinator, const wire::OfferT& offer) {
    const auto addresses = fabric::parse_addresses(coordinator.hellos().back().addresses).value();
    auto road = fabric::stream_road(value(fabric::Link::open(addresses, credentials(), wire::kPurpose, 5s)), 5s);
    std::vector<std::string> texts;
    for (uint32_t i = 0; i < offer.files.size(); ++i) {
      Bytes bytes(offer.files[i]->size);
      const fabric::Piece piece{i, 0, bytes.size()};
      check(road->begin(offer.exposure, {&piece, 1}, bytes));
      check(road->finish());
      texts.emplace_back(as_text(bytes));
    }
    check(road->check_unchanged(offer.exposure));
    return texts;
  }

  // As a worker would: the file of rank 0.
  void deliver(const std::string& stored) const {
    auto target = value(open_delivered(stage_, stored));
    FileRow row;
    row.name = file_of(0);
    row.size = 4;
    auto file = value(target->create_file(row));
    check(file->write_at(0, as_bytes("back")));
    check(file->commit());
    check(target->finish());
  }

  bool has_set(const std::string& set) const { return fs::exists(stage_ + "/" + set); }

  std::string stage_, rendezvous_;
  std::optional<AgentProcess> agent_;
};

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

  std::jthread later([&] {
    std::this_thread::sleep_for(50ms);
    coordinator.say_state(*offer, SetState::durable);
  });
  EXPECT_EQ(value(zero->wait("dump_1", kForEver)).state, SetState::durable);
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
  ASSERT_EQ(headers.directory.files.size(), 1u);
  EXPECT_EQ(headers.directory.files[0].name, file_of(0));
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
  std::this_thread::sleep_for(50ms);
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
    auto zero = rank(0, 2);
    ::usleep(300'000);
    const bool early = coordinator.offers() > 0;
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
  std::jthread later([&] {
    std::this_thread::sleep_for(50ms);
    coordinator.say_state(offer, SetState::durable);
  });
  check(zero->begin("dump_2", 2, kForEver));
}

TEST_F(AgentTest, RestartsWhatWasDelivered) {
  ScriptedCoordinator coordinator(rendezvous_);
  auto zero = rank(0, 2), one = rank(1, 2);
  auto asking = std::async(std::launch::async, [&] { return value(zero->restart(kForEver)); });
  ASSERT_TRUE(eventually([&] { return !coordinator.restarts().empty(); }));
  EXPECT_EQ(coordinator.restarts().back().ranks, std::vector<uint32_t>{0});
  EXPECT_EQ(coordinator.restarts().back().total, 2u);
  EXPECT_EQ(error(one->restart(50ms)).kind, ErrorKind::timeout);
  ASSERT_TRUE(eventually([&] { return coordinator.restarts().back().ranks.size() == 2; }));

  deliver("dump_7+2");
  const auto published = coordinator.publish("dump_7", "dump_7+2", 7);
  ASSERT_TRUE(published);
  EXPECT_EQ(published->round, 1u);
  EXPECT_FALSE(published->failed) << published->error;
  EXPECT_EQ(read_text(stage_ + "/dump_7/" + file_of(0)), "back");
  coordinator.say(wire::RestartDoneT{.round = 2});
  EXPECT_EQ(asking.wait_for(100ms), std::future_status::timeout) << "before all nodes are as far";
  coordinator.say(wire::RestartDoneT{.round = 1});
  const auto answer = asking.get();
  ASSERT_TRUE(answer.found);
  EXPECT_EQ(answer.found->set, "dump_7");
  EXPECT_EQ(answer.found->step, 7);
  EXPECT_EQ(read_text(value(zero->restart_path(file_of(0)))), "back");
  EXPECT_EQ(error(zero->restart_path("none")).kind, ErrorKind::invalid_argument);
  EXPECT_TRUE(value(one->restart(5s)).found) << "it had asked";
  EXPECT_EQ(value(one->wait("dump_7", 0ms)).state, SetState::durable);

  agent_->kill();
  agent_->start();
  ASSERT_TRUE(eventually([&] { return coordinator.hellos().size() == 2; }));
  dump(*zero, 0, "dump_8", 8);
  dump(*one, 1, "dump_8", 8);
  EXPECT_TRUE(coordinator.next_offer("dump_8"));
  EXPECT_TRUE(has_set("dump_7"));
}

TEST_F(AgentTest, TellsTheCoordinatorWhatItCannotPublish) {
  ScriptedCoordinator coordinator(rendezvous_);
  auto zero = rank(0, 1);
  auto asking = std::async(std::launch::async, [&] { return error(zero->restart(kForEver)); });
  ASSERT_TRUE(eventually([&] { return !coordinator.restarts().empty(); }));
  write_text(delivered_path(stage_, "dump_7"), "no directory");
  const auto published = coordinator.publish("dump_7", "dump_7", 7);
  ASSERT_TRUE(published);
  EXPECT_TRUE(published->failed);
  EXPECT_NE(published->error.find(delivered_path(stage_, "dump_7")), std::string::npos) << published->error;
  EXPECT_EQ(asking.wait_for(100ms), std::future_status::timeout) << "the coordinator tells all ranks";
  wire::RefusedT refused;
  refused.error_kind = static_cast<uint8_t>(ErrorKind::io);
  refused.message = "on another node: " + published->error;
  coordinator.say(wire::RefusedT(refused));
  EXPECT_EQ(asking.get().what, refused.message);

  // The next time it goes well.
  fs::remove(delivered_path(stage_, "dump_7"));
  asking = std::async(std::launch::async, [&] { return Error{.what = value(zero->restart(kForEver)).found->set}; });
  ASSERT_TRUE(eventually([&] { return coordinator.restarts().size() == 2; }));
  deliver("dump_7");
  EXPECT_FALSE(coordinator.publish("dump_7", "dump_7", 7, 2)->failed);
  coordinator.say(wire::RestartDoneT{.round = 2});
  EXPECT_EQ(asking.get().what, "dump_7");
}

TEST_F(AgentTest, ASetThatNoStageCanHaveIsNotNothing) {
  ScriptedCoordinator coordinator(rendezvous_);
  ASSERT_TRUE(eventually([&] { return coordinator.hellos().size() == 1; }));
  const auto published = coordinator.publish("dump.tmp", "dump.tmp", 7);
  ASSERT_TRUE(published);
  EXPECT_TRUE(published->failed);
}

TEST_F(AgentTest, ANodeWithoutFilesOfTheSetIsAsFarAsTheOthers) {
  ScriptedCoordinator coordinator(rendezvous_);
  auto zero = rank(0, 1);
  auto asking = std::async(std::launch::async, [&] { return value(zero->restart(kForEver)); });
  ASSERT_TRUE(eventually([&] { return !coordinator.restarts().empty(); }));
  EXPECT_FALSE(coordinator.publish("dump_7", "dump_7", 7)->failed);
  coordinator.say(wire::RestartDoneT{.round = 1});
  EXPECT_TRUE(asking.get().found);
}

TEST_F(AgentTest, AsksTheNextCoordinatorForWhatTheLastOneDidNotEnd) {
  auto zero = rank(0, 1);
  auto first = std::make_unique<ScriptedCoordinator>(rendezvous_, 1);
  auto asking = std::async(std::launch::async, [&] { return value(zero->restart(kForEver)); });
  ASSERT_TRUE(eventually([&] { return !first->restarts().empty(); }));
  deliver("dump_7");
  ASSERT_TRUE(first->publish("dump_7", "dump_7", 7));
  first.reset();
  ScriptedCoordinator second(rendezvous_, 2);
  ASSERT_TRUE(eventually([&] { return !second.restarts().empty(); }));
  EXPECT_EQ(second.restarts().back().ranks, std::vector<uint32_t>{0});
  second.say(wire::RestartDoneT{.round = 1});
  EXPECT_EQ(asking.wait_for(100ms), std::future_status::timeout) << "that was the first one's";
  deliver("dump_8");
  ASSERT_TRUE(second.publish("dump_8", "dump_8", 8));
  second.say(wire::RestartDoneT{.round = 1});
  EXPECT_EQ(asking.get().found->set, "dump_8");
}

TEST_F(AgentTest, ARankThatComesAgainInBetweenIsTold) {
  ScriptedCoordinator coordinator(rendezvous_);
  auto zero = rank(0, 1);
  EXPECT_EQ(error(zero->restart(50ms)).kind, ErrorKind::timeout);
  ASSERT_TRUE(eventually([&] { return !coordinator.restarts().empty(); }));
  ASSERT_TRUE(coordinator.publish("dump_7", "dump_7", 7));
  zero = rank(0, 1);
  auto asking = std::async(std::launch::async, [&] { return value(zero->restart(kForEver)); });
  EXPECT_EQ(asking.wait_for(100ms), std::future_status::timeout);
  coordinator.say(wire::RestartDoneT{.round = 1});
  EXPECT_TRUE(asking.get().found);
  EXPECT_EQ(coordinator.restarts().size(), 1u) << "it had asked";
}

// Its part of the round that ends is another process'.
TEST_F(AgentTest, ANewRunInBetweenIsOfTheNextRound) {
  ScriptedCoordinator coordinator(rendezvous_);
  auto zero = rank(0, 1);
  EXPECT_EQ(error(zero->restart(50ms)).kind, ErrorKind::timeout);
  ASSERT_TRUE(eventually([&] { return !coordinator.restarts().empty(); }));
  ASSERT_TRUE(coordinator.publish("dump_7", "dump_7", 7));
  zero.reset();
  const pid_t child = ::fork();
  if (child == 0) {
    auto again = rank(0, 1);
    const auto answer = again->restart(20s);
    ::_exit(answer && answer->found && answer->found->set == "dump_8" ? 0 : 1);
  }
  std::this_thread::sleep_for(200ms);
  EXPECT_EQ(coordinator.restarts().size(), 1u);
  coordinator.say(wire::RestartDoneT{.round = 1});
  EXPECT_TRUE(eventually([&] { return coordinator.restarts().size() == 2; }));
  EXPECT_TRUE(coordinator.publish("dump_8", "dump_8", 8, 2));
  coordinator.say(wire::RestartDoneT{.round = 2});
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST_F(AgentTest, TellsThatThereIsNothingToRestartFrom) {
  ScriptedCoordinator coordinator(rendezvous_);
  auto zero = rank(0, 1);
  std::jthread answer([&] {
    eventually([&] { return !coordinator.restarts().empty(); });
    wire::RestartReadyT ready;
    ready.message = "the store is empty";
    coordinator.say(std::move(ready));
  });
  const auto restart = value(zero->restart(5s));
  EXPECT_FALSE(restart.found);
  EXPECT_EQ(restart.message, "the store is empty");
  EXPECT_EQ(error(zero->restart_path("x")).kind, ErrorKind::invalid_argument);
}

TEST_F(AgentTest, TellsThatARestartIsRefused) {
  ScriptedCoordinator coordinator(rendezvous_);
  auto zero = rank(0, 1);
  std::jthread answer([&] {
    eventually([&] { return !coordinator.restarts().empty(); });
    wire::RefusedT refused;
    refused.error_kind = static_cast<uint8_t>(ErrorKind::invalid_argument);
    refused.message = "others restart 2 ranks";
    coordinator.say(std::move(refused));
  });
  EXPECT_EQ(error(zero->restart(5s)).what, "others restart 2 ranks");
  dump(*zero, 0, "dump_1", 1);
  EXPECT_TRUE(coordinator.next_offer("dump_1"));
  EXPECT_EQ(coordinator.gone(), 0);
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
  std::this_thread::sleep_for(250ms);
  EXPECT_EQ(coordinator.offers(), 0u);
  write_text(stage_ + "/dump_5.done", "");
  const auto offer = coordinator.next_offer("dump_5");
  ASSERT_TRUE(offer);
  EXPECT_EQ(offer->ranks, 0u);
  EXPECT_EQ(offer->step, 5);
  ASSERT_EQ(offer->files.size(), 3u);
  EXPECT_EQ(offer->files[0]->rank, -1);
  coordinator.say_state(*offer, SetState::skipped);
  EXPECT_TRUE(eventually([&] { return !has_set("dump_5") && !fs::exists(stage_ + "/dump_5.done"); }));
  write_text(stage_ + "/dump_5/y", "again");
  write_text(stage_ + "/dump_5.done", "");
  EXPECT_TRUE(coordinator.next_offer("dump_5")) << "another set of the name";
}

}  // namespace
}  // namespace forebay::job

// Agents as processes, with ranks, and a coordinator of the test's own that has them protect a set, lose one of
// themselves, and restart from what is left.
#include <filesystem>
#include <thread>

#include <gmock/gmock.h>
#include <sys/stat.h>

#include "job/agent/test_bed.h"
#include "job/client/client.h"
#include "redundancy/geometry.h"

namespace forebay::job {
namespace {

namespace fs = std::filesystem;
using namespace testing_support;
using wire::SetState;

constexpr uint64_t kId = 0x1234567890abcdef;

class AgentCacheTest : public TempTest {
 protected:
  AgentCacheTest() {
    ::setenv("FOREBAY_AGENT_TIMEOUT", "0", 1);
    for (int i = 0; i < 3; ++i) {
      AgentOptions options;
      options.stage = stage(i);
      options.rendezvous = path("rendezvous" + std::to_string(i));
      options.host = "node" + std::to_string(i);
      options.credentials = credentials();
      options.listen = {{fabric::Address::Kind::tcp, "127.0.0.1", 0, {}}};
      agents_.push_back(std::make_unique<AgentProcess>(options));
    }
    for (auto& agent : agents_) agent->start();
    for (int i = 0; i < 3; ++i) follow(i, 1);
  }
  // The last one first: it holds the others' pipes.
  ~AgentCacheTest() override {
    while (!agents_.empty()) agents_.pop_back();
  }
  std::string stage(int i) const { return path("stage" + std::to_string(i)); }
  static std::string file_of(int i) { return "part/rank" + std::to_string(i); }
  static std::string bytes_of(int i, const std::string& set) {
    return std::string(300'000 + 1000 * static_cast<size_t>(i), static_cast<char>('a' + i)) + set;
  }

  // Each agent has a coordinator of its own, which this test makes say the same.
  void follow(int i, uint64_t generation) {
    coordinators_[i] = std::make_unique<ScriptedCoordinator>(path("rendezvous" + std::to_string(i)), generation);
  }
  void restart_agent(int i, uint64_t generation) {
    agents_[i]->kill();
    coordinators_[i].reset();
    follow(i, generation);
    agents_[i]->start();
  }

  wire::SetPolicyT policy(uint64_t write) const {
    wire::SetPolicyT policy;
    policy.write = write;
    policy.scheme = wire::Scheme::xor_;
    return policy;
  }
  void dump(int i, const std::string& set, int64_t step, std::unique_ptr<Client>& client) {
    if (!client) client = value(Client::connect(stage(i), static_cast<uint32_t>(i), 3));
    const auto its = policy(static_cast<uint64_t>(step) + 1000);
    check(client->begin(set, step, 5s, &its));
    write_text(value(client->path(file_of(i))), bytes_of(i, set));
    check(client->complete());
  }
  std::vector<wire::OfferT> offers_of(const std::string& set) {
    std::vector<wire::OfferT> offers;
    for (auto& coordinator : coordinators_) {
      auto offer = coordinator->next_offer(set);
      EXPECT_TRUE(offer);
      offers.push_back(offer.value_or(wire::OfferT()));
    }
    return offers;
  }
  static uint64_t bytes_in(const wire::OfferT& offer) {
    uint64_t bytes = 0;
    for (const auto& file : offer.files) bytes += file->size;
    return bytes;
  }
  std::vector<std::unique_ptr<wire::MemberT>> members(const std::vector<wire::OfferT>& offers) {
    std::vector<std::unique_ptr<wire::MemberT>> all;
    for (size_t i = 0; i < offers.size(); ++i) {
      const auto hello = coordinators_[i]->hellos().back();
      auto member = std::make_unique<wire::MemberT>();
      member->host = hello.host;
      member->node = hello.node;
      member->addresses = hello.addresses;
      member->stage = hello.stage;
      member->data = offers[i].exposure;
      member->bytes = sizes_[i];
      member->ranks = {static_cast<uint32_t>(i)};
      all.push_back(std::move(member));
    }
    return all;
  }
  // From complete to sealed and cached.
  void protect(const std::string& set, uint64_t id) {
    const auto offers = offers_of(set);
    for (size_t i = 0; i < 3; ++i) sizes_[i] = bytes_in(offers[i]);
    chunk_ = value(redundancy::Geometry::make({sizes_[0], sizes_[1], sizes_[2]}, 1)).chunk();
    for (uint32_t i = 0; i < 3; ++i) {
      wire::ProtectT order;
      order.id = id;
      order.set = set;
      order.scheme = wire::Scheme::xor_;
      order.groups = 1;
      order.position = i;
      order.losses = 1;
      order.chunk = chunk_;
      order.members = members(offers);
      coordinators_[i]->say(std::move(order));
    }
    for (auto& coordinator : coordinators_) {
      const auto answer = coordinator->next_answer<wire::ProtectedT>();
      ASSERT_TRUE(answer);
      ASSERT_FALSE(answer->failed) << answer->error;
      wire::SealT seal;
      seal.id = id;
      seal.set = set;
      coordinator->say(std::move(seal));
      const auto sealed = coordinator->next_answer<wire::SealedT>();
      ASSERT_TRUE(sealed);
      ASSERT_FALSE(sealed->failed) << sealed->error;
    }
    for (size_t i = 0; i < 3; ++i) coordinators_[i]->say_state(offers[i], SetState::cached);
  }
  void expect_cached(const wire::OfferT& offer, uint32_t position) {
    EXPECT_EQ(offer.state, SetState::cached);
    ASSERT_EQ(offer.encodings.size(), 1u);
    const wire::EncodingT& encoding = *offer.encodings[0];
    EXPECT_TRUE(encoding.is_sealed && encoding.is_encoded);
    EXPECT_EQ(encoding.position, position);
    EXPECT_NE(encoding.members[position]->data, 0u);
    EXPECT_NE(encoding.members[position]->parity, 0u);
  }

  std::vector<std::unique_ptr<AgentProcess>> agents_;
  std::unique_ptr<ScriptedCoordinator> coordinators_[3];
  uint64_t sizes_[3] = {}, chunk_ = 0;
};

TEST_F(AgentCacheTest, ProtectsLosesRepairsAndRestartsInPlace) {
  std::unique_ptr<Client> ranks[3];
  for (int i = 0; i < 3; ++i) dump(i, "ckpt_1", 1, ranks[i]);
  protect("ckpt_1", kId);
  for (int i = 0; i < 3; ++i) {
    const auto offer = coordinators_[i]->next_offer("ckpt_1");
    ASSERT_TRUE(offer) << "it is offered again when it is cached";
    expect_cached(*offer, static_cast<uint32_t>(i));
    ASSERT_TRUE(offer->policy);
    EXPECT_EQ(offer->policy->write, 1001u);
    EXPECT_EQ(value(ranks[i]->wait("ckpt_1", 5s)).state, SetState::cached);
  }
  for (auto& rank : ranks) rank.reset();

  // Node 1 is lost, and comes back with nothing; agent 2 was killed meanwhile.
  agents_[1]->kill();
  fs::remove_all(stage(1));
  restart_agent(1, 2);
  restart_agent(2, 2);
  const auto again = coordinators_[2]->next_offer("ckpt_1");
  ASSERT_TRUE(again);
  expect_cached(*again, 2);

  wire::RepairT order;
  order.number = 9;
  order.id = kId;
  order.set = "ckpt_1";
  order.groups = 1;
  order.losses = 1;
  order.chunk = chunk_;
  order.lost = {1};
  coordinators_[0]->rewind();
  coordinators_[0]->next_offer("ckpt_1");
  const auto mine = coordinators_[0]->next_offer("ckpt_1");
  ASSERT_TRUE(mine);
  for (uint32_t i = 0; i < 3; ++i) {
    wire::RepairT its = order;
    its.self = {i};
    its.members = members({*mine, wire::OfferT(), *again});
    for (const uint32_t survivor : {0, 2}) {
      const auto& own = (survivor == 0 ? *mine : *again).encodings[0]->members[survivor];
      its.members[survivor]->data = own->data;
      its.members[survivor]->parity = own->parity;
    }
    coordinators_[i]->say(std::move(its));
  }
  for (auto& coordinator : coordinators_) {
    const auto repaired = coordinator->next_answer<wire::RepairedT>();
    ASSERT_TRUE(repaired);
    EXPECT_FALSE(repaired->failed) << repaired->error;
  }
  EXPECT_TRUE(read_text(stage(1) + "/ckpt_1/" + file_of(1)) == bytes_of(1, "ckpt_1"));
  auto rebuilt = coordinators_[1]->next_offer("ckpt_1");
  // The agent may look between the rank's files and the record.
  while (rebuilt && rebuilt->encodings.empty()) rebuilt = coordinators_[1]->next_offer("ckpt_1");
  ASSERT_TRUE(rebuilt) << "what was made again is offered";
  EXPECT_EQ(rebuilt->complete, std::vector<uint32_t>{1});
  ASSERT_EQ(rebuilt->encodings.size(), 1u);

  // The rank restarts from it where it lies.
  coordinators_[1]->say_state(*rebuilt, SetState::cached);
  std::unique_ptr<Client> one = value(Client::connect(stage(1), 1, 3));
  Result<Client::Restart> found;
  std::thread asks([&] { found = one->restart(10s); });
  EXPECT_TRUE(eventually([&] { return !coordinators_[1]->restarts().empty(); }));
  wire::RestartInPlaceT in_place;
  in_place.set = "ckpt_1";
  in_place.id = kId;
  in_place.step = 1;
  in_place.round = 5;
  in_place.ranks = 3;
  coordinators_[1]->say(std::move(in_place));
  EXPECT_TRUE(eventually([&] { return !coordinators_[1]->published().empty(); }));
  if (!coordinators_[1]->published().empty()) {
    EXPECT_FALSE(coordinators_[1]->published().back().failed) << coordinators_[1]->published().back().error;
  }
  coordinators_[1]->say(wire::RestartDoneT{.round = 5});
  asks.join();
  ASSERT_TRUE(found) << found.error().message();
  ASSERT_TRUE(found->found);
  EXPECT_EQ(found->found->set, "ckpt_1");
  EXPECT_TRUE(read_text(stage(1) + "/ckpt_1/" + file_of(1)) == bytes_of(1, "ckpt_1"));
}

TEST_F(AgentCacheTest, OnlyASealedSetPushesOutTheOneBefore) {
  std::unique_ptr<Client> ranks[3];
  for (int i = 0; i < 3; ++i) dump(i, "ckpt_1", 1, ranks[i]);
  protect("ckpt_1", kId);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(value(ranks[i]->wait("ckpt_1", 5s)).state, SetState::cached);
  for (int i = 0; i < 3; ++i) dump(i, "ckpt_2", 2, ranks[i]);
  // ckpt_2 is not sealed yet: nobody may begin another one.
  const auto its = policy(3);
  EXPECT_EQ(error(ranks[0]->begin("ckpt_3", 3, 300ms, &its)).kind, ErrorKind::timeout);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(fs::exists(stage(i) + "/ckpt_1/" + file_of(i)));
  protect("ckpt_2", kId + 1);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(value(ranks[i]->wait("ckpt_2", 5s)).state, SetState::cached);
    EXPECT_TRUE(eventually([&] { return !fs::exists(stage(i) + "/ckpt_1"); }));
    EXPECT_TRUE(eventually([&] {
      return std::distance(fs::directory_iterator(stage(i) + "/.forebay/cache"), fs::directory_iterator()) == 1;
    })) << "with what protected it";
    EXPECT_TRUE(eventually([&] { return !coordinators_[i]->withdrawn().empty(); }));
  }
  check(ranks[0]->begin("ckpt_3", 3, 5s, &its));
}

TEST_F(AgentCacheTest, WhatIsRejectedIsSetAsideUntilANewerSetIsSafe) {
  std::unique_ptr<Client> rank;
  dump(0, "ckpt_1", 1, rank);
  const auto first = coordinators_[0]->next_offer("ckpt_1");
  ASSERT_TRUE(first);
  coordinators_[0]->say_state(*first, SetState::cached);
  EXPECT_EQ(value(rank->wait("ckpt_1", 5s)).state, SetState::cached);
  wire::QuarantineT order;
  order.set = "ckpt_1";
  order.reason = "rank 0 cannot read it";
  coordinators_[0]->say(std::move(order));
  const std::string aside = stage(0) + "/.forebay/quarantine/ckpt_1";
  EXPECT_TRUE(eventually([&] { return fs::exists(aside + "/files/" + file_of(0)); }));
  EXPECT_FALSE(fs::exists(stage(0) + "/ckpt_1"));
  const auto settled = coordinators_[0]->settle(4);
  ASSERT_TRUE(settled);
  ASSERT_EQ(settled->left.size(), 1u);
  EXPECT_THAT(settled->left[0]->reason, testing::HasSubstr("rank 0 cannot read it"));
  restart_agent(0, 2);
  EXPECT_TRUE(fs::exists(aside));
  std::unique_ptr<Client> later;
  dump(0, "ckpt_2", 2, later);
  const auto second = coordinators_[0]->next_offer("ckpt_2");
  ASSERT_TRUE(second);
  const auto on_its_way = coordinators_[0]->settle(5);
  ASSERT_TRUE(on_its_way);
  EXPECT_TRUE(on_its_way->left.empty()) << "a newer set is on its way, and what was set aside goes with it";
  EXPECT_TRUE(fs::exists(aside));
  coordinators_[0]->say_state(*second, SetState::cached);
  EXPECT_TRUE(eventually([&] { return !fs::exists(aside); }));
}

}  // namespace
}  // namespace forebay::job

#include "job/coordinator/orders.h"

#include <gmock/gmock.h>

namespace forebay::job {
namespace {

using namespace std::chrono_literals;
using testing::IsEmpty;

constexpr uint64_t kNumber = 7;
constexpr Order::Time kBegin{100h};

Order order_of(OrderKind kind, std::initializer_list<SessionId> asked) {
  Order order(kind, kNumber, kBegin, 10s);
  for (const SessionId id : asked) order.ask(id, "n" + std::to_string(id));
  return order;
}

bool done(Order& order, SessionId from, uint32_t part = 0) {
  return order.answered({.kind = order.kind(), .number = kNumber, .from = from, .part = part});
}

bool fails(Order& order, SessionId from, uint32_t part = 0) {
  return order.answered(
      {.kind = order.kind(), .number = kNumber, .from = from, .part = part, .has_failed = true, .why = "no room"});
}

TEST(Orders, OneIsDoneWhenAllHaveAnswered) {
  EXPECT_EQ(Order().state(), Order::State::idle);
  Order order = order_of(OrderKind::protect, {1, 2});
  EXPECT_TRUE(done(order, 1));
  EXPECT_EQ(order.state(), Order::State::waiting);
  EXPECT_EQ(order.who_is_waited_for(), "n2");
  EXPECT_TRUE(done(order, 2));
  EXPECT_EQ(order.state(), Order::State::done);
  EXPECT_EQ(order.done(), 2);
  order.end();
  EXPECT_EQ(order.state(), Order::State::idle);
}

TEST(Orders, OneOfNobodyIsDoneAtOnce) { EXPECT_EQ(order_of(OrderKind::repair, {}).state(), Order::State::done); }

TEST(Orders, AnswersOfOthersToOthersAndAgainChangeNothing) {
  Order order = order_of(OrderKind::check, {1, 2});
  EXPECT_FALSE(order.answered({.kind = OrderKind::check, .number = kNumber + 1, .from = 1}));
  EXPECT_FALSE(order.answered({.kind = OrderKind::repair, .number = kNumber, .from = 1}));
  EXPECT_FALSE(done(order, 3));
  EXPECT_FALSE(done(order, 1, 1));
  EXPECT_EQ(order.waiting(), 2);
  EXPECT_TRUE(done(order, 1));
  EXPECT_FALSE(done(order, 1));
  EXPECT_FALSE(fails(order, 1));
  EXPECT_EQ(order.done(), 1);
  EXPECT_EQ(order.missing(), 0);
}

TEST(Orders, EachPartOfOneAgentIsWaitedFor) {
  Order order(OrderKind::repair, kNumber, kBegin, 10s);
  EXPECT_TRUE(order.ask(1, "a", 0));
  EXPECT_TRUE(order.ask(1, "a", 4));
  EXPECT_FALSE(order.ask(1, "a", 4));
  EXPECT_TRUE(done(order, 1, 4));
  EXPECT_EQ(order.state(), Order::State::waiting);
  EXPECT_TRUE(done(order, 1, 0));
  EXPECT_EQ(order.state(), Order::State::done);
  EXPECT_TRUE(order.lost(1));
  EXPECT_EQ(order.missing(), 2);
}

TEST(Orders, OfSomeKindsWhoIsMissingIsForgotten) {
  Order order = order_of(OrderKind::check, {1, 2, 3});
  fails(order, 1);
  order.lost(2);
  EXPECT_EQ(order.state(), Order::State::waiting);
  done(order, 3);
  EXPECT_EQ(order.state(), Order::State::done);
  EXPECT_EQ(order.missing(), 2);
  EXPECT_EQ(order.find(1)->why, "no room");
  EXPECT_EQ(order.find(2)->state, Order::Asked::State::missing);
}

TEST(Orders, OfOthersTheFirstEndsIt) {
  Order order = order_of(OrderKind::repair, {1, 2});
  fails(order, 1);
  EXPECT_EQ(order.state(), Order::State::failed);
  EXPECT_EQ(order.who_is_waited_for(), "n2") << "is to be told";
}

TEST(Orders, WhoCannotBeToldIsWaitedFor) {
  Order order = order_of(OrderKind::place, {1, 2});
  fails(order, 1);
  EXPECT_EQ(order.state(), Order::State::waiting);
  done(order, 2);
  EXPECT_EQ(order.state(), Order::State::failed);
  order = order_of(OrderKind::place, {1});
  order.end();
  EXPECT_TRUE(done(order, 1)) << "also when nobody wants to know";
  EXPECT_EQ(order.waiting(), 0);
}

// An agent that has answered and is gone has nothing any more of what it did.
TEST(Orders, WhoIsLostIsMissingAlsoAfterItsAnswer) {
  Order order = order_of(OrderKind::protect, {1, 2});
  done(order, 1);
  EXPECT_TRUE(order.lost(1));
  EXPECT_EQ(order.state(), Order::State::failed);
  EXPECT_EQ(order.waiting(), 1);
  EXPECT_FALSE(order.lost(3)) << "who takes its place was not asked";
}

TEST(Orders, WhoDoesNotAnswerInTimeIsMissing) {
  Order order = order_of(OrderKind::seal, {1, 2});
  done(order, 1);
  EXPECT_FALSE(order.is_late(kBegin + 9s));
  EXPECT_TRUE(order.is_late(kBegin + 10s));
  order.give_up(1);
  order.give_up(2);
  EXPECT_EQ(order.state(), Order::State::done);
  EXPECT_EQ(order.find(1)->state, Order::Asked::State::done);
  EXPECT_EQ(order.find(2)->state, Order::Asked::State::missing);
  order.end();
  EXPECT_FALSE(order.is_late(kBegin + 10s));
}

TEST(Orders, MessagesNameSome) {
  EXPECT_THAT(Order().who_is_waited_for(), IsEmpty());
  EXPECT_EQ(order_of(OrderKind::settle, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}).who_is_waited_for(),
            "n1, n2, n3, n4, n5, n6, n7, n8 and 2 more");
}

TEST(Orders, EachKindHasItsName) {
  EXPECT_EQ(rule_of(OrderKind::settle).name, "settle");
  EXPECT_EQ(rule_of(OrderKind::place).name, "place");
  EXPECT_EQ(rule_of(OrderKind::offer).name, "offer");
}

}  // namespace
}  // namespace forebay::job

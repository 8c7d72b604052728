// Random histories of clients that borrow, over connections and bells that delay, break and close, on hosts that stop
// for a while: at no time do two clients have the right to touch the same bytes, unless both only read; whoever waits
// is served, and waits for a bounded time.
#include <deque>
#include <map>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "lock/loans.h"
#include "lock/overlap.h"
#include "lock/service.h"

namespace forebay::lock {
namespace {

using namespace std::chrono_literals;

constexpr auto kLoanLease = 100ms, kLoanGrace = 20ms;
constexpr auto kLongestHold = 60ms;  // of clients that are not stopped

template <class Message>
using Delayed = std::deque<std::pair<Service::Time, Message>>;

// A request of a client, from when it was made until it is released.
struct Ask {
  uint32_t file = 0;
  Region region;
  Access access = Access::shared;
  Service::Time made;
  Service::Time sent;
  Service::Time granted_at;
  bool granted = false;
  bool only_try = false;
  Ahead ahead;
};

// Requests that follow each other at equal distances, in one file.
struct Walk {
  uint32_t file = 0;
  uint64_t at = 0, length = 0, stride = 0;
  Access access = Access::exclusive;
};

// One incarnation of a client: what it knows, and what is under way.
struct Borrower {
  SessionId session = 0, bell = 0;
  Loans loans;
  Foresight foresight;
  Walk walk;
  Service::Time valid_until{}, stopped_until{};
  uint64_t next_request = 1;
  std::map<uint64_t, Ask> asks;
  std::map<uint64_t, Service::Time> renewals;
  std::map<uint64_t, Elements> early_recalls;
  std::set<uint32_t> named;  // files whose names the server knows
  Delayed<wire::ClientMessage> to_server;
  Delayed<wire::ServerMessage> to_client, to_bell;
  bool cut = false;  // lost, and the server has not noticed
  bool borrows = true;
};

struct LoanHistory {
  uint64_t lent = 0, ahead = 0, kept = 0, served = 0, recalled = 0, taken = 0, lost = 0, granted = 0, expired = 0;
  Service::Time::duration longest_wait{};
};

class LoanWorld {
 public:
  LoanWorld(uint32_t seed, LoanHistory& history)
      : random_(seed), history_(history), service_({.lease = kLoanLease, .grace = kLoanGrace}, now_) {
    const uint32_t clients = 1 + draw(5);
    for (uint32_t i = 0; i < clients; ++i) clients_.push_back(join());
    calm_ = draw(2) == 0;  // nobody stops, and nothing is lost
  }

  void run(int milliseconds) {
    for (int i = 0; i < milliseconds && !testing::Test::HasFailure(); ++i) {
      // Phases in which one client works alone: else hardly anything would be lent twice.
      if (i % 150 == 0) file_ += draw(2);
      if (i % 400 == 0)
        alone_ = draw(3) == 0 ? std::optional(draw(static_cast<uint32_t>(clients_.size()))) : std::nullopt;
      step(true);
    }
    // Nobody begins anything: whoever waits is served.
    for (int i = 0; i < 5000 && waiting() > 0 && !testing::Test::HasFailure(); ++i) step(false);
    EXPECT_EQ(waiting(), 0u);
  }

 private:
  uint32_t draw(uint32_t below) { return static_cast<uint32_t>(random_() % below); }

  static std::string name(uint32_t file) { return "f" + std::to_string(file); }

  size_t waiting() const {
    size_t count = 0;
    for (const Borrower& one : clients_)
      for (const auto& [number, ask] : one.asks) count += ask.granted ? 0 : 1;
    return count;
  }

  void step(bool begins) {
    now_ += 1ms;
    for (Borrower& one : clients_) deliver_to_server(one);
    service_.tick(now_, out_);
    route();
    for (uint32_t i = 0; i < clients_.size(); ++i)
      if (now_ >= clients_[i].stopped_until) act(clients_[i], begins && (!alone_ || *alone_ == i));
    check();
  }

  Borrower join() {
    Borrower one;
    one.session = ++sessions_;
    one.bell = ++sessions_;
    service_.connected(one.session, "client", now_);
    service_.connected(one.bell, "client", now_);
    std::vector<Outgoing> greetings;
    EXPECT_TRUE(service_.receive(one.session, {wire::Hello{}}, now_, greetings));
    EXPECT_TRUE(service_.receive(one.bell, {wire::Bell{one.session}}, now_, greetings));
    return one;
  }

  Service::Time later(Service::Time earliest) {
    return std::max(now_, earliest) + std::chrono::milliseconds(draw(16) == 0 ? draw(calm_ ? 20 : 150) : draw(3));
  }

  void send(Borrower& one, wire::ClientMessage message) {
    one.to_server.emplace_back(later(one.to_server.empty() ? now_ : one.to_server.back().first), std::move(message));
  }

  void deliver_to_server(Borrower& one) {
    while (!one.cut && !one.to_server.empty() && one.to_server.front().first <= now_) {
      ASSERT_TRUE(service_.receive(one.session, {std::move(one.to_server.front().second)}, now_, out_));
      one.to_server.pop_front();
      route();
    }
  }

  void route() {
    for (Outgoing& message : out_)
      for (Borrower& one : clients_) {
        if (one.cut || (message.session != one.session && message.session != one.bell)) continue;
        auto& queue = message.session == one.session ? one.to_client : one.to_bell;
        queue.emplace_back(later(queue.empty() ? now_ : queue.back().first), std::move(message.message));
        break;
      }
    out_.clear();
  }

  void act(Borrower& one, bool begins) {
    // The bell's thread, and the one that reads, in any order.
    for (const bool bell : {draw(2) == 0, draw(2) == 0}) {
      auto& queue = bell ? one.to_bell : one.to_client;
      while (!queue.empty() && queue.front().first <= now_) {
        const wire::ServerMessage message = std::move(queue.front().second);
        queue.pop_front();
        if (!understand(one, message)) return;
      }
    }
    if (one.valid_until - now_ < kLoanLease * 2 / 3 && one.renewals.empty()) renew(one);
    release_old(one);
    if (begins && one.asks.size() < 4 && draw(alone_ ? 2 : 12) == 0) lock(one);
    if (draw(8) == 0) release_any(one, begins);
    if (draw(300) == 0) return_idle(one);
    if (calm_ || !begins) return;
    if (draw(800) == 0) one.stopped_until = now_ + std::chrono::milliseconds(draw(300));
    if (draw(1500) == 0) lose_bell(one);
    if (draw(1500) == 0) lose(one);
  }

  bool understand(Borrower& one, const wire::ServerMessage& message) {
    if (const auto* granted = std::get_if<wire::Granted>(&message)) {
      grant(one, granted->request, true);
    } else if (const auto* lent = std::get_if<wire::Lent>(&message)) {
      const auto found = one.asks.find(lent->request);
      if (found == one.asks.end()) return true;  // it was given up
      lend(one, *lent, found->second);
      grant(one, lent->request, true);
      const auto early = one.early_recalls.extract(lent->request);
      if (early || !one.borrows) give_back(one, lent->request, early ? early.mapped() : Elements{});
      for (const uint64_t other : one.loans.to_make_room()) give_back(one, other);
    } else if (const auto* recall = std::get_if<wire::Recall>(&message)) {
      if (one.loans.has(recall->loan)) {
        ++history_.recalled;
        give_back(one, recall->loan, recall->wanted);
      } else if (one.asks.contains(recall->loan) && !one.asks.at(recall->loan).granted) {
        one.early_recalls[recall->loan] = recall->wanted;
      }
    } else if (const auto* taken = std::get_if<wire::Taken>(&message)) {
      ++history_.taken;
      for (const uint64_t number : one.loans.taken(taken->loan)) ask_again(one, number);
      std::erase_if(one.asks, [&](const auto& ask) {
        if (!one.loans.lost(ask.first)) return false;
        ++history_.lost;
        EXPECT_LT(one.valid_until, now_);
        return true;
      });
    } else if (const auto* refused = std::get_if<wire::Refused>(&message)) {
      const auto found = one.asks.find(refused->request);
      if (found == one.asks.end()) return true;
      EXPECT_FALSE(found->second.granted);
      if (refused->reason == wire::Reason::gone) {
        ask_again(one, refused->request);
      } else {
        EXPECT_TRUE(found->second.only_try);
        EXPECT_EQ(refused->reason, wire::Reason::busy);
        waited(found->second);
        one.asks.erase(found);
      }
    } else if (const auto* renewed = std::get_if<wire::Renewed>(&message)) {
      one.valid_until = std::max(one.valid_until, one.renewals.at(renewed->number) + kLoanLease);
      one.renewals.erase(renewed->number);
    } else if (std::holds_alternative<wire::Expired>(message)) {
      ++history_.expired;
      EXPECT_LT(one.valid_until, now_);
      leave(one);
      one = join();
      return false;
    }
    return true;
  }

  void waited(const Ask& ask) {
    if (calm_) history_.longest_wait = std::max(history_.longest_wait, now_ - ask.made);
  }

  void grant(Borrower& one, uint64_t number, bool by_server) {
    const auto found = one.asks.find(number);
    if (found == one.asks.end()) return;
    Ask& ask = found->second;
    EXPECT_FALSE(ask.granted);
    ask.granted = true;
    ask.granted_at = now_;
    if (by_server) one.valid_until = std::max(one.valid_until, ask.sent + kLoanLease);
    waited(ask);
    ++history_.granted;
  }

  void renew(Borrower& one) {
    one.renewals.emplace(one.next_request, now_);
    send(one, wire::Renew{one.next_request++});
  }

  void lend(Borrower& one, const wire::Lent& lent, const Ask& ask) {
    if (lent.count == 0) {
      ++history_.lent;
      return one.loans.lend(name(ask.file), lent.request, ask.region, ask.access);
    }
    ++history_.ahead;
    one.loans.lend(name(ask.file), lent.request, ask.region, ask.access, ask.ahead.stride, lent.count);
    one.foresight.lent(name(ask.file), ask.region, ask.access, lent.count);
  }

  // As lock(), with the next bytes of a walk. A walk starts over now and then, wherever others are.
  void walk(Borrower& one) {
    Walk& walk = one.walk;
    if (walk.length == 0 || walk.file != file_ || walk.at > 4000 || draw(60) == 0)
      walk = {file_, draw(200), 1 + draw(20), 1 + draw(40), draw(3) == 0 ? Access::shared : Access::exclusive};
    Ask ask;
    std::vector<Level> levels;
    if (walk.length % 2 == 0) levels.push_back({3, 300});
    ASSERT_TRUE(ask.region.add(walk.at, walk.length, levels));
    walk.at += walk.stride;
    ask.access = walk.access;
    ask.made = now_;
    ask.file = file_;
    request(one, std::move(ask));
  }

  void lock(Borrower& one) {
    if (draw(4) != 0) return walk(one);
    Ask ask;
    std::vector<Level> levels;
    if (draw(2) == 0) levels.push_back({1 + draw(4), 20 + draw(40)});
    ASSERT_TRUE(ask.region.add(draw(200), 1 + draw(30), levels));
    ask.access = draw(2) == 0 ? Access::shared : Access::exclusive;
    ask.only_try = draw(6) == 0;
    ask.made = now_;
    ask.file = file_;
    request(one, std::move(ask));
  }

  void request(Borrower& one, Ask ask) {
    if (one.loans.lent(name(ask.file)) && one.valid_until - now_ < kLoanLease / 2) return;  // it would renew first
    const uint64_t number = one.next_request++;
    ask.sent = now_;
    const auto served = one.loans.serve(name(ask.file), number, ask.region, ask.access, ask.only_try);
    if (served == Loans::Served::busy) return;
    if (served == Loans::Served::no && one.named.insert(ask.file).second)
      send(one, wire::File{ask.file, name(ask.file)});
    if (served == Loans::Served::no) {
      const bool may_lend = one.borrows && one.loans.may_ask();
      if (may_lend) ask.ahead = one.foresight.ask(name(ask.file), ask.region, ask.access).value_or(Ahead{});
      send(one, wire::LockRequest{number, ask.file, ask.access, ask.only_try, ask.region, may_lend, ask.ahead});
    }
    one.asks.emplace(number, std::move(ask));
    if (served == Loans::Served::held) {
      ++history_.served;
      grant(one, number, false);
    }
  }

  void ask_again(Borrower& one, uint64_t number) {
    const auto found = one.asks.find(number);
    if (found == one.asks.end()) return;
    Ask ask = std::move(found->second);
    one.asks.erase(found);
    request(one, std::move(ask));
  }

  void give_back(Borrower& one, uint64_t loan, Elements wanted = {}) {
    if (!wanted.empty()) one.foresight.recalled(one.loans.file_of(loan));
    auto message = one.loans.give_back(loan, wanted, [&] { return one.next_request++; });
    if (!message) return;
    history_.kept += message->kept.size();
    send(one, std::move(*message));
  }

  void return_idle(Borrower& one) {
    for (const uint64_t loan : one.loans.idle()) give_back(one, loan);
  }

  // Held or waiting: then it is given up.
  void release(Borrower& one, uint64_t number) {
    const std::string file = name(one.asks.at(number).file);
    one.asks.erase(number);
    one.early_recalls.erase(number);
    if (const auto granted = one.loans.release(file, number)) {
      for (const uint64_t other : *granted) grant(one, other, false);
    } else {
      one.loans.forget(number);
      send(one, wire::Release{number});
    }
  }

  // What waits is given up now and then, as at a deadline; not when the world comes to its end.
  void release_any(Borrower& one, bool begins) {
    if (one.asks.empty()) return;
    const auto ask = std::next(one.asks.begin(), draw(static_cast<uint32_t>(one.asks.size())));
    if (ask->second.granted || (begins && draw(30) == 0)) release(one, ask->first);
  }

  void release_old(Borrower& one) {
    std::vector<uint64_t> old;
    for (const auto& [number, ask] : one.asks)
      if (ask.granted && now_ - ask.granted_at > kLongestHold) old.push_back(number);
    for (const uint64_t number : old) release(one, number);
  }

  void leave(Borrower& one) {
    service_.disconnected(one.bell, Service::Ending::orderly, now_, out_);
    service_.disconnected(one.session, Service::Ending::orderly, now_, out_);
  }

  void lose_bell(Borrower& one) {
    service_.disconnected(one.bell, Service::Ending::broken, now_, out_);
    one.to_bell.clear();
    one.borrows = false;
    for (const uint64_t loan : one.loans.all()) give_back(one, loan);
  }

  // The path breaks: the server notices now, or never; or the client closes in good order. Then it comes anew.
  void lose(Borrower& one) {
    const uint32_t how = draw(3);
    if (how == 0) {
      leave(one);
    } else {
      if (how == 1) service_.disconnected(one.session, Service::Ending::broken, now_, out_);
      one.cut = true;
      ghosts_.push_back(one);  // its I/O may go on for as long as it has the right to
    }
    one = join();
  }

  void check() {
    std::vector<const Borrower*> all;
    for (const Borrower& one : clients_) all.push_back(&one);
    std::erase_if(ghosts_, [this](const Borrower& ghost) { return ghost.valid_until <= now_; });
    for (const Borrower& one : ghosts_) all.push_back(&one);
    for (size_t i = 0; i < all.size(); ++i)
      for (size_t j = i; j < all.size(); ++j)
        if (now_ < all[i]->valid_until && now_ < all[j]->valid_until) check(*all[i], *all[j]);
  }

  // Threads of one client exclude each other as well.
  static void check(const Borrower& a, const Borrower& b) {
    for (const auto& [i, one] : a.asks)
      for (const auto& [j, other] : b.asks)
        if ((&a != &b || i < j) && one.file == other.file && one.granted && other.granted &&
            (one.access == Access::exclusive || other.access == Access::exclusive)) {
          ASSERT_FALSE(overlap(one.region, other.region));
        }
  }

  std::mt19937 random_;
  LoanHistory& history_;
  Service::Time now_{1h};
  Service service_;
  std::vector<Outgoing> out_;
  std::vector<Borrower> clients_, ghosts_;
  std::optional<uint32_t> alone_;
  uint32_t file_ = 0;
  SessionId sessions_ = 0;
  bool calm_ = false;
};

TEST(LoansHistory, NeverGivesTheSameBytesToTwoAndServesEverybody) {
  LoanHistory history;
  for (uint32_t seed = 0; seed < 400; ++seed) {
    LoanWorld world(seed, history);
    world.run(3000);
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
  }
  EXPECT_GT(history.lent, 1000u);
  EXPECT_GT(history.ahead, 1000u);
  EXPECT_GT(history.kept, 300u);
  EXPECT_GT(history.served, 10'000u);
  EXPECT_GT(history.recalled, 400u);
  EXPECT_GT(history.taken, 100u);
  EXPECT_GT(history.lost, 50u);
  EXPECT_GT(history.expired, 100u);
  EXPECT_GT(history.granted, 50'000u);
  // At most 20 requests are in the way at a time, and each is held for 60 ms and then under way for a while.
  EXPECT_LT(history.longest_wait, 1500ms);
  RecordProperty("longest_wait_ms", static_cast<int>(history.longest_wait / 1ms));
  RecordProperty("lent", static_cast<int>(history.lent));
  RecordProperty("ahead", static_cast<int>(history.ahead));
  RecordProperty("kept", static_cast<int>(history.kept));
  RecordProperty("recalled", static_cast<int>(history.recalled));
  RecordProperty("taken", static_cast<int>(history.taken));
  RecordProperty("lost", static_cast<int>(history.lost));
  RecordProperty("expired", static_cast<int>(history.expired));
  RecordProperty("granted", static_cast<int>(history.granted));
  RecordProperty("served", static_cast<int>(history.served));
}

}  // namespace
}  // namespace forebay::lock

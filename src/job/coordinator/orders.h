// What is asked of several at once, and waited for: who is asked, who has answered, who cannot or is gone, and when it
// is over (decision 0062). What an order is about, what it is to bring about, and what is sent for it, is its owner's.
// All that the coordinator waits for from agents is an Order; the work that any worker can do, task_board.h has. Pure.
//
// Who is asked is known by its session: an agent that is replaced counts as lost, and the new one has not been asked.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "job/coordinator/session.h"

namespace forebay::job {

// What each is for: rule_of().
enum class OrderKind : uint8_t { settle, protect, seal, check, repair, place, offer };
inline constexpr size_t kOrderKinds = 7;

// What it means for an order that one who is asked fails, is lost, or does not answer in time.
enum class Missing : uint8_t {
  forget,           // the others' answers are what counts; the owner looks who is missing
  fail,             // the order has failed at once; agents still at it are to hear so
  fail_in_the_end,  // it has failed when all have answered: agents at it cannot be stopped
};

struct OrderRule {
  std::string_view name;
  std::string_view what;  // the one who is asked is to do, for docs/job.md
  Missing missing = Missing::forget;
  uint32_t most_failures = 1;  // the owner orders it again until it has failed so often; 0: until its time is over
};
const OrderRule& rule_of(OrderKind kind);

class Order {
 public:
  using Time = std::chrono::steady_clock::time_point;
  enum class State : uint8_t { idle, waiting, done, failed };

  struct Asked {
    SessionId session = 0;
    uint32_t part = 0;  // of several things that one is asked for
    std::string name;   // for messages
    enum class State : uint8_t { waiting, done, missing } state = State::waiting;
    std::string why;  // missing
  };
  struct Answer {
    OrderKind kind = OrderKind::settle;
    uint64_t number = 0;
    SessionId from = 0;
    uint32_t part = 0;
    bool has_failed = false;
    std::string why{};
  };

  // Idle.
  Order() = default;
  // `number`: of no other order of this kind that may still be answered. Late: when `patience` has passed.
  Order(OrderKind kind, uint64_t number, Time now, std::chrono::milliseconds patience)
      : kind_(kind), number_(number), since_(now), patience_(patience), is_open_(true) {}

  // Also of one that is open already. False: that is asked already.
  bool ask(SessionId session, std::string name, uint32_t part = 0);
  // Of another order, from nobody who is waited for: false, and nothing changes.
  bool answered(Answer answer);
  // Whether it was asked for anything. It is missing then, also if it has answered.
  bool lost(SessionId session);
  // It has not answered, and is missing from now on.
  void give_up(SessionId session, uint32_t part = 0);
  // Its owner has done what follows. Who has not answered is still known, and may still do so.
  void end() { is_open_ = false; }

  // Idle: not begun, or ended.
  State state() const;
  bool is_open() const { return is_open_; }
  bool is(OrderKind kind) const { return is_open_ && kind_ == kind; }
  // Time in which nobody could hear of it, or answer, does not count.
  void forgive(std::chrono::nanoseconds gap) { since_ += gap; }
  bool is_late(Time now) const { return is_open_ && now - since_ >= patience_; }

  OrderKind kind() const { return kind_; }
  uint64_t number() const { return number_; }
  Time since() const { return since_; }
  // In the order in which they were asked.
  const std::vector<Asked>& asked() const { return asked_; }
  const Asked* find(SessionId session, uint32_t part = 0) const;  // null: it is not asked for that
  size_t waiting() const { return waiting_; }
  size_t missing() const { return missing_; }
  size_t done() const { return asked_.size() - waiting_ - missing_; }
  // Names of those that have not answered, some of them; empty: there are none.
  std::string who_is_waited_for() const;

 private:
  void miss(Asked& one, std::string why);

  OrderKind kind_ = OrderKind::settle;
  uint64_t number_ = 0;
  Time since_{};
  std::chrono::milliseconds patience_{0};
  bool is_open_ = false;
  std::vector<Asked> asked_;
  std::map<std::pair<SessionId, uint32_t>, size_t> index_;  // of asked_
  size_t waiting_ = 0, missing_ = 0;
};

// For messages: "a, b and 3 more".
class NamedFew {
 public:
  void add(const std::string& name);
  std::string text() const;

 private:
  size_t count_ = 0;
  std::string text_;
};

}  // namespace forebay::job

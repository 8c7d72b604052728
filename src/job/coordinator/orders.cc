#include "job/coordinator/orders.h"

#include <array>

#include <fmt/format.h>

namespace forebay::job {
namespace {

constexpr size_t kMostNamed = 8;

// In the order of OrderKind.
constexpr std::array<OrderRule, kOrderKinds> kRules = {{
    {"settle", "report what is complete in the stage, and name the rest", Missing::forget, 1},
    {"protect", "encode the set with the other members of the protection group", Missing::fail, 0},
    {"seal", "note that all members have encoded it", Missing::forget, 1},
    {"check", "compare what there is of a cached set with its record", Missing::forget, 1},
    {"repair", "make what was lost, or send what that needs", Missing::fail, 3},
    {"place", "put the files that ranks restart from in their place", Missing::fail_in_the_end, 3},
    {"offer", "offer the set as it is now", Missing::forget, 1},
}};

}  // namespace

const OrderRule& rule_of(OrderKind kind) { return kRules[static_cast<size_t>(kind)]; }

bool Order::ask(SessionId session, std::string name, uint32_t part) {
  if (!index_.emplace(std::pair(session, part), asked_.size()).second) return false;
  asked_.push_back({.session = session, .part = part, .name = std::move(name), .why = {}});
  ++waiting_;
  return true;
}

bool Order::answered(Answer answer) {
  const auto found = index_.find({answer.from, answer.part});
  if (answer.kind != kind_ || answer.number != number_ || found == index_.end()) return false;
  Asked& one = asked_[found->second];
  if (one.state != Asked::State::waiting) return false;
  if (answer.has_failed) {
    miss(one, std::move(answer.why));
  } else {
    one.state = Asked::State::done;
    --waiting_;
  }
  return true;
}

bool Order::lost(SessionId session) {
  auto found = index_.lower_bound({session, 0});
  const bool is_asked = found != index_.end() && found->first.first == session;
  for (; found != index_.end() && found->first.first == session; ++found)
    miss(asked_[found->second], "its agent is lost");
  return is_asked;
}

void Order::give_up(SessionId session, uint32_t part) {
  answered({.kind = kind_,
            .number = number_,
            .from = session,
            .part = part,
            .has_failed = true,
            .why = "it does not answer"});
}

void Order::miss(Asked& one, std::string why) {
  if (one.state == Asked::State::missing) return;
  if (one.state == Asked::State::waiting) --waiting_;
  ++missing_;
  one.state = Asked::State::missing;
  one.why = std::move(why);
}

Order::State Order::state() const {
  if (!is_open_) return State::idle;
  const bool has_failed = missing_ > 0 && rule_of(kind_).missing != Missing::forget;
  if (has_failed && rule_of(kind_).missing == Missing::fail) return State::failed;
  if (waiting_ > 0) return State::waiting;
  return has_failed ? State::failed : State::done;
}

const Order::Asked* Order::find(SessionId session, uint32_t part) const {
  const auto found = index_.find({session, part});
  return found == index_.end() ? nullptr : &asked_[found->second];
}

std::string Order::who_is_waited_for() const {
  NamedFew names;
  for (const Asked& one : asked_)
    if (one.state == Asked::State::waiting) names.add(one.name);
  return names.text();
}

void NamedFew::add(const std::string& name) {
  if (++count_ <= kMostNamed) text_ += (count_ == 1 ? "" : ", ") + name;
}

std::string NamedFew::text() const {
  return count_ <= kMostNamed ? text_ : fmt::format("{} and {} more", text_, count_ - kMostNamed);
}

}  // namespace forebay::job

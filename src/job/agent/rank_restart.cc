#include "job/agent/rank_restart.h"

#include <algorithm>
#include <utility>

namespace forebay::job {
namespace {

using namespace std::chrono_literals;

constexpr auto kGather = 20ms;  // ranks ask at about the same time: one request for all

bool has(const std::map<uint32_t, uint64_t>& askers, uint32_t rank, uint64_t process) {
  const auto found = askers.find(rank);
  return found != askers.end() && found->second == process;
}

}  // namespace

Result<void> RankRestart::ask(const ConnectedRank& client, bool any_ranks, Time now, const std::string& newest) {
  const auto kept = kept_.find(client.rank);
  if (kept != kept_.end() && kept->second.first == client.pid) return {};  // take_answer() has it
  if (ending_ && has(ending_->asked, client.rank, client.pid)) return {};  // and will have this
  if (client.attempt != 0 && client.attempt < attempt_)
    return fail(ErrorKind::cancelled, "the application was started again meanwhile");
  if (client.attempt > attempt_) {  // nothing is left of what the last one had asked for
    attempt_ = client.attempt;
    asked_.clear();
    ending_.reset();
    before_.reset();
  }
  asked_[client.rank] = client.pid;
  total_ = client.ranks;
  newest_ = newest;
  if (any_ranks)
    strict_.erase(client.rank);
  else
    strict_.insert(client.rank);
  request_soon(now);
  return {};
}

void RankRestart::stop_asking(const ConnectedRank& client, Time now) {
  if (!has(asked_, client.rank, client.pid)) return;
  asked_.erase(client.rank);
  request_soon(now);
}

void RankRestart::forget_gone(const IsConnected& is_connected, Time now) {
  std::erase_if(asked_, [&](const auto& item) { return !is_connected(item.first, item.second); });
  request_soon(now);
  std::erase_if(kept_, [&](const auto& item) { return !is_connected(item.first, item.second.first); });
}

void RankRestart::request_soon(Time now) {
  if (!asked_.empty() || has_requested_) request_at_ = now + kGather;
}

// Who has asked is in the round that ends, or asks for the next one when it has ended.
std::optional<wire::RestartRequestT> RankRestart::request() {
  request_at_ = Time::max();
  if ((asked_.empty() && !has_requested_) || ending_ || is_publishing_) return std::nullopt;
  wire::RestartRequestT request;
  for (const auto& [rank, pid] : asked_) request.ranks.push_back(rank);
  request.total = total_;
  request.any_ranks = std::ranges::none_of(request.ranks, [&](uint32_t rank) { return strict_.contains(rank); });
  request.attempt = attempt_;
  request.newest = newest_;
  if (before_) {
    request.placed_by = before_->generation;
    request.placed_round = before_->ready.round;
  }
  has_requested_ = !asked_.empty();
  return request;
}

Result<RankRestart::Step> RankRestart::ready(const wire::RestartReadyT& ready, uint64_t generation) {
  if (is_publishing_) return fail(ErrorKind::corrupt, "a restart before the last one was answered");
  if (ready.attempt < attempt_) return Step::too_late;
  has_requested_ = false;
  if (!ending_) ending_ = Ending{.ready = {}, .asked = std::exchange(asked_, {})};
  ending_->ready = ready;
  ending_->generation = generation;
  ending_->is_placed = false;
  before_.reset();
  return Step::go_on;
}

void RankRestart::placed(uint64_t round) {
  if (ending_ && ending_->ready.round == round) ending_->is_placed = true;
}

void RankRestart::end_publishing(Time now) {
  is_publishing_ = false;
  request_soon(now);
}

wire::RestartedT RankRestart::nothing_found(Time now) {
  wire::RestartedT answer;
  answer.message = ending_->ready.message;
  answer.other_ranks = ending_->ready.other_ranks;
  return hand_out(std::move(answer), now);
}

std::optional<wire::RestartedT> RankRestart::done(const wire::RestartDoneT& done, Time now) {
  if (!ending_ && before_ && done.placed_by == before_->generation && before_->ready.round == done.round) {
    ending_ = std::exchange(before_, std::nullopt);
    std::erase_if(asked_, [&](const auto& one) { return has(ending_->asked, one.first, one.second); });
  }
  const bool is_before = done.placed_by != 0 && ending_ && ending_->generation != done.placed_by;
  if (!ending_ || is_before || ending_->ready.round != done.round) return std::nullopt;
  const wire::RestartReadyT& ready = ending_->ready;
  wire::RestartedT answer;
  answer.found = true;
  answer.set = answer.directory = ready.set;
  answer.stored_as = ready.stored_as;
  answer.step = ready.step;
  answer.ranks = ready.ranks;
  answer.message = ready.message;
  return hand_out(std::move(answer), now);
}

wire::RestartedT RankRestart::hand_out(wire::RestartedT answer, Time now) {
  for (const auto& [rank, pid] : ending_->asked) kept_[rank] = {pid, answer};
  ending_.reset();
  request_soon(now);
  return answer;
}

bool RankRestart::is_refused(const ConnectedRank& client, const wire::RefusedT& refused) const {
  return refused.attempt == attempt_ || client.attempt <= refused.attempt;
}

void RankRestart::refused(const wire::RefusedT& refused) {
  if (refused.attempt != attempt_) return;
  asked_.clear();
  ending_.reset();
  before_.reset();
  has_requested_ = false;
}

void RankRestart::interrupted() {
  has_requested_ = false;
  if (!ending_) return;
  if (ending_->is_placed) before_ = ending_;
  asked_.merge(ending_->asked);
  ending_.reset();
}

std::optional<wire::RestartedT> RankRestart::take_answer(const ConnectedRank& client) {
  auto kept = kept_.extract(client.rank);
  if (!kept || kept.mapped().first != client.pid) return std::nullopt;
  return std::move(kept.mapped().second);
}

}  // namespace forebay::job

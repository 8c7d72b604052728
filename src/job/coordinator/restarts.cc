#include "job/coordinator/restarts.h"

#include <algorithm>

#include <fmt/format.h>

#include "engine/set/set_files.h"
#include "job/wire/convert.h"

namespace forebay::job {
namespace {

constexpr uint32_t kMaxDeliveryFailures = 3;
constexpr uint32_t kMostRanks = 0xffffffff;

bool is_damaged(const wire::TaskDoneT& done) {
  return done.side == wire::FaultSide::store && engine::is_damage(wire::error_of(done));
}

Restarts::Tell refusal(SessionId to, ErrorKind kind, const std::string& message, uint64_t attempt) {
  return {to, wire::refusal_of({.kind = kind, .what = message}, attempt)};
}

void take_needs(TierNeeds needs, Restarts::Actions& actions) {
  actions.settle = actions.settle || needs.settle;
  actions.void_incomplete = actions.void_incomplete || needs.void_incomplete;
  for (StoreCommand& command : needs.commands) actions.commands.push_back(std::move(command));
  for (LogLine& line : needs.log.lines) actions.log.lines.push_back(std::move(line));
}

}  // namespace

Restarts::Actions Restarts::requested(Asker asker, const wire::RestartRequestT& message, Time now) {
  Actions actions;
  request(std::move(asker), message, now, actions);
  return actions;
}

void Restarts::request(Asker asker, const wire::RestartRequestT& request, Time now, Actions& actions) {
  const SessionId id = asker.id;
  if (request.total == 0 || request.total > kMaxRanks ||
      (!request.ranks.empty() && std::ranges::max(request.ranks) >= request.total)) {
    actions.tell.push_back(
        refusal(id, ErrorKind::invalid_argument, "a restart of ranks that cannot be", request.attempt));
    return;
  }
  if (request.attempt != 0 && request.attempt < last_attempt_) {
    actions.tell.push_back(
        refusal(id, ErrorKind::cancelled, "the application was started again meanwhile", request.attempt));
    return;
  }
  supersede(request.attempt, request.total, now, actions);
  if (round_) std::erase_if(round_->later, [&](const auto& one) { return one.first.id == id; });
  // It has not heard yet that it is to publish.
  if (round_ && round_->phase == Round::Phase::publishing && round_->askers.all.contains(id)) return;
  if (request.ranks.empty()) return leave(id, now, actions);
  join(std::move(asker), request, now, actions);
}

void Restarts::join(Asker asker, const wire::RestartRequestT& request, Time now, Actions& actions) {
  if (!round_) {
    round_ = Round{.since = now, .total = request.total, .steps = Steps(now)};
    actions.log.info(fmt::format("a restart of {} ranks begins", request.total));
  }
  if (round_->total != request.total) {
    actions.tell.push_back(refusal(asker.id, ErrorKind::invalid_argument,
                                   fmt::format("others restart {} ranks, and not {}", round_->total, request.total),
                                   request.attempt));
    return;
  }
  const bool is_delivered = round_->phase >= Round::Phase::preparing;
  if (is_delivered && !round_->askers.all.contains(asker.id)) {
    round_->later.emplace_back(std::move(asker), request);
    return;
  }
  asker.attempt = request.attempt;
  asker.any_ranks = request.any_ranks;
  asker.newest = request.newest;
  asker.ranks = request.ranks;
  std::ranges::sort(asker.ranks);
  asker.ranks.erase(std::ranges::unique(asker.ranks).begin(), asker.ranks.end());
  Asker& known = round_->askers.all[asker.id];
  const std::vector<uint32_t> before = std::move(known.ranks);
  known = std::move(asker);
  round_->coverage.remove(before);
  round_->coverage.add(known.ranks);
  if (!std::ranges::includes(known.ranks, before)) gather_anew(now, actions);
  go_on(now, actions);
}

// Ranks of that start of the application ask.
void Restarts::supersede(uint64_t attempt, uint32_t total, Time now, Actions& actions) {
  if (attempt <= last_attempt_) return;
  last_attempt_ = attempt;
  if (!round_) return;
  std::vector<SessionId> old;
  for (const auto& [id, asker] : round_->askers.all)
    if (asker.attempt != 0 || round_->total != total) old.push_back(id);
  if (old.empty()) return;
  actions.log.warn(
      fmt::format("the application was started again: the restart of {} ranks that was under way ends", round_->total));
  for (const SessionId id : old) {
    actions.tell.push_back(refusal(id, ErrorKind::cancelled, "the application was started again meanwhile",
                                   round_->askers.all.at(id).attempt));
    drop(id);
  }
  gather_anew(now, actions);
}

bool Restarts::drop(SessionId agent) {
  const auto asker = round_->askers.all.find(agent);
  if (asker == round_->askers.all.end()) return false;
  round_->coverage.remove(asker->second.ranks);
  round_->askers.all.erase(asker);
  return true;
}

Restarts::Actions Restarts::left(SessionId agent, Time now) {
  Actions actions;
  publishing_.lost(agent);
  if (round_) std::erase_if(round_->later, [&](const auto& one) { return one.first.id == agent; });
  leave(agent, now, actions);
  return actions;
}

void Restarts::leave(SessionId agent, Time now, Actions& actions) {
  if (round_ && drop(agent)) gather_anew(now, actions);
}

// Somebody has asked and does so no more.
void Restarts::gather_anew(Time now, Actions& actions) {
  stop_delivering(actions);
  publishing_.end();
  if (round_->phase == Round::Phase::asking || round_->phase == Round::Phase::preparing) tier().forget();
  go(RestartEvent::taken_back);
  round_->since = now;
  const auto later = std::exchange(round_->later, {});
  if (round_->askers.all.empty()) round_.reset();
  for (const auto& [asker, message] : later) request(asker, message, now, actions);
}

// Who came too late for it asks for the next one.
void Restarts::end_round(Time now, Actions& actions) {
  stop_delivering(actions);
  publishing_.end();
  if (round_->phase == Round::Phase::asking || round_->phase == Round::Phase::preparing) tier().forget();
  go(RestartEvent::answered);
  const auto later = std::move(round_->later);
  round_.reset();
  for (const auto& [asker, message] : later) request(asker, message, now, actions);
}

Restarts::Actions Restarts::advance(Time now) {
  Actions actions;
  go_on(now, actions);
  return actions;
}

// Once all ranks have asked.
void Restarts::go_on(Time now, Actions& actions) {
  if (publishing_.waiting() > 0 || !round_ || round_->coverage.size() < round_->total) return;
  if (round_->phase == Round::Phase::gathering) {
    round_->passed_over.clear();
    go(RestartEvent::asked);
    ask_tiers(now, actions);
  } else if (round_->phase == Round::Phase::asking) {
    hear_tiers(now, actions);
  } else if (round_->phase == Round::Phase::preparing) {
    hear_prepared(now, actions);
  }
}

void Restarts::ask_tiers(Time now, Actions& actions) {
  round_->tier = 0;
  round_->candidates.clear();
  round_->none.clear();
  round_->left_alone.clear();
  TierNeeds needs;
  tier().ask(now, needs);
  take_needs(std::move(needs), actions);
}

void Restarts::hear_tiers(Time now, Actions& actions) {
  for (;;) {
    TierNeeds needs;
    auto answer = tier().answer(now, needs);
    if (answer) {
      round_->steps.end(tier().step(), now);
      round_->candidates.add(round_->tier, std::move(answer->sets));
      if (!answer->none.empty()) round_->none = std::move(answer->none);
      if (!answer->left_alone.empty()) round_->left_alone = std::move(answer->left_alone);
    }
    const bool is_last = round_->tier + 1 == tiers_.size();
    if (answer && !is_last) {
      ++round_->tier;
      tier().ask(now, needs);
    }
    take_needs(std::move(needs), actions);
    if (!answer) return;
    if (is_last) break;
  }
  order_candidates();
  choose(now, actions);
}

void Restarts::order_candidates() {
  auto& candidates = round_->candidates;
  candidates.order();
  for (const auto& [id, asker] : round_->askers.all) {
    if (asker.newest.empty()) continue;
    candidates.leave_newer_out(asker.newest);
    if (candidates.empty()) round_->none = fmt::format("there is no set that is not newer than {}", asker.newest);
  }
}

void Restarts::pass_over(const TierSet& set, const std::string& why, Actions& actions) {
  constexpr size_t kMostText = 2000;
  actions.log.warn(fmt::format("restart: set {} is passed over: {}", set.name, why));
  std::string& text = round_->passed_over;
  if (text.size() < kMostText)
    text += fmt::format("{}set {} was passed over: {}", text.empty() ? "" : "; ", set.name, why);
}

// The newest candidate that is left.
void Restarts::choose(Time now, Actions& actions) {
  while (!round_->candidates.empty()) {
    auto candidate = round_->candidates.take_newest();
    const TierSet& set = candidate.set;
    for (const TierSet& suspect : candidate.passed) {
      pass_over(suspect, "it is suspect: " + suspect.suspicion, actions);
      if (!suspect.stored_as.empty()) actions.aside.push_back(suspect);
    }
    if (!set.wrong.empty()) {
      pass_over(set, set.wrong, actions);
      continue;
    }
    const bool suits = set.ranks == 0 || set.ranks == round_->total ||
                       std::ranges::all_of(round_->askers.all, [](const auto& one) { return one.second.any_ranks; });
    round_->tries = 0;
    return suits ? prepare(std::move(candidate), now, actions) : refuse_other_ranks(set, now, actions);
  }
  std::string why = round_->passed_over.empty() ? round_->none : round_->passed_over;
  if (!round_->left_alone.empty())
    why += fmt::format("; sets of other series are left alone: {} (--series NAME continues one)", round_->left_alone);
  nothing(why, 0, now, actions);
}

void Restarts::prepare(RestartCandidates::Candidate candidate, Time now, Actions& actions) {
  go(RestartEvent::chosen);
  round_->tier = candidate.tier;
  round_->chosen = std::move(candidate.set);
  round_->in_place.reset();
  round_->askers.by_rank.assign(round_->total, 0);
  for (const auto& [id, asker] : round_->askers.all)
    for (const uint32_t rank : asker.ranks)
      if (round_->askers.by_rank[rank] == 0) round_->askers.by_rank[rank] = id;
  tier().prepare(*round_->chosen, round_->askers, now);
  hear_prepared(now, actions);
}

void Restarts::hear_prepared(Time now, Actions& actions) {
  const auto how = tier().prepared(now);
  if (!how) return;
  switch (how->how) {
    case Prepared::How::deliver:
      return deliver(now, actions);
    case Prepared::How::in_place:
      round_->steps.end("prepare", now);
      actions.log.info(fmt::format("restart: set {} is in place", round_->chosen->name));
      round_->in_place = how->encoding;
      return publish(now, actions);
    case Prepared::How::again:
      go(RestartEvent::again);
      return ask_tiers(now, actions);
    case Prepared::How::pass_over:
      pass_over(*round_->chosen, how->why, actions);
      return choose(now, actions);
    case Prepared::How::leave:
      return choose(now, actions);
  }
}

void Restarts::refuse_other_ranks(const TierSet& set, Time now, Actions& actions) {
  std::string why = round_->passed_over.empty() ? "" : round_->passed_over + "; ";
  why += fmt::format(
      "the newest set of the series {}, {}, is of {} ranks, and the job has {}: start as many ranks, or let the "
      "application ask for sets of any number of ranks (forebay_restart_any(), 'fetch --any-ranks'), or begin from "
      "scratch with another --series",
      options_.series, set.name, set.ranks, round_->total);
  nothing(why, static_cast<uint32_t>(std::min<uint64_t>(set.ranks, kMostRanks)), now, actions);
}

void Restarts::deliver(Time now, Actions& actions) {
  actions.log.info(fmt::format("restart: set {} is delivered", round_->chosen->name));
  go(RestartEvent::brought);
  round_->deliveries = tier().deliveries(*round_->chosen, round_->askers);
  round_->failures.assign(round_->deliveries.size(), 0);
  for (uint32_t i = 0; i < round_->deliveries.size(); ++i) {
    round_->open.insert(i);
    actions.work.push_back({Work::Kind::add, i, round_->deliveries[i].home});
  }
  if (round_->open.empty()) publish(now, actions);
}

wire::TaskT Restarts::task(uint32_t delivery) const {
  return tier().task(*round_->chosen, round_->deliveries[delivery], round_->askers);
}

Restarts::Actions Restarts::delivered(uint32_t delivery, const wire::TaskDoneT& done, Time now) {
  Actions actions;
  if (!done.failed) {
    round_->open.erase(delivery);
    actions.work.push_back({Work::Kind::remove, delivery, {}});
    if (round_->open.empty()) publish(now, actions);
    return actions;
  }
  const auto pass_over_chosen = [&] {
    pass_over(*round_->chosen, done.error, actions);
    stop_delivering(actions);
    choose(now, actions);
    return actions;
  };
  if (is_damaged(done)) return pass_over_chosen();
  actions.log.warn("restart: a delivery is tried again: " + done.error);
  actions.work.push_back({Work::Kind::retry, delivery, {}});
  if (++round_->failures[delivery] < kMaxDeliveryFailures) return actions;
  if (done.side == wire::FaultSide::other)
    refuse_all(wire::error_of(done).kind, done.error, now, actions);
  else if (done.side == wire::FaultSide::store && wire::error_of(done).kind == ErrorKind::permission)
    return pass_over_chosen();  // no waiting makes it readable
  return actions;
}

void Restarts::stop_delivering(Actions& actions) {
  for (const uint32_t delivery : std::exchange(round_->open, {}))
    actions.work.push_back({Work::Kind::remove, delivery, {}});
  round_->deliveries.clear();
}

void Restarts::nothing(const std::string& why, uint32_t other_ranks, Time now, Actions& actions) {
  if (other_ranks != 0)
    actions.log.warn("the restart is refused: " + why);
  else
    actions.log.info("restart: there is nothing to restart from: " + why);
  wire::RestartReadyT ready;
  ready.message = why;
  ready.other_ranks = other_ranks;
  for (const auto& [id, asker] : round_->askers.all) {
    ready.attempt = asker.attempt;
    actions.tell.push_back({id, ready});
  }
  actions.answered.push_back({});
  end_round(now, actions);
}

void Restarts::finish(Time now, Actions& actions) {
  round_->steps.end("publish", now);
  actions.log.info(fmt::format("restart: set {} is in the stages of {} ranks{}", round_->chosen->name, round_->total,
                               in_steps(round_->steps)));
  for (const auto& [id, asker] : round_->askers.all) {
    wire::RestartDoneT done;
    done.round = publishing_.number();
    actions.tell.push_back({id, done});
  }
  const TierSet& set = *round_->chosen;
  actions.answered.push_back({publishing_.number(), set.ordinal});
  last_ = Last{set.application_name.empty() ? set.name : set.application_name, set.stored_as, round_->total,
               round_->passed_over, round_->steps};
  end_round(now, actions);
}

Restarts::Actions Restarts::refuse(ErrorKind kind, const std::string& message, Time now) {
  Actions actions;
  if (round_) refuse_all(kind, message, now, actions);
  return actions;
}

void Restarts::refuse_all(ErrorKind kind, const std::string& message, Time now, Actions& actions) {
  actions.log.warn("the restart fails: " + message);
  for (const auto& [id, asker] : round_->askers.all) actions.tell.push_back(refusal(id, kind, message, asker.attempt));
  end_round(now, actions);
}

Restarts::Actions Restarts::tick(Time now) {
  Actions actions;
  if (!round_) return actions;
  if (round_->phase == Round::Phase::publishing) {
    if (publishing_.is_late(now))
      refuse_all(ErrorKind::timeout,
                 fmt::format("set {} was delivered, but not put in its place in time: {}", round_->chosen->name,
                             publishing_.who_is_waited_for()),
                 now, actions);
    return actions;
  }
  if (now - round_->since < options_.set_timeout) {
    go_on(now, actions);
  } else if (round_->coverage.size() < round_->total) {
    refuse_all(ErrorKind::timeout,
               fmt::format("ranks {} of {} did not ask for the restart", round_->coverage.missing(round_->total),
                           round_->total),
               now, actions);
  } else if (publishing_.waiting() > 0) {
    refuse_all(ErrorKind::timeout, "agents have not ended the restart before: " + publishing_.who_is_waited_for(), now,
               actions);
  } else if (round_->phase == Round::Phase::preparing) {
    go_on(now, actions);  // what is done then has limits of its own
  } else if (round_->phase != Round::Phase::delivering) {
    refuse_all(ErrorKind::timeout, "the store or a set that is drained keeps the restart waiting", now, actions);
  }
  return actions;
}

std::optional<Restarts::Row> Restarts::row() const {
  if (!round_) return std::nullopt;
  return Row{.ranks = round_->total,
             .ranks_asked = round_->coverage.size(),
             .deliveries = round_->deliveries.size(),
             .deliveries_done = round_->deliveries.size() - round_->open.size(),
             .publishing = publishing_.waiting(),
             .set = chosen(),
             .passed_over = round_->passed_over,
             .since = round_->since};
}

}  // namespace forebay::job

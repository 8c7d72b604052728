// The part of a model agent that serves the ranks of its node.
#include <utility>

#include <fmt/format.h>

#include "agent.h"
#include "job/wire/convert.h"

namespace forebay::job::model {

void Agent::hear_rank(LinkId link, wire::MessageT message) {
  const Time now = world_.loop().now;
  const auto ask = [&](Question question) {
    if (!answer(link, question)) clients_.wait(link, std::move(question));
  };
  if (const auto* hello = message.body.AsClientHello()) {
    greet(link, *hello);
  } else if (const auto* begin = message.body.AsBegin()) {
    Question question{Question::Kind::begin, begin->set, {}, deadline_after(begin->timeout_ms, now)};
    if (begin->step) question.step = *begin->step;
    if (begin->policy) question.policy = *begin->policy;
    ask(std::move(question));
  } else if (const auto* completed = message.body.AsCompleted()) {
    look(completed->set);
  } else if (const auto* wait = message.body.AsWait()) {
    ask({Question::Kind::wait, wait->set, {}, deadline_after(wait->timeout_ms, now)});
  } else if (const auto* restart = message.body.AsRestart()) {
    const auto asked = restart_.ask(*clients_.find(link), restart->any_ranks, now, restart->newest);
    if (!asked)
      refuse(link, asked.error());
    else
      ask({Question::Kind::restart, {}, {}, deadline_after(restart->timeout_ms, now)});
  } else if (const auto* reject = message.body.AsReject()) {
    rejects_[reject->set] = *reject;
    send_rejects();
    ask({Question::Kind::reject, reject->set, {}, deadline_after(reject->timeout_ms, now)});
  }
  tick_soon();
}

void Agent::greet(LinkId link, const wire::ClientHelloT& hello) {
  const ConnectedRank client{hello.rank, hello.ranks, hello.pid, hello.attempt};
  const auto is_new_start = clients_.joined(link, client);
  if (!is_new_start) throw std::runtime_error(is_new_start.error().message());
  if (*is_new_start) {
    restart_.forget_gone([this](uint32_t rank, uint64_t pid) { return clients_.is_connected(rank, pid); },
                         world_.loop().now);
    sets_.started_again(clients_.ranks());
  }
  for (const std::string& set : sets_.unfinished()) {
    auto& markers = disk_.sets[set].markers;
    std::erase_if(markers, [&](const auto& one) {
      return (one.first == client.rank || *is_new_start) && !clients_.is_connected(one.first, one.second.pid);
    });
  }
}

void Agent::rank_gone(LinkId link) {
  const auto client = clients_.left(link);
  if (client && !clients_.is_connected(client->rank, client->pid)) restart_.stop_asking(*client, world_.loop().now);
  tick_soon();
}

bool Agent::answer(LinkId link, const Question& question) {
  switch (question.kind) {
    case Question::Kind::begin:
      return answer_begin(link, question);
    case Question::Kind::wait:
      return answer_wait(link, question);
    case Question::Kind::reject:
      if (rejects_.contains(question.set)) return false;
      say_to(link, wire::RejectT{.set = question.set});
      return true;
    default:
      return answer_restart(link);
  }
}

bool Agent::answer_begin(LinkId link, const Question& question) {
  const std::string& set = question.set;
  const uint32_t rank = clients_.find(link)->rank;
  const uint64_t write = question.policy ? question.policy->write : 0;
  const bool is_open = sets_.is_open_for(set, rank, write) && has_set(set);
  if (!is_open && block_at_ > 0 && sets_.undrained() >= block_at_) return false;
  if (!is_open && question.policy && sets_.must_wait(keep_, {}, set)) return false;
  const auto begun = sets_.begin(set, rank, write);
  follow(set, begun.decision);
  if (begun.is_new) {
    discard(set);
    discard_notes(set);
    tidy();
  } else {
    disk_.sets[set].markers.erase(rank);
  }
  StagedSet& staged = disk_.sets[set];
  if (!is_open) {
    rejects_.erase(set);
    staged.has_directory = true;
    staged.begun = Begin{.step = question.step, .policy = question.policy, .place = {}};
  }
  say_to(link, wire::BegunT{.directory = set, .marker = set + "/.marker"});
  return true;
}

bool Agent::answer_wait(LinkId link, const Question& question) {
  const auto* entry = sets_.find(question.set);
  if (entry == nullptr) {
    refuse(link, {ErrorKind::not_found, fmt::format("no set '{}' is known", question.set), {}, {}, {}});
    return true;
  }
  if (!entry->is_final()) return false;
  tell_state(link, question.set);
  return true;
}

void Agent::tell_state(LinkId link, const std::string& set) {
  wire::SetNewsT news;
  news.set = set;
  if (const auto* entry = sets_.find(set)) {
    news.exposure = entry->exposure;
    news.state = entry->state;
    news.stored_as = entry->stored_as;
    news.message = entry->message;
  }
  say_to(link, std::move(news));
}

void Agent::settle_all() {
  clients_.settle_each([this](LinkId link, const Question& question) { return answer(link, question); });
}

bool Agent::answer_restart(LinkId link) {
  auto restarted = restart_.take_answer(*clients_.find(link));
  if (restarted) say_to(link, *std::move(restarted));
  return restarted.has_value();
}

void Agent::send_restart_request() {
  if (!coordinator_ || !coordinator_->is_welcome) return restart_.cannot_request();
  if (auto request = restart_.request()) say_to(coordinator_->link, *std::move(request));
}

void Agent::restart_refused(const wire::RefusedT& refused) {
  clients_.settle_each([&](LinkId link, const Question& question) {
    if (question.kind != Question::Kind::restart || !restart_.is_refused(*clients_.find(link), refused)) return false;
    say_to(link, refused);
    return true;
  });
  restart_.refused(refused);
}

void Agent::restart_ready(const wire::RestartReadyT& ready) {
  const auto step = restart_.ready(ready, coordinator_->generation);
  if (!step) {
    const LinkId link = coordinator_->link;
    world_.net().close(link, process_);
    return lose_coordinator();
  }
  if (*step == RankRestart::Step::too_late) {
    if (ready.found) published(coordinator_->link, ready, fail(ErrorKind::cancelled, "it was started again meanwhile"));
    return;
  }
  forget_unfinished();
  if (ready.found) return publish(ready);
  restart_.nothing_found(world_.loop().now);
  settle_all();
}

void Agent::publish(const wire::RestartReadyT& ready) {
  world_.removing();
  if (const auto* entry = sets_.find(ready.set); entry != nullptr && entry->is_offered())
    withdraw(ready.set, entry->exposure, "the ranks restart from another set of this name");
  drop_encodings(ready.set);
  if (disk_.sets.contains(ready.set)) {
    StagedSet& staged = disk_.sets[ready.set];
    staged.begun.reset();
    staged.markers.clear();
    staged.outcome.reset();
    staged.place.reset();
  }
  sets_.forget(ready.set);
  restart_.begin_publishing();
  const LinkId asked_by = coordinator_->link;
  world_.loop().after(world_.net().delay(mix(number_, ++work_)), process_, [this, ready, asked_by] {
    const auto came = disk_.delivered.find(ready.stored_as);
    const bool has_come = came != disk_.delivered.end();
    if (has_come) {
      disk_.sets[ready.set] = {.has_directory = true, .files = came->second};
      disk_.delivered.clear();
    }
    world_.removed(*this, ready.set, false);
    published(asked_by, ready, has_come);
    restart_.end_publishing(world_.loop().now);
    tick_soon();
  });
}

void Agent::published(LinkId coordinator, const wire::RestartReadyT& ready, const Result<bool>& result) {
  if (result.value_or(false)) {
    Outcome outcome{.stored_as = ready.stored_as,
                    .fingerprint = fingerprint_in_stage(ready.set),
                    .ended_ns = wall_ns(),
                    .restored_ns = wall_ns()};
    if (ready.step) outcome.step = *ready.step;
    outcome.ordinal = ready.ordinal;
    sets_.ended(ready.set, outcome, true);
    disk_.sets[ready.set].outcome = outcome;
  }
  wire::RestartPublishedT report;
  report.round = ready.round;
  report.failed = !result;
  if (!result) report.error = result.error().message();
  if (!coordinator_ || coordinator_->link != coordinator) return;
  if (!report.failed) restart_.placed(report.round);
  say_to(coordinator, std::move(report));
}

void Agent::restart_in_place(const wire::RestartInPlaceT& order) {
  wire::RestartReadyT ready;
  ready.found = true;
  ready.set = order.set;
  ready.step = order.step;
  ready.message = order.message;
  ready.round = order.round;
  ready.ranks = order.ranks;
  ready.attempt = order.attempt;
  const auto step = restart_.ready(ready, coordinator_->generation);
  if (!step) {
    const LinkId link = coordinator_->link;
    world_.net().close(link, process_);
    return lose_coordinator();
  }
  if (*step == RankRestart::Step::too_late)
    return published(coordinator_->link, ready, fail(ErrorKind::cancelled, "it was started again meanwhile"));
  forget_unfinished();
  const auto* entry = sets_.find(order.set);
  const bool is_here = entry != nullptr && entry->is_offered() && is_as_it_ended(order.set);
  published(
      coordinator_->link, ready,
      is_here ? Result<bool>(false) : fail(ErrorKind::changed, "the set is not in this stage any more", order.set));
}

void Agent::send_rejects() {
  if (!coordinator_ || !coordinator_->is_welcome) return;
  for (const auto& [set, reject] : rejects_) say_to(coordinator_->link, wire::RejectT(reject));
}

void Agent::rejected(const wire::RejectT& confirmed) {
  const auto found = rejects_.find(confirmed.set);
  if (found == rejects_.end() || found->second.removes != confirmed.removes) return;
  rejects_.erase(found);
  settle_all();
}

}  // namespace forebay::job::model

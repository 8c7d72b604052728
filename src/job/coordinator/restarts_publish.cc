// The end of a restart: each agent puts what it has got, or has in its caches, in its place.
#include <utility>

#include <fmt/format.h>

#include "job/coordinator/restarts.h"

namespace forebay::job {

void Restarts::publish(Time now, Actions& actions) {
  go(RestartEvent::ready);
  if (!round_->in_place) round_->steps.end("deliver", now);
  publishing_ = Order(OrderKind::place, publishing_.number() + 1, now, options_.set_timeout);
  for (const auto& [id, asker] : round_->askers.all) {
    publishing_.ask(id, fmt::format("{} ({})", asker.host, asker.stage));
    if (round_->in_place)
      actions.tell.push_back({id, in_place(asker)});
    else
      actions.tell.push_back({id, ready(asker)});
  }
}

wire::RestartReadyT Restarts::ready(const Asker& asker) const {
  wire::RestartReadyT ready;
  ready.found = true;
  ready.set = round_->chosen->application_name;
  ready.stored_as = round_->chosen->name;
  if (round_->chosen->step) ready.step = *round_->chosen->step;
  ready.ordinal = round_->chosen->ordinal;
  ready.message = round_->passed_over;
  ready.ranks = static_cast<uint32_t>(round_->chosen->ranks);
  ready.round = publishing_.number();
  ready.attempt = asker.attempt;
  return ready;
}

wire::RestartInPlaceT Restarts::in_place(const Asker& asker) const {
  wire::RestartInPlaceT ready;
  ready.set = round_->chosen->application_name;
  ready.id = *round_->in_place;
  if (round_->chosen->step) ready.step = *round_->chosen->step;
  ready.message = round_->passed_over;
  ready.ranks = static_cast<uint32_t>(round_->chosen->ranks);
  ready.round = publishing_.number();
  ready.attempt = asker.attempt;
  return ready;
}

Restarts::Actions Restarts::published(SessionId agent, const wire::RestartPublishedT& report, Time now) {
  Actions actions;
  if (!publishing_.answered({.kind = OrderKind::place,
                             .number = report.round,
                             .from = agent,
                             .has_failed = report.failed,
                             .why = report.error}))
    return actions;
  if (!publishing_.is_open()) {
    go_on(now, actions);
    return actions;
  }
  if (report.failed) tier().misplaced(agent, *round_->chosen);
  if (report.failed && !round_->in_place) {
    refuse_all(ErrorKind::io,
               fmt::format("set {} was delivered, but cannot be put in its place on {}: {}; no rank begins: see to "
                           "that, and restart again",
                           round_->chosen->name, round_->askers.all.at(agent).host, report.error),
               now, actions);
  } else if (publishing_.state() == Order::State::done) {
    finish(now, actions);
  } else if (publishing_.state() == Order::State::failed) {
    place_again(now, actions);
  }
  return actions;
}

// All have answered, and not all could put it in its place.
void Restarts::place_again(Time now, Actions& actions) {
  std::string who;
  for (const Order::Asked& one : publishing_.asked()) {
    if (one.state != Order::Asked::State::missing) continue;
    who += fmt::format("{}{}: {}", who.empty() ? "" : "; ", round_->askers.all.at(one.session).host, one.why);
  }
  publishing_.end();
  const std::string why = "it cannot be put in its place on " + who;
  if (++round_->tries < rule_of(OrderKind::place).most_failures) {
    actions.log.warn(
        fmt::format("restart: set {} is mended and put in its place again: {}", round_->chosen->name, why));
    prepare({round_->tier, *round_->chosen}, now, actions);
  } else {
    pass_over(*round_->chosen, why, actions);
    choose(now, actions);
  }
}

}  // namespace forebay::job

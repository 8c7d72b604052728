// What restarts and settling ask for.
#include <algorithm>

#include <fmt/format.h>

#include "job/coordinator/coordinator_impl.h"

namespace forebay::job {
namespace {

constexpr int kDeliverPriority = 0;

}  // namespace

void Coordinator::Impl::restart(SessionId id, const Session& session, const wire::RestartRequestT& request) {
  // The coordinator before has died when some had heard that all have it, and these have not.
  if (request.placed_round != 0 && facts.answered.is_of(request.placed_by, request.placed_round)) {
    info(fmt::format("the restart that coordinator {} has answered ends for {}, too", request.placed_by,
                     session.agent->host));
    return send(id, wire::RestartDoneT{.round = request.placed_round, .placed_by = request.placed_by});
  }
  const wire::AgentHelloT& agent = *session.agent;
  Asker asker{.id = id,
              .host = agent.host,
              .node = agent.node,
              .addresses = agent.addresses,
              .stage = agent.stage,
              .ranks = {},
              .attempt = 0,
              .any_ranks = false,
              .newest = {}};
  apply(with_stages_observed().requested(std::move(asker), request, now));
}

Restarts& Coordinator::Impl::with_stages_observed() {
  // One that is complete may wait for what the store says of it.
  const bool has_undrained =
      !announcements.empty() || are_offers_awaited() || std::ranges::any_of(sets, [&](const auto& one) {
        return one.second.drain.phase() != SetPhase::incomplete || one.second.drain.is_complete();
      });
  stage_tier.observe(settling.is_open(), has_undrained);
  return restarts;
}

void Coordinator::Impl::advance_restart() { apply(with_stages_observed().advance(now)); }

void Coordinator::Impl::answered(ListedSets answer) {
  store_tier.listed(std::move(answer));
  advance_restart();
}

void Coordinator::Impl::apply(Restarts::Actions actions) {
  using Kind = Restarts::Work::Kind;
  take(std::move(actions.log));
  take(std::move(actions.commands));
  for (const TierSet& set : actions.aside)
    for (const auto& [key, id] : roster.agents())
      send(id, wire::QuarantineT{.set = set.application_name, .reason = "it is suspect: " + set.suspicion});
  for (auto& [to, what] : actions.tell) std::visit([&, id = to](auto& table) { send(id, std::move(table)); }, what);
  for (const auto& work : actions.work) {
    const UnitId unit{0, work.delivery};
    if (work.kind == Kind::add) board.add(unit, kDeliverPriority, work.home, true);
    if (work.kind == Kind::remove) remove_unit(unit);
    if (work.kind == Kind::retry) retry_unit(unit);
  }
  for (const auto& [round, place] : actions.answered) {
    decide(decided::Answered{generation, round, place});
    newest_cached.reset();  // it may have been passed over
    durable_place = std::min(durable_place, place);
    cadence.restarted();
  }
  if (actions.void_incomplete) give_up_incomplete(true);
  if (actions.settle) apply(settling.begin(0, now));
  apply_cache_tier();
}

void Coordinator::Impl::apply(Settling::Actions actions) {
  take(std::move(actions.log));
  for (const SessionId id : actions.ask) send(id, wire::SettleT{.number = settling.number()});
  if (!actions.ended) return;
  for (const SessionId id : actions.tell)
    if (roster.find(id) != nullptr) send(id, wire::StatusT{.json = status()});
  if (settling.is_for_good() && actions.all_said) give_up_incomplete(false);
  leave_drains_of_lost();
  advance_restart();
}

}  // namespace forebay::job

#include "job/coordinator/settling.h"

#include <utility>

#include <fmt/format.h>

namespace forebay::job {

void Settling::open(Time now) { order_ = Order(OrderKind::settle, order_.number() + 1, now, options_.set_timeout); }

void Settling::ask(const Agent& agent, Actions& actions) {
  order_.ask(agent.id, agent.host);
  said_.erase(agent.key);
  actions.ask.push_back(agent.id);
}

Settling::Actions Settling::begin(SessionId asker, Time now) {
  open(now);
  if (asker != 0) askers_.push_back(asker);
  said_.clear();
  unknown_.clear();
  Actions actions;
  for (const auto& [id, agent] : agents_) ask(agent, actions);
  end_if_all_is_said(now, actions);
  return actions;
}

Settling::Actions Settling::begin_for_good(Time now) {
  for_good_ = true;
  return begin(0, now);
}

Settling::Actions Settling::joined(const Agent& agent, Time now) {
  agents_[agent.id] = agent;
  Actions actions;
  if (!is_open() && !for_good_) return actions;
  if (!is_open()) open(now);
  ask(agent, actions);
  return actions;
}

Settling::Actions Settling::left(SessionId agent, Time now) {
  agents_.erase(agent);
  order_.lost(agent);
  return tick(now);
}

Settling::Actions Settling::answered(SessionId agent, const wire::SettledT& answer, Time now) {
  Actions actions;
  if (!is_open() || !order_.answered({.kind = OrderKind::settle, .number = answer.number, .from = agent}))
    return actions;
  const auto& [id, key, host] = agents_.at(agent);
  std::vector<Left>& rows = said_[key];
  for (const auto& row : answer.left) rows.push_back({host, row->name, row->reason, row->place});
  if (answer.more > 0) rows.push_back({host, fmt::format("{} more", answer.more), "the agent's log names them"});
  for (const Left& row : rows)
    actions.log.info(fmt::format("{} of {} is not complete: {}", row.name, host, row.reason));
  end_if_all_is_said(now, actions);
  return actions;
}

Settling::Actions Settling::tick(Time now) {
  Actions actions;
  end_if_all_is_said(now, actions);
  return actions;
}

// Or too much time has passed.
void Settling::end_if_all_is_said(Time now, Actions& actions) {
  if (!is_open()) return;
  const bool have_answered = order_.state() == Order::State::done;
  if (!have_answered && !order_.is_late(now)) return;
  if (have_answered && said_.size() < options_.agents && now - order_.since() < 2 * options_.peer_timeout) return;
  for (const Order::Asked& one : order_.asked())
    if (one.state == Order::Asked::State::waiting)
      unknown_.push_back({one.name, "", "the agent does not say what its stage holds"});
  if (agents_.size() < options_.agents)
    unknown_.push_back({"", "",
                        fmt::format("{} of {} agents are not there: what their stages hold is not known",
                                    options_.agents - agents_.size(), options_.agents)});
  actions.ended = true;
  actions.all_said = have_answered && said_.size() >= options_.agents && options_.agents != 0;
  actions.tell = std::exchange(askers_, {});
  order_.end();
}

std::vector<Settling::Left> Settling::rows() const {
  std::vector<Left> all;
  for (const auto& [key, rows] : said_) all.insert(all.end(), rows.begin(), rows.end());
  all.insert(all.end(), unknown_.begin(), unknown_.end());
  return all;
}

}  // namespace forebay::job

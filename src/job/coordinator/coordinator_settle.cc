// What the stages hold when the application has ended, or waits for a restart:
//   1. every agent is asked; it offers what is complete, now that nobody writes, and names the rest;
//   2. when all have answered, who wanted to know is told;
//   3. at the job's end, sets that are not complete then are given up at once: nothing comes any more.
// An agent that is lost may come back and is asked then; one that does not come back, or does not answer, is not waited
// for without end.
#include <algorithm>

#include <fmt/format.h>

#include "job/coordinator/coordinator_impl.h"

namespace forebay::job {

void Coordinator::Impl::settle(SessionId asker) {
  auto askers = settling ? std::move(settling->askers) : std::vector<SessionId>();
  if (asker != 0) askers.push_back(asker);
  settling = Settling{.number = next_settling++, .since = now, .waiting = {}, .askers = std::move(askers)};
  left.clear();
  unknown.clear();
  for (const auto& [key, id] : agents) ask_to_settle(id);
  advance_settling();
}

void Coordinator::Impl::ask_to_settle(SessionId agent) {
  if (!settling) settling = Settling{.number = next_settling++, .since = now, .waiting = {}, .askers = {}};
  settling->waiting.insert(agent);
  left.erase(sessions.at(agent).key);
  send(agent, wire::SettleT{.number = settling->number});
}

void Coordinator::Impl::settled(SessionId id, const wire::SettledT& answer) {
  if (!settling || answer.number != settling->number || settling->waiting.erase(id) == 0) return;
  const Session& session = sessions.at(id);
  const std::string& host = session.agent->host;
  std::vector<Left>& rows = left[session.key];
  for (const auto& row : answer.left) rows.push_back({host, row->name, row->reason});
  if (answer.more > 0) rows.push_back({host, fmt::format("{} more", answer.more), "the agent's log names them"});
  for (const Left& row : rows) info(fmt::format("{} of {} is not complete: {}", row.name, host, row.reason));
  advance_settling();
}

void Coordinator::Impl::advance_settling() {
  if (!settling) return;
  const auto passed = now - settling->since;
  if (!settling->waiting.empty() && passed < options.set_timeout) return;
  if (settling->waiting.empty() && left.size() < options.agents && passed < 2 * options.peer_timeout) return;
  for (const SessionId id : settling->waiting)
    unknown.push_back({sessions.at(id).agent->host, "", "the agent does not say what its stage holds"});
  if (agents.size() < options.agents)
    unknown.push_back({"", "",
                       fmt::format("{} of {} agents are not there: what their stages hold is not known",
                                   options.agents - agents.size(), options.agents)});
  end_settling();
}

void Coordinator::Impl::end_settling() {
  const bool all_said = settling->waiting.empty() && left.size() >= options.agents && options.agents != 0;
  const auto askers = std::move(settling->askers);
  settling.reset();
  for (const SessionId id : askers)
    if (sessions.contains(id)) send(id, wire::StatusT{.json = status()});
  if (settles_to_end && all_said) give_up_incomplete();
  advance_restart();
}

void Coordinator::Impl::give_up_incomplete() {
  std::vector<uint64_t> ids;
  for (const auto& [id, set] : sets)
    if (set.phase == Set::Phase::incomplete && !is_complete(set)) ids.push_back(id);
  for (const uint64_t id : ids)
    if (const auto found = sets.find(id); found != sets.end()) give_up(id, what_is_missing(found->second));
}

}  // namespace forebay::job

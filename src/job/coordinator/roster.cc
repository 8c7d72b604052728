#include "job/coordinator/roster.h"

#include <algorithm>
#include <utility>

namespace forebay::job {

Session* Roster::find(SessionId id) {
  const auto found = sessions_.find(id);
  return found == sessions_.end() ? nullptr : &found->second;
}

const Session* Roster::find(SessionId id) const {
  const auto found = sessions_.find(id);
  return found == sessions_.end() ? nullptr : &found->second;
}

Session* Roster::heard(SessionId id, Time now) {
  Session* const session = find(id);
  if (session != nullptr) session->last_heard = now;
  return session;
}

Result<Roster::Welcome> Roster::greet(SessionId id, std::unique_ptr<wire::AgentHelloT> hello) {
  Session& session = sessions_.at(id);
  if (session.role != Session::Role::none) return fail(ErrorKind::corrupt, "a second hello");
  if (excluded_.contains(hello->host)) return Welcome{.is_excluded = true};
  session.role = Session::Role::agent;
  session.key = hello->node + '\n' + hello->stage;
  session.agent = std::move(hello);
  Welcome welcome;
  if (const auto before = agents_.find(session.key); before != agents_.end()) welcome.replaced = before->second;
  agents_[session.key] = id;
  hosts_[session.key] = session.agent->host;
  return welcome;
}

Result<void> Roster::greet(SessionId id, std::unique_ptr<wire::WorkerHelloT> hello) {
  Session& session = sessions_.at(id);
  if (session.role != Session::Role::none) return fail(ErrorKind::corrupt, "a second hello");
  session.role = Session::Role::worker;
  session.worker = std::move(hello);
  return {};
}

void Roster::asks(SessionId id) {
  Session& session = sessions_.at(id);
  if (session.role == Session::Role::none) session.role = Session::Role::asker;
}

std::optional<Session> Roster::left(SessionId id) {
  const auto found = sessions_.find(id);
  if (found == sessions_.end()) return std::nullopt;
  Session session = std::move(found->second);
  sessions_.erase(found);
  if (const auto agent = agents_.find(session.key); agent != agents_.end() && agent->second == id) {
    agents_.erase(agent);
    hosts_.erase(session.key);
  }
  return session;
}

std::vector<SessionId> Roster::silent(Time now, std::chrono::milliseconds patience) const {
  std::vector<SessionId> silent;
  for (const auto& [id, session] : sessions_)
    if (session.role != Session::Role::asker && now - session.last_heard > patience) silent.push_back(id);
  return silent;
}

void Roster::forgive(std::chrono::nanoseconds gap) {
  for (auto& [id, session] : sessions_) session.last_heard += gap;
}

uint32_t Roster::connected_ranks() const {
  uint32_t ranks = 0;
  for (const auto& [id, session] : sessions_) ranks += session.ranks;
  return ranks;
}

std::optional<std::vector<SessionId>> Roster::exclude(const std::string& host) {
  if (!excluded_.insert(host).second) return std::nullopt;
  std::vector<SessionId> theirs;
  for (const auto& [key, id] : agents_)
    if (sessions_.at(id).agent->host == host) theirs.push_back(id);
  return theirs;
}

bool Roster::has_other_workers(const std::string& host, uint64_t pid) const {
  return std::ranges::any_of(sessions_, [&](const auto& one) {
    const auto& worker = one.second.worker;
    return worker && (worker->host != host || worker->pid != pid);
  });
}

}  // namespace forebay::job

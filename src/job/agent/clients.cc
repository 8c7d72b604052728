#include "job/agent/clients.h"

#include <algorithm>
#include <ranges>

#include <fmt/format.h>

namespace forebay::job {

Clients::Time deadline_after(int64_t timeout_ms, Clients::Time now) {
  constexpr int64_t kLongest = int64_t{1000} * 3600 * 24 * 365;
  if (timeout_ms < 0 || timeout_ms > kLongest) return Clients::Time::max();
  return now + std::chrono::milliseconds(timeout_ms);
}

Result<bool> Clients::joined(Id id, const ConnectedRank& client) {
  if (client.rank >= client.ranks)
    return fail(ErrorKind::corrupt, fmt::format("a rank {} of {}", client.rank, client.ranks));
  clients_[id] = client;
  if (client.attempt != 0 && client.attempt < attempt_) return false;  // it is to end
  const auto before = processes_.find(client.rank);
  const bool is_other = before != processes_.end() && before->second != client.pid;
  const bool is_new_start = is_other || (attempt_ != 0 && client.attempt > attempt_);
  attempt_ = std::max(attempt_, client.attempt);
  if (is_other) processes_.erase(before);  // the same rank twice at once: the end of the old one was not noticed yet
  if (is_new_start) processes_ = connected();
  processes_[client.rank] = client.pid;
  return is_new_start;
}

std::map<uint32_t, uint64_t> Clients::connected() const {
  std::map<uint32_t, uint64_t> connected;
  for (const auto& [id, client] : clients_) {
    const auto latest = processes_.find(client.rank);
    if (latest != processes_.end() && latest->second == client.pid &&
        (client.attempt == 0 || client.attempt == attempt_))
      connected.emplace(client.rank, client.pid);
  }
  return connected;
}

std::set<uint32_t> Clients::ranks() const {
  const auto processes = connected();
  const auto ranks = processes | std::views::keys;
  return {ranks.begin(), ranks.end()};
}

bool Clients::is_connected(uint32_t rank, uint64_t pid) const {
  const auto latest = processes_.find(rank);
  return latest != processes_.end() && latest->second == pid && std::ranges::any_of(clients_, [&](const auto& client) {
           return client.second.rank == rank && client.second.pid == pid;
         });
}

std::optional<ConnectedRank> Clients::left(Id id) {
  questions_.erase(id);
  const auto client = clients_.extract(id);
  if (!client) return std::nullopt;
  return client.mapped();
}

const ConnectedRank* Clients::find(Id id) const {
  const auto found = clients_.find(id);
  return found == clients_.end() ? nullptr : &found->second;
}

Result<void> Clients::may_ask(Id id) const {
  if (questions_.contains(id)) return fail(ErrorKind::corrupt, "a question before the last one is answered");
  return {};
}

std::vector<std::pair<Clients::Id, Question>> Clients::expired(Time now) {
  std::vector<std::pair<Id, Question>> over;
  settle_each([&](Id id, const Question& question) {
    if (now < question.deadline) return false;
    over.emplace_back(id, question);
    return true;
  });
  return over;
}

Clients::Time Clients::next_deadline() const {
  Time next = Time::max();
  for (const auto& [id, question] : questions_) next = std::min(next, question.deadline);
  return next;
}

}  // namespace forebay::job

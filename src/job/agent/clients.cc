#include "job/agent/clients.h"

#include <algorithm>

#include <fmt/format.h>

namespace forebay::job {

Clients::Time deadline_after(int64_t timeout_ms, Clients::Time now) {
  constexpr int64_t kLongest = int64_t{1000} * 3600 * 24 * 365;
  if (timeout_ms < 0 || timeout_ms > kLongest) return Clients::Time::max();
  return now + std::chrono::milliseconds(timeout_ms);
}

Result<void> Clients::joined(Id id, const ConnectedRank& client) {
  if (client.rank >= client.ranks)
    return fail(ErrorKind::corrupt, fmt::format("a rank {} of {}", client.rank, client.ranks));
  clients_[id] = client;
  return {};
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

// What a service tells those who ask who holds and who waits.
#include <algorithm>

#include "lock/service.h"
#include "lock/service_state.h"

namespace forebay::lock {
namespace {

constexpr size_t kMaxEntries = 8192;  // of each kind, in one answer

uint64_t milliseconds(Service::Time from, Service::Time to) {
  const auto passed = std::chrono::duration_cast<std::chrono::milliseconds>(to - from).count();
  return passed > 0 ? static_cast<uint64_t>(passed) : 0;
}

// Moves up to one message's share from `from`, beginning at `position`.
template <class T>
void take(std::vector<T>& from, size_t position, std::vector<T>& to) {
  for (size_t i = position; i < std::min(from.size(), position + wire::kMaxStatusEntries); ++i)
    to.push_back(std::move(from[i]));
}

}  // namespace

void Service::answer(SessionId id, const wire::Query& message, Time now, std::vector<Outgoing>& out) const {
  wire::Status all;
  const auto full = [&all](size_t size) { return size < kMaxEntries ? false : (all.truncated = true); };
  for (const auto& [number, session] : sessions_) {
    if (!session.greeted) continue;
    if (full(all.clients.size())) break;
    all.clients.push_back({number, session.hello.label, session.hello.host, session.peer, session.hello.pid,
                           milliseconds(session.last_heard, now), session.connected && !session.expired});
  }
  for (const auto& [name, file] : files_) {
    file->table.for_each([&](const Table::Entry& entry) {
      const auto owner = file->owners.find(entry.ticket);
      if (owner == file->owners.end() || full(all.requests.size())) return;
      all.requests.push_back({name, entry.ticket, owner->second.session, entry.access, entry.granted, entry.waits_for,
                              milliseconds(owner->second.since, now), entry.region->bounds(),
                              entry.region->segment_count()});
    });
  }
  for (const auto& [name, counter] : counters_) {
    if (full(all.counters.size())) break;
    all.counters.push_back({name, counter.value});
  }
  const size_t most = std::max({all.clients.size(), all.requests.size(), all.counters.size()});
  for (size_t position = 0;; position += wire::kMaxStatusEntries) {
    wire::Status part{.request = message.request, .last = position + wire::kMaxStatusEntries >= most};
    part.truncated = all.truncated;
    take(all.clients, position, part.clients);
    take(all.requests, position, part.requests);
    take(all.counters, position, part.counters);
    const bool last = part.last;
    out.push_back({id, std::move(part)});
    if (last) return;
  }
}

}  // namespace forebay::lock

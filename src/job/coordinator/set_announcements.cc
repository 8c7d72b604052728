#include "job/coordinator/set_announcements.h"

namespace forebay::job {

void SetAnnouncements::add(wire::SetNewsT news, std::vector<Listener> listeners) {
  if (!listeners.empty()) queue_.push_back({std::move(news), std::move(listeners), 0});
}

std::vector<std::pair<SessionId, wire::SetNewsT>> SetAnnouncements::take(size_t most) {
  std::vector<std::pair<SessionId, wire::SetNewsT>> next;
  while (next.size() < most && !queue_.empty()) {
    Announcement& first = queue_.front();
    const auto& [session, exposure] = first.listeners[first.told++];
    next.emplace_back(session, first.news);
    next.back().second.exposure = exposure;
    if (first.told == first.listeners.size()) queue_.pop_front();
  }
  return next;
}

}  // namespace forebay::job

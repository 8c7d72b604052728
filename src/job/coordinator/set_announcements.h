// The news of how sets have ended, and which places they have (state waiting), for all agents that have a part of them:
// of a set of many nodes they are sent a few at a time. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "job/coordinator/session.h"
#include "job/wire/messages.h"

namespace forebay::job {

class SetAnnouncements {
 public:
  struct Listener {
    SessionId session = 0;
    uint64_t exposure = 0;  // of its part
  };

  // `news` is for all listeners, but for the exposure.
  void add(wire::SetNewsT news, std::vector<Listener> listeners);
  bool empty() const { return queue_.empty(); }
  // The next ones, at most so many, in the order of add().
  std::vector<std::pair<SessionId, wire::SetNewsT>> take(size_t most);

 private:
  struct Announcement {
    wire::SetNewsT news;
    std::vector<Listener> listeners;
    size_t told = 0;
  };
  std::deque<Announcement> queue_;
};

}  // namespace forebay::job

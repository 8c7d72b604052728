// The small job that most tests of the coordinator are about.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "job/coordinator/test_coordinator.h"

namespace forebay::job {

inline CoordinatorOptions small_groups(uint64_t group_size = 2) {
  CoordinatorOptions with;
  with.group_size = group_size;
  with.profile = "balanced";
  with.scheme = "auto";
  return with;
}

// Two nodes with two ranks each, and a worker on each.
class CoordinatorTest : public testing::Test {
 protected:
  void offer_all(const std::string& set, std::optional<int64_t> step = {}, int64_t mtime = 7) {
    offer(a, set, {0, 1}, step, mtime);
    offer(b, set, {2, 3}, step, mtime);
  }
  void offer(SessionId agent, const std::string& set, std::vector<uint32_t> ranks, std::optional<int64_t> step = {},
             int64_t mtime = 7) {
    wire::OfferT offered = offer_of(set, std::move(ranks), 4, ++exposure, mtime);
    if (step) offered.step = *step;
    s.send(agent, std::move(offered));
  }
  // Everything that workers have to do is done.
  void work() {
    s.serve_store();
    for (bool some = true; some;) {
      some = false;
      for (const SessionId worker : {wa, wb})
        while (!s.inbox[worker].tasks.empty()) {
          const wire::TaskT task = s.inbox[worker].tasks.front();
          s.inbox[worker].tasks.pop_front();
          s.send(worker, success(task));
          some = true;
        }
      s.serve_store();
    }
  }
  wire::TaskT take_task(SessionId worker) {
    if (s.inbox[worker].tasks.empty()) throw std::runtime_error("no task");
    wire::TaskT task = s.inbox[worker].tasks.front();
    s.inbox[worker].tasks.pop_front();
    return task;
  }
  std::vector<wire::SetState> states(SessionId agent) {
    std::vector<wire::SetState> all;
    for (const wire::SetNewsT& news : s.inbox[agent].news) all.push_back(news.state);
    return all;
  }
  std::vector<SessionId> all() const { return {a, b, wa, wb}; }

  Stand s{small_groups()};
  SessionId a = s.agent("na"), b = s.agent("nb"), wa = s.worker("na"), wb = s.worker("nb");
  uint64_t exposure = 0;
};

}  // namespace forebay::job

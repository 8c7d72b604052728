// Three sets in the store, and two nodes that may ask for the newest.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "job/coordinator/test_two_nodes.h"

namespace forebay::job {

class RestartTest : public CoordinatorTest {
 protected:
  void SetUp() override {
    for (int64_t step = 1; step <= 3; ++step) {
      offer_all("s" + std::to_string(step), step);
      work();
    }
  }
  void ask(SessionId agent, std::vector<uint32_t> ranks, uint32_t total = 4, bool any_ranks = false,
           uint64_t attempt = 0) {
    wire::RestartRequestT request;
    request.total = total;
    request.attempt = attempt;
    request.any_ranks = any_ranks;
    request.ranks = std::move(ranks);
    s.send(agent, std::move(request));
    s.serve_store();
  }
  void ask_all() {
    ask(a, {0, 1});
    ask(b, {2, 3});
  }
  void deliver() {
    s.send(wa, success(take_task(wa)));
    s.send(wb, success(take_task(wb)));
  }
  // The answer to the newest RestartReady, or to the one of that round.
  void publish(SessionId agent, std::optional<std::string> error = {}, uint64_t round = 0) {
    wire::RestartPublishedT report;
    report.round = round != 0 ? round : s.inbox[agent].ready.back().round;
    report.failed = error.has_value();
    report.error = error.value_or("");
    s.send(agent, std::move(report));
  }
  size_t told(SessionId agent) { return s.inbox[agent].restarted.size() + s.inbox[agent].refused.size(); }
};

}  // namespace forebay::job

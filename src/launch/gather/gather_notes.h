// What the process that watches a code's directory keeps below STAGE/.forebay/gather, so that one that is started after
// it goes on, and the orders that `forebay run` leaves there for it.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "launch/gather/tree.h"
#include "launch/rules/set_id.h"

namespace forebay::launch {

struct GatherState {
  bool is_following = false;        // the code runs
  Tree before;                      // what lay there when it was started
  Tree taken;                       // members of sets that were taken, as they were then
  std::vector<rules::SetId> known;  // sets that were begun, the newest last
  // Sets of this start that are not stored, though they probably were some: the newest of each series.
  struct Lost {
    rules::SetId id;
    std::string reason;
  };
  std::vector<Lost> lost{};
};

// The directory of the notes, which is made if it is not there. permission, io.
Result<std::string> gather_directory(const std::string& stage);

Result<void> write_gather_state(const std::string& stage, const GatherState& state);
// Nothing if there is none, or none that can be read.
std::optional<GatherState> read_gather_state(const std::string& stage);

// The code is about to be started, has ended by itself, or was killed.
enum class GatherEvent : uint8_t { begin, ended, killed };
struct GatherOrder {
  std::string token;  // tells it from others
  GatherEvent event = GatherEvent::begin;
};
// The order that is not answered yet; nothing if there is none.
std::optional<GatherOrder> read_gather_order(const std::string& stage);
// `wrong`: why it could not be done; empty: it was.
Result<void> answer_gather_order(const std::string& stage, const GatherOrder& order, const std::string& wrong);

// Leaves an order and waits until it is done. timeout if nobody answers; io with the answer if it could not be done.
Result<void> give_gather_order(const std::string& stage, GatherEvent event, std::chrono::milliseconds patience);

}  // namespace forebay::launch

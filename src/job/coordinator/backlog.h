// What becomes of sets when draining is slower than the application. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace forebay::job {

enum class Backlog : uint8_t {
  newest,  // of the sets that wait only the newest is drained next; older ones are skipped
  skip,    // what becomes complete while a set is drained is skipped
  block,   // all are drained, oldest first, and the application waits
};
std::optional<Backlog> parse_backlog(std::string_view name);  // "newest", "skip", "block"
const char* to_string(Backlog backlog);

// A set that waits to be drained.
struct WaitingSet {
  uint64_t id = 0;       // a later set has a higher one
  uint64_t ordinal = 0;  // the newer set has the higher one
};

// Which is drained next, when nothing else is, and which are skipped then.
struct NextSet {
  uint64_t id = 0;
  std::vector<uint64_t> skipped;
};
std::optional<NextSet> next_to_drain(const std::vector<WaitingSet>& waiting, Backlog backlog);

}  // namespace forebay::job

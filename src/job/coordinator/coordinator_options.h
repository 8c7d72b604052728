// How a coordinator is to work.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "job/clocks/clocks.h"
#include "job/coordinator/backlog.h"
#include "redundancy/scheme.h"
#include "store/store.h"

namespace forebay::job {

struct CoordinatorOptions {
  uint64_t group_size = 64;   // ranks per container
  bool fills_streams = true;  // with fewer ranks per container, where that gives all streams of the workers one
  uint32_t agents = 0;  // how many make a set complete if they do not know the number of ranks; 0: not known either,
                        // and such sets are given up
  Backlog backlog = Backlog::newest;
  uint32_t backlog_sets = 2;  // block: undrained sets from which on begin() waits
  std::chrono::milliseconds peer_timeout = clocks::kPeer.length;
  std::chrono::milliseconds set_timeout = clocks::kSet.length;
  std::chrono::milliseconds stall_timeout = clocks::kStall.length;
  uint32_t resigned = 0;                 // how often this process has stepped down as coordinator
  std::chrono::milliseconds quiet{500};  // an end with drain comes when nothing is left to do for so long
  std::string profile, scheme;           // as the user asked: for manifests
  bool remembers = true;                 // codec::Profile::remembers() of the profile
  std::vector<std::string> lossy;        // texts of the rules for loss, that all workers have
  std::string host;                      // of this process
  uint64_t pid = 0;
  // Caches that survive nodes (decision 0037). What the policy of a set says goes before all of these.
  redundancy::Protection protection;   // none: sets are not protected between nodes
  std::string failure_group = "node";  // the kind of failure group that no two members of a protection group may share,
                                       // beside the node
  uint32_t flush_every =
      1;  // every so many sets one is drained to the store; 0: none but those whose policy asks for it
  std::function<uint64_t()> numbers;  // of encodings: random ones of 64 bits; empty: the coordinator's own
  store::Retention retention;         // of the sets of the series in the store; of nothing: all stay
  store::Origin origin;               // of the sets that are drained; a restart is from sets of its series

  // For an answer of the store, and for the log, where others could coordinate.
  std::chrono::milliseconds store_patience() const {
    constexpr uint32_t kMostDoublings = 5;
    return stall_timeout * (1 << std::min(resigned, kMostDoublings));
  }
};

}  // namespace forebay::job

// Packs sets that wait in memory into a store, one after another, in a thread of its own that gives way to the program.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

#include <sched.h>

#include "base/error.h"
#include "codec/choice/chooser.h"
#include "io/staging/stage_place.h"
#include "store/store.h"

namespace forebay::io {

struct PackSettings {
  std::string store;
  std::string series{store::kDefaultSeries};
  codec::Profile profile;
  uint64_t memory_bytes = uint64_t{256} << 20;
  unsigned threads = 1;
  cpu_set_t processors{};  // that the thread may use; none: those of the thread that starts it
};

// When the program said that it computes, so that its own communication is not disturbed. Thread-safe.
class Pacing {
 public:
  // Work is not done while the program writes, and, once it has spoken of calculations, only during those. A pause ends
  // by itself after kLongestPause, and does not begin while somebody waits for the work.
  static constexpr std::chrono::seconds kLongestPause{30};

  void begin_calculation();
  void end_calculation();
  void begin_writing();  // from the open of a file to the end of its close
  void end_writing();
  void hurry(int waiting);  // +1, -1

  // Returns when work may go on.
  void give_way(const std::stop_token& stop);

 private:
  std::mutex mutex_;
  std::condition_variable_any changed_;
  bool is_paused_ = false;
  int writing_ = 0;  // files
  int waiting_ = 0;
};

// Thread-safe.
class Packer {
 public:
  explicit Packer(PackSettings settings);
  ~Packer();  // waits for the set that is being packed; others stay where they wait

  // Packs the set after those that were added before, and removes it from where it waits. A name that the store has
  // becomes NAME+2, and so on. A set that cannot be packed stays where it is.
  void add(WaitingSet set);

  // Returns when at most `most` sets wait or are being packed.
  void wait_until(size_t most);

  // The first failure since this was last called, if there was one: with the set's name, and where its files are.
  std::optional<Error> take_failure();

  Pacing& pacing() { return pacing_; }

 private:
  void run(const std::stop_token& stop);
  Result<void> pack(const WaitingSet& set, const std::stop_token& stop);

  const PackSettings settings_;
  Pacing pacing_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<WaitingSet> waiting_;  // the one that is being packed is the first
  std::optional<Error> failure_;
  std::jthread thread_;
};

}  // namespace forebay::io

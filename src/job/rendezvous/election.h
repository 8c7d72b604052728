// Which aggregator is the coordinator (decision 0019, "Coordinators have generations"):
//   1. look for the highest generation, and connect to it;
//   2. if it does not answer, twice, or answers but welcomes nobody for long, since it cannot begin its log, or there
//   is
//      none, try to make the file of the next one: who succeeds is the coordinator, and connects to itself like
//      everybody else;
//   3. who is the coordinator looks now and then whether there is a higher generation, and then steps down;
//   4. who resigns makes the file of the next generation with nobody in it, and lets the others go first.
// In a thread of its own, since the directory and the way to others may hang.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "base/error.h"
#include "fabric/credentials.h"
#include "job/rendezvous/rendezvous.h"

namespace forebay::job {

class Election {
 public:
  struct Options {
    fabric::Credentials credentials;
    Place place;                                  // of this aggregator, which others can reach already
    std::chrono::milliseconds patience{5'000};    // for one attempt to connect
    std::chrono::milliseconds idle{120'000};      // since it was reached first, and has welcomed nobody
    std::chrono::milliseconds look_every{1'000};  // for a higher generation
  };
  // Called by the election's thread.
  struct Callbacks {
    // The coordinator begins. An error: this aggregator steps down as resign() does.
    std::function<Result<void>(uint64_t generation)> elected;
    std::function<void(uint64_t generation)> superseded;  // by this one
    std::function<void(Reached)> reached;                 // once for each look()
    std::function<void(const std::string&)> log;
  };

  Election(Rendezvous rendezvous, Options options, Callbacks callbacks);

  // Finds a coordinator; to be called again when it is lost.
  void look();

  // The coordinator that was reached coordinates: it has said so.
  void welcomed();

  // This aggregator is the coordinator no more, and had better not be the next one either: it waits for a while before
  // it stands again. superseded() is not called for that.
  void resign();

 private:
  void run(const std::stop_token& stop);
  void wait(const std::stop_token& stop, std::chrono::milliseconds time);
  void pause(const std::stop_token& stop);
  bool wanted();
  void check_superseded();
  void attempt();
  bool is_idle(uint64_t generation);
  void take(uint64_t generation);
  bool make_way();
  void leave_post(uint64_t generation);
  void say(const std::string& what);

  const Rendezvous rendezvous_;
  const Options options_;
  const Callbacks callbacks_;
  uint64_t mine_ = 0;    // the generation that this aggregator coordinates; 0: none
  uint64_t left_ = 0;    // the generation that others must hear has no coordinator; 0: none
  uint64_t failed_ = 0;  // the generation that did not answer last
  uint64_t met_ = 0;     // the generation that was reached last, and has not welcomed this aggregator
  std::chrono::steady_clock::time_point met_since_{};
  std::chrono::steady_clock::time_point not_before_{};  // may it be taken by this one
  std::string said_;                                    // a reason is told once
  std::mutex mutex_;
  std::condition_variable_any changed_;
  bool wanted_ = false, resigns_ = false, welcomed_ = false;
  std::jthread thread_;  // last: it ends before the rest goes
};

}  // namespace forebay::job

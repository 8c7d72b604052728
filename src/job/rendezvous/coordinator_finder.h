// Looks for the job's coordinator in a thread of its own, since both the directory and the way to it may hang.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "fabric/credentials.h"
#include "job/rendezvous/rendezvous.h"

namespace forebay::job {

class CoordinatorFinder {
 public:
  struct Options {
    std::string rendezvous;
    fabric::Credentials credentials;
    std::chrono::milliseconds patience{5'000};  // for one attempt
    std::function<void(Reached)> found;         // called by the thread: once for each look()
    std::function<void(const std::string&)> log;
  };
  explicit CoordinatorFinder(Options options);

  // To be called again when the coordinator that was found is lost.
  void look();

 private:
  void run(const std::stop_token& stop);
  Result<Reached> attempt() const;
  bool pause(const std::stop_token& stop, std::chrono::milliseconds time);

  Options options_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  bool wanted_ = false;
  std::jthread thread_;
};

}  // namespace forebay::job

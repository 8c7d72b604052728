// A thread for what would keep another one too long.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace forebay::job {

// Does one thing after another, in the order of add(). The destructor waits for the one under way, and drops the rest.
class Chores {
 public:
  Chores() : thread_([this](std::stop_token stop) { run(stop); }) {}
  void add(std::function<void()> chore);

 private:
  void run(const std::stop_token& stop);

  std::mutex mutex_;
  std::condition_variable_any added_;
  std::deque<std::function<void()>> chores_;
  std::jthread thread_;
};

}  // namespace forebay::job

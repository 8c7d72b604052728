// A thread for what would keep another one too long.
#pragma once

#include <concepts>
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>

#include "base/error.h"

namespace forebay::job {

// Does one thing after another, in the order of add(). The destructor waits for the one under way, and drops the rest.
class SerialWorker {
 public:
  // `post` hands what is to be done to the thread that waits for results.
  explicit SerialWorker(std::function<void(std::function<void()>)> post)
      : post_(std::move(post)), thread_([this](const std::stop_token& stop) { run(stop); }) {}

  // `work`, which returns a Result, is done in this object's thread; then `then` is called with what it has returned,
  // in the other one. An exception of `work` is an error like others: limit.
  template <std::invocable Work, std::invocable<std::invoke_result_t<Work>> Then>
  void add(Work work, Then then) {
    using Done = std::invoke_result_t<Work>;
    // All that is needed to hand the result over is there before the work begins: it may end for want of memory.
    auto done = std::make_shared<Done>();
    std::function<void()> hand_over = [done, then = std::move(then)]() mutable { then(std::move(*done)); };
    push({[done, work = std::move(work)]() mutable { *done = guarded<Done>(work); }, std::move(hand_over)});
  }

 private:
  struct Chore {
    std::function<void()> work, hand_over;
  };

  template <class Done, class Work>
  static Done guarded(Work& work) {
    try {
      return work();
    } catch (const std::exception& error) {
      return fail(ErrorKind::limit, std::string("it came to an end: ") + error.what());
    }
  }

  void push(Chore chore);
  void run(const std::stop_token& stop);

  const std::function<void(std::function<void()>)> post_;
  std::mutex mutex_;
  std::condition_variable_any added_;
  std::deque<Chore> chores_;
  std::jthread thread_;
};

}  // namespace forebay::job

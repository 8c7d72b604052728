// How many tasks of a worker at once pay, by the bytes that became durable in a second. Pure.
#pragma once

#include <chrono>
#include <cstdint>

namespace forebay::job {

// It begins with the most. Now and then one stream fewer or one more is on trial: fewer stay if they are as good, and
// more if they are better. After a trial that was for nothing the next one goes the other way, and is twice as far
// away.
class StreamTuner {
 public:
  using Time = std::chrono::steady_clock::time_point;

  explicit StreamTuner(uint32_t most) : most_(most), kept_(most), streams_(most) {}

  void began(Time now);  // a task that writes
  // Such a task has ended; `bytes`: what it made durable.
  void ended(uint64_t bytes, Time now);

  uint32_t streams() const { return streams_; }

 private:
  void end_of_window(double rate);
  void end_of_trial(double rate);
  void begin_trial();

  uint32_t most_, kept_, streams_;
  // The window: until enough tasks have ended in enough time in which there was one.
  uint32_t under_way_ = 0, peak_ = 0, ended_ = 0;
  uint64_t bytes_ = 0;
  std::chrono::nanoseconds busy_{0};
  Time since_{};  // there is a task
  // Trials.
  double rate_ = 0;  // of the latest window with kept_ streams
  bool is_trial_ = false, is_upward_ = false;
  static constexpr uint32_t kFirstPause = 4, kMostPause = 64;  // windows between two trials
  uint32_t windows_ = 0, pause_ = kFirstPause;
};

}  // namespace forebay::job

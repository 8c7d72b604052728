// The thread in which a coordinator's decisions get into the log: a directory that hangs stops no message but those
// that wait for it.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

#include "base/error.h"
#include "job/decisions/decision_log.h"

namespace forebay::job {

class LogWriter {
 public:
  // Called by the thread.
  struct Callbacks {
    std::function<void(uint64_t records)> written;  // this number more are in the log, in their order
    std::function<void(const Error&)> failed;       // they are not, and are tried again
    std::function<void()> replaced;                 // by another coordinator: nothing is written any more
  };

  // After an error the same is tried again, `pause` later at first, and then less and less often.
  LogWriter(DecisionLog log, Callbacks callbacks, std::chrono::milliseconds pause = std::chrono::milliseconds(200));
  // Waits for the call under way, and drops the rest.
  ~LogWriter() = default;
  LogWriter(const LogWriter&) = delete;
  LogWriter& operator=(const LogWriter&) = delete;

  // What comes while a file is written goes into the next one together. Thread-safe.
  void add(std::vector<Decision> records);

 private:
  void run(const std::stop_token& stop);
  bool write(const std::vector<Decision>& records, const std::stop_token& stop);

  DecisionLog log_;
  const Callbacks callbacks_;
  const std::chrono::milliseconds pause_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::vector<Decision> waiting_;
  std::jthread thread_;  // last: it ends before the rest goes
};

}  // namespace forebay::job

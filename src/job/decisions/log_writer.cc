#include "job/decisions/log_writer.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace forebay::job {
namespace {

constexpr std::chrono::milliseconds kLongestPause{10'000};

}  // namespace

LogWriter::LogWriter(DecisionLog log, Callbacks callbacks, std::chrono::milliseconds pause)
    : log_(std::move(log)),
      callbacks_(std::move(callbacks)),
      pause_(pause),
      thread_([this](const std::stop_token& stop) { run(stop); }) {}

void LogWriter::add(std::vector<Decision> records) {
  {
    const std::scoped_lock lock(mutex_);
    std::ranges::move(records, std::back_inserter(waiting_));
  }
  changed_.notify_one();
}

void LogWriter::run(const std::stop_token& stop) {
  constexpr size_t kMostRecords = 1024;  // in a file
  for (;;) {
    std::vector<Decision> records;
    {
      std::unique_lock lock(mutex_);
      if (!changed_.wait(lock, stop, [&] { return !waiting_.empty(); })) return;
      const auto end = waiting_.begin() + static_cast<std::ptrdiff_t>(std::min(waiting_.size(), kMostRecords));
      std::move(waiting_.begin(), end, std::back_inserter(records));
      waiting_.erase(waiting_.begin(), end);
    }
    if (!write(records, stop)) return;
  }
}

// False: there is nothing more to do.
bool LogWriter::write(const std::vector<Decision>& records, const std::stop_token& stop) {
  for (auto pause = pause_; !stop.stop_requested(); pause = std::min(pause * 2, kLongestPause)) {
    const auto written = log_.append(records);
    if (written && !*written) callbacks_.replaced();
    if (written && *written) callbacks_.written(records.size());
    if (written) return *written;
    callbacks_.failed(written.error());
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, stop, pause, [] { return false; });
  }
  return false;
}

}  // namespace forebay::job

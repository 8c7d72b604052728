// What becomes of a job whose application or daemons have ended. Pure.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>

namespace forebay::job {

// How a process ended.
struct Ending {
  int exit_code = 0;
  int signal = 0;  // that ended it, or 0

  static Ending of(int wait_status);  // as waitpid() has it
  bool good() const { return exit_code == 0 && signal == 0; }
  int as_exit_code() const { return signal != 0 ? 128 + signal : exit_code; }  // as shells do
  std::string text() const;                                                    // "exit code 3", "signal 9 (Killed)"
};

// Whether an application that ended so is to be started again: it has crashed or was ended because it hung or a node of
// it was lost (`was_ended`), nobody wants the job to end, and `done` of `most` relaunches are done.
bool should_relaunch(const Ending& ending, bool was_ended, bool told_to_end, uint64_t done, uint64_t most);

// Daemons that die are started again, soon at first, then later, and no more when one dies as fast as it is started.
class Revival {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // How long to wait before the next start; nothing: it has died too often. To be called once per death.
  std::optional<std::chrono::milliseconds> after_death(Time now);

  static constexpr size_t kMostDeaths = 5;  // within kWindow
  static constexpr std::chrono::seconds kWindow{120};

 private:
  std::deque<Time> deaths_;
};

}  // namespace forebay::job

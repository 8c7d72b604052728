#include "job/rendezvous/coordinator_finder.h"

#include <algorithm>
#include <utility>

namespace forebay::job {
namespace {
using namespace std::chrono_literals;
constexpr std::chrono::milliseconds kFirstPause = 200ms, kLongestPause = 2'000ms;
}  // namespace

CoordinatorFinder::CoordinatorFinder(Options options)
    : options_(std::move(options)), thread_([this](std::stop_token stop) { run(stop); }) {}

void CoordinatorFinder::look() {
  {
    const std::lock_guard lock(mutex_);
    wanted_ = true;
  }
  changed_.notify_one();
}

Result<Reached> CoordinatorFinder::attempt() const {
  FOREBAY_TRY(const Rendezvous rendezvous, Rendezvous::open_existing(options_.rendezvous));
  FOREBAY_CHECK(rendezvous.check_encryption(options_.credentials.encrypt));
  return reach_coordinator(rendezvous, options_.credentials, options_.patience);
}

// False when it is time to end.
bool CoordinatorFinder::pause(const std::stop_token& stop, std::chrono::milliseconds time) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, stop, time, [] { return false; });
  return !stop.stop_requested();
}

void CoordinatorFinder::run(const std::stop_token& stop) {
  auto next_pause = kFirstPause;
  std::string said;  // a reason is told once
  while (!stop.stop_requested()) {
    {
      std::unique_lock lock(mutex_);
      if (!changed_.wait(lock, stop, [&] { return wanted_; })) return;
    }
    auto reached = attempt();
    if (reached) {
      {
        const std::lock_guard lock(mutex_);
        wanted_ = false;
      }
      said.clear();
      next_pause = kFirstPause;
      options_.found(std::move(*reached));
      continue;
    }
    if (const std::string why = reached.error().message(); why != said && reached.error().kind != ErrorKind::not_found)
      options_.log("no coordinator so far: " + (said = why));
    if (!pause(stop, next_pause)) return;
    next_pause = std::min(next_pause * 2, kLongestPause);
  }
}

}  // namespace forebay::job

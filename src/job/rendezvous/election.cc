#include "job/rendezvous/election.h"

#include <utility>

#include <fmt/format.h>

#include "job/wire/messages.h"

namespace forebay::job {
namespace {

using namespace std::chrono_literals;
constexpr std::chrono::milliseconds kPause = 200ms;
constexpr std::chrono::milliseconds kMakesWay = 10s;  // others need less than a second

}  // namespace

Election::Election(Rendezvous rendezvous, Options options, Callbacks callbacks)
    : rendezvous_(std::move(rendezvous)),
      options_(std::move(options)),
      callbacks_(std::move(callbacks)),
      thread_([this](std::stop_token stop) { run(stop); }) {}

void Election::look() {
  {
    const std::scoped_lock lock(mutex_);
    wanted_ = true;
  }
  changed_.notify_one();
}

void Election::resign() {
  {
    const std::scoped_lock lock(mutex_);
    resigns_ = true;
  }
  changed_.notify_one();
}

void Election::welcomed() {
  const std::scoped_lock lock(mutex_);
  welcomed_ = true;
}

bool Election::wanted() {
  const std::scoped_lock lock(mutex_);
  return wanted_;
}

// Until look() is called, or the time is over.
void Election::wait(const std::stop_token& stop, std::chrono::milliseconds time) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, stop, time, [&] { return wanted_ || resigns_; });
}

void Election::pause(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, stop, kPause, [] { return false; });
}

void Election::say(const std::string& what) {
  if (what == said_) return;
  said_ = what;
  callbacks_.log(what);
}

void Election::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    if (!make_way()) {
      pause(stop);
      continue;
    }
    check_superseded();
    if (!wanted()) {
      wait(stop, options_.look_every);
      continue;
    }
    attempt();
    pause(stop);  // also after success: a connection that is closed at once must not keep us busy
  }
}

// Nobody looks for a coordinator here any more once the file is there; until then it is tried again, since others reach
// this process, and take it for one that coordinates. False: it is not there yet.
bool Election::make_way() {
  {
    const std::scoped_lock lock(mutex_);
    if (std::exchange(resigns_, false) && mine_ != 0) leave_post(std::exchange(mine_, 0));
  }
  if (left_ == 0) return true;
  Place nobody = options_.place;
  nobody.addresses.clear();
  if (const auto made = rendezvous_.take(left_ + 1, nobody); !made) {
    say(fmt::format("others cannot see that coordinator {} steps down: {}", left_, made.error().message()));
    return false;
  }
  left_ = 0;
  return true;
}

void Election::leave_post(uint64_t generation) {
  left_ = generation;
  not_before_ = std::chrono::steady_clock::now() + kMakesWay;
}

void Election::check_superseded() {
  if (mine_ == 0) return;
  const auto file = rendezvous_.coordinator();
  if (!file) return say("the rendezvous directory cannot be read: " + file.error().message());
  if (!*file || (*file)->generation <= mine_) return;
  mine_ = 0;
  callbacks_.superseded((*file)->generation);
}

void Election::attempt() {
  if (const auto checked = rendezvous_.check_encryption(options_.credentials.encrypt); !checked)
    return say(checked.error().message());
  const auto file = rendezvous_.coordinator();
  if (!file) return say("the rendezvous directory cannot be read: " + file.error().message());
  if (!*file) return take(1);
  const uint64_t generation = (*file)->generation;
  auto reached = reach_coordinator(rendezvous_, options_.credentials, options_.patience);
  if (reached) {
    failed_ = 0;
    if (is_idle(reached->generation)) {
      say(fmt::format("coordinator {} answers, but does not begin", reached->generation));
      return take(reached->generation + 1);
    }
    said_.clear();
    {
      const std::scoped_lock lock(mutex_);
      wanted_ = false;
    }
    return callbacks_.reached(std::move(*reached));
  }
  say(fmt::format("coordinator {} does not answer: {}", generation, reached.error().message()));
  if (std::exchange(failed_, generation) == generation) take(generation + 1);
}

bool Election::is_idle(uint64_t generation) {
  const auto now = std::chrono::steady_clock::now();
  const std::scoped_lock lock(mutex_);
  const bool is_new = std::exchange(met_, generation) != generation;
  if (std::exchange(welcomed_, false) || is_new) met_since_ = now;
  return now - met_since_ >= options_.idle;
}

void Election::take(uint64_t generation) {
  if (std::chrono::steady_clock::now() < not_before_) return;
  // Nobody can come before the file is there.
  const auto taken = rendezvous_.take(generation, options_.place);
  if (!taken) return say("a coordinator cannot be made: " + taken.error().message());
  if (!*taken) return;
  if (mine_ != 0) callbacks_.superseded(generation);
  mine_ = 0;
  if (const auto begun = callbacks_.elected(generation); begun) {
    mine_ = generation;
  } else {
    leave_post(generation);
    say(fmt::format("this cannot be coordinator {}: {}", generation, begun.error().message()));
  }
}

}  // namespace forebay::job

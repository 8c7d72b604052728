#include "io/staging/packer.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include "engine/pack/pack.h"
#include "fabric/no_signals.h"
#include "store/names.h"

namespace forebay::io {
namespace {

constexpr int kNice = 5;
constexpr uint64_t kMostNames = 1000;  // that are tried for a set

}  // namespace

void Pacing::begin_calculation() {
  const std::lock_guard lock(mutex_);
  is_paused_ = false;
  changed_.notify_all();
}

void Pacing::end_calculation() {
  const std::lock_guard lock(mutex_);
  is_paused_ = true;
}

void Pacing::begin_writing() {
  const std::lock_guard lock(mutex_);
  ++writing_;
}

void Pacing::end_writing() {
  const std::lock_guard lock(mutex_);
  if (writing_ > 0) --writing_;
  changed_.notify_all();
}

void Pacing::hurry(int waiting) {
  const std::lock_guard lock(mutex_);
  waiting_ += waiting;
  changed_.notify_all();
}

void Pacing::give_way(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  const auto may_work = [&] { return (!is_paused_ && writing_ == 0) || waiting_ > 0; };
  if (changed_.wait_for(lock, stop, kLongestPause, may_work)) return;
  is_paused_ = false;
  writing_ = 0;
}

Packer::Packer(PackSettings settings) : settings_(std::move(settings)) {
  const fabric::NoSignals no_signals;
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

Packer::~Packer() {
  pacing_.hurry(1);
  thread_.request_stop();
}

void Packer::add(WaitingSet set) {
  const std::lock_guard lock(mutex_);
  waiting_.push_back(std::move(set));
  changed_.notify_all();
}

void Packer::wait_until(size_t most) {
  pacing_.hurry(1);
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return waiting_.size() <= most; });
  }
  pacing_.hurry(-1);
}

std::optional<Error> Packer::take_failure() {
  const std::lock_guard lock(mutex_);
  return std::exchange(failure_, std::nullopt);
}

void Packer::run(const std::stop_token& stop) {
  // Of this thread, and of those that it starts: they give way, and are not bound to the processor of the rank that
  // they belong to, whose work they would hold up while others of the job's are idle.
  ::setpriority(PRIO_PROCESS, 0, kNice);
  if (CPU_COUNT(&settings_.processors) > 0) ::sched_setaffinity(0, sizeof settings_.processors, &settings_.processors);
  std::unique_lock lock(mutex_);
  while (changed_.wait(lock, stop, [this] { return !waiting_.empty(); }) && !stop.stop_requested()) {
    const WaitingSet set = waiting_.front();
    lock.unlock();
    Result<void> packed;
    try {
      packed = pack(set, stop);
    } catch (const std::exception& error) {
      packed = fail(ErrorKind::limit, std::string("packing came to an end: ") + error.what());
    }
    if (packed) StagePlace::remove(set);
    lock.lock();
    if (!packed && !failure_) {
      failure_ = packed.error();
      failure_->what = fmt::format("the set {} is not in the store: {}", set.name, failure_->what);
      failure_->hint = fmt::format(
          "what the ranks wrote is still in {}; mend the cause and run `forebay pack {} --store {} --name {}`",
          set.directory, set.directory, settings_.store, set.name);
    }
    waiting_.pop_front();
    changed_.notify_all();
  }
}

Result<void> Packer::pack(const WaitingSet& set, const std::stop_token& stop) {
  pacing_.give_way(stop);
  engine::PackOptions options;
  options.sources = {set.directory};
  options.store = settings_.store;
  options.step = static_cast<int64_t>(set.step);
  options.profile = settings_.profile;
  options.origin.series = settings_.series;
  options.resources = {.memory_bytes = settings_.memory_bytes,
                       .threads = settings_.threads,
                       .progress = [&](const engine::Progress&) { pacing_.give_way(stop); }};
  for (uint64_t number = 1;; ++number) {
    options.name = store::stored_name(set.name, number);
    engine::SoloTeam alone;
    const auto report = engine::pack(options, alone);
    if (report) return {};
    if (report.error().kind != ErrorKind::exists || number == kMostNames) return std::unexpected(report.error());
  }
}

}  // namespace forebay::io

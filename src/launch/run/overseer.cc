#include "launch/run/overseer.h"

#include <algorithm>
#include <utility>

namespace forebay::launch {
namespace {

using namespace std::chrono_literals;

constexpr auto kPatience = 20s;  // with an errand
constexpr std::chrono::milliseconds kOftenest = 200ms, kRarest = 10s;
constexpr std::chrono::milliseconds kHurriedInterval = 500ms;
constexpr int kLooks = 5;  // within the shortest of the times

std::chrono::milliseconds interval_of(const WatchOptions& options) {
  std::chrono::milliseconds shortest = kRarest * kLooks;
  for (const auto time : {options.hang, options.interval, options.node})
    if (time.count() > 0) shortest = std::min(shortest, time);
  return std::clamp<std::chrono::milliseconds>(shortest / kLooks, kOftenest, kRarest);
}

bool is_among(const std::vector<std::string>& all, const std::string& one) {
  return std::ranges::find(all, one) != all.end();
}

}  // namespace

Overseer::Overseer(const WatchOptions& options, HelperCommand look,
                   std::function<HelperCommand(const std::string& host)> exclude)
    : look_(std::move(look)),
      exclude_(std::move(exclude)),
      interval_(interval_of(options)),
      next_(std::chrono::steady_clock::now() + interval_) {}

bool Overseer::knows_excluded() const {
  if (excluded_.empty()) return true;
  return newest_ && std::ranges::all_of(excluded_, [&](const auto& host) { return is_among(newest_->excluded, host); });
}

void Overseer::start(const HelperCommand& errand, Time now) {
  helpers_.clear();
  started_ = now;
  if (!helpers_.start(errand)) helpers_.clear();
}

void Overseer::finish(Time now) {
  const bool in_time = now - started_ < kPatience;
  if (!helpers_.done() && in_time) return;
  const auto outputs =
      helpers_.done() ? helpers_.outputs() : Result<std::vector<std::string>>(std::vector<std::string>{});
  helpers_.clear();
  next_ = now + (is_hurried_ ? std::min(interval_, kHurriedInterval) : interval_);
  if (std::exchange(is_telling_, false)) return look_soon();
  is_looking_ = false;
  newest_ = outputs && !outputs->empty() ? parse_sight(outputs->front()) : std::nullopt;
  seen_ = Seen{newest_, started_};
  if (!newest_) return;
  for (const std::string& host : excluded_)
    if (!is_among(newest_->excluded, host)) {
      is_telling_ = true;
      return start(exclude_(host), now);
    }
}

void Overseer::tick(Time now) {
  if (is_over_ || !is_needed()) return;
  if (is_looking_ || is_telling_) return finish(now);
  if (now < next_) return;
  is_looking_ = true;
  start(look_, now);
}

Overseer::Time Overseer::next_tick() const {
  if (is_over_ || !is_needed()) return Time::max();
  return is_looking_ || is_telling_ ? started_ + kPatience : next_;
}

std::vector<int> Overseer::pipes() const { return helpers_.pipes(); }
void Overseer::readable(int fd) { helpers_.readable(fd); }
bool Overseer::ended(const Ended& process) { return helpers_.ended(process); }
bool Overseer::owns(pid_t pid) const { return helpers_.owns(pid); }

void Overseer::end() {
  is_over_ = true;
  helpers_.clear();
}

std::optional<Overseer::Seen> Overseer::take_seen() { return std::exchange(seen_, std::nullopt); }

}  // namespace forebay::launch

#include "job/agent/set_looks.h"

#include <algorithm>

namespace forebay::job {
namespace {

using namespace std::chrono_literals;

constexpr auto kWhileBusy = 1s;

}  // namespace

bool SetLooks::may_look(const std::string& set, Time now) {
  if (busy_.contains(set)) {
    again_[set] = now + kWhileBusy;
    return false;
  }
  again_.erase(set);
  return true;
}

std::vector<std::string> SetLooks::due(Time now) {
  std::vector<std::string> due;
  for (const auto& [set, time] : again_)
    if (now >= time) due.push_back(set);
  for (const std::string& set : due) {
    again_.erase(set);
    rejected_.erase(set);
  }
  return due;
}

SetLooks::Time SetLooks::next() const {
  Time next = Time::max();
  for (const auto& [set, time] : again_) next = std::min(next, time);
  return next;
}

void SetLooks::rejected(const std::string& set, std::string fingerprint, std::string reason) {
  rejected_[set] = {std::move(fingerprint), std::move(reason)};
}

bool SetLooks::is_rejected(const std::string& set, const std::string& fingerprint) const {
  const auto found = rejected_.find(set);
  return found != rejected_.end() && found->second.fingerprint == fingerprint;
}

std::optional<std::string> SetLooks::why_rejected(const std::string& set) const {
  const auto found = rejected_.find(set);
  if (found == rejected_.end()) return std::nullopt;
  return found->second.reason;
}

void SetLooks::forget(const std::string& set) {
  said_.erase(set);
  rejected_.erase(set);
}

}  // namespace forebay::job

#include "launch/run/watchdog.h"

#include <algorithm>

#include <fmt/format.h>

namespace forebay::launch {

void ProgressWatch::begin(Time now) {
  set_since_ = progress_since_ = now;
  has_seen_processes_ = false;
  marks_.clear();
}

// A new coordinator counts from zero, and is offered again what is not durable.
bool ProgressWatch::has_new_set(const Sight& sight) {
  const bool is_other = sight.generation != generation_;
  const bool is_new = sight.sets_completed > (is_other ? 0 : sets_);
  generation_ = sight.generation;
  sets_ = sight.sets_completed;
  return is_new;
}

bool ProgressWatch::computes(const Sight& sight, Time now) {
  bool does = false;
  for (const Sight::Node& node : sight.nodes) {
    if (node.processes > 0) has_seen_processes_ = true;
    const auto [mark, is_first] = marks_.try_emplace(node.host, Mark{node.processor_time, now});
    if (node.processor_time < mark->second.used) mark->second = {node.processor_time, now};  // a new agent
    const std::chrono::duration<double> used = node.processor_time - mark->second.used;
    const std::chrono::duration<double> elapsed = now - mark->second.at;
    if (is_first || used < kLeastTime || used <= kLeastShare * elapsed) continue;
    mark->second = {node.processor_time, now};
    does = true;
  }
  return does;
}

std::optional<std::string> ProgressWatch::look(const std::optional<Sight>& sight, Time now) {
  const bool counts = sight && !sight->is_busy;
  const bool has_set = sight && has_new_set(*sight);
  const bool works = sight && computes(*sight, now);
  if (!counts || has_set) set_since_ = now;
  if (!counts || has_set || works) progress_since_ = now;
  const auto seconds = [](auto time) { return static_cast<double>(time.count()) / 1000; };
  if (options_.interval.count() > 0 && now - set_since_ >= options_.interval)
    return fmt::format("it has completed no set for {:g} s", seconds(options_.interval));
  if (options_.hang.count() > 0 && !is_blind() && now - progress_since_ >= options_.hang)
    return fmt::format("it has completed no set and used no processor time for {:g} s", seconds(options_.hang));
  return std::nullopt;
}

std::vector<std::string> NodeWatch::look(const std::vector<std::string>& hosts, const std::optional<Sight>& sight,
                                         Time now) {
  const auto is_there = [&](const std::string& host) { return sight->find(host) != nullptr; };
  if (!sight || (hosts.size() > 1 && std::ranges::none_of(hosts, is_there))) {
    begin();
    return {};
  }
  std::vector<std::string> lost;
  for (const std::string& host : hosts) {
    if (is_there(host))
      absent_since_.erase(host);
    else if (now - absent_since_.try_emplace(host, now).first->second >= patience_)
      lost.push_back(host);
  }
  return lost;
}

bool all_heard_since(const std::vector<std::string>& hosts, const Sight& sight,
                     std::chrono::steady_clock::time_point since, std::chrono::steady_clock::time_point now) {
  return std::ranges::all_of(hosts, [&](const std::string& host) {
    const Sight::Node* const node = sight.find(host);
    return node != nullptr && now - node->silent > since;
  });
}

}  // namespace forebay::launch

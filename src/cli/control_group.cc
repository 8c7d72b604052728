#include "cli/control_group.h"

#include <algorithm>
#include <charconv>
#include <ranges>

namespace forebay::cli {
namespace {

constexpr std::string_view kRoot = "/sys/fs/cgroup";
constexpr uint64_t kNoLimit = uint64_t{1} << 60;  // version 1 writes "no limit" as nearly 2^63

// The number at the beginning of `text`, and what follows it and a blank.
std::optional<uint64_t> take_number(std::string_view& text) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return {};
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  if (text.starts_with(' ')) text.remove_prefix(1);
  return value;
}

using Read = std::function<std::string(const std::string&)>;

class Reading {
 public:
  explicit Reading(const Read& read) : read_(read) {}

  // Calls look(directory) for the group's directory and each above it.
  template <class Look>
  static void each_level(const std::string& controller, std::string_view group, const Look& look) {
    for (std::string level(group);; level.resize(level.rfind('/'))) {
      while (level.ends_with('/')) level.pop_back();
      look(std::string(kRoot) + controller + level);
      if (level.find('/') == std::string::npos) return;
    }
  }

  void memory(const std::string& path) {
    const std::string text = read_(path);
    std::string_view rest = text;
    if (const auto bytes = take_number(rest); bytes && *bytes < kNoLimit)
      limits_.memory = std::min(limits_.memory.value_or(kNoLimit), *bytes);
  }

  void time(const std::string& text) {
    std::string_view rest = text;
    const auto quota = take_number(rest), period = take_number(rest);
    if (!quota || !period || *period == 0) return;
    const double processors = static_cast<double>(*quota) / static_cast<double>(*period);
    limits_.processors = limits_.processors > 0 ? std::min(limits_.processors, processors) : processors;
  }

  void version_2(std::string_view group) {
    each_level("", group, [&](const std::string& directory) {
      memory(directory + "/memory.max");
      time(read_(directory + "/cpu.max"));
    });
  }

  void version_1(std::string_view controllers, std::string_view group) {
    for (const auto part : controllers | std::views::split(',')) {
      const std::string_view controller(part.begin(), part.end());
      if (controller == "memory")
        each_level("/memory", group,
                   [&](const std::string& directory) { memory(directory + "/memory.limit_in_bytes"); });
      if (controller == "cpu")
        each_level("/cpu", group, [&](const std::string& directory) {
          time(read_(directory + "/cpu.cfs_quota_us") + " " + read_(directory + "/cpu.cfs_period_us"));
        });
    }
  }

  const GroupLimits& limits() const { return limits_; }

 private:
  const Read& read_;
  GroupLimits limits_;
};

}  // namespace

GroupLimits group_limits(std::string_view memberships, const Read& read) {
  Reading reading(read);
  for (const auto part : memberships | std::views::split('\n')) {
    const std::string_view line(part.begin(), part.end());  // NUMBER:CONTROLLERS:GROUP
    const size_t first = line.find(':'), second = first == line.npos ? line.npos : line.find(':', first + 1);
    if (second == line.npos) continue;
    const std::string_view controllers = line.substr(first + 1, second - first - 1), group = line.substr(second + 1);
    if (controllers.empty())
      reading.version_2(group);
    else
      reading.version_1(controllers, group);
  }
  return reading.limits();
}

}  // namespace forebay::cli

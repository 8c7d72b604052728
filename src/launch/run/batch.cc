#include "launch/run/batch.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

namespace forebay::launch {
namespace {

constexpr uint32_t kMostNodes = 1u << 20;

std::optional<uint32_t> number_of(std::string_view text, uint32_t most) {
  uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size() || value > most) return {};
  return value;
}

// The part before `mark`, which is removed from `text` with the mark; all of it where there is none.
std::string_view take_until(std::string_view& text, char mark) {
  const size_t end = std::min(text.find(mark), text.size());
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return part;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
  return text.substr(0, text.find_last_not_of(kBlanks) + 1);
}

// "2(x3),1" as 2, 2, 2, 1. Nothing if it is no such list.
std::optional<std::vector<uint32_t>> parse_tasks(std::string_view text) {
  std::vector<uint32_t> tasks;
  while (!text.empty()) {
    std::string_view times = take_until(text, ',');
    const auto slots = number_of(take_until(times, '('), kMostSlots);
    std::optional<uint32_t> count = 1;
    if (!times.empty()) {
      if (!times.starts_with('x') || !times.ends_with(')')) return {};
      count = number_of(times.substr(1, times.size() - 2), kMostNodes);
    }
    if (!slots || *slots == 0 || !count || *count == 0 || tasks.size() + *count > kMostNodes) return {};
    tasks.insert(tasks.end(), *count, *slots);
  }
  return tasks;
}

}  // namespace

std::optional<BatchJob> batch_job(const Environment& environment) {
  const std::string id = environment("SLURM_JOB_ID"), nodes = environment("SLURM_JOB_NODELIST");
  if (id.empty() || nodes.empty()) return {};
  return BatchJob{.name = "Slurm job " + id,
                  .hosts_command = {"scontrol", "show", "hostnames", nodes},
                  .tasks_per_node = environment("SLURM_TASKS_PER_NODE"),
                  .left_command = {"squeue", "--noheader", "--jobs", id, "--format", "%L"}};
}

Result<Nodes> parse_allocation(const BatchJob& job, std::string_view hosts) {
  const auto tasks = parse_tasks(trimmed(job.tasks_per_node));
  if (!tasks)
    return fail(ErrorKind::invalid_argument,
                fmt::format("{}: '{}' is no list of tasks per node", job.name, job.tasks_per_node), {}, {},
                "give the nodes with --nodes-file");
  std::string lines;
  for (size_t node = 0; !hosts.empty();) {
    const std::string_view host = trimmed(take_until(hosts, '\n'));
    if (host.empty()) continue;
    const uint32_t slots = tasks->empty() ? 1 : (*tasks)[std::min(node, tasks->size() - 1)];
    lines += fmt::format("{} slots={}\n", host, slots);
    ++node;
  }
  return parse_nodes(lines, "the nodes of " + job.name);
}

Result<std::optional<std::chrono::seconds>> parse_time_left(std::string_view text) {
  text = trimmed(text);
  if (text == "UNLIMITED") return std::optional<std::chrono::seconds>();
  const auto refuse = [&] {
    return fail(ErrorKind::invalid_argument, fmt::format("'{}' is no time that a job has left", text));
  };
  constexpr uint32_t kMostDays = 10'000, kMostHours = 240'000, kMostMinutes = 14'400'000;
  uint32_t days = 0;
  std::string_view clock = text;
  const bool has_days = text.find('-') != text.npos;
  if (has_days) {
    const auto number = number_of(take_until(clock, '-'), kMostDays);
    if (!number) return refuse();
    days = *number;
  }
  std::vector<uint32_t> parts;
  while (!clock.empty()) {
    const auto number = number_of(take_until(clock, ':'), kMostMinutes);
    if (!number || parts.size() == 3) return refuse();
    parts.push_back(*number);
  }
  if (parts.size() < 2 || (has_days && parts.size() != 3) || text.ends_with(':')) return refuse();
  const uint64_t hours = parts.size() == 3 ? parts[0] : 0;
  if (hours > kMostHours) return refuse();
  const uint64_t minutes = parts[parts.size() - 2], seconds = parts.back();
  return std::chrono::seconds(((days * 24 + hours) * 60 + minutes) * 60 + seconds);
}

}  // namespace forebay::launch

#include "cost.h"

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "job.h"
#include "script.h"

namespace forebay::job::model {
namespace {

constexpr double kInterval = 60;  // seconds between sets
constexpr uint32_t kSets = 3;     // that are measured

double seconds(Duration time) { return std::chrono::duration<double>(time).count(); }

nlohmann::json row_of(const Meter& meter, double sets) {
  return {{"coordinator_seconds", seconds(meter.spent) / sets},
          {"longest_call_seconds", seconds(meter.longest)},
          {"messages", static_cast<double>(meter.messages) / sets},
          {"bytes", static_cast<double>(meter.bytes) / sets}};
}

Result<void> run_for(Job& job, double time) { return job.apply({"run", {fmt::format("{}", time)}}); }

}  // namespace

Duration Meter::processor_time() {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

Duration Meter::end_call() {
  spent += in_call;
  longest = std::max(longest, in_call);
  ++calls;
  return std::exchange(in_call, {});
}

void Meter::coded(const wire::MessageT& message) {
  Bytes frame;
  run([&] { wire::encode(frame, message); });
  ++messages;
  bytes += frame.size();
}

Result<void> print_cost(const std::string& text) {
  const size_t lose = text.find(" lose");
  FOREBAY_TRY(Setup setup, parse_setup(text.substr(0, lose)));
  std::vector<uint32_t> losses;
  if (lose != std::string::npos)
    for (std::istringstream words(text.substr(lose + 5)); losses.empty() || words;)
      if (uint32_t nodes = 0; words >> nodes) losses.push_back(nodes);
  for (const uint32_t nodes : losses) setup.spares += nodes;
  setup.interval = kInterval;
  setup.sets = kMostSets;
  Job job(setup, false);
  Meter meter;
  job.measure(meter);
  FOREBAY_CHECK(run_for(job, kInterval / 2));
  meter = {};
  FOREBAY_CHECK(run_for(job, kInterval * kSets));
  const nlohmann::json about = {{"nodes", setup.nodes}, {"ranks", setup.nodes * setup.ranks}, {"scheme", setup.scheme}};
  nlohmann::json row = row_of(meter, kSets);
  row.update(about);
  fmt::print("{}\n", row.dump());
  uint32_t first = 0;
  for (const uint32_t nodes : losses) {
    meter = {};
    const Time begin = job.now();
    const uint64_t target = job.restarts() + uint64_t{setup.nodes} * setup.ranks;
    // Far from each other: as failure groups of racks place them, no two of one protection group.
    for (uint32_t i = 0; i < nodes; ++i)
      FOREBAY_CHECK(job.apply({"lose", {fmt::format("n{}", first + i * (setup.nodes / nodes))}}));
    ++first;
    while (job.restarts() < target && !job.is_over()) FOREBAY_CHECK(run_for(job, 0.05));
    row = row_of(meter, 1);
    row.update(about);
    row["lost"] = nodes;
    if (job.restarts() < target) return fail(ErrorKind::internal, fmt::format("{} lost nodes: no restart", nodes));
    row["seconds"] = seconds(job.now() - begin);
    fmt::print("{}\n", row.dump());
    std::fflush(stdout);
    FOREBAY_CHECK(run_for(job, kInterval * 2));
  }
  return {};
}

}  // namespace forebay::job::model

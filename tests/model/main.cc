// job_sim: runs schedules of the model, and says which fail. See docs/scenarios/README.md.
#include <charconv>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "cost.h"
#include "job.h"
#include "page.h"
#include "scenario.h"
#include "shrink.h"

namespace forebay::job::model {
namespace {

struct Options {
  std::vector<uint64_t> seeds;
  uint64_t first = 1, count = 0;
  double seconds = 0;
  bool fresh = false, update = false, keeps_going = false, shows = false;
  std::vector<std::string> files;
  std::string cost;
};

constexpr const char* kUsage =
    "usage: job_sim SEED... | [--first N | --new] --count M [--seconds S] [--all]   run schedules of seeds\n"
    "       job_sim --show SEED|FILE                                             print all that happens in one\n"
    "       job_sim --cost 'job KEY VALUE ... [lose NODES ...]'                  print what the coordinator of a large "
    "job costs\n"
    "       job_sim [--update] FILE...                                           compare scenarios and docs/job.md, or "
    "write them\n";

bool parse(int argc, char** argv, Options& options) {
  const auto number = [](const std::string& text, auto& to) {
    return std::from_chars(text.data(), text.data() + text.size(), to).ptr == text.data() + text.size();
  };
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const std::string next = i + 1 < argc ? argv[i + 1] : "";
    uint64_t seed = 0;
    if (word == "--first" && number(next, options.first))
      ++i;
    else if (word == "--count" && number(next, options.count))
      ++i;
    else if (word == "--seconds" && number(next, options.seconds))
      ++i;
    else if (word == "--cost")
      options.cost = next, ++i;
    else if (word == "--new")
      options.fresh = true;
    else if (word == "--all")
      options.keeps_going = true;
    else if (word == "--show")
      options.shows = true;
    else if (word == "--update")
      options.update = true;
    else if (word.starts_with("--"))
      return false;
    else if (number(word, seed))
      options.seeds.push_back(seed);
    else
      options.files.push_back(word);
  }
  return !options.cost.empty() || !options.seeds.empty() || !options.files.empty() || options.count != 0 ||
         options.seconds != 0;
}

// What fails is shrunk, and printed as a scenario.
void report(uint64_t seed, const Script& script, const Outcome& outcome) {
  fmt::print("seed {} fails: {}\n", seed, outcome.fault);
  const Script least = shrunk(script, outcome.fault);
  fmt::print("the shortest schedule that fails ({}):\n\n{}until end\n----\n\n", play(least).fault, to_text(least));
  std::fflush(stdout);
}

int run_seeds(Options options) {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  const auto seconds = [&] { return std::chrono::duration<double>(Clock::now() - begin).count(); };
  if (options.fresh) options.first = std::random_device{}() * uint64_t{1'000'000};
  if (options.seeds.empty()) fmt::print("from seed {}\n", options.first);
  uint64_t done = 0, failed = 0, steps = 0, restarts = 0;
  double shrinking = 0;
  const auto is_more = [&] {
    if (!options.seeds.empty()) return done < options.seeds.size();
    return (options.count == 0 || done < options.count) && (options.seconds == 0 || seconds() < options.seconds);
  };
  while (is_more() && (failed == 0 || options.keeps_going || !options.seeds.empty())) {
    const uint64_t seed = options.seeds.empty() ? options.first + done : options.seeds[done];
    const Script script = random_script(seed);
    const Outcome outcome = play(script);
    ++done;
    steps += outcome.steps;
    restarts += outcome.restarts;
    if (outcome.fault.empty()) continue;
    ++failed;
    const double before = seconds();
    report(seed, script, outcome);
    shrinking += seconds() - before;
  }
  const double took = seconds() - shrinking;
  fmt::print("{} schedules, {} events, {} ranks restarted, in {:.1f} s: {:.0f} schedules a second; {} failed\n", done,
             steps, restarts, took, static_cast<double>(done) / std::max(took, 0.001), failed);
  return failed == 0 ? 0 : 1;
}

int show(const Options& options) {
  Script script;
  if (!options.seeds.empty()) {
    script = random_script(options.seeds.front());
  } else {
    auto read = read_scenario(options.files.front());
    if (!read) {
      std::cerr << read.error().message() << '\n';
      return 1;
    }
    script = script_of(*read);
  }
  fmt::print("{}", to_text(script));
  Job job(script.setup, true);
  for (const Command& command : script.commands) {
    if (const auto done = job.apply(command); !done) std::cerr << done.error().message() << '\n';
    fmt::print("{}> {}\n", job.trace().take(), to_text(command));
  }
  job.finish();
  if (!job.fault().empty() && !job.status().empty())
    fmt::print("{}\nthe last status: {}\n", job.trace().take(), job.status());
  fmt::print("{}\n{}\n", job.trace().take(), job.fault().empty() ? "all holds" : "WRONG: " + job.fault());
  return job.fault().empty() ? 0 : 1;
}

int main_of(int argc, char** argv) {
  Options options;
  if (!parse(argc, argv, options)) {
    std::cerr << kUsage;
    return 2;
  }
  if (!options.cost.empty()) {
    const auto printed = print_cost(options.cost);
    if (!printed) std::cerr << printed.error().message() << '\n';
    return printed ? 0 : 1;
  }
  if (options.shows) return show(options);
  if (options.files.empty()) return run_seeds(options);
  int failed = 0;
  for (const std::string& file : options.files) {
    const bool holds = file.ends_with(".md") ? run_page(file, options.update) : run_scenario(file, options.update);
    failed += holds ? 0 : 1;
  }
  return failed == 0 ? 0 : 1;
}

}  // namespace
}  // namespace forebay::job::model

int main(int argc, char** argv) { return forebay::job::model::main_of(argc, argv); }

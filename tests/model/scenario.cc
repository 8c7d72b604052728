#include "scenario.h"

#include <fstream>
#include <iostream>
#include <sstream>

#include <fmt/format.h>

#include "job.h"

namespace forebay::job::model {
namespace {

std::string text_of(const Scenario& scenario) {
  std::string text;
  for (const Scenario::Block& block : scenario.blocks) {
    text += block.prose;
    for (const std::string& command : block.commands) text += command + "\n";
    text += "----\n" + block.output + "\n";
  }
  return text + scenario.epilogue;
}

// The first line that differs.
std::string difference(const std::string& expected, const std::string& got) {
  std::istringstream a(expected), b(got);
  std::string line_a, line_b;
  for (int number = 1;; ++number) {
    const bool has_a = !!std::getline(a, line_a), has_b = !!std::getline(b, line_b);
    if (!has_a && !has_b) return {};
    if (!has_a) line_a = "(nothing)";
    if (!has_b) line_b = "(nothing)";
    if (line_a != line_b)
      return fmt::format("line {} below the commands\n  file: {}\n  now:  {}", number, line_a, line_b);
  }
}

// What each block causes.
std::vector<std::string> outputs_of(const Scenario& scenario, std::string& fault) {
  std::vector<std::string> outputs;
  std::unique_ptr<Job> job;
  for (const Scenario::Block& block : scenario.blocks) {
    std::string output;
    for (const std::string& line : block.commands) {
      if (line.starts_with("job")) {
        const auto setup = parse_setup(line);
        if (!setup) return fault = setup.error().message(), outputs;
        job = std::make_unique<Job>(*setup, true);
        continue;
      }
      const auto command = parse_command(line);
      if (!command || !job) return fault = "a scenario begins with 'job'", outputs;
      if (const auto done = job->apply(*command); !done) return fault = done.error().message(), outputs;
    }
    if (job) output = job->trace().take();
    if (job && !job->fault().empty()) output += "WRONG: " + job->fault() + "\n";
    outputs.push_back(output);
    if (job && !job->fault().empty()) fault = job->fault();
  }
  return outputs;
}

}  // namespace

Result<Scenario> read_scenario(const std::string& path) {
  std::ifstream in(path);
  if (!in) return fail(ErrorKind::not_found, "cannot be read", path);
  Scenario scenario;
  Scenario::Block block;
  bool is_output = false;
  for (std::string line; std::getline(in, line);) {
    if (is_output && line.empty()) {
      scenario.blocks.push_back(std::exchange(block, {}));
      is_output = false;
    } else if (is_output) {
      block.output += line + "\n";
    } else if (line == "----") {
      is_output = true;
    } else if (line.empty() || line.starts_with("#")) {
      block.prose += line + "\n";
    } else {
      block.commands.push_back(line);
    }
  }
  if (is_output) scenario.blocks.push_back(std::exchange(block, {}));
  if (!block.commands.empty()) return fail(ErrorKind::invalid_argument, "commands without '----' below", path);
  scenario.epilogue = block.prose;
  return scenario;
}

Script script_of(const Scenario& scenario) {
  Script script;
  for (const Scenario::Block& block : scenario.blocks)
    for (const std::string& line : block.commands)
      if (line.starts_with("job"))
        script.setup = parse_setup(line).value_or(Setup());
      else if (const auto command = parse_command(line))
        script.commands.push_back(*command);
  return script;
}

bool run_scenario(const std::string& path, bool update) {
  auto scenario = read_scenario(path);
  std::string fault = scenario ? std::string() : scenario.error().message();
  std::vector<std::string> outputs;
  if (scenario) outputs = outputs_of(*scenario, fault);
  bool is_same = fault.empty();
  if (!fault.empty()) std::cerr << path << ": " << fault << '\n';
  if (!scenario) return false;
  for (size_t i = 0; i < outputs.size(); ++i) {
    Scenario::Block& block = scenario->blocks[i];
    const std::string other = difference(block.output, outputs[i]);
    if (!other.empty() && !update) std::cerr << fmt::format("{}: '{}': {}\n", path, block.commands.back(), other);
    is_same = is_same && (update || other.empty());
    block.output = outputs[i];
  }
  if (update) std::ofstream(path) << text_of(*scenario);
  return is_same;
}

}  // namespace forebay::job::model

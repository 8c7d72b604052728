#include "shrink.h"

#include <algorithm>
#include <exception>
#include <functional>

#include <fmt/format.h>

#include "job.h"

namespace forebay::job::model {
namespace {

// What a fault is about, whatever sets, ranks and starts it names.
std::string kind_of(const std::string& fault) {
  std::string kind;
  for (const char one : fault)
    if (one < '0' || one > '9') kind += one;
  return kind.substr(0, 24);
}

}  // namespace

Outcome play(const Script& script) {
  Outcome outcome;
  try {
    Job job(script.setup, false);
    for (const Command& command : script.commands)
      if (const auto done = job.apply(command); !done && outcome.fault.empty()) outcome.fault = done.error().message();
    job.finish();
    if (outcome.fault.empty()) outcome.fault = job.fault();
    outcome.steps = job.steps();
    outcome.restarts = job.restarts();
  } catch (const std::exception& error) {
    outcome.fault = fmt::format("an exception: {}", error.what());
  }
  return outcome;
}

Script shrunk(Script script, const std::string& fault) {
  const std::string kind = kind_of(fault);
  const auto fails = [&](const Script& one) { return kind_of(play(one).fault) == kind; };
  const auto try_setup = [&](const std::function<void(Setup&)>& change) {
    Script less = script;
    change(less.setup);
    if (!fails(less)) return false;
    script = std::move(less);
    return true;
  };
  for (bool some = true; some;) {
    some = false;
    for (size_t length = std::max<size_t>(script.commands.size() / 2, 1); length > 0; length /= 2)
      for (size_t i = 0; i + length <= script.commands.size();) {
        Script less = script;
        const auto from = less.commands.begin() + static_cast<std::ptrdiff_t>(i);
        less.commands.erase(from, from + static_cast<std::ptrdiff_t>(length));
        if (fails(less)) {
          script = std::move(less);
          some = true;
        } else {
          ++i;
        }
      }
    for (Command& command : script.commands) {
      if (command.verb != "run") continue;
      const Command before = command;
      for (const double shorter :
           {0.0, command.seconds() / 2, static_cast<double>(static_cast<int>(command.seconds()))}) {
        if (shorter >= before.seconds()) continue;
        command.words = {fmt::format("{:.3f}", shorter)};
        if (fails(script)) {
          some = true;
          break;
        }
        command = before;
      }
    }
    if (script.setup.seed != 0) try_setup([](Setup& setup) { setup.seed = 0; });
    if (script.setup.waits) try_setup([](Setup& setup) { setup.waits = false; });
    if (script.setup.ranks > 1) try_setup([](Setup& setup) { setup.ranks = 1; });
    if (script.setup.spares > 0) some = try_setup([](Setup& setup) { --setup.spares; }) || some;
    if (script.setup.sets > 1) some = try_setup([](Setup& setup) { --setup.sets; }) || some;
    if (script.setup.nodes > 2) some = try_setup([](Setup& setup) { --setup.nodes; }) || some;
    if (script.setup.keep > 1) some = try_setup([](Setup& setup) { --setup.keep; }) || some;
  }
  return script;
}

}  // namespace forebay::job::model

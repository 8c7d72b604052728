#include "script.h"

#include <charconv>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "loop.h"

namespace forebay::job::model {
namespace {

std::vector<std::string> words_of(std::string_view line) {
  std::istringstream in{std::string(line.substr(0, line.find('#')))};
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

class Dice {
 public:
  explicit Dice(uint64_t seed) : seed_(seed) {}
  uint64_t below(uint64_t most) { return mix(seed_, next_++) % most; }
  bool one_in(uint64_t n) { return below(n) == 0; }
  template <size_t N>
  const char* of(const char* const (&all)[N]) {
    return all[below(N)];
  }

 private:
  const uint64_t seed_;
  uint64_t next_ = 0;
};

Command command(std::string verb, std::vector<std::string> words = {}) { return {std::move(verb), std::move(words)}; }

std::string seconds(Dice& dice, uint64_t most_ms) {
  return fmt::format("{:.3f}", 0.001 * static_cast<double>(dice.below(most_ms)));
}

// Just after something that is delicate, or at any time.
void wait_a_while(Dice& dice, std::vector<Command>& to) {
  static constexpr const char* const kMoments[] = {
      "Protect",          "Protected",   "Seal",      "Sealed",         "SetNews",        "CheckCached",
      "CachedChecked",    "Repair",      "Repaired",  "RestartInPlace", "RestartRequest", "RestartReady",
      "RestartPublished", "RestartDone", "Settle",    "Settled",        "Task",           "TaskDone",
      "Placed",           "Begin",       "Completed", "Offer",          "Restarted",      "Exclude"};
  if (dice.one_in(2)) return to.push_back(command("run", {seconds(dice, 9'000)}));
  to.push_back(command("until", {dice.of(kMoments)}));
  if (dice.one_in(2)) to.push_back(command("run", {seconds(dice, 30)}));
}

void add_fault(Dice& dice, const Setup& setup, std::vector<Command>& to) {
  const auto any = [&] { return fmt::format("n{}", dice.below(setup.nodes + setup.spares)); };
  const uint64_t kind = dice.below(40);
  if (kind < 9) {
    to.push_back(command("lose", {any()}));
  } else if (kind < 14) {
    to.push_back(command("kill", {"coordinator"}));
  } else if (kind < 18) {
    to.push_back(command("crash", {any()}));
  } else if (kind < 21) {
    to.push_back(command("die"));
  } else if (kind < 24) {
    to.push_back(command("return", {any()}));
  } else if (kind < 26) {
    to.push_back(command("stop", {"coordinator", seconds(dice, 20'000)}));
  } else if (kind < 29) {
    to.push_back(command("pause", {any(), seconds(dice, 12'000)}));
  } else if (kind < 31) {
    to.push_back(command("place", {dice.one_in(2) ? "order" : "rotate"}));
  } else if (kind < 33) {
    to.push_back(command("damage", {any()}));
  } else if (kind < 35) {
    to.push_back(command("vanish", {any()}));
  } else if (kind < 36) {
    to.push_back(command("reject"));
  } else if (kind < 38) {
    to.push_back(command("store", {dice.one_in(2) ? "down" : "full"}));
    to.push_back(command("run", {seconds(dice, 8'000)}));
    to.push_back(command("store", {"well"}));
  } else {
    const std::string node = any();
    to.push_back(command("fill", {node}));
    to.push_back(command("run", {seconds(dice, 8'000)}));
    to.push_back(command("room", {node}));
  }
}

}  // namespace

double Command::seconds() const {
  double value = 0;
  if (!words.empty()) std::from_chars(words.back().data(), words.back().data() + words.back().size(), value);
  return value;
}

Result<Setup> parse_setup(std::string_view line) {
  const auto words = words_of(line);
  Setup setup;
  if (words.empty() || words.front() != "job" || words.size() % 2 == 0)
    return fail(ErrorKind::invalid_argument, fmt::format("'{}' is not 'job KEY VALUE ...'", line));
  for (size_t i = 1; i < words.size(); i += 2) {
    const std::string &key = words[i], &text = words[i + 1];
    double number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    const auto whole = static_cast<uint32_t>(number);
    if (key == "nodes")
      setup.nodes = whole;
    else if (key == "spares")
      setup.spares = whole;
    else if (key == "ranks")
      setup.ranks = whole;
    else if (key == "redundancy")
      setup.scheme = text;
    else if (key == "sets")
      setup.sets = whole;
    else if (key == "keep")
      setup.keep = whole;
    else if (key == "flush-every")
      setup.flush = whole;
    else if (key == "interval")
      setup.interval = number;
    else if (key == "starts")
      setup.starts = whole;
    else if (key == "waits")
      setup.waits = whole != 0;
    else if (key == "seed")
      std::from_chars(text.data(), text.data() + text.size(), setup.seed);
    else
      return fail(ErrorKind::invalid_argument, fmt::format("a job has no '{}'", key));
  }
  if (setup.nodes == 0 || setup.nodes > 4096 || setup.ranks == 0 || setup.ranks > 128 || setup.sets > kMostSets ||
      !redundancy::parse_protection(setup.scheme))
    return fail(ErrorKind::invalid_argument, fmt::format("'{}' is no job of the model", line));
  return setup;
}

Result<Command> parse_command(std::string_view line) {
  auto words = words_of(line);
  if (words.empty()) return fail(ErrorKind::invalid_argument, "a command is missing");
  Command command{.verb = words.front(), .words = {}};
  command.words.assign(words.begin() + 1, words.end());
  return command;
}

std::string to_text(const Setup& setup) {
  return fmt::format(
      "job nodes {} spares {} ranks {} redundancy {} sets {} keep {} flush-every {} interval {} waits {} seed {}",
      setup.nodes, setup.spares, setup.ranks, setup.scheme, setup.sets, setup.keep, setup.flush, setup.interval,
      setup.waits ? 1 : 0, setup.seed);
}

std::string to_text(const Command& command) {
  return command.words.empty() ? command.verb : fmt::format("{} {}", command.verb, fmt::join(command.words, " "));
}

std::string to_text(const Script& script) {
  std::string text = to_text(script.setup) + "\n";
  for (const Command& command : script.commands) text += to_text(command) + "\n";
  return text;
}

Script random_script(uint64_t seed) {
  Dice dice(mix(seed, 77));
  Script script;
  Setup& setup = script.setup;
  static constexpr const char* const kSchemes[] = {"none", "partner", "xor", "xor", "xor:3", "rs:1", "rs:2"};
  setup.nodes = 2 + static_cast<uint32_t>(dice.below(4));
  setup.spares = static_cast<uint32_t>(dice.below(3));
  setup.ranks = 1 + static_cast<uint32_t>(dice.below(2));
  setup.scheme = dice.of(kSchemes);
  setup.sets = 3 + static_cast<uint32_t>(dice.below(4));
  setup.keep = 1 + static_cast<uint32_t>(dice.below(2));
  setup.flush = static_cast<uint32_t>(dice.below(4));
  setup.interval = 0.5 + 0.5 * static_cast<double>(dice.below(6));
  setup.waits = dice.one_in(4);
  setup.seed = seed + 1;
  script.commands.push_back(command("run", {seconds(dice, 6'000)}));
  // One file vanishes at most, and none where nodes are lost: together they may be more than the scheme survives.
  const uint64_t faults = 1 + dice.below(7);
  for (uint64_t i = 0; i < faults; ++i) {
    wait_a_while(dice, script.commands);
    add_fault(dice, setup, script.commands);
    if (dice.one_in(3)) add_fault(dice, setup, script.commands);  // at the same instant
  }
  const bool loses = std::ranges::any_of(script.commands, [](const Command& one) { return one.verb == "lose"; });
  // What rots with a node that is lost is more than a scheme survives, too.
  if (loses) std::erase_if(script.commands, [](const Command& one) { return one.verb == "damage"; });
  bool has_one = loses;
  std::erase_if(script.commands,
                [&](const Command& one) { return one.verb == "vanish" && std::exchange(has_one, true); });
  return script;
}

}  // namespace forebay::job::model

#include "launch/run/helper_commands.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <nlohmann/json.hpp>

#include <fmt/format.h>

namespace forebay::launch {

constexpr size_t kMostOutput = 64u << 20;  // what is beyond is not kept

// What a process had to say about its failure, for a message. Those of our own command say it in JSON.
static std::string said(std::string output) {
  constexpr size_t kMost = 500;
  const auto document = nlohmann::json::parse(output, nullptr, false);
  const nlohmann::json::json_pointer message("/error/message");
  if (document.is_object() && document.contains(message) && document[message].is_string())
    output = document[message].get<std::string>();
  while (output.ends_with('\n')) output.pop_back();
  return output.empty() ? "" : ": " + output.substr(0, kMost);
}

void HelperCommands::clear() {
  for (const One& one : all_)
    if (one.process.pid != 0) ::kill(one.process.pid, SIGKILL);
  all_.clear();
}

Result<void> HelperCommands::start(const HelperCommand& errand) {
  FOREBAY_TRY(auto process,
              spawn({.words = errand.words, .death_signal = SIGKILL, .own_session = true, .piped = true}));
  all_.push_back({errand.name, errand.may_fail, errand.also_good, std::move(process), {}, {}});
  return {};
}

std::vector<int> HelperCommands::pipes() const {
  std::vector<int> fds;
  for (const One& one : all_)
    if (one.process.out) fds.push_back(one.process.out.get());
  return fds;
}

void HelperCommands::readable(int fd) {
  for (One& one : all_) {
    if (one.process.out.get() != fd) continue;
    char buffer[16384];
    const ssize_t got = ::read(fd, buffer, sizeof buffer);
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) one.process.out = Fd();
    if (got > 0 && one.output.size() < kMostOutput) one.output.append(buffer, static_cast<size_t>(got));
    return;
  }
}

bool HelperCommands::ended(const Ended& process) {
  const auto found = std::ranges::find(all_, process.pid, [](const One& one) { return one.process.pid; });
  if (found == all_.end()) return false;
  found->process.pid = 0;
  found->ending = process.ending;
  return true;
}

bool HelperCommands::owns(pid_t pid) const {
  return std::ranges::any_of(all_, [&](const One& one) { return one.process.pid == pid; });
}

bool HelperCommands::done() const {
  return std::ranges::all_of(all_, [](const One& one) { return one.process.pid == 0 && !one.process.out; });
}

Result<std::vector<std::string>> HelperCommands::outputs() const {
  std::vector<std::string> outputs;
  for (const One& one : all_) {
    if (!one.good() && !one.may_fail)
      return fail(ErrorKind::disconnected,
                  fmt::format("{} ended with {}{}", one.name, one.ending.text(), said(one.output)));
    outputs.push_back(one.good() ? one.output : "");
  }
  return outputs;
}

}  // namespace forebay::launch

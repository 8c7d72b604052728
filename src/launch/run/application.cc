#include "launch/run/application.h"

namespace forebay::launch {

Result<void> Application::start(std::vector<std::string> words,
                                std::vector<std::pair<std::string, std::string>> environment) {
  FOREBAY_TRY(const auto process, spawn({.words = std::move(words),
                                         .environment = std::move(environment),
                                         .death_signal = SIGTERM,
                                         .own_session = true}));
  pid_ = process.pid;
  return {};
}

bool Application::ended(const Ended& process) {
  if (!owns(process.pid)) return false;
  pid_ = 0;
  return true;
}

void Application::pass_on(int signal, bool from_terminal) const {
  if (from_terminal) return tell_all(signal);
  if (runs()) ::kill(pid_, signal);
}

void Application::tell_all(int signal) const {
  if (runs()) ::kill(-pid_, signal);
}

}  // namespace forebay::launch

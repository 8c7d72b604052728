#include "launch/run/daemons.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <utility>

#include <fmt/format.h>

namespace forebay::launch {

struct Daemons::One {
  DaemonSpec spec;
  Process process;  // pid 0: does not run
  Revival revival;
  std::optional<Time> again;  // when to start it again
  std::string line;           // that it prints, as far as it has come
  bool has_printed = false;   // the first one, since it was started
  bool ready = false, failed = false, given_up = false;
  Ending ending;

  bool runs() const { return process.pid != 0; }
};

Daemons::Daemons(std::vector<DaemonSpec> specs, Say say) : say_(std::move(say)) {
  for (DaemonSpec& spec : specs) all_.push_back({.spec = std::move(spec)});
}

Daemons::~Daemons() { kill(SIGKILL); }

Result<void> Daemons::start() {
  for (One& one : all_) FOREBAY_CHECK(start(one));
  return {};
}

// If the starter dies, the pipe is cut, which also reaches a daemon behind ssh; the death signal is for launchers that
// look after their own input only.
Result<void> Daemons::start(One& one) {
  FOREBAY_TRY(
      one.process,
      spawn(
          {.words = one.spec.words, .death_signal = SIGTERM, .own_session = true, .piped = true, .log = one.spec.log}));
  one.again.reset();
  one.line.clear();
  one.has_printed = false;
  return {};
}

Result<bool> Daemons::ready() const {
  for (const One& one : all_)
    if (one.failed && !one.ready && !one.given_up)
      return fail(ErrorKind::disconnected, fmt::format("{} ended with {} before it was ready: {}", one.spec.name,
                                                       one.ending.text(), last_line(one.spec.log)));
  return std::ranges::all_of(all_, [](const One& one) { return one.ready || one.given_up; });
}

std::string Daemons::not_ready() const {
  std::string names;
  for (const One& one : all_)
    if (!one.ready && !one.given_up) names += (names.empty() ? "" : ", ") + one.spec.name;
  return names;
}

std::vector<int> Daemons::pipes() const {
  std::vector<int> fds;
  for (const One& one : all_)
    if (one.process.out) fds.push_back(one.process.out.get());
  return fds;
}

void Daemons::readable(int fd) {
  for (One& one : all_) {
    if (one.process.out.get() != fd) continue;
    char buffer[512];
    const ssize_t got = ::read(fd, buffer, sizeof buffer);
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) one.process.out = Fd();
    for (ssize_t i = 0; i < got; ++i) take(one, buffer[i]);
    return;
  }
}

// The first line says that it is ready, and the others are for whoever has started the job.
void Daemons::take(One& one, char next) {
  constexpr size_t kMostLine = 16 << 10;
  if (next != '\n') {
    if (one.line.size() < kMostLine) one.line += next;
    return;
  }
  one.ready = true;
  if (std::exchange(one.has_printed, true)) say_(fmt::format("{}: {}", one.spec.name, one.line));
  one.line.clear();
}

bool Daemons::ended(const Ended& process, Time now) {
  const auto found = std::ranges::find(all_, process.pid, [](const One& one) { return one.process.pid; });
  if (found == all_.end()) return false;
  found->process = {};
  found->ending = process.ending;
  if (letting_go_ || found->given_up) return true;
  if (process.ending.good() && found->ready) {
    stopped_ = true;
    return true;
  }
  found->failed = true;
  if (!found->ready) return true;
  ++deaths_;
  const auto pause = stopped_ ? std::nullopt : found->revival.after_death(now);
  if (pause) found->again = now + *pause;
  say_(fmt::format("{} ended with {}: {}{}", found->spec.name, process.ending.text(), last_line(found->spec.log),
                   pause ? "; it is started again" : "; it is not started again"));
  return true;
}

void Daemons::tick(Time now) {
  for (One& one : all_) {
    if (!one.again || now < *one.again || letting_go_) continue;
    if (const auto started = start(one); !started) {
      say_(fmt::format("{} cannot be started: {}", one.spec.name, started.error().message()));
      const auto pause = one.revival.after_death(now);
      one.again = pause ? std::optional(now + *pause) : std::nullopt;
    }
  }
}

Daemons::Time Daemons::next_tick() const {
  Time next = Time::max();
  for (const One& one : all_)
    if (one.again) next = std::min(next, *one.again);
  return next;
}

Result<void> Daemons::start_instead(const std::string& lost, const std::string& instead) {
  for (size_t i = 0, size = all_.size(); i < size; ++i) {
    if (all_[i].spec.host != lost || !all_[i].spec.elsewhere) continue;
    DaemonSpec spec = all_[i].spec.elsewhere(instead);
    all_.push_back({.spec = std::move(spec)});
    FOREBAY_CHECK(start(all_.back()));
  }
  return {};
}

void Daemons::give_up(const std::string& host) {
  for (One& one : all_) {
    if (one.spec.host != host || host.empty() || std::exchange(one.given_up, true)) continue;
    one.again.reset();
    one.process.in = Fd();
    if (one.runs()) ::kill(one.process.pid, SIGTERM);
  }
}

bool Daemons::owns(pid_t pid) const {
  return std::ranges::any_of(all_, [&](const One& one) { return one.process.pid == pid; });
}

bool Daemons::all_gone() const {
  return std::ranges::none_of(all_, [](const One& one) { return one.runs() || one.again; });
}

void Daemons::let_go() {
  letting_go_ = true;
  for (One& one : all_) {
    one.again.reset();
    one.process.in = Fd();
  }
}

void Daemons::kill(int signal) const {
  for (const One& one : all_)
    if (one.runs()) ::kill(one.process.pid, signal);
}

std::string last_line(const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "re");
  if (file == nullptr) return "it has no log";
  char text[2048];
  std::fseek(file, 0, SEEK_END);
  std::fseek(file, -std::min<long>(std::ftell(file), sizeof text), SEEK_END);
  std::string tail(text, std::fread(text, 1, sizeof text, file));
  std::fclose(file);
  while (tail.ends_with('\n')) tail.pop_back();
  const size_t begin = tail.rfind('\n');
  if (begin != tail.npos) tail.erase(0, begin + 1);
  return tail.empty() ? "its log is empty" : tail;
}

}  // namespace forebay::launch

// An agent in a process of its own, and a coordinator that does what a test says.
#pragma once

#include <chrono>
#include <condition_variable>
#include <csignal>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "job/agent/agent.h"
#include "job/client/stage_names.h"
#include "job/rendezvous/rendezvous.h"
#include "job/test_agent.h"

namespace forebay::job::testing_support {

template <class Condition>
bool eventually(const Condition& condition, std::chrono::milliseconds patience = 10s) {
  const auto end = std::chrono::steady_clock::now() + patience;
  while (std::chrono::steady_clock::now() < end) {
    if (condition()) return true;
    std::this_thread::sleep_for(2ms);
  }
  return condition();
}

// Starts agents as processes, from a process without threads. To be made before the first thread of a test.
class AgentProcess {
 public:
  explicit AgentProcess(AgentOptions options) : options_(std::move(options)) {
    int commands[2], answers[2];
    EXPECT_EQ(::pipe(commands), 0);
    EXPECT_EQ(::pipe(answers), 0);
    launcher_ = ::fork();
    if (launcher_ == 0) {
      ::close(commands[1]);
      ::close(answers[0]);
      launch(commands[0], answers[1]);
    }
    ::close(commands[0]);
    ::close(answers[1]);
    commands_ = commands[1];
    answers_ = answers[0];
  }
  ~AgentProcess() {
    kill();
    ::close(commands_);
    ::close(answers_);
    ::waitpid(launcher_, nullptr, 0);
  }
  AgentProcess(const AgentProcess&) = delete;
  AgentProcess& operator=(const AgentProcess&) = delete;

  // Returns when the agent serves.
  void start() {
    ASSERT_EQ(::write(commands_, "s", 1), 1);
    ASSERT_EQ(::read(answers_, &agent_, sizeof agent_), static_cast<ssize_t>(sizeof agent_));
  }
  void signal(int number) const {
    if (agent_ > 0) ::kill(agent_, number);
  }
  void kill() {
    signal(SIGCONT);
    signal(SIGKILL);
    wait();
  }
  // Until the agent has ended: its exit status.
  int wait() {
    if (agent_ <= 0) return -1;
    int status = -1;
    EXPECT_EQ(::write(commands_, "w", 1), 1);
    EXPECT_EQ(::read(answers_, &status, sizeof status), static_cast<ssize_t>(sizeof status));
    agent_ = 0;
    return status;
  }
  pid_t pid() const { return agent_; }

 private:
  [[noreturn]] void launch(int commands, int answers) const {
    for (char command; ::read(commands, &command, 1) == 1;) {
      if (command == 's') {
        const pid_t child = ::fork();
        if (child == 0) serve(answers);
      } else {
        int status = -1;
        ::wait(&status);
        (void)!::write(answers, &status, sizeof status);
      }
    }
    ::_exit(0);
  }
  [[noreturn]] void serve(int answers) const {
    ::alarm(100);
    AgentOptions options = options_;
    options.ready = [answers](const std::vector<fabric::Address>&) {
      const pid_t self = ::getpid();
      (void)!::write(answers, &self, sizeof self);
    };
    if (::getenv("FOREBAY_TEST_LOG") != nullptr)
      options.log = [](fabric::Severity, const std::string& text) { ::dprintf(2, "agent: %s\n", text.c_str()); };
    const auto result = run_agent(options, {});
    if (!result) ::dprintf(2, "agent: %s\n", result.error().message().c_str());
    ::_exit(result ? 0 : 1);
  }

  AgentOptions options_;
  pid_t launcher_ = -1, agent_ = 0;
  int commands_ = -1, answers_ = -1;
};

// Remembers what agents say. What it answers is the test's to send.
class ScriptedCoordinator {
 public:
  explicit ScriptedCoordinator(const std::string& rendezvous, uint64_t generation = 1, uint32_t block_at = 0)
      : generation_(generation), block_at_(block_at) {
    hub_.serve([this](fabric::ConnectionId id, const fabric::Frame& frame) { return received(id, frame); },
               [this](fabric::ConnectionId) { ++gone_; });
    const Rendezvous directory = value(Rendezvous::open(rendezvous));
    EXPECT_TRUE(value(directory.take(generation, {.addresses = hub_.addresses(), .host = "h", .node = "n", .pid = 1})));
  }
  ~ScriptedCoordinator() { hub_.stop(); }

  // The newest offer of the set that was not seen before, or nothing in time.
  std::optional<wire::OfferT> next_offer(const std::string& set) {
    std::optional<wire::OfferT> found;
    eventually([&] {
      const std::lock_guard lock(mutex_);
      for (; seen_ < offers_.size() && !found; ++seen_)
        if (offers_[seen_].set == set) found = offers_[seen_];
      return found.has_value();
    });
    return found;
  }
  template <class T>
  std::vector<T> copy(const std::vector<T>& list) {
    const std::lock_guard lock(mutex_);
    return list;
  }
  // The next answer of this kind that was not seen before, or nothing in time.
  template <class Table>
  std::optional<Table> next_answer() {
    std::optional<Table> found;
    eventually([&] {
      const std::lock_guard lock(mutex_);
      for (auto at = answers_.begin(); at != answers_.end() && !found; ++at)
        if (Table* const table = as<Table>(at->body)) {
          found = std::move(*table);
          answers_.erase(at);
          break;
        }
      return found.has_value();
    });
    return found;
  }
  std::vector<wire::WithdrawnT> withdrawn() { return copy(withdrawn_); }
  std::vector<wire::RejectT> rejects() { return copy(rejects_); }
  std::vector<wire::RestartRequestT> restarts() { return copy(restarts_); }
  std::vector<wire::RestartPublishedT> published() { return copy(published_); }
  std::vector<wire::AgentHelloT> hellos() { return copy(hellos_); }
  size_t offers() { return copy(offers_).size(); }
  int gone() const { return gone_; }
  int pings() const { return pings_; }

  template <class Table>
  void say(Table table) {
    Bytes frame;
    wire::encode(frame, std::move(table));
    hub_.hub().post([this, frame] { hub_.hub().send(agent_, frame); });
  }
  // Has the agent publish what was delivered of `set`, which `ranks` ranks wrote, as round `round`. What it answers.
  std::optional<wire::RestartPublishedT> publish(const std::string& set, const std::string& stored_as, int64_t step,
                                                 uint64_t round = 1, uint32_t ranks = 0) {
    const size_t before = published().size();
    wire::RestartReadyT ready;
    ready.found = true;
    ready.set = set;
    ready.stored_as = stored_as;
    ready.step = step;
    ready.round = round;
    ready.ranks = ranks;
    say(std::move(ready));
    if (!eventually([&] { return published().size() > before; })) return std::nullopt;
    return published().back();
  }
  // Asks what the stage holds. What the agent answers.
  std::optional<wire::SettledT> settle(uint64_t number) {
    say(wire::SettleT{.number = number});
    const auto answer = [&] {
      const std::lock_guard lock(mutex_);
      return !settled_.empty() && settled_.back().number == number;
    };
    if (!eventually(answer)) return std::nullopt;
    const std::lock_guard lock(mutex_);
    return settled_.back();
  }
  // next_offer() begins with the first one again.
  void rewind() {
    const std::lock_guard lock(mutex_);
    seen_ = 0;
  }
  void say_state(const wire::OfferT& offer, wire::SetState state, const std::string& message = {}) {
    wire::SetNewsT news;
    news.set = offer.set;
    news.exposure = offer.exposure;
    news.state = state;
    news.stored_as = offer.set;
    news.message = message;
    say(std::move(news));
  }

 private:
  template <class Table>
  static Table* as(wire::BodyUnion& body) {
    return body.type == wire::BodyUnionTraits<Table>::enum_value ? static_cast<Table*>(body.value) : nullptr;
  }

  Result<void> received(fabric::ConnectionId id, const fabric::Frame& frame) {
    FOREBAY_TRY(auto message, wire::decode(frame));
    const std::lock_guard lock(mutex_);
    const auto type = message.body.type;
    if (type == wire::Body::Protected || type == wire::Body::Sealed || type == wire::Body::Repaired ||
        type == wire::Body::CachedChecked) {
      answers_.push_back(std::move(message));
      return {};
    }
    if (const auto* hello = message.body.AsAgentHello()) {
      hellos_.push_back(*hello);
      agent_ = id;
      wire::WelcomeT welcome;
      welcome.generation = generation_;
      welcome.ping_ms = 200;
      welcome.lost_ms = 60'000;
      welcome.block_at = block_at_;
      Bytes answer;
      wire::encode(answer, std::move(welcome));
      hub_.hub().send(id, answer);
    }
    if (type == wire::Body::Ping) ++pings_;
    if (const auto* offer = message.body.AsOffer()) offers_.push_back(*offer);
    if (const auto* withdrawn = message.body.AsWithdrawn()) withdrawn_.push_back(*withdrawn);
    if (const auto* reject = message.body.AsReject()) rejects_.push_back(*reject);
    if (const auto* restart = message.body.AsRestartRequest()) restarts_.push_back(*restart);
    if (const auto* settled = message.body.AsSettled()) settled_.push_back(*settled);
    if (const auto* published = message.body.AsRestartPublished()) published_.push_back(*published);
    return {};
  }

  uint64_t generation_;
  uint32_t block_at_;
  std::mutex mutex_;
  std::vector<wire::AgentHelloT> hellos_;
  std::vector<wire::OfferT> offers_;
  std::vector<wire::WithdrawnT> withdrawn_;
  std::vector<wire::RejectT> rejects_;
  std::vector<wire::RestartRequestT> restarts_;
  std::vector<wire::RestartPublishedT> published_;
  std::vector<wire::SettledT> settled_;
  std::vector<wire::MessageT> answers_;  // of next_answer()
  size_t seen_ = 0;
  fabric::ConnectionId agent_ = 0;
  std::atomic<int> gone_ = 0, pings_ = 0;
  HubThread hub_;  // the last one: its thread ends first
};

}  // namespace forebay::job::testing_support

#include "job/client/client.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/catalogue.h"
#include "fabric/address.h"
#include "fabric/credentials.h"
#include "job/client/marker.h"
#include "job/client/stage_names.h"
#include "job/wire/convert.h"
#include "store/files.h"
#include "store/names.h"

namespace forebay::job {
namespace {

using Clock = std::chrono::steady_clock;

constexpr Client::Timeout kConnectPatience{5'000};  // for the handshake with an agent of the same node
constexpr Client::Timeout kAgentPause{200};         // between two looks for an agent
constexpr Client::Timeout kAnswerSlack{2'000};      // the agent times the calls; this much later it is not there

std::unexpected<Error> no_agent(const std::string& stage, std::string what) {
  return fail(ErrorKind::disconnected, std::move(what), stage, {}, "is a forebay agent running for this stage?");
}

// Nothing if the stage has none.
Result<std::optional<fabric::Secret>> stage_secret(const std::string& stage) {
  auto secret = fabric::read_secret(secret_path(stage));
  if (secret) return *secret;
  if (secret.error().kind != ErrorKind::not_found) return std::unexpected(std::move(secret).error());
  return std::nullopt;
}

// mkdir -p of what `path` has beyond `base`.
Result<void> make_directories(const std::string& base, const std::string& path) {
  for (size_t slash = path.find('/', base.size() + 1);; slash = path.find('/', slash + 1)) {
    const std::string part = path.substr(0, slash);
    if (::mkdir(part.c_str(), 0777) != 0 && errno != EEXIST) return fail_errno(errno, "mkdir", part);
    if (slash == std::string::npos) return {};
  }
}

Result<MarkedFile> look_at(const std::string& directory, const std::string& name) {
  const std::string path = directory + "/" + name;
  struct stat info{};
  if (::stat(path.c_str(), &info) != 0) {
    if (errno != ENOENT && errno != ENOTDIR) return fail_errno(errno, "stat", path);
    return fail(ErrorKind::invalid_argument, "was asked for, but not written", path);
  }
  if (!S_ISREG(info.st_mode)) return fail(ErrorKind::invalid_argument, "is not a regular file", path);
  return MarkedFile{name, static_cast<uint64_t>(info.st_size), info.st_mtim.tv_sec,
                    static_cast<uint32_t>(info.st_mtim.tv_nsec)};
}

// By rename, so that nobody ever sees half a marker. It is not synced: its files are not either, and what a power cut
// leaves of them is told by their sizes.
Result<void> write_by_rename(const std::string& path, std::string_view text) {
  const size_t base = path.rfind('/') + 1;
  const std::string temporary = fmt::format("{}.{}.tmp", path.substr(0, base), path.substr(base));
  const auto write = [&]() -> Result<void> {
    FOREBAY_TRY(const Fd fd,
                store::open_at(AT_FDCWD, temporary, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, temporary, 0666));
    FOREBAY_CHECK(store::write_all(fd.get(), 0, as_bytes(text), path));
    if (std::rename(temporary.c_str(), path.c_str()) != 0) return fail_errno(errno, "rename", path);
    return {};
  };
  auto written = write();
  if (!written) ::unlink(temporary.c_str());
  return written;
}

// A number in the environment; `otherwise` if there is none.
uint64_t number_of_environment(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  uint64_t number = otherwise;
  if (text != nullptr) std::from_chars(text, text + std::strlen(text), number);
  return number;
}

// How often `forebay run` has started the application so far; 0: somebody else has started it.
uint64_t attempt_of_environment() { return number_of_environment("FOREBAY_ATTEMPT", 0); }

Client::Timeout patience_of_environment() {
  constexpr uint64_t kLongest = 1'000'000;  // seconds
  const uint64_t usual = std::chrono::duration_cast<std::chrono::seconds>(Client::kAgentPatience).count();
  return std::chrono::seconds(std::min(number_of_environment("FOREBAY_AGENT_TIMEOUT", usual), kLongest));
}

bool is_endless(Client::Timeout timeout) { return timeout.count() < 0 || timeout > std::chrono::years(1); }

// What `message` answers, as a T, or the error that the agent has answered with.
template <class T>
Result<T> expect(wire::MessageT& message, T* answer) {
  if (answer != nullptr) return std::move(*answer);
  if (const wire::RefusedT* refused = message.body.AsRefused()) return std::unexpected(error_of(*refused));
  return fail(ErrorKind::internal, "the agent gives an answer to another question");
}

}  // namespace

Client::Client(std::string stage, uint32_t rank, uint32_t ranks)
    : stage_(std::move(stage)),
      rank_(rank),
      ranks_(ranks),
      attempt_(attempt_of_environment()),
      patience_(patience_of_environment()),
      process_(::getpid()) {}

Client::~Client() = default;

Result<std::unique_ptr<Client>> Client::connect(std::string stage, uint32_t rank, uint32_t ranks) {
  if (stage.empty()) return fail(ErrorKind::invalid_argument, "no stage is given");
  if (rank >= ranks) return fail(ErrorKind::invalid_argument, fmt::format("there is no rank {} of {}", rank, ranks));
  while (stage.size() > 1 && stage.back() == '/') stage.pop_back();
  std::unique_ptr<Client> client(new Client(std::move(stage), rank, ranks));
  auto reached = client->reach();
  const auto until = Clock::now() + client->patience_;
  while (!reached && reached.error().kind == ErrorKind::disconnected && client->wait_for_agent(until))
    reached = client->reach();
  FOREBAY_CHECK(reached);
  return client;
}

Result<void> Client::check_process() const {
  if (::getpid() == process_) return {};
  return fail(ErrorKind::invalid_argument, "the connection to the agent is that of the parent process");
}

// Connects, if that is not done or was undone.
Result<void> Client::reach() {
  if (link_) return {};
  fabric::Credentials credentials;
  FOREBAY_TRY(credentials.secret, stage_secret(stage_));
  const fabric::Address address{fabric::Address::Kind::unix_socket, "", 0, agent_socket(stage_)};
  auto link = fabric::Link::open({address}, credentials, wire::kPurpose, kConnectPatience);
  if (!link && (link.error().kind == ErrorKind::disconnected || link.error().kind == ErrorKind::not_found ||
                link.error().kind == ErrorKind::timeout))
    return no_agent(stage_, "no agent answers (" + link.error().what + ")");
  if (!link && link.error().kind == ErrorKind::permission) {
    // An agent that has just taken the place of another one may have a secret of its own.
    FOREBAY_TRY(const auto now, stage_secret(stage_));
    if (now != credentials.secret) return no_agent(stage_, "the agent was started anew");
  }
  if (!link) return std::unexpected(std::move(link).error());
  link_.emplace(std::move(*link));
  Bytes hello;
  wire::encode(hello, wire::ClientHelloT{
                          .rank = rank_, .ranks = ranks_, .pid = static_cast<uint64_t>(process_), .attempt = attempt_});
  return send(hello);
}

Result<void> Client::send(const Bytes& frames) {
  auto sent = link_->send(frames, kSilence);
  if (sent) return {};
  link_.reset();
  return no_agent(stage_, "the agent has ended");
}

// A moment; false if there is no time left for it, or nobody can come.
bool Client::wait_for_agent(Clock::time_point until) const {
  if (::access(stage_.c_str(), F_OK) != 0 || Clock::now() + kAgentPause > until) return false;
  std::this_thread::sleep_for(kAgentPause);
  return true;
}

// A connection that has ended since the last call is made anew at once.
template <class Request>
Result<wire::MessageT> Client::ask(Request request, Timeout timeout) {
  const bool endless = is_endless(timeout);
  const auto deadline = endless ? Clock::time_point::max() : Clock::now() + timeout;
  auto lost = Clock::now();  // since then there is no agent
  for (bool at_once = link_.has_value();; at_once = false) {
    const auto begun = Clock::now();
    const auto left = endless ? Timeout(-1) : std::chrono::ceil<Timeout>(std::max(deadline - begun, Clock::duration{}));
    auto reached = reach();
    if (reached) {
      request.timeout_ms = left.count();
      Bytes frames;
      wire::encode(frames, Request(request));
      auto got = exchange(frames, left);
      if (got) return got;
      const bool is_silent = std::exchange(got.error().kind, ErrorKind::disconnected) == ErrorKind::timeout;
      if (is_silent) return got;
      reached = std::unexpected(got.error());
      if (Clock::now() - begun > kAgentPause) lost = Clock::now();  // it was there
    }
    if (reached.error().kind != ErrorKind::disconnected) return std::unexpected(reached.error());
    if (!at_once && !wait_for_agent(std::min(lost + patience_, deadline))) return std::unexpected(reached.error());
  }
}

// The next message but Ping. After an error the connection is closed: an answer that comes later is to no question.
// timeout: the agent is there, but says nothing.
Result<wire::MessageT> Client::exchange(const Bytes& frames, Timeout timeout) {
  FOREBAY_CHECK(send(frames));
  const bool endless = is_endless(timeout);
  const auto deadline = endless ? Clock::time_point::max() : Clock::now() + timeout + kAnswerSlack;
  for (;;) {
    const auto now = Clock::now();
    const auto left = endless ? kSilence : std::chrono::ceil<Timeout>(std::max(deadline - now, Clock::duration{}));
    auto frame = link_->receive(wire::kMaxBody, std::min(left, kSilence));
    auto message = frame ? wire::decode(*frame) : std::unexpected(frame.error());
    const bool is_ping = message && message->body.type == wire::Body::Ping;
    if (is_ping && now < deadline) continue;
    if (message && !is_ping) return message;
    link_.reset();
    if (!is_ping && message.error().kind != ErrorKind::timeout) return no_agent(stage_, "the agent has ended");
    return fail(ErrorKind::timeout, "the agent does not answer", stage_);
  }
}

// What the agent names as below the stage, as a path.
Result<std::string> Client::below_stage(const std::string& name) const {
  if (!is_safe_name(name)) return fail(ErrorKind::internal, "the agent names a file that is not in the stage", stage_);
  return stage_ + "/" + name;
}

Result<void> Client::begin(std::string_view set, int64_t step, Timeout timeout, const wire::SetPolicyT* policy) {
  FOREBAY_CHECK(check_process());
  FOREBAY_CHECK(store::check_job_name(set));
  begun_.reset();
  wire::BeginT request;
  request.set = set;
  request.step = step;
  if (policy != nullptr) request.policy = std::make_unique<wire::SetPolicyT>(*policy);
  FOREBAY_TRY(auto message, ask(std::move(request), timeout));
  FOREBAY_TRY(const auto answer, expect(message, message.body.AsBegun()));
  Begun begun{.set = std::string(set), .step = step};
  FOREBAY_TRY(begun.directory, below_stage(answer.directory));
  FOREBAY_TRY(begun.marker, below_stage(answer.marker));
  begun_ = std::move(begun);
  return {};
}

Result<std::string> Client::path(std::string_view file) {
  FOREBAY_CHECK(check_process());
  if (!begun_) return fail(ErrorKind::invalid_argument, "no set was begun");
  const std::string name(file);
  if (!is_safe_name(name) || !is_utf8(name))
    return fail(ErrorKind::invalid_argument, fmt::format("'{}' is no name for a file of a set", name), {}, {},
                "a relative name in UTF-8, without '.' and '..' as parts of it");
  std::string path = begun_->directory + "/" + name;
  if (const size_t slash = name.rfind('/'); slash != std::string::npos)
    FOREBAY_CHECK(make_directories(begun_->directory, begun_->directory + "/" + name.substr(0, slash)));
  begun_->files.insert(name);
  return path;
}

Result<void> Client::write_marker() const {
  Marker marker{
      .rank = rank_, .ranks = ranks_, .pid = static_cast<uint64_t>(process_), .step = begun_->step, .files = {}};
  for (const std::string& name : begun_->files) {
    FOREBAY_TRY(MarkedFile file, look_at(begun_->directory, name));
    marker.files.push_back(std::move(file));
  }
  return write_by_rename(begun_->marker, encode_marker(marker));
}

Result<void> Client::complete() {
  FOREBAY_CHECK(check_process());
  if (!begun_) return fail(ErrorKind::invalid_argument, "no set was begun");
  FOREBAY_CHECK(write_marker());
  Bytes frames;
  wire::CompletedT completed;
  completed.set = begun_->set;
  wire::encode(frames, std::move(completed));
  begun_.reset();
  // The agent sees the marker anyway; this is faster, and tells whether there is an agent.
  if (link_ && send(frames)) return {};
  FOREBAY_CHECK(reach());
  return send(frames);
}

Result<void> Client::discard() {
  FOREBAY_CHECK(check_process());
  const auto begun = std::exchange(begun_, std::nullopt);
  Result<void> done;
  if (!begun) return done;
  for (const std::string& file : begun->files) {
    std::string path = begun->directory + "/" + file;
    if (::unlink(path.c_str()) != 0 && errno != ENOENT && done) done = fail_errno(errno, "unlink", path);
    do path.resize(path.rfind('/'));
    while (path.size() >= begun->directory.size() && ::rmdir(path.c_str()) == 0);
  }
  // Where there is no agent, the next one begins with what it finds.
  Bytes frames;
  wire::encode(frames, wire::CompletedT{.set = begun->set, .given_up = true});
  if (link_) (void)send(frames);
  return done;
}

Result<Client::News> Client::wait(std::string_view set, Timeout timeout) {
  FOREBAY_CHECK(check_process());
  if (!store::is_job_name(set) || (begun_ && begun_->set == set))
    return fail(ErrorKind::invalid_argument, fmt::format("no set '{}' was completed", set));
  wire::WaitT request;
  request.set = set;
  FOREBAY_TRY(auto message, ask(std::move(request), timeout));
  FOREBAY_TRY(const auto news, expect(message, message.body.AsSetNews()));
  return News{news.state, news.message};
}

Result<Client::Restart> Client::restart(Timeout timeout, bool any_ranks, std::string_view newest) {
  FOREBAY_CHECK(check_process());
  restarted_.clear();
  begun_.reset();
  FOREBAY_TRY(auto message, ask(wire::RestartT{.any_ranks = any_ranks, .newest = std::string(newest)}, timeout));
  FOREBAY_TRY(const auto answer, expect(message, message.body.AsRestarted()));
  if (!answer.found) return Restart{std::nullopt, answer.message, answer.other_ranks};
  FOREBAY_TRY(restarted_, below_stage(answer.directory));
  return Restart{Found{answer.set, answer.step, answer.ranks, answer.stored_as}, answer.message};
}

Result<std::string> Client::restart_path(std::string_view file) {
  FOREBAY_CHECK(check_process());
  if (restarted_.empty()) return fail(ErrorKind::invalid_argument, "there is no set to restart from");
  const std::string name(file);
  if (!is_safe_name(name)) return fail(ErrorKind::invalid_argument, fmt::format("'{}' is no name of a file", name));
  std::string path = restarted_ + "/" + name;
  struct stat info{};
  if (::stat(path.c_str(), &info) != 0)
    return fail(ErrorKind::invalid_argument, "the set has no such file on this node", path);
  return path;
}

Result<void> Client::reject(std::string_view set, std::string_view stored_as, std::string_view reason,
                            Timeout timeout) {
  return ask_to_reject({.set = std::string(set), .stored_as = std::string(stored_as), .reason = std::string(reason)},
                       timeout);
}

Result<void> Client::remove(std::string_view set, Timeout timeout) {
  return ask_to_reject({.set = std::string(set), .reason = "the application has deleted it", .removes = true}, timeout);
}

Result<void> Client::ask_to_reject(wire::RejectT reject, Timeout timeout) {
  FOREBAY_CHECK(check_process());
  FOREBAY_CHECK(store::check_job_name(reject.set));
  restarted_.clear();
  FOREBAY_TRY(auto message, ask(std::move(reject), timeout));
  FOREBAY_CHECK(expect(message, message.body.AsReject()));
  return {};
}

Result<void> Client::wait_until_gone(std::string_view set, Timeout timeout) {
  constexpr Timeout kPause{20};
  for (const auto until = Clock::now() + timeout; Clock::now() < until; std::this_thread::sleep_for(kPause)) {
    const auto news = wait(set, kPause);
    if (!news && news.error().kind == ErrorKind::not_found) return {};
    if (!news && news.error().kind != ErrorKind::timeout) return std::unexpected(news.error());
  }
  return fail(ErrorKind::timeout, fmt::format("set {} is still there", set));
}

}  // namespace forebay::job

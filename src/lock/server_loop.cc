#include "lock/server_loop.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>

#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fabric/munge.h"

namespace forebay::lock {
namespace {

constexpr int kEvents = 256;                // of one round
constexpr size_t kMaxStrangers = 256;       // connections that have not yet proved who they are
constexpr size_t kReadBytes = 4096;         // at least, of one system call
constexpr size_t kMaxOutput = 64u << 20;    // a client that lets more pile up is dropped
constexpr size_t kKeptOutput = 256u << 10;  // a buffer that was larger is given back
constexpr std::chrono::milliseconds kNoDescriptorsPause{100};
constexpr unsigned kLogLinesPerSecond = 20;
constexpr uint64_t kStopId = 0;

}  // namespace

struct ServerLoop::Connection {
  uint64_t id = 0;
  Fd fd;
  std::string peer;
  bool is_unix = false;
  bool known = false;
  bool mute = false;     // it cannot be written to; what is left to be read tells how it ended
  bool queued = false;   // in unsent_
  bool writing = false;  // epoll watches for room
  std::optional<fabric::ServerHandshake> handshake;
  fabric::FrameParser in{fabric::kMaxHandshakeBody};
  Bytes out;
  size_t sent = 0;  // of out
};

ServerLoop::ServerLoop(const ServerOptions& options, std::vector<fabric::Listener> listeners)
    : options_(options),
      listeners_(std::move(listeners)),
      epoll_(::epoll_create1(EPOLL_CLOEXEC)),
      service_({options.lease, options.grace, options.hold_off, options.max_terms, options.max_client_memory},
               std::chrono::steady_clock::now()),
      voucher_(fabric::munge_voucher()),
      next_id_(listeners_.size() + 1) {}

ServerLoop::~ServerLoop() = default;

Result<std::unique_ptr<ServerLoop>> ServerLoop::create(const ServerOptions& options,
                                                       std::vector<fabric::Listener> listeners, int stop) {
  std::unique_ptr<ServerLoop> loop(new ServerLoop(options, std::move(listeners)));
  if (!loop->epoll_) return fail_errno(errno, "epoll_create1", {});
  FOREBAY_CHECK(loop->watch(stop, kStopId));
  for (size_t i = 0; i < loop->listeners_.size(); ++i) FOREBAY_CHECK(loop->watch(loop->listeners_[i].fd.get(), i + 1));
  return loop;
}

Result<void> ServerLoop::watch(int fd, uint64_t id) {
  epoll_event event{.events = EPOLLIN, .data = {.u64 = id}};
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) != 0) return fail_errno(errno, "epoll_ctl", {});
  return {};
}

// Without memory nothing sensible can be promised: the clients see lost connections.
void ServerLoop::run() {
  bool no_memory = false;
  try {
    serve();
  } catch (const std::bad_alloc&) {
    no_memory = true;
  }
  listeners_.clear();
  connections_.clear();
  if (no_memory) log(Severity::warning, "no memory left; the server has ended");
}

void ServerLoop::serve() {
  epoll_event events[kEvents];
  while (!stopping_) {
    const int count = ::epoll_wait(epoll_.get(), events, kEvents, timeout(std::chrono::steady_clock::now()));
    if (count < 0 && errno == EINTR) continue;  // also after SIGCONT, when there may be much to be heard
    if (count < 0) return log(Severity::warning, "epoll_wait failed; the server ends");
    for (int i = 0; i < count; ++i) handle(events[i].data.u64);
    // Leases are looked at when everything that has arrived was heard: a server that was stopped for a while must not
    // take its clients for the ones that were silent.
    const auto now = std::chrono::steady_clock::now();
    if (count < kEvents) service_.tick(now, outgoing_);
    deliver();
    flush();
    close_late_strangers(now);
    if (now >= listen_again_at_) listen_again(true);
  }
}

void ServerLoop::handle(uint64_t id) {
  if (id == kStopId) {
    stopping_ = true;
  } else if (id <= listeners_.size()) {
    accept_from(listeners_[id - 1]);
  } else if (const auto found = connections_.find(id); found != connections_.end()) {
    Connection& connection = *found->second;
    if (connection.writing && !send_some(connection)) return close(id, Service::Ending::broken);
    read_from(connection);
    deliver();
  }
}

void ServerLoop::accept_from(const fabric::Listener& listener) {
  while (stranger_count_ < kMaxStrangers) {
    Fd fd(::accept4(listener.fd.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (fd) {
      admit(std::move(fd));
      continue;
    }
    if (errno == EINTR || errno == ECONNABORTED) continue;
    if (errno == EAGAIN || errno == EWOULDBLOCK) return;
    log(Severity::warning, fmt::format("no connection can be accepted for a while: {}", std::strerror(errno)));
    listen_again_at_ = std::chrono::steady_clock::now() + kNoDescriptorsPause;
    return listen_again(false);
  }
  listen_again(false);  // the others wait in the system's queue
}

void ServerLoop::listen_again(bool on) {
  if (on) listen_again_at_ = Time::max();
  if (on == listening_) return;
  listening_ = on;
  for (size_t i = 0; i < listeners_.size(); ++i) {
    epoll_event event{.events = on ? uint32_t{EPOLLIN} : 0u, .data = {.u64 = i + 1}};
    ::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, listeners_[i].fd.get(), &event);
  }
}

void ServerLoop::admit(Fd fd) {
  if (connections_.size() >= options_.max_connections)
    return log(Severity::warning, fmt::format("refused {}: too many connections", fabric::describe_peer(fd.get())));
  auto connection = std::make_unique<Connection>();
  connection->id = next_id_++;
  connection->peer = fabric::describe_peer(fd.get());
  const auto uid = fabric::peer_uid(fd.get());
  connection->is_unix = uid.has_value();
  if (!connection->is_unix) {
    fabric::set_no_delay(fd.get());
    fabric::set_keep_alive(fd.get());
  }
  connection->handshake.emplace(
      fabric::Party{options_.credentials, std::string(wire::kPurpose), uid, ::geteuid(), voucher_},
      fabric::new_nonce());
  if (!watch(fd.get(), connection->id)) return;
  connection->fd = std::move(fd);
  strangers_.emplace_back(std::chrono::steady_clock::now() + options_.handshake_timeout, connection->id);
  ++stranger_count_;
  const uint64_t id = connection->id;
  connections_.emplace(id, std::move(connection));
}

void ServerLoop::read_from(Connection& connection) {
  const std::span<std::byte> room = connection.in.room(kReadBytes);
  const ssize_t got = ::recv(connection.fd.get(), room.data(), room.size(), 0);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got > 0) {
    connection.in.commit(static_cast<size_t>(got));
    if (!understand(connection, std::chrono::steady_clock::now())) close(connection.id, Service::Ending::broken);
    return;
  }
  // A process that is gone, or that has closed the connection after its I/O, is not the same as a lost path to it
  // (docs/wire.md, "Leases"). Within a host there is no path to lose.
  const bool orderly = got == 0 || connection.is_unix;
  close(connection.id, orderly ? Service::Ending::orderly : Service::Ending::broken);
}

bool ServerLoop::understand(Connection& connection, Time now) {
  for (;;) {
    const auto frame = connection.in.next();
    if (frame && !*frame) return true;
    auto understood = frame ? receive(connection, **frame, now) : std::unexpected(frame.error());
    if (understood) {
      // Answers may be many times as large as what asks for them: they are not gathered beyond what may pile up.
      deliver();
      if (connection.out.size() - connection.sent > kMaxOutput && !send_some(connection)) return false;
      continue;
    }
    log(Severity::warning, fmt::format("refused {}: {}", connection.peer, understood.error().message()));
    if (!connection.known) {
      const Bytes refusal = fabric::refusal(understood.error().what);
      (void)!::send(connection.fd.get(), refusal.data(), refusal.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    }
    return false;
  }
}

Result<void> ServerLoop::receive(Connection& connection, const fabric::Frame& frame, Time now) {
  if (!connection.known) return greet(connection, frame, now);
  FOREBAY_TRY(auto message, wire::decode_client(frame, options_.max_terms));
  return service_.receive(connection.id, std::move(message), now, outgoing_);
}

Result<void> ServerLoop::greet(Connection& connection, const fabric::Frame& frame, Time now) {
  FOREBAY_TRY(const fabric::Step step, connection.handshake->receive(frame));
  connection.out.insert(connection.out.end(), step.send.begin(), step.send.end());
  send_later(connection);
  if (!step.done) return {};
  no_stranger_any_more();
  connection.known = true;
  connection.handshake.reset();
  connection.in.set_max_body(wire::kMaxBody);
  service_.connected(connection.id, connection.peer, now);
  return {};
}

void ServerLoop::deliver() {
  for (const Outgoing& one : outgoing_) {
    const auto found = connections_.find(one.session);
    if (found == connections_.end() || found->second->mute) continue;
    wire::encode(found->second->out, one.message);
    send_later(*found->second);
  }
  outgoing_.clear();
}

void ServerLoop::send_later(Connection& connection) {
  // With output that waits for room there is nothing to try, unless it has become too much.
  const bool waits = connection.writing && connection.out.size() - connection.sent <= kMaxOutput;
  if (connection.queued || waits) return;
  connection.queued = true;
  unsent_.push_back(connection.id);
}

// Once a round, so that what is meant for one client goes in one system call. Closing one grants locks to others.
void ServerLoop::flush() {
  for (size_t i = 0; i < unsent_.size(); ++i) {
    const auto found = connections_.find(unsent_[i]);
    if (found == connections_.end()) continue;
    found->second->queued = false;
    if (!send_some(*found->second)) close(unsent_[i], Service::Ending::broken);
    deliver();
  }
  unsent_.clear();
}

bool ServerLoop::send_some(Connection& connection) {
  Bytes& out = connection.out;
  while (connection.sent < out.size() && !connection.mute) {
    const ssize_t sent =
        ::send(connection.fd.get(), out.data() + connection.sent, out.size() - connection.sent, MSG_NOSIGNAL);
    if (sent >= 0) {
      connection.sent += static_cast<size_t>(sent);
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      break;
    } else if (errno != EINTR) {
      connection.mute = true;
    }
  }
  if (connection.mute || connection.sent == out.size()) {
    if (out.capacity() > kKeptOutput) Bytes().swap(out);
    out.clear();
    connection.sent = 0;
    watch_writing(connection, false);
    return true;
  }
  if (out.size() - connection.sent > kMaxOutput) {
    log(Severity::warning, fmt::format("dropped {}: it does not read what it asked for", connection.peer));
    return false;
  }
  watch_writing(connection, true);
  return true;
}

void ServerLoop::watch_writing(Connection& connection, bool on) {
  if (connection.writing == on) return;
  connection.writing = on;
  epoll_event event{.events = on ? EPOLLIN | EPOLLOUT : uint32_t{EPOLLIN}, .data = {.u64 = connection.id}};
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, connection.fd.get(), &event);
}

void ServerLoop::close(uint64_t id, Service::Ending ending) {
  const auto found = connections_.find(id);
  if (found == connections_.end()) return;
  const bool known = found->second->known;
  if (!known) no_stranger_any_more();
  connections_.erase(found);
  if (known) service_.disconnected(id, ending, std::chrono::steady_clock::now(), outgoing_);
}

void ServerLoop::no_stranger_any_more() {
  --stranger_count_;
  if (listen_again_at_ == Time::max()) listen_again(true);
}

void ServerLoop::close_late_strangers(Time now) {
  while (!strangers_.empty()) {
    const auto [deadline, id] = strangers_.front();
    const auto found = connections_.find(id);
    const bool waiting = found != connections_.end() && !found->second->known;
    if (waiting && now < deadline) return;
    if (waiting) {
      log(Severity::warning, fmt::format("refused {}: it did not prove who it is in time", found->second->peer));
      close(id, Service::Ending::broken);
    }
    strangers_.pop_front();
  }
}

int ServerLoop::timeout(Time now) const {
  Time next = std::min(service_.next_tick(), listen_again_at_);
  if (!strangers_.empty()) next = std::min(next, strangers_.front().first);
  if (next == Time::max()) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(next - now).count();
  return static_cast<int>(std::clamp<int64_t>(left, 0, 60'000));
}

void ServerLoop::log(Severity severity, const std::string& text) {
  if (!options_.log) return;
  const auto now = std::chrono::steady_clock::now();
  if (now - log_second_ >= std::chrono::seconds(1)) {
    log_second_ = now;
    logged_ = 0;
  }
  // Strangers must not be able to fill a disk.
  if (++logged_ <= kLogLinesPerSecond) options_.log(severity, text);
}

}  // namespace forebay::lock

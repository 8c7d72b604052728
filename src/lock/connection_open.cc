// How a connection to a lock server begins: handshake, hello, and its life line.
#include <cerrno>

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fabric/again.h"
#include "fabric/handshake.h"
#include "fabric/munge.h"
#include "lock/connection.h"

namespace forebay::lock {
namespace {

constexpr size_t kGreetingBytes = 4096;

std::string host_name() {
  char name[256] = {};
  ::gethostname(name, sizeof name - 1);
  return name;
}

}  // namespace

Connection::Connection(fabric::Connected connected, LeaseClock lease_clock)
    : generation_(fork_generation()),
      server_(std::move(connected.address)),
      name_(fabric::to_string(server_)),
      lease_clock_(lease_clock),
      fd_(std::move(connected.fd)),
      in_(fabric::kMaxHandshakeBody) {}

Result<std::shared_ptr<Connection>> Connection::open(const std::vector<fabric::Address>& server,
                                                     const fabric::Credentials& credentials, const std::string& label,
                                                     Clock::time_point deadline, LeaseClock lease_clock, bool borrow) {
  FOREBAY_TRY(auto connection, get_in(server, credentials, deadline, lease_clock));
  if (auto done = connection->say_hello(label, deadline); !done) {
    Error error = std::move(done).error();
    if (error.path.empty()) error.path = connection->name_;
    return std::unexpected(std::move(error));
  }
  connection->tie_life_line(credentials, deadline);
  if (borrow) connection->tie_bell(credentials, deadline);
  return connection;
}

Result<std::shared_ptr<Connection>> Connection::get_in(const std::vector<fabric::Address>& server,
                                                       const fabric::Credentials& credentials,
                                                       Clock::time_point deadline, LeaseClock lease_clock) {
  for (fabric::Again again(deadline);;) {
    FOREBAY_TRY(fabric::Connected connected, fabric::connect(server, deadline));
    std::shared_ptr<Connection> connection(new Connection(std::move(connected), lease_clock));
    auto done = connection->shake_hands(credentials, deadline);
    if (done) return connection;
    if (again.after(done.error())) continue;
    Error error = std::move(done).error();
    if (error.path.empty()) error.path = connection->name_;
    return std::unexpected(std::move(error));
  }
}

Result<void> Connection::shake_hands(const fabric::Credentials& credentials, Clock::time_point deadline) {
  fabric::ClientHandshake handshake(
      {credentials, std::string(wire::kPurpose), fabric::peer_uid(fd_.get()), ::geteuid(), fabric::munge_voucher()},
      fabric::new_nonce_key());
  FOREBAY_TRY(fabric::Step step, handshake.begin());
  while (!step.done) {
    FOREBAY_CHECK(send(step.send));
    FOREBAY_TRY(const fabric::Frame frame, next_frame(deadline));
    FOREBAY_TRY(step, handshake.receive(frame));
  }
  in_.set_max_body(wire::kMaxBody);
  return {};
}

Result<void> Connection::say_hello(const std::string& label, Clock::time_point deadline) {
  Bytes hello;
  wire::encode(hello,
               wire::Hello{label.substr(0, wire::kMaxLabelBytes), host_name(), static_cast<uint64_t>(::getpid())});
  FOREBAY_CHECK(send(hello));
  FOREBAY_TRY(const fabric::Frame frame, next_frame(deadline));
  FOREBAY_TRY(const wire::ServerMessage answer, wire::decode_server(frame));
  const auto* welcome = std::get_if<wire::Welcome>(&answer);
  if (welcome == nullptr || welcome->lease_ms == 0)
    return fail(ErrorKind::corrupt, "the lock server does not follow the protocol");
  lease_ = std::chrono::milliseconds(welcome->lease_ms);
  max_terms_ = welcome->max_terms;
  session_ = welcome->session;
  may_tie_life_line_ = welcome->life_line;
  return {};
}

// Without one, others wait for the end of a lease in the rare case in which it would have helped: no reason to fail.
void Connection::tie_life_line(const fabric::Credentials& credentials, Clock::time_point deadline) {
  if (!may_tie_life_line_ || server_.kind != fabric::Address::Kind::tcp) return;
  auto line = get_in({server_}, credentials, deadline, lease_clock_);
  Bytes life;
  wire::encode(life, wire::Life{session_});
  if (line && (*line)->send(life)) life_line_ = std::move(*line);
}

// Without one nothing is lent.
void Connection::tie_bell(const fabric::Credentials& credentials, Clock::time_point deadline) {
  if (!may_tie_life_line_) return;
  auto bell = get_in({server_}, credentials, deadline, lease_clock_);
  Bytes message;
  wire::encode(message, wire::Bell{session_});
  if (!bell || !(*bell)->send(message)) return;
  const auto frame = (*bell)->next_frame(deadline);
  if (!frame) return;
  const auto answer = wire::decode_server(*frame);
  if (!answer || !std::holds_alternative<wire::Renewed>(*answer)) return;
  bell_ = std::move(*bell);
  start_recall_thread();
}

Result<fabric::Frame> Connection::next_frame(Clock::time_point deadline) {
  for (;;) {
    FOREBAY_TRY(const auto frame, in_.next());
    if (frame) return *frame;
    FOREBAY_TRY(const bool ready, fabric::wait_for(fd_.get(), POLLIN, deadline));
    if (!ready) return fail(ErrorKind::timeout, "the lock server does not answer in time");
    const auto room = in_.room(kGreetingBytes);
    const ssize_t got = ::recv(fd_.get(), room.data(), room.size(), MSG_DONTWAIT);
    if (got > 0) in_.commit(static_cast<size_t>(got));
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
      return fail(ErrorKind::disconnected, "the lock server has closed the connection");
  }
}

}  // namespace forebay::lock

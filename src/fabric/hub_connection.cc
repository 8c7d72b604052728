// The connections of a Hub: from stranger to peer, frames in, output out, and how they end.
#include <cerrno>

#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fabric/hub_impl.h"
#include "fabric/socket.h"

namespace forebay::fabric {

static constexpr size_t kReadBytes = 4096;  // at least, of one system call

Hub::Impl::Connection* Hub::Impl::find(ConnectionId id) {
  const auto found = connections.find(id);
  return found == connections.end() ? nullptr : found->second.get();
}

void Hub::Impl::admit(Fd fd) {
  if (connections.size() >= options.max_connections)
    return log(Severity::warning, fmt::format("refused {}: too many connections", describe_peer(fd.get())));
  auto connection = std::make_unique<Connection>();
  connection->id = next_id++;
  connection->peer = describe_peer(fd.get());
  const auto uid = peer_uid(fd.get());
  connection->is_unix = uid.has_value();
  if (!connection->is_unix) {
    set_no_delay(fd.get());
    set_keep_alive(fd.get());
  }
  connection->handshake.emplace(Party{options.credentials, options.purpose, uid, ::geteuid(), voucher}, new_nonce());
  if (!add(fd.get(), connection->id)) return;
  connection->fd = std::move(fd);
  strangers.emplace_back(std::chrono::steady_clock::now() + options.handshake_timeout, connection->id);
  ++stranger_count;
  const ConnectionId id = connection->id;
  connections.emplace(id, std::move(connection));
}

ConnectionId Hub::Impl::adopt(Fd fd, std::string peer) {
  auto owner = std::make_unique<Connection>();
  Connection& connection = *owner;
  connection.id = next_id++;
  connection.peer = std::move(peer);
  connection.is_unix = peer_uid(fd.get()).has_value();
  connection.known = true;
  connection.in.set_max_body(options.max_body);
  if (!connection.is_unix) set_keep_alive(fd.get());
  const bool heard = add(fd.get(), connection.id).has_value();
  connection.fd = std::move(fd);
  connections.emplace(connection.id, std::move(owner));
  handler->connected(connection.id, connection.peer);
  if (!heard && !connection.closing) {
    connection.closing = true;
    closings.push_back(connection.id);
  }
  return connection.id;
}

void Hub::Impl::read_from(Connection& connection) {
  if (connection.closing) return;
  const std::span<std::byte> room = connection.in.room(kReadBytes);
  const ssize_t got = ::recv(connection.fd.get(), room.data(), room.size(), 0);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got > 0) {
    connection.in.commit(static_cast<size_t>(got));
    if (!understand(connection)) close(connection.id, Ending::broken);
    return;
  }
  // A process that is gone, or that has closed the connection after its I/O, is not the same as a lost path to it
  // (docs/wire.md, "Leases"). Within a host there is no path to lose.
  const bool orderly = (got == 0 && !connection.out.path_lost()) || connection.is_unix;
  close(connection.id, orderly ? Ending::orderly : Ending::broken);
}

bool Hub::Impl::understand(Connection& connection) {
  while (!connection.closing) {
    const auto frame = connection.in.next();
    if (frame && !*frame) return true;
    const auto understood = frame ? receive(connection, **frame) : std::unexpected(frame.error());
    if (understood) {
      // Answers may be many times as large as what asks for them: they are not gathered beyond what may pile up.
      if (connection.out.memory() > options.max_output && !send_some(connection)) return false;
      continue;
    }
    log(Severity::warning, fmt::format("refused {}: {}", connection.peer, understood.error().message()));
    if (!connection.known) {
      const Bytes refused = refusal(understood.error().what);
      (void)!::send(connection.fd.get(), refused.data(), refused.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    }
    return false;
  }
  return true;
}

Result<void> Hub::Impl::receive(Connection& connection, const Frame& frame) {
  if (connection.known) return handler->received(connection.id, frame);
  return greet(connection, frame);
}

Result<void> Hub::Impl::greet(Connection& connection, const Frame& frame) {
  FOREBAY_TRY(const Step step, connection.handshake->receive(frame));
  connection.out.append(step.send);
  send_later(connection);
  if (!step.done) return {};
  no_stranger_any_more();
  connection.known = true;
  connection.handshake.reset();
  connection.in.set_max_body(options.max_body);
  handler->connected(connection.id, connection.peer);
  return {};
}

void Hub::Impl::send_later(Connection& connection) {
  // With output that waits for room there is nothing to try, unless it has become too much.
  const bool waits = connection.writing && connection.out.memory() <= options.max_output;
  if (connection.queued || waits) return;
  connection.queued = true;
  unsent.push_back(connection.id);
}

// Once a round, so that what is meant for one peer goes in one system call. Closing one may give others something.
void Hub::Impl::flush() {
  for (size_t i = 0; i < unsent.size(); ++i) {
    Connection* connection = find(unsent[i]);
    if (connection == nullptr) continue;
    connection->queued = false;
    if (!send_some(*connection)) close(unsent[i], Ending::broken);
  }
  unsent.clear();
}

bool Hub::Impl::send_some(Connection& connection) {
  Output& out = connection.out;
  const auto sent = connection.mute ? Result<void>{} : out.send(connection.fd.get());
  if (!sent && sent.error().kind != ErrorKind::disconnected) {
    log(Severity::warning, fmt::format("dropped {}: {}", connection.peer, sent.error().message()));
    return false;
  }
  connection.mute = connection.mute || !sent;
  if (connection.mute) out.clear();
  if (out.memory() > options.max_output) {
    log(Severity::warning, fmt::format("dropped {}: it does not read what it asked for", connection.peer));
    return false;
  }
  watch_writing(connection, !out.empty());
  return true;
}

void Hub::Impl::watch_writing(Connection& connection, bool on) {
  if (connection.writing == on) return;
  connection.writing = on;
  epoll_event event{.events = on ? EPOLLIN | EPOLLOUT : uint32_t{EPOLLIN}, .data = {.u64 = connection.id}};
  ::epoll_ctl(epoll.get(), EPOLL_CTL_MOD, connection.fd.get(), &event);
}

void Hub::Impl::close_those_asked_for() {
  const std::vector<ConnectionId> ids = std::exchange(closings, {});
  for (const ConnectionId id : ids) close(id, Ending::orderly);
}

void Hub::Impl::close(ConnectionId id, Ending ending) {
  const auto found = connections.find(id);
  if (found == connections.end()) return;
  const bool known = found->second->known;
  if (!known) no_stranger_any_more();
  connections.erase(found);
  if (known) handler->disconnected(id, ending);
}

}  // namespace forebay::fabric

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

static void refuse(int fd, std::string_view why) {
  const Bytes refused = refusal(why);
  (void)!::send(fd, refused.data(), refused.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

Hub::Impl::Connection* Hub::Impl::find(ConnectionId id) {
  const auto found = connections.find(id);
  return found == connections.end() ? nullptr : found->second.get();
}

// Another user never is, and is refused with a message. Where there is no room the connection just ends: its peer may
// try again.
bool Hub::Impl::is_welcome(int fd, std::optional<uid_t> uid) {
  const bool is_full = connections.size() >= options.max_connections;
  const bool is_foreign = uid && *uid != ::geteuid() && *uid != 0;
  if (!is_full && !is_foreign) return true;
  const std::string why = is_foreign ? fmt::format("the other side belongs to user {}", *uid) : "too many connections";
  log(Severity::warning, fmt::format("refused {}: {}", describe_peer(fd), why));
  if (is_foreign) refuse(fd, why);
  return false;
}

// What the one that has to go has sent may prove who it is.
void Hub::Impl::make_room(const std::string& source) {
  const auto oldest = strangers.in_the_way_of(source);
  if (!oldest) return;
  if (Connection* stranger = find(*oldest)) read_from(*stranger);
  const Connection* stranger = find(*oldest);
  if (stranger == nullptr || stranger->known) return;
  log(Severity::warning, fmt::format("refused {}: too many others from there want to be let in", stranger->peer));
  close(*oldest, Ending::broken);
}

void Hub::Impl::admit(Fd fd) {
  const auto uid = peer_uid(fd.get());
  if (!is_welcome(fd.get(), uid)) return;
  const std::string source = peer_source(fd.get());
  make_room(source);
  auto connection = std::make_unique<Connection>();
  const ConnectionId id = connection->id = next_id++;
  connection->peer = describe_peer(fd.get());
  connection->uid = uid;
  if (!uid) {
    set_no_delay(fd.get());
    set_keep_alive(fd.get());
  }
  if (!add(fd.get(), id)) return;
  connection->fd = std::move(fd);
  strangers.add(id, source, std::chrono::steady_clock::now() + options.handshake_timeout);
  connections.emplace(id, std::move(connection));
}

ConnectionId Hub::Impl::adopt(Link::Released link, std::string peer) {
  Fd& fd = link.fd;
  auto owner = std::make_unique<Connection>();
  Connection& connection = *owner;
  connection.id = next_id++;
  connection.peer = std::move(peer);
  connection.uid = peer_uid(fd.get());
  connection.known = true;
  connection.in.set_max_body(options.max_body);
  if (link.keys) encrypt(connection, *link.keys);
  if (!connection.uid) set_keep_alive(fd.get());
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
  const std::span<std::byte> room = connection.records ? connection.records->room() : connection.in.room(kReadBytes);
  const ssize_t got = ::recv(connection.fd.get(), room.data(), room.size(), 0);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got > 0) {
    if (!understand(connection, static_cast<size_t>(got))) close(connection.id, Ending::broken);
    return;
  }
  // A process that is gone, or that has closed the connection after its I/O, is not the same as a lost path to it
  // (docs/wire.md, "Leases"). Within a host there is no path to lose.
  const bool orderly = (got == 0 && !connection.out.path_lost()) || connection.uid.has_value();
  close(connection.id, orderly ? Ending::orderly : Ending::broken);
}

bool Hub::Impl::understand(Connection& connection, size_t got) {
  if (connection.records)
    connection.records->commit(got);
  else
    connection.in.commit(got);
  const auto understood = connection.records ? receive_records(connection) : receive_frames(connection);
  if (understood) return *understood;
  log(Severity::warning, fmt::format("refused {}: {}", connection.peer, understood.error().message()));
  if (!connection.known) refuse(connection.fd.get(), understood.error().what);
  return false;
}

Result<bool> Hub::Impl::receive_records(Connection& connection) {
  while (!connection.closing) {
    FOREBAY_TRY(const auto size, connection.records->pending());
    if (!size) return true;
    FOREBAY_CHECK(connection.records->take(connection.in.room(*size).first(*size)));
    connection.in.commit(*size);
    FOREBAY_TRY(const bool goes_on, receive_frames(connection));
    if (!goes_on) return false;
  }
  return true;
}

Result<bool> Hub::Impl::receive_frames(Connection& connection) {
  while (!connection.closing) {
    FOREBAY_TRY(const auto frame, connection.in.next());
    if (!frame) return true;
    FOREBAY_CHECK(receive(connection, *frame));
    // Answers may be many times as large as what asks for them: they are not gathered beyond what may pile up.
    if (connection.out.memory() > options.max_output && !send_some(connection)) return false;
  }
  return true;
}

void Hub::Impl::encrypt(Connection& connection, const RecordKeys& keys) {
  connection.out.encrypt(RecordWriter(keys.out));
  connection.records.emplace(keys.in);
}

Result<void> Hub::Impl::receive(Connection& connection, const Frame& frame) {
  if (connection.known) return handler->received(connection.id, frame);
  return greet(connection, frame);
}

Result<void> Hub::Impl::greet(Connection& connection, const Frame& frame) {
  if (!connection.handshake)
    connection.handshake.emplace(Party{.credentials = options.credentials,
                                       .purpose = options.purpose,
                                       .peer_uid = connection.uid,
                                       .own_uid = ::geteuid(),
                                       .voucher = voucher,
                                       .own_name = describe_own(connection.fd.get()),
                                       .peer_name = connection.peer},
                                 new_nonce_key());
  FOREBAY_TRY(const Step step, connection.handshake->receive(frame));
  connection.out.append(step.send);
  send_later(connection);
  if (!step.done) return {};
  if (step.keys && connection.in.buffered() > 0)
    return fail(ErrorKind::corrupt, "bytes that are not encrypted after the handshake");
  if (step.keys) encrypt(connection, *step.keys);
  strangers.remove(connection.id);
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
  strangers.remove(id);
  connections.erase(found);
  if (known) handler->disconnected(id, ending);
}

}  // namespace forebay::fabric

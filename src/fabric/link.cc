#include "fabric/link.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <functional>

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fd.h"
#include "fabric/again.h"
#include "fabric/handshake.h"
#include "fabric/munge.h"
#include "fabric/protocol.h"
#include "fabric/socket.h"

namespace forebay::fabric {

using Clock = std::chrono::steady_clock;

struct Link::State {
  // Until when the next byte must have been taken or have come.
  using Until = std::function<Clock::time_point()>;

  static Until within(Patience patience) {
    return [patience] { return Clock::now() + patience; };
  }

  Result<void> wait(short events, const Until& until) const {
    FOREBAY_TRY(const bool ready, wait_for(fd.get(), events, until()));
    if (!ready) return fail(ErrorKind::timeout, "no answer in time", peer);
    return {};
  }

  Result<void> send(std::span<const std::byte> bytes, const Until& until) {
    if (!writer) return send_as_is(bytes, until);
    while (!bytes.empty()) {
      const auto some = bytes.first(std::min(bytes.size(), kEncryptedAtOnce));
      records.clear();
      writer->write(some, records);
      FOREBAY_CHECK(send_as_is(records, until));
      bytes = bytes.subspan(some.size());
    }
    return {};
  }

  Result<void> send_as_is(std::span<const std::byte> bytes, const Until& until) const {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(fd.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (sent >= 0) {
        bytes = bytes.subspan(static_cast<size_t>(sent));
      } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
        FOREBAY_CHECK(wait(POLLOUT, until));
      } else if (errno != EINTR) {
        return lost(errno);
      }
    }
    return {};
  }

  Result<void> read(std::span<std::byte> out, const Until& until) {
    while (!out.empty()) {
      FOREBAY_TRY(const size_t got, reader ? read_records(out, until) : receive_some(out, until));
      out = out.subspan(got);
    }
    return {};
  }

  // The first bytes of `out`, at least one, from records.
  Result<size_t> read_records(std::span<std::byte> out, const Until& until) {
    if (left.empty()) {
      FOREBAY_TRY(const size_t size, next_record(until));
      if (size <= out.size()) {
        FOREBAY_CHECK(named(reader->take(out.first(size))));
        return size;
      }
      content.resize(size);
      FOREBAY_CHECK(named(reader->take(content)));
      left = content;
    }
    const size_t size = std::min(left.size(), out.size());
    std::copy_n(left.begin(), size, out.begin());
    left = left.subspan(size);
    return size;
  }

  Result<size_t> next_record(const Until& until) {
    for (;;) {
      FOREBAY_TRY(const auto pending, named(reader->pending()));
      if (pending) return *pending;
      FOREBAY_TRY(const size_t got, receive_some(reader->room(), until));
      reader->commit(got);
    }
  }

  // At least one byte, from the socket.
  Result<size_t> receive_some(std::span<std::byte> out, const Until& until) const {
    for (;;) {
      const ssize_t got = ::recv(fd.get(), out.data(), out.size(), MSG_DONTWAIT);
      if (got > 0) return static_cast<size_t>(got);
      if (got == 0) {
        return fail(ErrorKind::disconnected, "the other side has closed the connection", peer);
      } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
        FOREBAY_CHECK(wait(POLLIN, until));
      } else if (errno != EINTR) {
        return lost(errno);
      }
    }
  }

  Result<Header> next(size_t max_body, const Until& until) {
    std::byte header[kFrameHeaderBytes];
    FOREBAY_CHECK(read(header, until));
    FOREBAY_TRY(const uint32_t length, named(check_frame_header(header, max_body)));
    return Header{std::to_integer<uint8_t>(header[5]), length};
  }

  Result<Frame> receive(size_t max_body, const Until& until) {
    FOREBAY_TRY(const Header header, next(max_body, until));
    body.resize(header.body_bytes);
    FOREBAY_CHECK(read(body, until));
    return Frame{header.type, body};
  }

  Result<void> shake_hands(const Credentials& credentials, std::string_view purpose, const Until& until) {
    ClientHandshake handshake({credentials, std::string(purpose), peer_uid(fd.get()), ::geteuid(), munge_voucher()},
                              new_nonce_key());
    FOREBAY_TRY(Step step, handshake.begin());
    while (!step.done) {
      FOREBAY_CHECK(send(step.send, until));
      FOREBAY_TRY(const Frame frame, receive(kMaxHandshakeBody, until));
      FOREBAY_TRY(step, handshake.receive(frame));
    }
    keys = step.keys;
    if (!keys) return {};
    writer.emplace(keys->out);
    reader.emplace(keys->in);
    return {};
  }

  // Whether something was received that read() can begin with.
  Result<bool> has_some() {
    if (!left.empty() || !reader) return !left.empty();
    FOREBAY_TRY(const auto pending, named(reader->pending()));
    return pending.has_value();
  }

  Result<bool> wait_to_receive(Clock::time_point deadline) {
    for (;;) {
      FOREBAY_TRY(const bool has, has_some());
      if (has) return true;
      FOREBAY_TRY(const bool ready, wait_for(fd.get(), POLLIN, deadline));
      if (!ready || !reader) return ready;
      const std::span<std::byte> room = reader->room();
      const ssize_t got = ::recv(fd.get(), room.data(), room.size(), MSG_DONTWAIT);
      if (got > 0)
        reader->commit(static_cast<size_t>(got));
      else if (got == 0)
        return true;  // receive() has the error
      else if (errno != EAGAIN && errno != EINTR)
        return lost(errno);  // the system reports it once
    }
  }

  template <class T>
  Result<T> named(Result<T> result) const {
    if (!result) result.error().path = peer;
    return result;
  }

  std::unexpected<Error> lost(int error) const { return fail(ErrorKind::disconnected, std::strerror(error), peer); }

  Fd fd;
  std::string peer;
  Bytes body;

  // Of an encrypted link.
  std::optional<RecordKeys> keys;
  std::optional<RecordWriter> writer;
  std::optional<RecordReader> reader;
  Bytes records;                    // that are sent
  Bytes content;                    // of a record that was received
  std::span<const std::byte> left;  // the part of `content` that was not read yet
};

Link::Link(std::unique_ptr<State> state) : state_(std::move(state)) {}
Link::Link(Link&&) noexcept = default;
Link& Link::operator=(Link&&) noexcept = default;
Link::~Link() = default;

Result<Link> Link::open(const std::vector<Address>& addresses, const Credentials& credentials, std::string_view purpose,
                        Patience patience) {
  const auto deadline = Clock::now() + patience;
  for (Again again(deadline);;) {
    FOREBAY_TRY(Connected connected, connect(addresses, deadline));
    auto state = std::make_unique<State>();
    state->fd = std::move(connected.fd);
    state->peer = to_string(connected.address);
    auto known = state->shake_hands(credentials, purpose, [deadline] { return deadline; });
    if (known) return Link(std::move(state));
    if (again.after(known.error())) continue;
    Error error = std::move(known).error();
    if (error.path.empty()) error.path = state->peer;
    return std::unexpected(std::move(error));
  }
}

Result<void> Link::send(std::span<const std::byte> frames, Patience patience) {
  return state_->send(frames, State::within(patience));
}

Result<Link::Header> Link::next(size_t max_body, Patience patience) {
  return state_->next(max_body, State::within(patience));
}

Result<void> Link::read(std::span<std::byte> out, Patience patience) {
  return state_->read(out, State::within(patience));
}

Result<Frame> Link::receive(size_t max_body, Patience patience) {
  return state_->receive(max_body, State::within(patience));
}

const std::string& Link::peer() const { return state_->peer; }
int Link::fd() const { return state_->fd.get(); }
Link::Released Link::release() { return {std::move(state_->fd), state_->keys}; }
Result<bool> Link::wait(Clock::time_point deadline) { return state_->wait_to_receive(deadline); }

}  // namespace forebay::fabric

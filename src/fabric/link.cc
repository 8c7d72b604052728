#include "fabric/link.h"

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

// Reads nothing ahead, so that the socket can be given away between two frames.
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

  Result<void> send(std::span<const std::byte> bytes, const Until& until) const {
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

  Result<void> read(std::span<std::byte> out, const Until& until) const {
    while (!out.empty()) {
      const ssize_t got = ::recv(fd.get(), out.data(), out.size(), MSG_DONTWAIT);
      if (got > 0) {
        out = out.subspan(static_cast<size_t>(got));
      } else if (got == 0) {
        return fail(ErrorKind::disconnected, "the other side has closed the connection", peer);
      } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
        FOREBAY_CHECK(wait(POLLIN, until));
      } else if (errno != EINTR) {
        return lost(errno);
      }
    }
    return {};
  }

  Result<Header> next(size_t max_body, const Until& until) const {
    std::byte header[kFrameHeaderBytes];
    FOREBAY_CHECK(read(header, until));
    auto length = check_frame_header(header, max_body);
    if (!length) length.error().path = peer;
    FOREBAY_CHECK(length);
    return Header{std::to_integer<uint8_t>(header[5]), *length};
  }

  Result<Frame> receive(size_t max_body, const Until& until) {
    FOREBAY_TRY(const Header header, next(max_body, until));
    body.resize(header.body_bytes);
    FOREBAY_CHECK(read(body, until));
    return Frame{header.type, body};
  }

  Result<void> shake_hands(const Credentials& credentials, std::string_view purpose, const Until& until) {
    ClientHandshake handshake({credentials, std::string(purpose), peer_uid(fd.get()), ::geteuid(), munge_voucher()},
                              new_nonce());
    FOREBAY_TRY(Step step, handshake.begin());
    while (!step.done) {
      FOREBAY_CHECK(send(step.send, until));
      FOREBAY_TRY(const Frame frame, receive(kMaxHandshakeBody, until));
      FOREBAY_TRY(step, handshake.receive(frame));
    }
    return {};
  }

  std::unexpected<Error> lost(int error) const { return fail(ErrorKind::disconnected, std::strerror(error), peer); }

  Fd fd;
  std::string peer;
  Bytes body;
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
int Link::release() { return state_->fd.release(); }

}  // namespace forebay::fabric

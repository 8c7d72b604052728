#include "lock/server_handler.h"

#include <algorithm>

#include <sys/resource.h>

#include "lock/wire.h"

namespace forebay::lock {

namespace {

constexpr size_t kKeptBytes = 256u << 10;  // a buffer that was larger is given back

// Life lines take descriptors that further clients need more: beyond half of what may be open, there are no new ones.
uint64_t most_lively_sessions(const ServerOptions& options) {
  rlimit limit{};
  const uint64_t files = ::getrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : 1024;
  return std::min<uint64_t>(options.max_connections, files) / 2;
}

}  // namespace

ServerHandler::ServerHandler(fabric::Hub& hub, const ServerOptions& options)
    : hub_(hub),
      max_terms_(options.max_terms),
      lease_clock_(options.lease_clock),
      service_({options.lease, options.grace, options.hold_off, options.max_terms, options.max_client_memory,
                most_lively_sessions(options)},
               lease_clock_()) {}

void ServerHandler::connected(fabric::ConnectionId id, const std::string& peer) {
  service_.connected(id, peer, lease_clock_());
}

Result<void> ServerHandler::received(fabric::ConnectionId id, const fabric::Frame& frame) {
  FOREBAY_TRY(auto message, wire::decode_client(frame, max_terms_));
  const auto received = service_.receive(id, std::move(message), lease_clock_(), outgoing_);
  deliver();
  return received;
}

void ServerHandler::disconnected(fabric::ConnectionId id, Ending ending) {
  service_.disconnected(id, ending == Ending::orderly ? Service::Ending::orderly : Service::Ending::broken,
                        lease_clock_(), outgoing_);
  deliver();
}

void ServerHandler::tick(Time) {
  service_.tick(lease_clock_(), outgoing_);
  deliver();
}

// By the hub's clock.
ServerHandler::Time ServerHandler::next_tick() const {
  const Time next = service_.next_tick();
  if (next == Time::max() || lease_clock_ == kSteadyLeases) return next;
  return Clock::now() + (next - lease_clock_());
}

void ServerHandler::deliver() {
  for (const Outgoing& one : outgoing_) {
    frame_.clear();
    wire::encode(frame_, one.message);
    hub_.send(one.session, frame_);
  }
  outgoing_.clear();
  if (frame_.capacity() > kKeptBytes) Bytes().swap(frame_);
}

}  // namespace forebay::lock

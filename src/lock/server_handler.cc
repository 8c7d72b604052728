#include "lock/server_handler.h"

#include "lock/wire.h"

namespace forebay::lock {

using Clock = std::chrono::steady_clock;

static constexpr size_t kKeptBytes = 256u << 10;  // a buffer that was larger is given back

ServerHandler::ServerHandler(fabric::Hub& hub, const ServerOptions& options)
    : hub_(hub),
      max_terms_(options.max_terms),
      service_({options.lease, options.grace, options.hold_off, options.max_terms, options.max_client_memory},
               Clock::now()) {}

void ServerHandler::connected(fabric::ConnectionId id, const std::string& peer) {
  service_.connected(id, peer, Clock::now());
}

Result<void> ServerHandler::received(fabric::ConnectionId id, const fabric::Frame& frame) {
  FOREBAY_TRY(auto message, wire::decode_client(frame, max_terms_));
  const auto received = service_.receive(id, std::move(message), Clock::now(), outgoing_);
  deliver();
  return received;
}

void ServerHandler::disconnected(fabric::ConnectionId id, Ending ending) {
  service_.disconnected(id, ending == Ending::orderly ? Service::Ending::orderly : Service::Ending::broken,
                        Clock::now(), outgoing_);
  deliver();
}

void ServerHandler::tick(Time now) {
  service_.tick(now, outgoing_);
  deliver();
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

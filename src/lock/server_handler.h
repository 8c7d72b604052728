// What a lock server's hub does with its connections: frames in, Service, frames out. Used by server.cc alone.
#pragma once

#include <vector>

#include "fabric/hub.h"
#include "lock/server.h"
#include "lock/service.h"

namespace forebay::lock {

class ServerHandler final : public fabric::HubHandler {
 public:
  ServerHandler(fabric::Hub& hub, const ServerOptions& options);

  void connected(fabric::ConnectionId id, const std::string& peer) override;
  Result<void> received(fabric::ConnectionId id, const fabric::Frame& frame) override;
  void disconnected(fabric::ConnectionId id, Ending ending) override;
  void tick(Time now) override;
  Time next_tick() const override;

 private:
  void deliver();

  fabric::Hub& hub_;
  uint64_t max_terms_;
  LeaseClock lease_clock_;
  Service service_;
  std::vector<Outgoing> outgoing_;
  Bytes frame_;
};

}  // namespace forebay::lock

// The agent's end of transports by UCX. Used by the hub's thread.
#pragma once

#include <memory>

#include "base/bytes.h"
#include "fabric/data_wire.h"
#include "fabric/hub.h"

namespace forebay::fabric {

class UcxServer {
 public:
  // unsupported if there is no UCX.
  static Result<std::shared_ptr<UcxServer>> create(Exposures& exposures, Hub& hub);
  virtual ~UcxServer() = default;

  // Connects with the UCX worker at `address`, and answers.
  virtual Result<void> open(ConnectionId connection, const data_wire::UcxAddress& address) = 0;

  // Sends the bytes, and an answer when the other side has them. An error is the request's, who may make another one.
  virtual Result<void> read(ConnectionId connection, data_wire::UcxRead request) = 0;

  virtual void disconnected(ConnectionId connection) = 0;
};

}  // namespace forebay::fabric

// What a lock server tells about who holds and who waits.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "fabric/address.h"
#include "fabric/credentials.h"
#include "lock/client.h"
#include "lock/wire.h"

namespace forebay::lock {

class Connection;

struct Overview {
  std::vector<wire::StatusClient> clients;
  std::vector<wire::StatusRequest> requests;  // by file, in order of arrival
  std::vector<wire::StatusCounter> counters;
  bool truncated = false;  // there is more than the server tells
};

// Asks one server again and again, over one connection. Not thread-safe.
class Inspector {
 public:
  // Errors as those of Client::lock.
  static Result<Inspector> connect(const std::vector<fabric::Address>& server, const fabric::Credentials& credentials);
  Result<Overview> ask();

 private:
  std::shared_ptr<Connection> connection_;
};

}  // namespace forebay::lock

// The sockets that one server listens to.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "fabric/socket.h"

namespace forebay::fabric {

class Listening {
 public:
  // Errors as listen().
  static Result<Listening> open(std::span<const Address> addresses, const PortRange& ports);
  Listening(Listening&&) = default;
  Listening& operator=(Listening&&) = delete;
  ~Listening();  // also removes the files of Unix sockets

  const std::vector<Listener>& sockets() const { return sockets_; }

  // By what names others reach them: Hub::addresses().
  const std::vector<Address>& addresses() const { return addresses_; }

 private:
  Listening() = default;
  std::vector<Listener> sockets_;
  std::vector<Address> addresses_;
  std::vector<std::string> files_;
};

}  // namespace forebay::fabric

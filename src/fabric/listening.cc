#include "fabric/listening.h"

#include <algorithm>

#include <unistd.h>

namespace forebay::fabric {
namespace {

bool every_interface(const Address& address) {
  return address.kind == Address::Kind::tcp &&
         (address.host == "*" || address.host == "0.0.0.0" || address.host == "::");
}

void add_reachable(const Address& bound, std::vector<Address>& to) {
  std::vector<std::string> hosts{bound.host};
  if (every_interface(bound)) {
    hosts = host_addresses();
    if (bound.host == "0.0.0.0")
      std::erase_if(hosts, [](const std::string& host) { return host.find(':') != std::string::npos; });
    if (hosts.empty()) hosts.emplace_back("127.0.0.1");
  }
  for (std::string& host : hosts) {
    Address address = bound;
    address.host = std::move(host);
    if (std::ranges::find(to, address) == to.end()) to.push_back(std::move(address));
  }
}

}  // namespace

Result<Listening> Listening::open(std::span<const Address> addresses, const PortRange& ports) {
  Listening listening;
  for (const Address& address : addresses) {
    FOREBAY_TRY(auto some, listen(address, ports));
    for (Listener& one : some) {
      add_reachable(one.address, listening.addresses_);
      if (!one.address.path.empty() && one.address.path[0] != '@') listening.files_.push_back(one.address.path);
      listening.sockets_.push_back(std::move(one));
    }
  }
  return listening;
}

Listening::~Listening() {
  // As long as this server listens, nobody else takes the file.
  for (const std::string& file : files_) ::unlink(file.c_str());
}

}  // namespace forebay::fabric

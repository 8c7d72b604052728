#include <algorithm>
#include <memory>

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

#include "fabric/socket.h"

namespace forebay::fabric {
namespace {

std::string numeric(const sockaddr* address) {
  char text[INET6_ADDRSTRLEN] = {};
  if (address->sa_family == AF_INET) {
    const auto* in = reinterpret_cast<const sockaddr_in*>(address);
    return ::inet_ntop(AF_INET, &in->sin_addr, text, sizeof text) ? text : "";
  }
  if (address->sa_family != AF_INET6) return "";
  const auto* in6 = reinterpret_cast<const sockaddr_in6*>(address);
  if (IN6_IS_ADDR_LINKLOCAL(&in6->sin6_addr)) return "";  // means nothing without an interface
  return ::inet_ntop(AF_INET6, &in6->sin6_addr, text, sizeof text) ? text : "";
}

}  // namespace

std::vector<std::string> host_addresses() {
  std::vector<std::string> found;
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) == 0) {
    const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> owner(list, ::freeifaddrs);
    for (const ifaddrs* one = list; one != nullptr; one = one->ifa_next) {
      if (one->ifa_addr == nullptr || !(one->ifa_flags & IFF_UP) || (one->ifa_flags & IFF_LOOPBACK)) continue;
      if (std::string text = numeric(one->ifa_addr); !text.empty()) found.push_back(std::move(text));
    }
  }
  // IPv4 first: where a host has both, it is the one that more networks carry.
  std::ranges::stable_partition(found, [](const std::string& text) { return text.find(':') == std::string::npos; });
  if (found.empty()) found.emplace_back("127.0.0.1");
  return found;
}

}  // namespace forebay::fabric

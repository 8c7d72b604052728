// Sockets by address: thin wrappers of the system calls, with errors that name the address.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "base/error.h"
#include "base/fd.h"
#include "fabric/address.h"

namespace forebay::fabric {

// A socket that listens; all are nonblocking and closed on exec. A file of a Unix socket that
// nobody listens to any more is replaced, and readable and writable by its owner only; exists if somebody listens, or
// if the file is anything else.
struct Listener {
  Fd fd;
  Address address;  // with the port that was chosen
};
// A host name may stand for several interfaces, and "*" for all: over IPv6 and IPv4 if the host has both. Port 0 takes
// the first of `ports` that is free on all of them, from a random one on, so that servers that begin at once do not
// meet at each. exists if somebody listens to one of the interfaces, or to all of the ports.
Result<std::vector<Listener>> listen(const Address& address, const PortRange& ports = {});

// Connects to the first of `addresses` that answers, nonblocking, without delay of small segments. Each has its share
// of the time that is left. Errors of the last one that was tried: disconnected, or timeout when its time is over. To
// look up the name of a host may take longer than `deadline`.
struct Connected {
  Fd fd;
  Address address;
};
Result<Connected> connect(const std::vector<Address>& addresses, std::chrono::steady_clock::time_point deadline);

// The user at the other end of a Unix socket, as the kernel tells; nothing for other sockets.
std::optional<uid_t> peer_uid(int fd);

// What limits for strangers count by: the host at the other end (of IPv6 addresses the first 64 bits, since a host has
// all of the others), or the user.
std::string peer_source(int fd);

// "tcp:192.168.0.1:40404" or "unix: process 4711", for people.
std::string describe_peer(int fd);
std::string describe_own(int fd);  // this end

void set_no_delay(int fd);  // does nothing to Unix sockets

// Notices within two minutes that a host is gone although nothing is sent to it.
void set_keep_alive(int fd);

// Numeric addresses of this host's interfaces that are up, other than loopback and link-local ones; loopback if there
// is no other.
std::vector<std::string> host_addresses();

// Waits until `fd` is ready for `events` (of poll), or the deadline has passed. False then.
Result<bool> wait_for(int fd, short events, std::chrono::steady_clock::time_point deadline);

}  // namespace forebay::fabric

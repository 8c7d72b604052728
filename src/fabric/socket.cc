#include "fabric/socket.h"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <memory>
#include <random>

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

namespace forebay::fabric {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kBacklog = 4096;
constexpr int kPortAttempts = 10;

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t size = 0;
  sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
  int family() const { return storage.ss_family; }
  bool operator==(const SocketAddress& other) const {
    return size == other.size && std::memcmp(&storage, &other.storage, size) == 0;
  }
};

SocketAddress unix_address(const std::string& path) {
  SocketAddress address;
  auto* un = reinterpret_cast<sockaddr_un*>(&address.storage);
  un->sun_family = AF_UNIX;
  std::memcpy(un->sun_path, path.data(), std::min(path.size(), sizeof un->sun_path - 1));
  const bool abstract = path.starts_with('@');
  if (abstract) un->sun_path[0] = '\0';
  address.size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size() + (abstract ? 0 : 1));
  return address;
}

Result<std::vector<SocketAddress>> resolve(const Address& address, bool to_listen) {
  if (address.kind == Address::Kind::unix_socket) return std::vector{unix_address(address.path)};
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV | (to_listen ? AI_PASSIVE : 0);
  addrinfo* found = nullptr;
  const std::string port = std::to_string(address.port);
  const char* host = address.host == "*" ? nullptr : address.host.c_str();
  const int code = ::getaddrinfo(host, port.c_str(), &hints, &found);
  if (code != 0)
    return fail(code == EAI_NONAME ? ErrorKind::not_found : ErrorKind::disconnected,
                fmt::format("the host cannot be found: {}", ::gai_strerror(code)), to_string(address));
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(found, ::freeaddrinfo);
  std::vector<SocketAddress> addresses;
  for (const addrinfo* info = found; info != nullptr; info = info->ai_next) {
    if (info->ai_addrlen > sizeof(sockaddr_storage)) continue;
    SocketAddress one;
    std::memcpy(&one.storage, info->ai_addr, info->ai_addrlen);
    one.size = info->ai_addrlen;
    // A line that is there twice in /etc/hosts is found twice.
    if (std::ranges::find(addresses, one) == addresses.end()) addresses.push_back(one);
  }
  return addresses;
}

Fd new_socket(int family) { return Fd(::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)); }

uint16_t port_of(const SocketAddress& address) {
  if (address.family() == AF_INET6) return ntohs(reinterpret_cast<const sockaddr_in6&>(address.storage).sin6_port);
  return ntohs(reinterpret_cast<const sockaddr_in&>(address.storage).sin_port);
}

void set_port(SocketAddress& address, uint16_t port) {
  if (address.family() == AF_INET6)
    reinterpret_cast<sockaddr_in6&>(address.storage).sin6_port = htons(port);
  else
    reinterpret_cast<sockaddr_in&>(address.storage).sin_port = htons(port);
}

std::unexpected<Error> fail_listen(int code, const char* call, const Address& address) {
  if (code == EADDRINUSE)
    return fail(ErrorKind::exists, "somebody listens there already", to_string(address), {},
                "take another address, or port 0 of TCP for any that is free");
  if (code == EADDRNOTAVAIL)
    return fail(ErrorKind::invalid_argument, "this node has no such address", to_string(address), {},
                "'ip address' shows those that it has; * takes all of them");
  return fail_errno(code, call, to_string(address));
}

Result<Listener> listen_tcp(const Address& address, SocketAddress at) {
  Fd fd = new_socket(at.family());
  if (!fd) return fail_errno(errno, "socket", to_string(address));
  const int on = 1;
  ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (at.family() == AF_INET6) ::setsockopt(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
  if (::bind(fd.get(), at.get(), at.size) != 0) return fail_listen(errno, "bind", address);
  if (::listen(fd.get(), kBacklog) != 0) return fail_listen(errno, "listen", address);
  at.size = sizeof at.storage;
  if (::getsockname(fd.get(), at.get(), &at.size) != 0) return fail_errno(errno, "getsockname", to_string(address));
  Address bound = address;
  bound.port = port_of(at);
  return Listener{std::move(fd), std::move(bound)};
}

Result<std::vector<Listener>> listen_to_all(const Address& address, std::vector<SocketAddress> found) {
  std::vector<Listener> listeners;
  Result<Listener> last = fail(ErrorKind::not_found, "the host has no address", to_string(address));
  for (SocketAddress& at : found) {
    // One port for all interfaces, so that the server is known by one.
    if (!listeners.empty()) set_port(at, listeners.front().address.port);
    last = listen_tcp(address, at);
    // A kind of address that this host does not have is nothing to be reached by; another server would be.
    if (!last && last.error().kind == ErrorKind::exists) break;
    if (last) listeners.push_back(std::move(*last));
  }
  if (!last && (listeners.empty() || last.error().kind == ErrorKind::exists))
    return std::unexpected(std::move(last).error());
  return listeners;
}

// Who finds a file that nobody listens to would remove one that another process has just made, or made and not yet
// listened to: one after the other. Nothing where the directory cannot be locked, or where another user may hold the
// lock for ever: in a directory that is not this user's alone it is waited for a second.
Result<Fd> lock_directory(const Address& address) {
  const size_t slash = address.path.rfind('/');
  const std::string directory = slash == std::string::npos ? "." : address.path.substr(0, slash + 1);
  Fd fd(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  struct stat info{};
  const bool is_own = fd && ::fstat(fd.get(), &info) == 0 && info.st_uid == ::geteuid() && (info.st_mode & 077) == 0;
  const auto deadline = Clock::now() + std::chrono::seconds(is_own ? 5 : 1);
  while (fd && ::flock(fd.get(), LOCK_EX | LOCK_NB) != 0 && (errno == EWOULDBLOCK || errno == EINTR)) {
    if (Clock::now() >= deadline && !is_own) return Fd();
    if (Clock::now() >= deadline) return fail(ErrorKind::timeout, "others lock the directory", to_string(address));
    ::poll(nullptr, 0, 1);
  }
  return fd;
}

// The file of a Unix socket outlives its process; whoever cannot be connected to is gone. Neither can a file of any
// other type, which is somebody's, as is another user's socket.
bool nobody_listens(const std::string& path, SocketAddress at) {
  struct stat status;
  if (::lstat(path.c_str(), &status) != 0 || !S_ISSOCK(status.st_mode) || status.st_uid != ::geteuid()) return false;
  const Fd probe = new_socket(AF_UNIX);
  return probe && ::connect(probe.get(), at.get(), at.size) != 0 && errno == ECONNREFUSED;
}

Result<Listener> listen_unix(const Address& address, SocketAddress at) {
  Fd fd = new_socket(AF_UNIX);
  if (!fd) return fail_errno(errno, "socket", to_string(address));
  const bool abstract = address.path.starts_with('@');
  Fd directory;
  if (!abstract) {
    ::fchmod(fd.get(), 0600);  // the mode that bind() gives to the file
    FOREBAY_TRY(directory, lock_directory(address));
    if (nobody_listens(address.path, at)) ::unlink(address.path.c_str());
  }
  if (::bind(fd.get(), at.get(), at.size) != 0) return fail_listen(errno, "bind", address);
  if (::listen(fd.get(), kBacklog) != 0) return fail_listen(errno, "listen", address);
  return Listener{std::move(fd), address};
}

Result<Fd> connect_one(const Address& address, SocketAddress at, Clock::time_point deadline) {
  Fd fd = new_socket(at.family());
  if (!fd) return fail_errno(errno, "socket", to_string(address));
  while (::connect(fd.get(), at.get(), at.size) != 0) {
    if (errno == EINTR || errno == EAGAIN) {  // EAGAIN: the queue of a Unix socket is full
      if (Clock::now() >= deadline) return fail(ErrorKind::timeout, "no connection in time", to_string(address));
      if (errno == EAGAIN) ::poll(nullptr, 0, 1);
      continue;
    }
    if (errno == EISCONN) break;
    if (errno != EINPROGRESS && errno != EALREADY)
      return fail(ErrorKind::disconnected, fmt::format("no connection: {}", std::strerror(errno)), to_string(address));
    FOREBAY_TRY(const bool ready, wait_for(fd.get(), POLLOUT, deadline));
    if (!ready) return fail(ErrorKind::timeout, "no connection in time", to_string(address));
    int code = 0;
    socklen_t size = sizeof code;
    ::getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &code, &size);
    if (code == 0) break;
    return fail(ErrorKind::disconnected, fmt::format("no connection: {}", std::strerror(code)), to_string(address));
  }
  return fd;
}

}  // namespace

// One of `ports` that is free.
static Result<std::vector<Listener>> listen_within(const Address& address, std::vector<SocketAddress> found,
                                                   const PortRange& ports) {
  const uint32_t count = ports.high - ports.low + 1u;
  const uint32_t first = std::random_device{}() % count;
  for (uint32_t i = 0; i < count; ++i) {
    for (SocketAddress& at : found) set_port(at, static_cast<uint16_t>(ports.low + (first + i) % count));
    auto listeners = listen_to_all(address, found);
    if (listeners || listeners.error().kind != ErrorKind::exists) return listeners;
  }
  return fail(ErrorKind::exists, fmt::format("none of the ports from {} to {} is free", ports.low, ports.high),
              to_string(address), {}, "give a larger range by --ports or FOREBAY_PORTS");
}

Result<std::vector<Listener>> listen(const Address& address, const PortRange& ports) {
  FOREBAY_TRY(const std::vector<SocketAddress> found, resolve(address, true));
  if (address.kind == Address::Kind::unix_socket) {
    FOREBAY_TRY(Listener listener, listen_unix(address, found.front()));
    std::vector<Listener> listeners;
    listeners.push_back(std::move(listener));
    return listeners;
  }
  if (address.port == 0 && !ports.is_any()) return listen_within(address, found, ports);
  for (int attempt = 1;; ++attempt) {
    auto listeners = listen_to_all(address, found);
    // A port that was free on one interface may be taken on another.
    const bool again = !listeners && listeners.error().kind == ErrorKind::exists && address.port == 0;
    if (!again || attempt == kPortAttempts) return listeners;
  }
}

// A host that is silent does not take the time of those that come after it.
static Clock::time_point share_of(Clock::time_point deadline, size_t attempts_left) {
  if (deadline == Clock::time_point::max()) return deadline;
  const auto now = Clock::now();
  return now + (deadline - now) / static_cast<Clock::rep>(attempts_left);
}

Result<Connected> connect(const std::vector<Address>& addresses, Clock::time_point deadline) {
  Result<Fd> last = fail(ErrorKind::invalid_argument, "the server has no address");
  size_t later = addresses.size();
  for (const Address& address : addresses) {
    --later;
    const auto found = resolve(address, false);
    if (!found) last = std::unexpected(found.error());
    if (!found) continue;
    size_t left = found->size() + later;
    for (const SocketAddress& at : *found) {
      last = connect_one(address, at, share_of(deadline, left--));
      if (!last) continue;
      set_no_delay(last->get());
      return Connected{std::move(*last), address};
    }
  }
  return std::unexpected(std::move(last).error());
}

std::optional<uid_t> peer_uid(int fd) {
  int domain = 0;
  socklen_t size = sizeof domain;
  if (::getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) != 0 || domain != AF_UNIX) return std::nullopt;
  ucred peer{};
  size = sizeof peer;
  // A peer that cannot be told from the overflow user is nobody.
  if (::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return static_cast<uid_t>(-1);
  return peer.uid;
}

std::string peer_source(int fd) {
  if (const auto uid = peer_uid(fd)) return fmt::format("user {}", *uid);
  SocketAddress at;
  at.size = sizeof at.storage;
  if (::getpeername(fd, at.get(), &at.size) != 0) return {};
  const auto bytes = [](const auto& address, size_t size) {
    return std::string(reinterpret_cast<const char*>(&address), size);
  };
  if (at.family() == AF_INET6) return bytes(reinterpret_cast<const sockaddr_in6&>(at.storage).sin6_addr, 8);
  return bytes(reinterpret_cast<const sockaddr_in&>(at.storage).sin_addr, 4);
}

static std::string numeric(SocketAddress at) {
  char host[INET6_ADDRSTRLEN] = {};
  ::getnameinfo(at.get(), at.size, host, sizeof host, nullptr, 0, NI_NUMERICHOST);
  return to_string(Address{Address::Kind::tcp, host, port_of(at), {}});
}

std::string describe_own(int fd) {
  SocketAddress at;
  at.size = sizeof at.storage;
  if (::getsockname(fd, at.get(), &at.size) != 0 || at.family() == AF_UNIX) return "unix";
  return numeric(at);
}

std::string describe_peer(int fd) {
  SocketAddress at;
  at.size = sizeof at.storage;
  if (::getpeername(fd, at.get(), &at.size) != 0) return "a connection that is gone";
  if (at.family() == AF_UNIX) {
    ucred peer{};
    socklen_t size = sizeof peer;
    if (::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return "unix";
    return fmt::format("unix: process {} of user {}", peer.pid, peer.uid);
  }
  return numeric(at);
}

void set_no_delay(int fd) {
  const int on = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

void set_keep_alive(int fd) {
  const auto set = [fd](int level, int name, int value) { ::setsockopt(fd, level, name, &value, sizeof value); };
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, 60);
  set(IPPROTO_TCP, TCP_KEEPINTVL, 10);
  set(IPPROTO_TCP, TCP_KEEPCNT, 6);
}

Result<bool> wait_for(int fd, short events, Clock::time_point deadline) {
  for (;;) {
    const auto now = Clock::now();
    int timeout = -1;
    if (deadline != Clock::time_point::max()) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - now).count();
      timeout = static_cast<int>(std::clamp<int64_t>(left, 0, 1 << 30));
    }
    pollfd one{fd, events, 0};
    const int ready = ::poll(&one, 1, timeout);
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return fail_errno(errno, "poll", {});
    if (ready == 0 && Clock::now() >= deadline) return false;
  }
}

}  // namespace forebay::fabric

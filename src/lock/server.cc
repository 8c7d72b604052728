#include "lock/server.h"

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <thread>

#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "lock/fork.h"
#include "lock/server_loop.h"

namespace forebay::lock {

struct Server::Impl {
  ~Impl() {
    // As long as this server listens, nobody else takes the file.
    for (const std::string& file : files) ::unlink(file.c_str());
    if (!thread.joinable()) return;
    const uint64_t one = 1;
    (void)!::write(stop.get(), &one, sizeof one);
    thread.join();
  }
  uint64_t generation = fork_generation();
  Fd stop;
  std::vector<fabric::Address> addresses;
  std::vector<std::string> files;  // of Unix sockets
  std::unique_ptr<ServerLoop> loop;
  std::thread thread;
};

namespace {

bool every_interface(const fabric::Address& address) {
  return address.kind == fabric::Address::Kind::tcp &&
         (address.host == "*" || address.host == "0.0.0.0" || address.host == "::");
}

// By what names others reach a listener.
void add_reachable(const fabric::Address& bound, std::vector<fabric::Address>& to) {
  std::vector<std::string> hosts{bound.host};
  if (every_interface(bound)) {
    hosts = fabric::host_addresses();
    if (bound.host == "0.0.0.0")
      std::erase_if(hosts, [](const std::string& host) { return host.find(':') != std::string::npos; });
    if (hosts.empty()) hosts.emplace_back("127.0.0.1");
  }
  for (std::string& host : hosts) {
    fabric::Address address = bound;
    address.host = std::move(host);
    if (std::ranges::find(to, address) == to.end()) to.push_back(std::move(address));
  }
}

Result<void> check(const ServerOptions& options) {
  constexpr auto kLongest = std::chrono::hours(24);
  const auto sensible = [&](std::chrono::milliseconds time) { return time.count() >= 0 && time <= kLongest; };
  if (options.listen.empty()) return fail(ErrorKind::invalid_argument, "a lock server needs an address");
  if (options.lease < std::chrono::milliseconds(10) || !sensible(options.lease) || !sensible(options.grace) ||
      !sensible(options.hold_off))
    return fail(ErrorKind::invalid_argument, "a lease lasts from 10 ms to a day, and the grace after it up to a day");
  const bool proof = options.credentials.secret || options.credentials.munge;
  for (const fabric::Address& address : options.listen)
    if (!proof && address.kind == fabric::Address::Kind::tcp)
      return fail(ErrorKind::permission, "a lock server listens to TCP only with a secret or MUNGE",
                  fabric::to_string(address));
  return {};
}

// The thread inherits the mask: no signal of the application is ever delivered to it.
Result<std::thread> start_thread(ServerLoop& loop) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  Result<std::thread> thread = fail(ErrorKind::limit, "the system starts no further thread");
  try {
    thread = std::thread([&loop] { loop.run(); });
    pthread_setname_np(thread->native_handle(), "forebay-locks");
  } catch (const std::system_error&) {
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return thread;
}

}  // namespace

Server::Server(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Result<std::unique_ptr<Server>> Server::start(ServerOptions options) {
  FOREBAY_CHECK(check(options));
  auto impl = std::make_unique<Impl>();
  impl->stop = Fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!impl->stop) return fail_errno(errno, "eventfd", {});
  std::vector<fabric::Listener> listeners;
  for (const fabric::Address& address : options.listen) {
    FOREBAY_TRY(auto some, fabric::listen(address));
    for (fabric::Listener& one : some) {
      add_reachable(one.address, impl->addresses);
      if (!one.address.path.empty() && one.address.path[0] != '@') impl->files.push_back(one.address.path);
      listeners.push_back(std::move(one));
    }
  }
  FOREBAY_TRY(impl->loop, ServerLoop::create(options, std::move(listeners), impl->stop.get()));
  FOREBAY_TRY(impl->thread, start_thread(*impl->loop));
  return std::unique_ptr<Server>(new Server(std::move(impl)));
}

Server::~Server() {
  // The thread is the parent's, and so are the sockets and what would wake it up.
  if (impl_->generation != fork_generation()) (void)impl_.release();
}

std::vector<fabric::Address> Server::addresses() const { return impl_->addresses; }

}  // namespace forebay::lock

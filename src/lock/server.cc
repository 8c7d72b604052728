#include "lock/server.h"

#include <thread>

#include "lock/fork.h"
#include "lock/quiet_thread.h"
#include "lock/server_handler.h"

namespace forebay::lock {

struct Server::Impl {
  ~Impl() {
    if (!thread.joinable()) return;
    hub->stop();
    thread.join();
  }
  void run() {
    const auto ended = hub->run(*handler);
    if (!ended && log) log(Severity::warning, "the server has ended: " + ended.error().message());
  }
  uint64_t generation = fork_generation();
  std::function<void(Severity, const std::string&)> log;
  std::unique_ptr<fabric::Hub> hub;
  std::unique_ptr<ServerHandler> handler;
  std::thread thread;
};

namespace {

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

fabric::HubOptions hub_options(const ServerOptions& options) {
  fabric::HubOptions hub;
  hub.listen = options.listen;
  hub.ports = options.ports;
  hub.credentials = options.credentials;
  hub.purpose = wire::kPurpose;
  hub.max_body = wire::kMaxBody;
  hub.max_connections = options.max_connections;
  hub.handshake_timeout = options.handshake_timeout;
  hub.log = options.log;
  return hub;
}

}  // namespace

Server::Server(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Result<std::unique_ptr<Server>> Server::start(ServerOptions options) {
  FOREBAY_CHECK(check(options));
  auto impl = std::make_unique<Impl>();
  impl->log = options.log;
  FOREBAY_TRY(impl->hub, fabric::Hub::create(hub_options(options)));
  impl->handler = std::make_unique<ServerHandler>(*impl->hub, options);
  FOREBAY_TRY(impl->thread, quiet_thread("forebay-locks", [server = impl.get()] { server->run(); }));
  return std::unique_ptr<Server>(new Server(std::move(impl)));
}

Server::~Server() {
  // The thread is the parent's, and so are the sockets and what would wake it up.
  if (impl_->generation != fork_generation()) (void)impl_.release();
}

std::vector<fabric::Address> Server::addresses() const { return impl_->hub->addresses(); }

}  // namespace forebay::lock

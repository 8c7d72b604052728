#include "lock/client.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>

#include <fmt/format.h>

#include "base/checksum.h"
#include "lock/back_off.h"
#include "lock/connection.h"
#include "lock/wire.h"

namespace forebay::lock {
namespace {

Result<void> check_name(std::string_view name) {
  if (name.empty() || name.size() > wire::kMaxNameBytes)
    return fail(ErrorKind::invalid_argument, fmt::format("a name has 1 to {} bytes", wire::kMaxNameBytes));
  return {};
}

std::unexpected<Error> parents(const std::string& file) {
  return fail(ErrorKind::disconnected, "the lock belongs to the process that this one was forked from", file);
}

// An error of `server`, or of the way to it, that somebody met who wanted something of `file`.
std::unexpected<Error> about(Error error, std::string_view server, std::string_view file) {
  error.what += fmt::format(" (lock server {})", error.path.empty() ? server : error.path);
  error.path = file;
  return std::unexpected(std::move(error));
}

std::unexpected<Error> lost(std::string_view server, std::string_view file) {
  return about({ErrorKind::disconnected,
                "the lease has ended: the lock server did not hear of this process in time",
                {},
                {},
                {}},
               server, file);
}

// What one thread at a time may have, and others wait for until a moment: for std::unique_lock. (The thread sanitizer
// of GCC 12 does not know how std::timed_mutex locks.)
class Turn {
 public:
  bool try_lock() {
    const std::lock_guard lock(mutex_);
    return !std::exchange(taken_, true);
  }
  bool try_lock_until(Clock::time_point deadline) {
    std::unique_lock lock(mutex_);
    if (!given_back_.wait_until(lock, deadline, [this] { return !taken_; })) return false;
    taken_ = true;
    return true;
  }
  void unlock() {
    const std::lock_guard lock(mutex_);
    taken_ = false;
    given_back_.notify_one();
  }

 private:
  std::mutex mutex_;
  std::condition_variable given_back_;
  bool taken_ = false;
};

// A connection to a server, once there is one.
struct Slot {
  Turn turn;  // of what follows
  std::shared_ptr<Connection> connection;
  BackOff back_off;
};

// The connections of one process.
struct Slots {
  explicit Slots(size_t servers) : list(servers), generation(fork_generation()) {}
  std::vector<Slot> list;
  uint64_t generation;
};

}  // namespace

Result<std::vector<std::vector<fabric::Address>>> parse_servers(std::string_view text) {
  std::vector<std::vector<fabric::Address>> servers;
  for (;;) {
    const size_t semicolon = text.find(';');
    FOREBAY_TRY(auto addresses, fabric::parse_addresses(text.substr(0, semicolon)));
    servers.push_back(std::move(addresses));
    if (semicolon == std::string_view::npos) return servers;
    text.remove_prefix(semicolon + 1);
  }
}

Lock::Lock(std::shared_ptr<Connection> connection, uint64_t request, std::string file) noexcept
    : connection_(std::move(connection)), request_(request), file_(std::move(file)), held_(true) {}

Lock::Lock(Lock&& other) noexcept
    : connection_(std::move(other.connection_)),
      request_(other.request_),
      file_(std::move(other.file_)),
      held_(std::exchange(other.held_, false)) {}

Lock& Lock::operator=(Lock&& other) noexcept {
  std::swap(connection_, other.connection_);
  std::swap(request_, other.request_);
  std::swap(file_, other.file_);
  std::swap(held_, other.held_);
  return *this;
}

Lock::~Lock() {
  if (held_ && connection_) connection_->release(file_, request_);
}

Clock::time_point Lock::valid_until() const {
  if (!held_ || (connection_ && !connection_->own())) return Clock::time_point::min();
  if (!connection_) return Clock::time_point::max();
  const auto until = connection_->valid_until();
  return connection_->lost(request_) ? Clock::time_point::min() : until;
}

Result<void> Lock::keep(std::chrono::milliseconds wanted) {
  if (!held_) return fail(ErrorKind::invalid_argument, "the lock is not held");
  if (!connection_) return {};
  if (!connection_->own()) return parents(file_);
  if (connection_->failed()) return about(connection_->failure(), connection_->server(), file_);
  // What is wanted is half of the lease at most, and less than half of it is renewed in any case.
  const Clock::duration half = connection_->lease() / 2;
  const auto result = [this]() -> Result<void> {
    if (connection_->lost(request_)) return lost(connection_->server(), file_);
    return {};
  };
  if (connection_->valid_until() - connection_->now() >= half) return result();
  const Clock::duration enough = std::min(wanted, std::chrono::duration_cast<std::chrono::milliseconds>(half));
  const auto give_up = Clock::now() + connection_->lease();
  // The lease counts from before the question: of an answer that took long, less is left than was wanted.
  do {
    if (auto renewed = connection_->renew(give_up); !renewed)
      return about(std::move(renewed).error(), connection_->server(), file_);
  } while (connection_->valid_until() - connection_->now() < enough);
  return result();
}

Result<void> Lock::unlock() {
  if (!std::exchange(held_, false)) return fail(ErrorKind::invalid_argument, "the lock is not held");
  const auto connection = std::exchange(connection_, nullptr);
  if (!connection) return {};
  if (!connection->own()) return parents(file_);
  Result<void> renewed;
  // The lease may have been over without the server having noticed: then nobody else has had the bytes.
  if (connection->now() > connection->valid_until()) renewed = connection->renew();
  const bool is_lost = connection->lost(request_);
  connection->release(file_, request_);
  if (!renewed) return about(std::move(renewed).error(), connection->server(), file_);
  if (is_lost) return lost(connection->server(), file_);
  return {};
}

struct Client::Impl {
  ClientOptions options;
  std::atomic<Slots*> slots;
  const uint64_t generation = fork_generation();

  size_t server_of(std::string_view name) const {
    return options.servers.size() == 1 ? 0 : hash64(as_bytes(name)) % options.servers.size();
  }
  Slot& slot(std::string_view name);
  // Whether it was made just now.
  struct Usable {
    std::shared_ptr<Connection> connection;
    bool fresh = false;
  };
  Result<Usable> connection(std::string_view name, Clock::time_point deadline);
  Result<std::optional<Lock>> lock(std::string_view file, const Region& region, Access access, bool only_try,
                                   Clock::time_point deadline);
  Result<int64_t> count(wire::CounterAction action, std::string_view counter, int64_t operand);
};

// The connections of a forked process are its parent's. They are left as they are: another thread of the parent may
// have held their locks in the moment of the fork.
Slot& Client::Impl::slot(std::string_view name) {
  Slots* current = slots.load();
  if (current->generation != fork_generation()) {
    auto mine = std::make_unique<Slots>(options.servers.size());
    if (slots.compare_exchange_strong(current, mine.get())) current = mine.release();
  }
  return current->list[server_of(name)];
}

Result<Client::Impl::Usable> Client::Impl::connection(std::string_view name, Clock::time_point deadline) {
  FOREBAY_CHECK(check_name(name));
  const auto& addresses = options.servers[server_of(name)];
  const auto first = [&] { return fabric::to_string(addresses.front()); };
  Slot& place = slot(name);
  std::unique_lock lock(place.turn, std::try_to_lock);
  if (lock && place.connection && !place.connection->failed()) return Usable{place.connection, false};
  const auto begun = Clock::now(), latest = std::min(deadline, begun + options.connect_timeout);
  if (!lock) (void)lock.try_lock_until(latest);  // another thread may be connecting
  if (!lock) {
    const auto kind = latest < deadline ? ErrorKind::disconnected : ErrorKind::timeout;
    return about({kind, "no connection in time", {}, {}, {}}, first(), name);
  }
  if (place.connection && !place.connection->failed()) return Usable{place.connection, false};
  place.connection.reset();
  if (const auto now = Clock::now(); !place.back_off.may_try(now)) {
    const auto left = std::chrono::ceil<std::chrono::seconds>(place.back_off.next() - now).count();
    return about({ErrorKind::disconnected,
                  fmt::format("the server did not answer; it is asked again in {} s", left),
                  {},
                  {},
                  {}},
                 first(), name);
  }
  auto opened = Connection::open(addresses, options.credentials, options.label, latest, options.lease_clock,
                                 options.borrow && fork_generation() == generation);
  if (!opened) {
    Error error = std::move(opened).error();
    if (error.kind == ErrorKind::timeout && latest < deadline) {
      error.kind = ErrorKind::disconnected;
      place.back_off.failed(Clock::now(), Clock::now() - begun);
    }
    return about(std::move(error), first(), name);
  }
  place.back_off.succeeded();
  place.connection = *std::move(opened);
  return Usable{place.connection, true};
}

Result<std::optional<Lock>> Client::Impl::lock(std::string_view file, const Region& region, Access access,
                                               bool only_try, Clock::time_point deadline) {
  for (;;) {
    FOREBAY_TRY(const Usable usable, connection(file, deadline));
    const auto request = usable.connection->lock(file, region, access, only_try, deadline);
    if (request && !*request) return std::nullopt;
    if (request) return Lock(usable.connection, **request, std::string(file));
    // A server that was started again while this connection was not used is no error, and what was not granted can be
    // asked for again: once.
    const bool ended = request.error().kind == ErrorKind::disconnected && !usable.connection->server_is_silent();
    if (!ended || usable.fresh || Clock::now() >= deadline)
      return about(request.error(), usable.connection->server(), file);
  }
}

Result<int64_t> Client::Impl::count(wire::CounterAction action, std::string_view counter, int64_t operand) {
  FOREBAY_TRY(Usable usable, connection(counter, Clock::time_point::max()));
  usable.connection->probe();
  if (usable.connection->failed()) {
    FOREBAY_TRY(usable, connection(counter, Clock::time_point::max()));
  }
  auto value = usable.connection->count(action, counter, operand);
  if (!value) return about(std::move(value).error(), usable.connection->server(), counter);
  return value;
}

Client::Client(ClientOptions options) : impl_(new Impl{std::move(options), nullptr}) {
  impl_->slots = new Slots(impl_->options.servers.size());
}

Client::~Client() {
  if (impl_->slots.load()->generation == fork_generation()) delete impl_->slots.load();
}

Result<std::shared_ptr<Client>> Client::create(ClientOptions options) {
  if (options.servers.empty()) return fail(ErrorKind::invalid_argument, "there is no lock server");
  if (std::ranges::any_of(options.servers, [](const auto& server) { return server.empty(); }))
    return fail(ErrorKind::invalid_argument, "a lock server has no address");
  return std::shared_ptr<Client>(new Client(std::move(options)));
}

Result<Lock> Client::lock(std::string_view file, const Region& region, Access access, Clock::time_point deadline) {
  FOREBAY_CHECK(check_name(file));
  if (region.empty()) return Lock(nullptr, 0, std::string(file));
  FOREBAY_TRY(auto granted, impl_->lock(file, region, access, false, deadline));
  if (!granted) return fail(ErrorKind::internal, "the lock server answers a lock as if it were a try");
  return std::move(*granted);
}

Result<std::optional<Lock>> Client::try_lock(std::string_view file, const Region& region, Access access) {
  FOREBAY_CHECK(check_name(file));
  if (region.empty()) return Lock(nullptr, 0, std::string(file));
  return impl_->lock(file, region, access, true, Clock::time_point::max());
}

Result<int64_t> Client::fetch_add(std::string_view counter, int64_t delta) {
  return impl_->count(wire::CounterAction::fetch_add, counter, delta);
}

Result<void> Client::forget_counter(std::string_view counter) {
  FOREBAY_CHECK(impl_->count(wire::CounterAction::forget, counter, 0));
  return {};
}

}  // namespace forebay::lock

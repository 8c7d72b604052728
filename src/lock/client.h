// The client of lock servers.
//
// Safety rule (docs/wire.md, "Leases"): a lock may be used only until valid_until(), which lies before the moment at
// which the server gives the bytes to others. Whoever does I/O under a lock calls keep() before each piece of it.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fabric/address.h"
#include "fabric/credentials.h"
#include "lock/lease_clock.h"
#include "lock/region.h"
#include "lock/table.h"

namespace forebay::lock {

struct ClientOptions {
  // The servers, each by all addresses at which it can be reached, best first. A file belongs to one of them, chosen by
  // a hash of its name over the number of servers: every client of a file must have the same list in the same order.
  std::vector<std::vector<fabric::Address>> servers;
  fabric::Credentials credentials;
  // A server that does not answer within this time is not asked again for as long, then for twice as long, and so on up
  // to a minute: calls that need it fail at once meanwhile.
  std::chrono::milliseconds connect_timeout{10'000};
  std::string label;  // shown by `forebay locks`, for instance "rank 3 of a.out on node7"
  LeaseClock lease_clock = kSteadyLeases;
  // Whether to work without messages on files that nobody else wants (docs/locks.md): it takes a thread, and one more
  // connection to each server. A child of fork() does without: starting threads there is not for a library to decide.
  bool borrow = false;
};

// "SERVER;SERVER;...", each "ADDRESS,ADDRESS,...": ClientOptions::servers as FOREBAY_LOCK_SERVERS has them.
// invalid_argument if it is not.
Result<std::vector<std::vector<fabric::Address>>> parse_servers(std::string_view text);

class Client;
class Connection;

// A granted lock. Movable; the destructor unlocks. One thread at a time; different locks may be used at once, and may
// outlive their client. In a child of fork() the parent's locks are not held: keep() and unlock() return disconnected
// there, valid_until() is over, and nothing that a child does ends them.
class Lock {
 public:
  Lock() = default;
  Lock(Lock&&) noexcept;
  Lock& operator=(Lock&&) noexcept;
  ~Lock();

  bool held() const { return held_; }

  // Until when the bytes may be touched, unless the lease is renewed in time, by the client's lease clock. The greatest
  // time for an empty region.
  Clock::time_point valid_until() const;

  // Makes sure that the lock is valid for `wanted` at least from now, renewing the lease when less than that is left or
  // less than half of it. `wanted` is cut to half of the lease. disconnected if the lease cannot be renewed, or so
  // slowly that less is left: then the caller must not touch the file any more. Without need to renew it costs one
  // reading of the clock. Waits no longer than a lease lasts.
  Result<void> keep(std::chrono::milliseconds wanted);

  // Gives the lock back; it is not held afterwards, whatever this returns. An error tells that the lease ended before
  // this call, so that others may have had the bytes.
  Result<void> unlock();

 private:
  friend class Client;
  Lock(std::shared_ptr<Connection> connection, uint64_t request, std::string file) noexcept;
  std::shared_ptr<Connection> connection_;  // null for an empty region, which no server knows
  uint64_t request_ = 0;
  std::string file_;  // for errors
  bool held_ = false;
};

// Thread-safe. One connection to each server that is used, made at the first use and made again after a failure; all
// threads of the process share it. A thread that waits for an answer also reads those of the others. Starts no thread,
// unless it borrows: then one for each server, which sleeps while nothing is asked back. A child of fork() makes
// connections of its own.
class Client {
 public:
  // Connects to nothing yet. invalid_argument if there is no server, or one without an address.
  static Result<std::shared_ptr<Client>> create(ClientOptions options);
  ~Client();

  // Waits until all bytes of `region` in `file` are granted. `file` is any name on which all clients agree; 1 to 4096
  // bytes, else invalid_argument. An empty region is granted at once, without the server. timeout when `deadline`
  // passes first (the request is withdrawn); disconnected if the server is lost, also if it does not answer for as long
  // as a lease lasts; permission if it does not let this process in; limit if it refuses a list as too long, or has no
  // more memory for this process. Errors have the file as their path and name the server, as those of a Lock do.
  Result<Lock> lock(std::string_view file, const Region& region, Access access,
                    Clock::time_point deadline = Clock::time_point::max());

  // The same without waiting for other holders: nothing if the bytes are not free now.
  Result<std::optional<Lock>> try_lock(std::string_view file, const Region& region, Access access);

  // Counters live on the server of the file, each under a name of its own (a shared file pointer, for one). A counter
  // begins at 0 and ends with `forget_counter`, or when the last connection that used it is gone. Names and errors as
  // for lock(). After disconnected it is not known whether the counter was changed.
  Result<int64_t> fetch_add(std::string_view counter, int64_t delta);  // the value before
  Result<void> forget_counter(std::string_view counter);

 private:
  friend class Lock;
  struct Impl;
  explicit Client(ClientOptions options);
  std::unique_ptr<Impl> impl_;
};

}  // namespace forebay::lock

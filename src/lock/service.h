// What a lock server does, without sockets, threads or a clock of its own: sessions with their leases, a table for each
// file, counters. (session, message, now) in, messages out. Pure.
//
// Leases (docs/wire.md, "Leases"): a session that holds or waits for locks, or whose connection broke, ends when
// nothing was heard of it for lease + grace. Then, and no earlier, others get its bytes. A session that ends in an
// orderly way gives them back at once, and so does one whose life line ended in that way: a connection to which nothing
// was ever sent, so that the end of its client is seen even if that could not read all that it was told.
//
// Loans (docs/decisions/0069-locks-that-are-kept.md, 0088-progressions-asked-ahead.md): a request that comes alone is
// granted together with the whole file, and another one with as much of what it asks ahead as is free, if its client
// has a bell; what others ask for of that then waits until the client has returned it.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/error.h"
#include "lock/loans.h"
#include "lock/table.h"
#include "lock/wire.h"

namespace forebay::lock {

struct ServiceOptions {
  std::chrono::milliseconds lease{10'000};
  std::chrono::milliseconds grace{2'000};
  std::chrono::milliseconds hold_off{0};  // from the start, nothing is granted for so long
  uint64_t max_terms = 1u << 20;
  uint64_t max_client_memory = 256ull << 20;
  uint64_t max_lively_sessions = 1u << 15;  // with more, life lines included, no further client is told to have one
  uint64_t table_effort = kTableEffort;     // of each file's table
  // Beyond max_client_memory: what a client may have served from its loans when the server takes no more of it. Twice,
  // since the two may not reserve the same for a list.
  uint64_t max_returned_memory = 2 * Loans::kMostLoans * Loans::kMostMemory;
};

using SessionId = uint64_t;

struct Outgoing {
  SessionId session = 0;
  wire::ServerMessage message;
};

class Service {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // How a connection ended. After `orderly` the client does no more I/O under its locks.
  enum class Ending : uint8_t { orderly, broken };

  Service(const ServiceOptions& options, Time now);
  ~Service();

  // `session` was never used before. `peer` is shown to those who ask for the status.
  void connected(SessionId session, std::string peer, Time now);

  // Appends what is to be sent to `out`. corrupt if the client breaks the protocol: then its connection is to be
  // closed, and disconnected(broken) called.
  Result<void> receive(SessionId session, wire::Decoded message, Time now, std::vector<Outgoing>& out);

  // What a client whose connection broke waits for is withdrawn at once: it was not granted, so nobody uses it.
  void disconnected(SessionId session, Ending ending, Time now, std::vector<Outgoing>& out);

  // Ends sessions whose time is over. To be called at next_tick() or later, after what has arrived was received.
  void tick(Time now, std::vector<Outgoing>& out);
  Time next_tick() const { return next_tick_; }

  // Whether any session holds or waits for a lock.
  bool busy() const;

 private:
  struct File;
  struct Loan;
  struct Session;
  struct CounterState {
    int64_t value = 0;
    uint64_t users = 0;
    uint64_t id = 0;  // tells a counter from one of the same name that was forgotten
  };

  void receive(SessionId id, Session& session, wire::File message);
  void receive(SessionId id, Session& session, wire::LockRequest message, Time now, std::vector<Outgoing>& out);
  void receive(Session& session, const wire::Release& message, Time now, std::vector<Outgoing>& out);
  void receive(SessionId id, Session& session, const wire::Counter& message, std::vector<Outgoing>& out);
  Result<void> receive(SessionId id, Session& session, const wire::Bell& message, std::vector<Outgoing>& out);
  Result<void> receive(SessionId id, Session& session, wire::Return message, Time now, std::vector<Outgoing>& out);
  bool may_lend(const Session& session, const File& file) const;
  std::optional<Table::Added> lend(SessionId id, Session& session, File& file, wire::LockRequest& message,
                                   uint64_t& memory, std::vector<Outgoing>& out);
  bool recall(File& file, SessionId for_whom, const Region& region, Access access, std::vector<Outgoing>& out);
  void recall(File& file, Loan& loan, Elements wanted, SessionId for_whom, std::vector<Outgoing>& out);
  void recall_what_counts_as_in_the_way(File& file, std::vector<Outgoing>& out);
  void recall_for_those_who_wait(File& file, std::vector<Outgoing>& out);
  void decide_tries(File& file, Time now, std::vector<Outgoing>& out);
  static bool has_only_loans(const Session& session);
  void take_loans(SessionId id, Session& session, Time now, std::vector<Outgoing>& out);
  void remove(File& file, Ticket ticket, Time now, std::vector<Outgoing>& out);
  void answer(SessionId id, const wire::Query& message, Time now, std::vector<Outgoing>& out) const;

  void notify(const File& file, const std::vector<Ticket>& granted, Time now, std::vector<Outgoing>& out);
  enum class Which : uint8_t { all, waiting };
  void end_requests(Session& session, Which which, Time now, std::vector<Outgoing>& out);
  void process_gone(SessionId id, Time now, std::vector<Outgoing>& out);
  void end_use(Session& session);
  void open(Time now, std::vector<Outgoing>& out);
  void unname(File* file);
  void drop_if_unused(File& file);
  Time end_of(const Session& session) const;

  ServiceOptions options_;
  Time open_at_;
  bool open_ = false;
  Time next_tick_ = Time::max();
  uint64_t next_counter_ = 1;
  std::unordered_map<SessionId, Session> sessions_;
  std::unordered_map<std::string, std::unique_ptr<File>> files_;
  std::unordered_map<std::string, CounterState> counters_;
};

}  // namespace forebay::lock

// A client's connection to one lock server, shared by all threads of the process.
//
// Of the threads that wait for answers one leads: it reads from the socket and hands the answers out; when it has its
// own, another one leads. The leader also renews the lease while it waits.
//
// A connection that borrows (docs/decisions/0069-locks-that-are-kept.md) serves requests from what the server has lent
// it, without a message, and has a thread that sleeps at a second connection, the bell, until the server wants
// something back. The thread also renews the lease while there are loans, and returns those that nobody uses.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "fabric/credentials.h"
#include "fabric/framing.h"
#include "fabric/socket.h"
#include "lock/client.h"
#include "lock/fork.h"
#include "lock/loans.h"
#include "lock/progression.h"
#include "lock/wire.h"

namespace forebay::lock {

class Connection {
 public:
  // Connects, proves who this is, and says hello. If it is to borrow, it does so where the server and the system can.
  static Result<std::shared_ptr<Connection>> open(const std::vector<fabric::Address>& server,
                                                  const fabric::Credentials& credentials, const std::string& label,
                                                  Clock::time_point deadline, LeaseClock lease_clock = kSteadyLeases,
                                                  bool borrow = false);

  // Closes the socket, which gives back what is still held. Whoever uses a lock has a share in the connection, so that
  // it is not closed before all I/O under its locks has ended.
  ~Connection();

  // The number of the request; nothing if it is only a try, and the bytes are not free.
  Result<std::optional<uint64_t>> lock(std::string_view file, const Region& region, Access access, bool only_try,
                                       Clock::time_point deadline);
  void release(std::string_view file, uint64_t request);
  // disconnected if there is no answer by the deadline.
  Result<void> renew(Clock::time_point deadline = Clock::time_point::max());
  Result<int64_t> count(wire::CounterAction action, std::string_view counter, int64_t operand);
  Result<std::vector<wire::Status>> query(Clock::time_point deadline);

  // By the lease clock, whose time is now(); deadlines are not.
  Clock::time_point valid_until() const { return Clock::time_point(Clock::duration(valid_until_.load())); }
  // Whether a request was held when the server ended its loan. To be asked after valid_until(): what is lost is known
  // before an acknowledgement that came later counts.
  bool lost(uint64_t request) const;
  Clock::time_point now() const { return lease_clock_(); }
  Clock::duration lease() const { return lease_; }
  const std::string& server() const { return name_; }

  // False in a child of the process that made it.
  bool own() const { return generation_ == fork_generation(); }
  bool failed() const { return failed_.load(); }
  // Why, if failed().
  Error failure() const;
  // Whether the server is silent, as opposed to one that has ended the connection.
  bool server_is_silent() const { return silent_.load(); }

  // Looks whether the server has closed the connection while nobody was waiting.
  void probe();

 private:
  struct Waiter;
  struct TextHash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };

  // Connects, and proves who this is.
  static Result<std::shared_ptr<Connection>> get_in(const std::vector<fabric::Address>& server,
                                                    const fabric::Credentials& credentials, Clock::time_point deadline,
                                                    LeaseClock lease_clock);
  Connection(fabric::Connected connected, LeaseClock lease_clock);
  Result<void> shake_hands(const fabric::Credentials& credentials, Clock::time_point deadline);
  Result<void> say_hello(const std::string& label, Clock::time_point deadline);
  void tie_life_line(const fabric::Credentials& credentials, Clock::time_point deadline);
  void tie_bell(const fabric::Credentials& credentials, Clock::time_point deadline);
  Result<fabric::Frame> next_frame(Clock::time_point deadline);

  Result<void> send(const Bytes& bytes);
  template <class Encode>
  Result<void> send_request(Waiter& waiter, const Encode& encode);
  uint32_t file_number(std::string_view file);

  Result<void> wait(Waiter& waiter, Clock::time_point deadline);
  void lead(std::unique_lock<std::mutex>& lock, const Waiter& waiter, Clock::time_point deadline);
  void renew_while_waiting(std::unique_lock<std::mutex>& lock);
  void read(Clock::duration patience, std::unique_lock<std::mutex>& lock);
  void understand();
  void hand_out(wire::ServerMessage message);
  void answered(uint64_t number, const std::function<void(Waiter&)>& fill);
  void finish(uint64_t number, const std::function<void(Waiter&)>& fill);
  void pass_on();
  void acknowledged(Clock::time_point sent);
  void forget(uint64_t number);
  void fail_with(Error error);
  void fail_locked(Error error);
  std::unexpected<Error> silent();

  // Of loans: connection_loans.cc.
  Result<Loans::Served> serve(Waiter& waiter, bool only_try, Clock::time_point deadline);
  static bool may_be_lent(const Waiter& waiter, uint64_t count);
  void lent(const wire::Lent& message);
  void recalled(const wire::Recall& message);
  void taken(uint64_t loan);
  void answer_recalls();
  void give_back(std::span<const wire::Recall> loans);
  void start_recall_thread();
  void end_recall_thread();
  void listen();
  Result<void> hear();
  void look_after_loans();
  void stop_borrowing();
  void wake_recall_thread();

  const uint64_t generation_;
  const fabric::Address server_;
  const std::string name_;  // of the server, for errors
  const LeaseClock lease_clock_;
  // A connection over which nothing comes: of this one the server may see a reset only, if there is something that was
  // not read when the process ends (docs/wire.md, "Leases"). Null if there is none, and none is needed on Unix sockets.
  std::shared_ptr<Connection> life_line_;
  // A connection over which recalls come; nothing where there is none.
  std::shared_ptr<Connection> bell_;
  Fd fd_;
  Clock::duration lease_{std::chrono::seconds(10)};
  uint64_t max_terms_ = 0;
  uint64_t session_ = 0;
  bool may_tie_life_line_ = false;
  std::atomic<uint64_t> next_number_{1};
  std::atomic<Clock::rep> valid_until_{Clock::time_point::min().time_since_epoch().count()};
  std::atomic<bool> failed_{false}, silent_{false};
  std::atomic<bool> borrows_{false}, any_lost_{false}, ending_{false};

  // Taken before mutex_.
  std::mutex send_mutex_;
  Bytes out_;
  std::unordered_map<std::string, uint32_t, TextHash, std::equal_to<>> files_;  // whose numbers the server knows

  mutable std::mutex mutex_;
  bool leading_ = false;
  fabric::FrameParser in_;  // used by the leader
  std::unordered_map<uint64_t, Waiter*> waiters_;
  std::optional<std::pair<uint64_t, Clock::time_point>> heartbeat_;  // a renewal under way, and when it was sent
  std::optional<Error> failure_;
  Loans loans_;
  Foresight foresight_;
  std::vector<wire::Recall> recalled_;                    // loans to be returned
  std::unordered_map<uint64_t, Elements> early_recalls_;  // of requests that are under way: a recall overtook the grant

  Fd wake_;  // an eventfd
  std::unique_ptr<std::thread> recall_thread_;
};

}  // namespace forebay::lock

// The inside of a Hub. Used by hub.cc and hub_connection.cc alone.
#pragma once

#include <atomic>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "base/fd.h"
#include "fabric/handshake.h"
#include "fabric/hub.h"
#include "fabric/listening.h"
#include "fabric/log_limit.h"
#include "fabric/output.h"
#include "fabric/strangers.h"

namespace forebay::fabric {

struct Hub::Impl {
  using Time = HubHandler::Time;
  using Ending = HubHandler::Ending;

  struct Connection {
    ConnectionId id = 0;
    Fd fd;
    std::string peer;
    std::optional<uid_t> uid;  // at the other end of a Unix socket
    bool known = false;
    bool mute = false;                         // it cannot be written to; what is left to be read tells how it ended
    bool queued = false;                       // in unsent
    bool writing = false;                      // epoll watches for room
    bool closing = false;                      // in closings
    std::optional<ServerHandshake> handshake;  // from the first frame on
    std::optional<RecordReader> records;       // what `in` is decrypted from, if the connection is encrypted
    FrameParser in{kMaxHandshakeBody};
    Output out;
  };

  struct Watch {
    int fd = -1;
    std::function<void()> ready;
  };

  Impl(HubOptions hub_options, Listening listening_sockets);
  Result<void> prepare();
  Result<void> add(int fd, uint64_t id);
  void wake();

  Result<void> serve();
  void handle(uint64_t id);
  void end_round(bool heard_all);
  void run_posted();
  int timeout(Time now) const;
  void end();  // closes everything

  void accept_from(const Listener& listener);
  void admit(Fd fd);
  bool is_welcome(int fd, std::optional<uid_t> uid);
  void make_room(const std::string& source);
  void listen_again(bool on);
  void close_late_strangers(Time now);
  ConnectionId adopt(Link::Released link, std::string peer);
  static void encrypt(Connection& connection, const RecordKeys& keys);

  Connection* find(ConnectionId id);
  void read_from(Connection& connection);
  // All three: false, or the reason, if it is to be closed.
  bool understand(Connection& connection, size_t got);
  Result<bool> receive_records(Connection& connection);
  Result<bool> receive_frames(Connection& connection);
  Result<void> receive(Connection& connection, const Frame& frame);
  Result<void> greet(Connection& connection, const Frame& frame);
  void send_later(Connection& connection);
  bool send_some(Connection& connection);  // false if it is to be closed
  void watch_writing(Connection& connection, bool on);
  void flush();
  void close_those_asked_for();
  void close(ConnectionId id, Ending ending);

  void log(Severity severity, const std::string& text);

  HubOptions options;
  std::optional<Listening> listening;  // while it serves
  std::vector<Address> addresses;
  Fd epoll, wakeup;
  Voucher voucher;
  HubHandler* handler = nullptr;
  uint64_t next_id;
  bool accepting = true;
  Time listen_again_at = Time::max();
  std::unordered_map<ConnectionId, std::unique_ptr<Connection>> connections;
  Strangers strangers;
  std::vector<ConnectionId> unsent;    // connections with output that is not tried yet
  std::vector<ConnectionId> closings;  // that the handler wants to be closed
  std::unordered_map<uint64_t, Watch> watches;
  LogLimit log_limit;

  std::atomic<bool> stopping = false;
  std::mutex mutex;
  std::vector<std::function<void()>> posted;  // under mutex
};

}  // namespace forebay::fabric

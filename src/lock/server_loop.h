// The thread of a lock server: sockets and time in, Service, sockets out. Used by server.cc alone.
#pragma once

#include <deque>
#include <string>
#include <unordered_map>
#include <vector>

#include "fabric/framing.h"
#include "fabric/handshake.h"
#include "fabric/socket.h"
#include "lock/server.h"
#include "lock/service.h"

namespace forebay::lock {

class ServerLoop {
 public:
  // `stop` becomes readable when run() shall return.
  static Result<std::unique_ptr<ServerLoop>> create(const ServerOptions& options,
                                                    std::vector<fabric::Listener> listeners, int stop);
  ~ServerLoop();
  void run();

 private:
  using Time = Service::Time;
  struct Connection;

  ServerLoop(const ServerOptions& options, std::vector<fabric::Listener> listeners);
  Result<void> watch(int fd, uint64_t id);
  void serve();
  void handle(uint64_t id);
  void accept_from(const fabric::Listener& listener);
  void admit(Fd fd);
  void listen_again(bool on);

  void read_from(Connection& connection);
  // False if the connection is closed thereby.
  bool understand(Connection& connection, Time now);
  Result<void> receive(Connection& connection, const fabric::Frame& frame, Time now);
  Result<void> greet(Connection& connection, const fabric::Frame& frame, Time now);

  void deliver();
  void send_later(Connection& connection);
  void flush();
  // False if it is to be closed.
  bool send_some(Connection& connection);
  void watch_writing(Connection& connection, bool on);

  void close(uint64_t id, Service::Ending ending);
  void close_late_strangers(Time now);
  void no_stranger_any_more();
  int timeout(Time now) const;
  void log(Severity severity, const std::string& text);

  ServerOptions options_;
  std::vector<fabric::Listener> listeners_;
  Fd epoll_;
  Service service_;
  fabric::Voucher voucher_;
  uint64_t next_id_;
  bool stopping_ = false, listening_ = true;
  Time listen_again_at_ = Time::max();
  std::unordered_map<uint64_t, std::unique_ptr<Connection>> connections_;
  std::deque<std::pair<Time, uint64_t>> strangers_;  // by deadline; some may be known or gone by now
  size_t stranger_count_ = 0;
  std::vector<Outgoing> outgoing_;
  std::vector<uint64_t> unsent_;  // connections with output that is not tried yet
  Time log_second_{};
  unsigned logged_ = 0;
};

}  // namespace forebay::lock

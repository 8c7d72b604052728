#include "socket_ranks.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <deque>
#include <map>
#include <utility>

#include <sys/socket.h>

namespace forebay::io {
namespace {

struct Head {
  uint64_t communicator, bytes;
};

// The sockets to all other processes, which all communicators of this process share. For one thread.
class Sockets {
 public:
  explicit Sockets(std::vector<int> sockets) : sockets_(std::move(sockets)) {}

  Result<void> send(uint32_t to, uint64_t communicator, std::span<const std::byte> message) {
    const Head head{communicator, message.size()};
    FOREBAY_CHECK(send_all(to, std::as_bytes(std::span(&head, 1))));
    return send_all(to, message);
  }

  Result<Bytes> receive(uint32_t from, uint64_t communicator) {
    auto& queue = waiting_[{from, communicator}];
    while (queue.empty()) {
      Head head;
      FOREBAY_CHECK(receive_all(from, std::as_writable_bytes(std::span(&head, 1))));
      Bytes message(head.bytes);
      FOREBAY_CHECK(receive_all(from, message));
      waiting_[{from, head.communicator}].push_back(std::move(message));
    }
    Bytes message = std::move(queue.front());
    queue.pop_front();
    return message;
  }

 private:
  static std::unexpected<Error> gone(uint32_t process) {
    return fail(ErrorKind::disconnected, "process " + std::to_string(process) + " is gone");
  }

  Result<void> send_all(uint32_t to, std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(sockets_[to], bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent < 0 && errno == EINTR) continue;
      if (sent < 0) return gone(to);
      bytes = bytes.subspan(static_cast<size_t>(sent));
    }
    return {};
  }

  Result<void> receive_all(uint32_t from, std::span<std::byte> bytes) {
    while (!bytes.empty()) {
      const ssize_t got = ::recv(sockets_[from], bytes.data(), bytes.size(), 0);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return gone(from);
      bytes = bytes.subspan(static_cast<size_t>(got));
    }
    return {};
  }

  std::vector<int> sockets_;
  std::map<std::pair<uint32_t, uint64_t>, std::deque<Bytes>> waiting_;  // by process and communicator
};

class SocketRank final : public Communicator {
 public:
  SocketRank(std::shared_ptr<Sockets> sockets, uint64_t number, std::vector<uint32_t> processes, uint32_t rank)
      : sockets_(std::move(sockets)), number_(number), processes_(std::move(processes)), rank_(rank) {}

  uint32_t rank() const override { return rank_; }
  uint32_t size() const override { return static_cast<uint32_t>(processes_.size()); }
  Result<void> send(std::span<const std::byte> message, uint32_t to) override {
    return sockets_->send(processes_[to], number_, message);
  }
  Result<Bytes> receive(uint32_t from) override { return sockets_->receive(processes_[from], number_); }

  Result<std::unique_ptr<Communicator>> split(uint32_t colour, uint32_t key) override {
    const std::array<uint32_t, 2> mine = {colour, key};
    FOREBAY_TRY(const std::vector<Bytes> all, gather(std::as_bytes(std::span(mine)), 0));
    Bytes wishes;
    for (const Bytes& one : all) wishes.insert(wishes.end(), one.begin(), one.end());
    FOREBAY_CHECK(broadcast(wishes, 0));
    std::map<std::pair<uint32_t, uint32_t>, uint32_t> order;  // key and rank of those of this colour, to their process
    for (uint32_t from = 0; from < size(); ++from) {
      std::array<uint32_t, 2> wish;
      std::memcpy(wish.data(), wishes.data() + from * sizeof wish, sizeof wish);
      if (wish[0] == colour) order[{wish[1], from}] = processes_[from];
    }
    std::vector<uint32_t> processes;
    uint32_t rank = 0;
    for (const auto& [place, process] : order) {
      if (place.second == rank_) rank = static_cast<uint32_t>(processes.size());
      processes.push_back(process);
    }
    ++splits_;
    return std::make_unique<SocketRank>(sockets_, number_ * 1'000'003 + splits_ * 1'009 + colour, std::move(processes),
                                        rank);
  }

 private:
  std::shared_ptr<Sockets> sockets_;
  uint64_t number_;  // of the communicator, the same at all its ranks
  std::vector<uint32_t> processes_;
  uint32_t rank_;
  uint64_t splits_ = 0;
};

}  // namespace

std::unique_ptr<Communicator> socket_ranks(uint32_t rank, std::vector<int> sockets) {
  std::vector<uint32_t> processes(sockets.size());
  for (uint32_t i = 0; i < processes.size(); ++i) processes[i] = i;
  return std::make_unique<SocketRank>(std::make_shared<Sockets>(std::move(sockets)), 1, std::move(processes), rank);
}

}  // namespace forebay::io

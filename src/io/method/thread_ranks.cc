#include <algorithm>
#include <array>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <tuple>
#include <utility>

#include "io/method/communicator.h"

namespace forebay::io {
namespace {

// What the threads of one communicator share.
struct Exchange {
  explicit Exchange(uint32_t ranks) : gone(ranks, false), scanned(ranks) {}

  std::mutex mutex;
  std::condition_variable changed;
  std::map<std::pair<uint32_t, uint32_t>, std::deque<Bytes>> messages;  // by sender and receiver
  std::vector<bool> gone;
  std::vector<std::vector<uint64_t>> scanned;  // by rank: what it gave to the first scan that it began, the second, ...
};

class ThreadScan final : public PendingScan {
 public:
  ThreadScan(std::shared_ptr<Exchange> exchange, uint32_t rank, size_t number)
      : exchange_(std::move(exchange)), rank_(rank), number_(number) {}

  Result<std::optional<uint64_t>> wait_for(std::chrono::microseconds patience) override {
    std::unique_lock lock(exchange_->mutex);
    if (!exchange_->changed.wait_for(lock, patience, [&] { return is_there(); })) return std::nullopt;
    return sum();
  }

  Result<uint64_t> wait() override {
    std::unique_lock lock(exchange_->mutex);
    exchange_->changed.wait(lock, [&] { return is_there() || is_somebody_gone(); });
    if (!is_there()) return fail(ErrorKind::disconnected, "a rank is gone");
    return sum();
  }

 private:
  bool has(uint32_t rank) const { return exchange_->scanned[rank].size() > number_; }
  bool is_there() const {
    for (uint32_t rank = 0; rank < rank_; ++rank)
      if (!has(rank)) return false;
    return true;
  }
  bool is_somebody_gone() const {
    for (uint32_t rank = 0; rank < rank_; ++rank)
      if (!has(rank) && exchange_->gone[rank]) return true;
    return false;
  }
  uint64_t sum() const {
    uint64_t sum = 0;
    for (uint32_t rank = 0; rank < rank_; ++rank) sum += exchange_->scanned[rank][number_];
    return sum;
  }

  const std::shared_ptr<Exchange> exchange_;
  const uint32_t rank_;
  const size_t number_;
};

class ThreadRank final : public Communicator {
 public:
  ThreadRank(std::shared_ptr<Exchange> exchange, uint32_t rank) : exchange_(std::move(exchange)), rank_(rank) {}
  ~ThreadRank() override {
    const std::lock_guard lock(exchange_->mutex);
    exchange_->gone[rank_] = true;
    exchange_->changed.notify_all();
  }

  uint32_t rank() const override { return rank_; }
  uint32_t size() const override { return static_cast<uint32_t>(exchange_->gone.size()); }

  Result<void> send(std::span<const std::byte> message, uint32_t to) override {
    const std::lock_guard lock(exchange_->mutex);
    if (exchange_->gone.at(to)) return lost(to);
    exchange_->messages[{rank_, to}].emplace_back(message.begin(), message.end());
    exchange_->changed.notify_all();
    return {};
  }

  Result<Bytes> receive(uint32_t from) override {
    std::unique_lock lock(exchange_->mutex);
    auto& queue = exchange_->messages[{from, rank_}];
    exchange_->changed.wait(lock, [&] { return !queue.empty() || exchange_->gone.at(from); });
    if (queue.empty()) return lost(from);
    Bytes message = std::move(queue.front());
    queue.pop_front();
    return message;
  }

  Result<std::unique_ptr<PendingScan>> begin_exclusive_scan(uint64_t mine) override {
    const std::lock_guard lock(exchange_->mutex);
    exchange_->scanned[rank_].push_back(mine);
    exchange_->changed.notify_all();
    return std::make_unique<ThreadScan>(exchange_, rank_, exchange_->scanned[rank_].size() - 1);
  }

  // Rank 0 makes what the ranks of each colour share, and tells each where it is.
  Result<std::unique_ptr<Communicator>> split(uint32_t colour, uint32_t key) override {
    const std::array<uint32_t, 2> mine = {colour, key};
    FOREBAY_TRY(const std::vector<Bytes> all, gather(std::as_bytes(std::span(mine)), 0));
    if (rank_ == 0) FOREBAY_CHECK(hand_out(all));
    FOREBAY_TRY(const Bytes answer, rank_ == 0 ? Result<Bytes>(std::move(own_place_)) : receive(0));
    Place place;
    std::memcpy(&place, answer.data(), sizeof place);
    const std::unique_ptr<std::shared_ptr<Exchange>> shared(place.exchange);
    return std::make_unique<ThreadRank>(*shared, place.rank);
  }

 private:
  struct Place {
    std::shared_ptr<Exchange>* exchange;  // the receiver's
    uint32_t rank;
  };

  std::unexpected<Error> lost(uint32_t rank) const {
    return fail(ErrorKind::disconnected, "rank " + std::to_string(rank) + " is gone");
  }

  Result<void> hand_out(const std::vector<Bytes>& all) {
    std::map<uint32_t, std::vector<std::pair<uint32_t, uint32_t>>> colours;  // key and rank of each
    for (uint32_t from = 0; from < all.size(); ++from) {
      std::array<uint32_t, 2> wish;
      std::memcpy(wish.data(), all[from].data(), sizeof wish);
      colours[wish[0]].emplace_back(wish[1], from);
    }
    for (auto& [colour, ranks] : colours) {
      std::ranges::sort(ranks);
      const auto shared = std::make_shared<Exchange>(static_cast<uint32_t>(ranks.size()));
      for (uint32_t rank = 0; rank < ranks.size(); ++rank) {
        const Place place{new std::shared_ptr<Exchange>(shared), rank};
        Bytes message(sizeof place);
        std::memcpy(message.data(), &place, sizeof place);
        if (ranks[rank].second == 0) {
          own_place_ = std::move(message);
        } else {
          FOREBAY_CHECK(send(message, ranks[rank].second));
        }
      }
    }
    return {};
  }

  std::shared_ptr<Exchange> exchange_;
  uint32_t rank_;
  Bytes own_place_;
};

}  // namespace

std::vector<std::unique_ptr<Communicator>> thread_ranks(uint32_t size) {
  const auto exchange = std::make_shared<Exchange>(size);
  std::vector<std::unique_ptr<Communicator>> ranks;
  for (uint32_t rank = 0; rank < size; ++rank) ranks.push_back(std::make_unique<ThreadRank>(exchange, rank));
  return ranks;
}

}  // namespace forebay::io

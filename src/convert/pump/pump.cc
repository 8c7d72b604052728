#include "convert/pump/pump.h"

#include <algorithm>
#include <atomic>
#include <future>
#include <memory>
#include <mutex>
#include <span>
#include <thread>

#include "base/buffer.h"
#include "convert/pump/pieces.h"

namespace forebay::convert {
namespace {

// Pieces with their values, which lie one after another.
struct Batch {
  std::vector<WantedPiece> pieces;
  std::vector<std::span<std::byte>> values;
  Buffer bytes;
  uint64_t holes = 0;
  view::ReadCost cost;
};

// The smallest batch, by which to begin: it stays in the processor's cache, and memory that was used before is used
// again. A part of the run that is decoded as a whole, and is in several batches, may be decoded for each of them;
// where that is seen, batches become larger.
class BatchSize {
 public:
  explicit BatchSize(uint64_t most) : most_(most), now_(std::min(kLeast, most)) {}
  uint64_t bytes() const { return now_; }

  void learn(const Batch& batch) {
    if (batch.cost.decoded_bytes / 2 > batch.bytes.size()) now_ = std::min(most_, 2 * now_);
  }

 private:
  static constexpr uint64_t kLeast = 16 << 20;
  const uint64_t most_;
  uint64_t now_;
};

class Pump {
 public:
  Pump(const view::Run& run, const Plan& plan, const PumpLimits& limits, const Take& take)
      : run_(run),
        plan_(plan),
        size_(limits.batch_bytes),
        takers_(std::max(1u, limits.takers)),
        take_(take),
        pieces_(plan, std::min(kPieceBytes, limits.batch_bytes)) {}

  Result<Pumped> run() {
    Batch now, ahead;
    FOREBAY_CHECK(fill(now));
    while (!now.pieces.empty()) {
      auto filled = std::async(std::launch::async, [&] { return fill(ahead); });
      const Result<void> taken = take(now);
      const Result<void> read = filled.get();
      FOREBAY_CHECK(taken);
      FOREBAY_CHECK(read);
      std::swap(now, ahead);
    }
    return pumped_;
  }

 private:
  static constexpr uint64_t kPieceBytes = 4 << 20;
  static constexpr size_t kMostPieces = 4096;  // of a batch: each takes some hundred bytes beside its values

  // The next pieces in the place of those of a batch that was taken; none at the end.
  Result<void> fill(Batch& batch) {
    batch.pieces.clear();
    uint64_t bytes = 0;
    while (bytes < size_.bytes() && batch.pieces.size() < kMostPieces) {
      auto piece = pieces_.next();
      if (!piece) break;
      bytes += bytes_of(*piece);
      batch.pieces.push_back(*std::move(piece));
    }
    if (batch.bytes.capacity() < bytes) batch.bytes = Buffer(bytes);
    batch.bytes.resize(bytes);
    FOREBAY_CHECK(read(batch));
    size_.learn(batch);
    return {};
  }

  uint64_t bytes_of(const WantedPiece& piece) const {
    return element_count(piece.box.count) * plan_.datasets[piece.dataset].type.bytes();
  }

  Result<void> read(Batch& batch) const {
    std::vector<std::shared_ptr<const view::Step>> steps;
    std::vector<view::Request> requests;
    batch.values.clear();
    std::span<std::byte> left = batch.bytes.span();
    for (const WantedPiece& piece : batch.pieces) {
      FOREBAY_TRY(auto step, run_.step(plan_.steps[piece.source.step].number));
      batch.values.push_back(left.first(bytes_of(piece)));
      clear(batch.values.back(), plan_.datasets[piece.dataset].fill);
      left = left.subspan(batch.values.back().size());
      requests.push_back({step.get(), piece.source.array, piece.selection, batch.values.back()});
      steps.push_back(std::move(step));
    }
    const view::ReadResult result = view::read(requests);
    batch.holes = 0;
    for (const view::Outcome& outcome : result.outcomes) {
      if (outcome.error) return std::unexpected(*outcome.error);
      batch.holes += outcome.holes;
    }
    batch.cost = result.cost;
    return {};
  }

  // What nobody wrote stays so.
  static void clear(std::span<std::byte> values, const Bytes& element) {
    if (element.empty()) {
      std::ranges::fill(values, std::byte{});
      return;
    }
    for (; !values.empty(); values = values.subspan(element.size())) std::ranges::copy(element, values.begin());
  }

  Result<void> take(const Batch& batch) {
    std::atomic<size_t> next = 0;
    std::mutex mutex;
    Result<void> done;
    const auto work = [&] {
      for (size_t i = next++; i < batch.pieces.size(); i = next++) {
        const Result<void> taken = take_({batch.pieces[i].dataset, batch.pieces[i].box, batch.values[i]});
        if (taken) continue;
        next = batch.pieces.size();
        const std::lock_guard lock(mutex);
        done = taken;
      }
    };
    std::vector<std::jthread> helpers;
    for (size_t i = 1; i < std::min<size_t>(takers_, batch.pieces.size()); ++i) helpers.emplace_back(work);
    work();
    helpers.clear();
    FOREBAY_CHECK(done);
    pumped_.holes += batch.holes;
    pumped_.cost.add(batch.cost);
    return {};
  }

  const view::Run& run_;
  const Plan& plan_;
  BatchSize size_;
  const unsigned takers_;
  const Take& take_;
  Pieces pieces_;
  Pumped pumped_;
};

}  // namespace

Result<Pumped> pump(const view::Run& run, const Plan& plan, const PumpLimits& limits, const Take& take) {
  return Pump(run, plan, limits, take).run();
}

}  // namespace forebay::convert

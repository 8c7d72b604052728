#include "convert/pump/pump.h"

#include <algorithm>
#include <future>
#include <memory>
#include <optional>

#include "convert/pump/pieces.h"

namespace forebay::convert {
namespace {

// Pieces with their values.
struct Batch {
  std::vector<WantedPiece> pieces;
  std::vector<Bytes> values;
  uint64_t holes = 0;
  view::ReadCost cost;
};

class Pump {
 public:
  Pump(const view::Run& run, uint64_t first_step, const Plan& plan, uint64_t batch_bytes, const Take& take)
      : run_(run),
        first_step_(first_step),
        plan_(plan),
        batch_bytes_(batch_bytes),
        take_(take),
        pieces_(plan, std::min(kPieceBytes, batch_bytes)) {}

  Result<Pumped> run() {
    FOREBAY_TRY(std::optional<Batch> now, next());
    while (now) {
      auto ahead = std::async(std::launch::async, [this] { return next(); });
      const Result<void> taken = take(*now);
      auto after = ahead.get();
      FOREBAY_CHECK(taken);
      FOREBAY_TRY(now, std::move(after));
    }
    return pumped_;
  }

 private:
  static constexpr uint64_t kPieceBytes = 4 << 20;

  Result<std::optional<Batch>> next() {
    std::vector<WantedPiece> wanted;
    uint64_t bytes = 0;
    while (bytes < batch_bytes_) {
      auto piece = pieces_.next();
      if (!piece) break;
      bytes += element_count(piece->box.count) * plan_.datasets[piece->dataset].type.bytes();
      wanted.push_back(*std::move(piece));
    }
    if (wanted.empty()) return std::nullopt;
    FOREBAY_TRY(Batch batch, read(std::move(wanted)));
    return batch;
  }

  Result<Batch> read(std::vector<WantedPiece> pieces) const {
    Batch batch{.pieces = std::move(pieces)};
    std::vector<std::shared_ptr<const view::Step>> steps;
    std::vector<view::Request> requests;
    batch.values.reserve(batch.pieces.size());
    for (const WantedPiece& piece : batch.pieces) {
      const Dataset& dataset = plan_.datasets[piece.dataset];
      FOREBAY_TRY(auto step, run_.step(first_step_ + piece.source.step));
      batch.values.emplace_back(element_count(piece.box.count) * dataset.type.bytes());
      requests.push_back({step.get(), piece.source.array, piece.selection, batch.values.back()});
      steps.push_back(std::move(step));
    }
    const view::ReadResult result = view::read(requests);
    for (const view::Outcome& outcome : result.outcomes) {
      if (outcome.error) return std::unexpected(*outcome.error);
      batch.holes += outcome.holes;
    }
    batch.cost = result.cost;
    return batch;
  }

  Result<void> take(const Batch& batch) {
    for (size_t i = 0; i < batch.pieces.size(); ++i)
      FOREBAY_CHECK(take_({batch.pieces[i].dataset, batch.pieces[i].box, batch.values[i]}));
    pumped_.holes += batch.holes;
    pumped_.cost.add(batch.cost);
    return {};
  }

  const view::Run& run_;
  const uint64_t first_step_;
  const Plan& plan_;
  const uint64_t batch_bytes_;
  const Take& take_;
  Pieces pieces_;
  Pumped pumped_;
};

}  // namespace

Result<Pumped> pump(const view::Run& run, uint64_t first_step, const Plan& plan, uint64_t batch_bytes,
                    const Take& take) {
  return Pump(run, first_step, plan, batch_bytes, take).run();
}

}  // namespace forebay::convert

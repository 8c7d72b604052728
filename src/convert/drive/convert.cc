#include "convert/drive/convert.h"

#include <algorithm>
#include <future>
#include <memory>
#include <optional>

#include "convert/drive/pieces.h"

namespace forebay::convert {
namespace {

// Pieces with their values.
struct Batch {
  std::vector<WantedPiece> pieces;
  std::vector<Bytes> values;
  uint64_t holes = 0;
  view::ReadCost cost;
};

Result<Batch> read_batch(const view::Run& run, const Plan& plan, uint64_t first_step, std::vector<WantedPiece> pieces) {
  Batch batch{.pieces = std::move(pieces)};
  std::vector<std::shared_ptr<const view::Step>> steps;
  std::vector<view::Request> requests;
  batch.values.reserve(batch.pieces.size());
  for (const WantedPiece& piece : batch.pieces) {
    const Dataset& dataset = plan.datasets[piece.dataset];
    FOREBAY_TRY(auto step, run.step(first_step + piece.source.step));
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

class Driver {
 public:
  Driver(const view::Run& run, const Wish& wish, Sink& sink, uint64_t batch_bytes, Converted& converted)
      : run_(run),
        wish_(wish),
        sink_(sink),
        batch_bytes_(batch_bytes),
        converted_(converted),
        pieces_(converted.plan, piece_bytes()) {}

  Result<void> run() {
    FOREBAY_TRY(std::optional<Batch> now, next());
    while (now) {
      auto ahead = std::async(std::launch::async, [this] { return next(); });
      const Result<void> written = write(*now);
      auto after = ahead.get();
      FOREBAY_CHECK(written);
      FOREBAY_TRY(now, std::move(after));
    }
    return {};
  }

 private:
  uint64_t piece_bytes() const {
    constexpr uint64_t kPieceBytes = 4 << 20;
    return std::min(kPieceBytes, batch_bytes_);
  }

  Result<std::optional<Batch>> next() {
    std::vector<WantedPiece> wanted;
    uint64_t bytes = 0;
    while (bytes < batch_bytes_) {
      auto piece = pieces_.next();
      if (!piece) break;
      bytes += element_count(piece->box.count) * converted_.plan.datasets[piece->dataset].type.bytes();
      wanted.push_back(*std::move(piece));
    }
    if (wanted.empty()) return std::nullopt;
    FOREBAY_TRY(Batch batch, read_batch(run_, converted_.plan, wish_.steps.first, std::move(wanted)));
    return batch;
  }

  Result<void> write(const Batch& batch) {
    for (size_t i = 0; i < batch.pieces.size(); ++i)
      FOREBAY_CHECK(sink_.write({batch.pieces[i].dataset, batch.pieces[i].box, batch.values[i]}));
    converted_.holes += batch.holes;
    converted_.cost.add(batch.cost);
    return {};
  }

  const view::Run& run_;
  const Wish& wish_;
  Sink& sink_;
  const uint64_t batch_bytes_;
  Converted& converted_;
  Pieces pieces_;
};

}  // namespace

Result<Converted> convert(const view::Run& run, const Wish& wish, const Format& format, const SinkOptions& options,
                          uint64_t memory_bytes) {
  Converted converted;
  FOREBAY_TRY(converted.plan, make_plan(run, wish, format.abilities));
  FOREBAY_TRY(const auto sink, format.make(options));
  FOREBAY_CHECK(sink->begin(converted.plan));
  constexpr uint64_t kBatches = 3;  // one that is read, one that is written, and what the sink makes of pieces
  Driver driver(run, wish, *sink, memory_bytes / kBatches, converted);
  FOREBAY_CHECK(driver.run());
  FOREBAY_CHECK(sink->commit(options.overwrite));
  return converted;
}

}  // namespace forebay::convert

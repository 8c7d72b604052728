#include "convert/drive/convert.h"

#include "convert/pump/pump.h"

namespace forebay::convert {
Result<Converted> convert(const view::Run& run, const Wish& wish, const Format& format, const SinkOptions& options,
                          uint64_t memory_bytes) {
  if (format.convert_blocks != nullptr) return format.convert_blocks(run, wish, options, memory_bytes);
  Converted converted;
  FOREBAY_TRY(converted.plan, make_plan(run, wish, format.abilities));
  if (converted.plan.meanings_differ && !wish.is_meant && !wish.keeps_stored) return converted;
  FOREBAY_TRY(const auto sink, format.make(options));
  FOREBAY_CHECK(sink->begin(converted.plan));
  constexpr uint64_t kBatches = 3;  // one that is read, one that is written, and what the sink makes of pieces
  const PumpLimits limits{.batch_bytes = memory_bytes / kBatches, .takers = format.takes_several ? options.threads : 1};
  const Take take = [&](const Piece& piece) { return sink->write(piece); };
  FOREBAY_TRY(const Pumped pumped, pump(run, converted.plan, limits, take));
  converted.holes = pumped.holes;
  converted.cost = pumped.cost;
  FOREBAY_CHECK(sink->commit(options.overwrite));
  return converted;
}

}  // namespace forebay::convert

#include "job/cache/piece_sink.h"

#include <atomic>
#include <utility>

#include <fmt/format.h>

#include "base/checksum.h"
#include "job/cache/part.h"

namespace forebay::job {

using redundancy::Geometry;

namespace {

std::unexpected<Error> bad_piece(unsigned row, uint64_t piece, const char* what) {
  return fail(ErrorKind::corrupt, fmt::format("piece {} of row {} {}", piece, row, what));
}

}  // namespace

PieceSink::PieceSink(Geometry geometry, unsigned member, Write write)
    : geometry_(std::move(geometry)), member_(member), write_(std::move(write)) {
  for (const bool parity : {false, true}) {
    Pieces& pieces = parity ? parity_ : data_;
    pieces.sums.resize(piece_count(geometry_, member_, parity));
    pieces.states.resize(pieces.sums.size(), unwanted);
  }
}

void PieceSink::want(unsigned row, uint64_t piece, std::optional<uint64_t> sum) {
  const auto index = redundancy::sum_index(geometry_, row, member_, piece);
  if (!index) return;
  Pieces& pieces = pieces_of(geometry_.range(row, member_, piece));
  pieces.states[*index] = sum ? this_sum : any_sum;
  pieces.sums[*index] = sum.value_or(0);
}

void PieceSink::want_parity() { std::ranges::fill(parity_.states, any_sum); }

void PieceSink::want_all(const redundancy::MemberRecord& recorded) {
  data_.sums = recorded.data_sums;
  parity_.sums = recorded.parity_sums;
  std::ranges::fill(data_.states, this_sum);
  std::ranges::fill(parity_.states, this_sum);
}

Result<void> PieceSink::take(unsigned row, uint64_t piece, std::optional<uint64_t> told,
                             std::span<const std::byte> bytes) {
  if (row >= geometry_.members() || piece >= geometry_.pieces()) return bad_piece(row, piece, "does not exist");
  const auto index = redundancy::sum_index(geometry_, row, member_, piece);
  if (!index) return bad_piece(row, piece, "is not of this member");
  const Geometry::Range range = geometry_.range(row, member_, piece);
  Pieces& pieces = pieces_of(range);
  const std::atomic_ref state(pieces.states[*index]);
  uint8_t before = state.load();
  do {
    if (before == unwanted || before == taking || before == there)
      return bad_piece(row, piece, before == unwanted ? "was not asked for" : "came twice");
  } while (!state.compare_exchange_weak(before, taking));
  if (bytes.size() != range.length) return bad_piece(row, piece, "has another length");
  const uint64_t sum = crc64(bytes);
  if (told && sum != *told) return bad_piece(row, piece, "was changed on its way");
  if (before == this_sum && sum != pieces.sums[*index])
    return bad_piece(row, piece, "was computed wrong: its checksum is not the recorded one");
  FOREBAY_CHECK(write_(range, bytes));
  pieces.sums[*index] = sum;
  state.store(there);
  return {};
}

Result<void> PieceSink::check_complete() const {
  for (const bool parity : {false, true})
    FOREBAY_CHECK(for_each_piece(geometry_, member_, parity,
                                 [&](unsigned row, uint64_t piece, const Geometry::Range&) -> Result<void> {
                                   const auto index = redundancy::sum_index(geometry_, row, member_, piece);
                                   const Pieces& pieces = parity ? parity_ : data_;
                                   if (const uint8_t state = pieces.states[*index]; state == unwanted || state == there)
                                     return {};
                                   return bad_piece(row, piece, "did not come");
                                 }));
  return {};
}

}  // namespace forebay::job

// The decoding side of lch. Four lanes are decoded in turns, an element of each, so that the processor works on all of
// them while each waits for its own last symbol.
#include <algorithm>
#include <array>
#include <cstring>

#include "base/buffer.h"
#include "codec/bit_stream.h"
#include "codec/lch/lch.h"
#include "codec/lch/lch_model.h"

namespace forebay::codec::lch {
namespace {

// The most bytes that a group's bits are spread over, with what is read beyond the last.
constexpr size_t kReach = kGroupElements * (kMaxCodeBits + 64) / 8 + 16;

using Lane = BitLane<kReach>;

// Length of the code in bits 0 to 7, number of raw bits in 8 to 15, symbol in 16 to 23, its class as a left neighbour
// above.
constexpr uint32_t make_entry(unsigned length, unsigned raw, unsigned symbol, unsigned left_class) {
  return length | raw << 8 | symbol << 16 | left_class << 24;
}

struct Tables {
  unsigned code_bits;
  std::vector<uint32_t> entries;  // 2^code_bits per context
  std::array<uint64_t, kMaxSymbols> least{};
  ContextTable contexts;

  explicit Tables(const Model& model)
      : code_bits(model.longest_code()), entries(size_t{model.contexts()} << code_bits), contexts(model) {
    for (unsigned symbol = 0; symbol < model.symbols; ++symbol)
      least[symbol] = least_residual(symbol, model.leading_bits);
    for (unsigned context = 0; context < model.contexts(); ++context) fill(model, context);
  }

 private:
  void fill(const Model& model, unsigned context) {
    const auto lengths = model.lengths_of(context);
    std::array<uint32_t, kMaxSymbols> symbols;
    for (unsigned symbol = 0; symbol < model.symbols; ++symbol)
      symbols[symbol] = make_entry(lengths[symbol] == kLoneSymbol ? 0 : lengths[symbol],
                                   raw_bits(symbol, model.leading_bits), symbol, contexts.left_class[symbol]);
    fill_decode_table(lengths, symbols, code_bits, entries.data() + (size_t{context} << code_bits));
  }
};

struct Job {
  const Tables* tables;
  const Lanes* groups;
  std::array<Lane, kLanes>* lanes;
  uint8_t* symbols;  // of all elements, those of zero groups filled in
  std::byte* out;
  size_t elements;
};

// A group of one lane while it is decoded.
template <class U>
struct Cursor {
  const std::byte* from;
  size_t at;
  const uint8_t* upper;
  uint8_t* symbol;
  std::byte* out;
  unsigned left_class;

  FOREBAY_KERNEL void start(const Job& job, size_t lane, size_t index) {
    const Group& group = job.groups->groups[index];
    const Lane& bits = (*job.lanes)[lane];
    from = bits.from();
    at = bits.at();
    symbol = job.symbols + group.first;
    upper = group.distance == 0 ? kNoNeighbours.data() : symbol - group.distance;
    out = job.out + group.first * sizeof(U);
    left_class = job.tables->contexts.left_class[index == job.groups->begin[lane] ? 0 : symbol[-1]];
  }

  FOREBAY_KERNEL void step(const Tables& tables, const uint32_t* entries, unsigned code_bits, size_t i) {
    const size_t context = tables.contexts.context[upper[i]][left_class];
    const uint64_t bits = peek_bits(from, at);
    const uint32_t entry = entries[(context << code_bits) + low_bits(bits, code_bits)];
    const unsigned length = entry & 0xff, raw = entry >> 8 & 0xff;
    const auto found = static_cast<uint8_t>(entry >> 16);
    left_class = entry >> 24;
    symbol[i] = found;
    const uint64_t low = sizeof(U) < 8 ? low_bits(bits >> length, raw) : peek_wide(from, at + length, raw);
    at += length + raw;
    store_le(out + i * sizeof(U), static_cast<U>(tables.least[found] + low));
  }
};

// Decodes `count` elements of a group each of `kCount` lanes from `lane` on. False if a stream is too short.
template <class U, size_t kCount>
FOREBAY_KERNEL bool decode_groups(const Job& job, size_t lane, size_t step, size_t count) {
  Cursor<U> cursors[kCount];
  for (size_t l = 0; l < kCount; ++l) {
    if (!(*job.lanes)[lane + l].prepare()) return false;
    cursors[l].start(job, lane + l, job.groups->begin[lane + l] + step);
  }
  const Tables& tables = *job.tables;
  const uint32_t* const entries = tables.entries.data();
  const unsigned code_bits = tables.code_bits;
  for (size_t i = 0; i < count; ++i)
#pragma GCC unroll 4
    for (size_t l = 0; l < kCount; ++l) cursors[l].step(tables, entries, code_bits, i);
  for (size_t l = 0; l < kCount; ++l) (*job.lanes)[lane + l].set_at(cursors[l].at);
  return true;
}

template <class U>
struct DecodeLanes {
  FOREBAY_KERNEL static void run(const Job* job, bool* good) {
    const Lanes& groups = *job->groups;
    const auto count_of = [&](size_t lane, size_t step) {
      return std::min(kGroupElements, job->elements - groups.groups[groups.begin[lane] + step].first);
    };
    // The lanes differ by one group at most, and only the last group of the last lane may be short.
    size_t steps = groups.groups.size() / kLanes;
    if (steps > 0 && count_of(kLanes - 1, steps - 1) < kGroupElements) --steps;
    *good = true;
    for (size_t step = 0; step < steps && *good; ++step)
      *good = decode_groups<U, kLanes>(*job, 0, step, kGroupElements);
    for (size_t lane = 0; lane < kLanes; ++lane) {
      for (size_t step = steps; step < groups.size(lane) && *good; ++step)
        *good = decode_groups<U, 1>(*job, lane, step, count_of(lane, step));
      *good = *good && (*job->lanes)[lane].is_at_end();
    }
  }
};

// Takes the sizes off the front of `in`, and gives each lane its stream.
Result<void> start_lanes(std::span<const std::byte> in, size_t raw, std::array<Lane, kLanes>& lanes) {
  const size_t size_bytes = lane_size_bytes(raw);
  if (in.size() < (kLanes - 1) * size_bytes) return fail(ErrorKind::corrupt, "lch data are too short");
  const std::byte* sizes = in.data();
  in = in.subspan((kLanes - 1) * size_bytes);
  for (size_t lane = 0; lane < kLanes; ++lane) {
    size_t size = in.size();
    if (lane + 1 < kLanes) {
      std::byte bytes[sizeof(uint32_t)] = {};
      std::memcpy(bytes, sizes + lane * size_bytes, size_bytes);
      size = load_le<uint32_t>(bytes);
    }
    if (size > in.size()) return fail(ErrorKind::corrupt, "lch data are too short");
    lanes[lane].start(in.first(size));
    in = in.subspan(size);
  }
  return {};
}

}  // namespace

template <class U>
Result<void> decode(const FrameShape& shape, std::span<const std::byte> in, std::span<std::byte> out) {
  const size_t count = out.size() / sizeof(U);
  if (count == 0 || shape.element_total() != count || count * sizeof(U) != out.size())
    return fail(ErrorKind::corrupt, "lch data of another size than the frame");
  FOREBAY_TRY(const Head head, read_head(in, (count + kGroupElements - 1) / kGroupElements, sizeof(U) * 8));
  std::array<Lane, kLanes> lanes;
  FOREBAY_CHECK(start_lanes(in, out.size(), lanes));
  const Tables tables(head.model);
  const Lanes groups = make_lanes(shape, head.zero);
  Buffer symbols(count);
  for (size_t i = 0; i < head.zero.size(); ++i) {
    if (head.zero[i] == 0) continue;
    const size_t first = i * kGroupElements, elements = std::min(kGroupElements, count - first);
    std::memset(symbols.data() + first, 0, elements);
    std::memset(out.data() + first * sizeof(U), 0, elements * sizeof(U));
  }
  const Job job{&tables, &groups, &lanes, reinterpret_cast<uint8_t*>(symbols.data()), out.data(), count};
  bool good = false;
  run_kernel<DecodeLanes<U>>(&job, &good);
  if (!good) return fail(ErrorKind::corrupt, "lch data have streams of other lengths than their codes");
  return {};
}

template Result<void> decode<uint8_t>(const FrameShape&, std::span<const std::byte>, std::span<std::byte>);
template Result<void> decode<uint16_t>(const FrameShape&, std::span<const std::byte>, std::span<std::byte>);
template Result<void> decode<uint32_t>(const FrameShape&, std::span<const std::byte>, std::span<std::byte>);
template Result<void> decode<uint64_t>(const FrameShape&, std::span<const std::byte>, std::span<std::byte>);

}  // namespace forebay::codec::lch

// The encoding side of lch: symbols, a model fitted to their counts, then one pass that writes codes and raw bits.
#include <algorithm>
#include <bit>
#include <cstring>

#include "base/buffer.h"
#include "codec/bit_stream.h"
#include "codec/lch/lch.h"
#include "codec/lch/lch_model.h"

namespace forebay::codec::lch {
namespace {

using Counts = std::array<uint32_t, kMaxSymbols>;

// The same as symbol_of() for 32 bits or fewer, but in operations that vectors have: a float's exponent tells the place
// of the top bit, once the bit below it is cleared so that nothing rounds up. `leading` is 1 or more.
FOREBAY_KERNEL uint32_t narrow_symbol_of(uint32_t residual, unsigned leading) {
  constexpr uint32_t kMantissaBits = 23, kExponentBias = 127;
  const uint32_t halved = (residual | uint32_t{1} << leading) >> 1;
  const auto rounded = static_cast<float>(static_cast<int32_t>(halved & ~(halved >> 1)));
  const uint32_t raw = (std::bit_cast<uint32_t>(rounded) >> kMantissaBits) - (kExponentBias - 1) - leading;
  return (raw << leading) + (residual >> raw);
}

// Symbols of all elements, and which groups are zero.
template <class U>
struct FindSymbols {
  FOREBAY_KERNEL static void run(const std::byte* in, size_t count, unsigned leading, uint8_t* symbols, uint8_t* zero) {
    for (size_t first = 0; first < count; first += kGroupElements) {
      const size_t elements = std::min(kGroupElements, count - first);
      *zero++ = find(in + first * sizeof(U), elements, leading, symbols + first) == 0 ? 1 : 0;
    }
  }

 private:
  // Returns the union of the residuals.
  FOREBAY_KERNEL static U find(const std::byte* __restrict in, size_t count, unsigned leading,
                               uint8_t* __restrict symbols) {
    U any = 0;
    for (size_t i = 0; i < count; ++i) {
      const U residual = load_le<U>(in + i * sizeof(U));
      any |= residual;
      if constexpr (sizeof(U) < 8)
        symbols[i] = static_cast<uint8_t>(narrow_symbol_of(residual, leading));
      else
        symbols[i] = static_cast<uint8_t>(symbol_of(residual, leading));
    }
    return any;
  }
};

// What both passes over a group see of it.
struct GroupView {
  const uint8_t* symbols;
  const uint8_t* upper;
  size_t count;
  uint8_t left;  // the symbol before the first

  FOREBAY_KERNEL GroupView(const uint8_t* all, const Group& group, size_t lane_start, size_t elements)
      : symbols(all + group.first),
        upper(group.distance == 0 ? kNoNeighbours.data() : symbols - group.distance),
        count(std::min(kGroupElements, elements - group.first)),
        left(group.first == lane_start ? uint8_t{0} : symbols[-1]) {}
};

struct Frame {
  const std::byte* in;
  size_t elements;
  const uint8_t* symbols;
  const Lanes* lanes;

  GroupView view(size_t lane, size_t group) const {
    return {symbols, lanes->groups[group], lanes->groups[lanes->begin[lane]].first, elements};
  }
};

// Calls function(view) for every `step`th group.
template <class Function>
void for_groups(const Frame& frame, size_t step, const Function& function) {
  for (size_t lane = 0; lane < kLanes; ++lane)
    for (size_t i = frame.lanes->begin[lane]; i < frame.lanes->begin[lane + 1]; i += step)
      function(frame.view(lane, i));
}

// Bounds that divide what was counted into classes of about equal size: that of a symbol is told by its middle.
void set_bounds(const Counts& counts, unsigned classes, std::span<uint8_t> bounds) {
  uint64_t total = 0, below = 0;
  for (const uint32_t count : counts) total += count;
  unsigned made = 0;
  for (unsigned symbol = 0; symbol < kMaxSymbols && made + 1 < classes; ++symbol) {
    const uint64_t middle = 2 * below + counts[symbol];
    while (made + 1 < classes && middle * classes >= 2 * total * (made + 1))
      bounds[made++] = static_cast<uint8_t>(symbol);
    below += counts[symbol];
  }
}

// Chooses the classes from a sample of the groups.
void fit_classes(const Frame& frame, Model& model) {
  constexpr size_t kSampleGroups = 512;
  const size_t step = 1 + frame.lanes->groups.size() / kSampleGroups;
  Counts left{};
  for_groups(frame, step, [&left](const GroupView& group) {
    for (size_t i = 0; i < group.count; ++i) ++left[group.symbols[i]];
  });
  set_bounds(left, model.left_classes, model.left.bounds);
  if (model.upper_classes == 1) return;
  std::vector<Counts> upper(model.left_classes);
  const ContextTable classes(model);
  for_groups(frame, step, [&](const GroupView& group) {
    uint8_t before = group.left;
    for (size_t i = 0; i < group.count; ++i) {
      ++upper[classes.left_class[before]][group.upper[i]];
      before = group.symbols[i];
    }
  });
  for (unsigned i = 0; i < model.left_classes; ++i) set_bounds(upper[i], model.upper_classes, model.upper[i].bounds);
}

// How many classes pay for their codes' lengths, by the number of elements that are coded.
void choose_class_numbers(size_t elements, uint8_t level, Model& model) {
  constexpr size_t kElementsPerLeftClass = 512, kElementsOfTwoUpper = 6144, kElementsOfThreeUpper = 24576;
  const unsigned most_left = level == 0 ? 8 : kMaxLeftClasses;
  model.left_classes = static_cast<unsigned>(std::clamp<size_t>(elements / kElementsPerLeftClass, 1, most_left));
  model.upper_classes = elements < kElementsOfTwoUpper ? 1 : elements < kElementsOfThreeUpper ? 2 : 3;
}

struct CountSymbols {
  FOREBAY_KERNEL static void run(const Frame* frame, const ContextTable* table, Counts* counts) {
    for_groups(*frame, 1, [&](const GroupView& group) {
      unsigned before = table->left_class[group.left];
      for (size_t i = 0; i < group.count; ++i) {
        const uint8_t symbol = group.symbols[i];
        ++counts[table->context[group.upper[i]][before]][symbol];
        before = table->left_class[symbol];
      }
    });
  }
};

// A code, its length and the number of raw bits after it, in one number.
struct CodeEntry {
  static constexpr uint32_t make(uint16_t code, unsigned length, unsigned raw) {
    return uint32_t{code} << 16 | raw << 8 | length;
  }
  FOREBAY_KERNEL static unsigned length(uint32_t entry) { return entry & 0xff; }
  FOREBAY_KERNEL static unsigned raw(uint32_t entry) { return entry >> 8 & 0xff; }
  FOREBAY_KERNEL static uint32_t code(uint32_t entry) { return entry >> 16; }
};

using CodeTable = std::vector<std::array<uint32_t, kMaxSymbols>>;

CodeTable make_code_table(const Model& model) {
  CodeTable table(model.contexts());
  std::array<uint16_t, kMaxSymbols> codes;
  for (unsigned context = 0; context < model.contexts(); ++context) {
    const auto lengths = model.lengths_of(context);
    make_codes(lengths, codes);
    for (unsigned symbol = 0; symbol < model.symbols; ++symbol)
      table[context][symbol] = CodeEntry::make(codes[symbol], lengths[symbol] == kLoneSymbol ? 0 : lengths[symbol],
                                               raw_bits(symbol, model.leading_bits));
  }
  return table;
}

template <class U>
FOREBAY_KERNEL void put_residual(BitWriter& writer, uint32_t entry, U residual) {
  const unsigned length = CodeEntry::length(entry), raw = CodeEntry::raw(entry);
  if (sizeof(U) < 8 || length + raw <= BitWriter::kMaxWidth)
    return writer.put(CodeEntry::code(entry) | low_bits(residual, raw) << length, length + raw);
  writer.put(CodeEntry::code(entry), length);
  writer.put_wide(low_bits(residual, raw), raw);
}

template <class U>
struct WriteLane {
  FOREBAY_KERNEL static void run(const Frame* frame, size_t lane, const ContextTable* table, const CodeTable* codes,
                                 std::byte** out) {
    BitWriter writer(*out);
    const auto* code = codes->data();
    for (size_t at = frame->lanes->begin[lane]; at < frame->lanes->begin[lane + 1]; ++at) {
      const GroupView group = frame->view(lane, at);
      const std::byte* in = frame->in + frame->lanes->groups[at].first * sizeof(U);
      unsigned before = table->left_class[group.left];
      for (size_t i = 0; i < group.count; ++i) {
        const uint8_t symbol = group.symbols[i];
        put_residual(writer, code[table->context[group.upper[i]][before]][symbol], load_le<U>(in + i * sizeof(U)));
        before = table->left_class[symbol];
      }
    }
    *out = writer.finish();
  }
};

// Gives each context its code; returns how many bits the streams take.
uint64_t fit_codes(const std::vector<Counts>& counts, unsigned limit, Model& model) {
  for (const Counts& context : counts)
    for (unsigned symbol = model.symbols; symbol < kMaxSymbols; ++symbol)
      if (context[symbol] != 0) model.symbols = symbol + 1;
  model.lengths.resize(counts.size());
  uint64_t bits = 0;
  for (size_t context = 0; context < counts.size(); ++context) {
    make_code_lengths(std::span(counts[context]).first(model.symbols), limit,
                      std::span(model.lengths[context]).first(model.symbols));
    for (unsigned symbol = 0; symbol < model.symbols; ++symbol) {
      const unsigned length = model.lengths[context][symbol] == kLoneSymbol ? 0 : model.lengths[context][symbol];
      bits += uint64_t{counts[context][symbol]} * (length + raw_bits(symbol, model.leading_bits));
    }
  }
  return bits;
}

// Head, sizes, streams. The caller has made sure of the room.
template <class U>
size_t write(const Frame& frame, const Model& model, const Bytes& head, size_t size_bytes, std::span<std::byte> out) {
  std::memcpy(out.data(), head.data(), head.size());
  std::byte* size_at = out.data() + head.size();
  std::byte* at = size_at + (kLanes - 1) * size_bytes;
  const ContextTable table(model);
  const CodeTable codes = make_code_table(model);
  for (size_t lane = 0; lane < kLanes; ++lane) {
    const std::byte* start = at;
    run_kernel<WriteLane<U>>(&frame, lane, &table, &codes, &at);
    if (lane + 1 == kLanes) break;
    std::byte size[sizeof(uint32_t)];
    store_le(size, static_cast<uint32_t>(at - start));
    std::memcpy(size_at + lane * size_bytes, size, size_bytes);
  }
  return static_cast<size_t>(at - out.data());
}

}  // namespace

template <class U>
size_t encode(const FrameShape& shape, uint8_t level, std::span<const std::byte> in, std::span<std::byte> out) {
  const size_t count = in.size() / sizeof(U);
  if (count == 0 || in.size() > UINT32_MAX) return 0;
  Model model;
  model.leading_bits = kLeadingBits[level];
  Buffer symbols(count);
  auto* const symbol_data = reinterpret_cast<uint8_t*>(symbols.data());
  ZeroGroups zero((count + kGroupElements - 1) / kGroupElements);
  run_kernel<FindSymbols<U>>(in.data(), count, model.leading_bits, symbol_data, zero.data());
  const Lanes lanes = make_lanes(shape, zero);
  const Frame frame{in.data(), count, symbol_data, &lanes};

  choose_class_numbers(lanes.groups.size() * kGroupElements, level, model);
  fit_classes(frame, model);
  std::vector<Counts> counts(model.contexts());
  const ContextTable table(model);
  run_kernel<CountSymbols>(&frame, &table, counts.data());
  const uint64_t bits = fit_codes(counts, kCodeLimit[level], model);
  const Bytes head = write_head(model, zero);
  const size_t size_bytes = lane_size_bytes(in.size());
  if (head.size() + (kLanes - 1) * size_bytes + bits / 8 + kLanes >= in.size()) return 0;
  return write<U>(frame, model, head, size_bytes, out);
}

template size_t encode<uint8_t>(const FrameShape&, uint8_t, std::span<const std::byte>, std::span<std::byte>);
template size_t encode<uint16_t>(const FrameShape&, uint8_t, std::span<const std::byte>, std::span<std::byte>);
template size_t encode<uint32_t>(const FrameShape&, uint8_t, std::span<const std::byte>, std::span<std::byte>);
template size_t encode<uint64_t>(const FrameShape&, uint8_t, std::span<const std::byte>, std::span<std::byte>);

}  // namespace forebay::codec::lch

#include "codec/lch/lch_model.h"

#include <algorithm>
#include <optional>

#include "codec/varint.h"

namespace forebay::codec::lch {
namespace {

enum class ZeroMap : uint8_t { none, bitmap, runs };

// An upper neighbour is one row up in arrays that have rows, else two elements back.
constexpr size_t kLineDistance = 2;

size_t upper_distance(const Block& block) {
  size_t distance = kLineDistance;
  bool inside = false;
  for (size_t i = 4; i-- > 0;) {
    if (block.dims[i] == 1) continue;
    if (inside) return distance;
    distance = static_cast<size_t>(block.dims[i]);
    inside = true;
  }
  return kLineDistance;
}

// Four-bit numbers, two a byte, the first in the low half. A 0 is followed by the number of further 0s, up to 15.
class Nibbles {
 public:
  explicit Nibbles(Bytes& out) : out_(out) {}

  void put_length(uint8_t length) {
    if (length == 0 && zeros_ < 16) {
      ++zeros_;
      return;
    }
    flush_zeros();
    if (length == 0)
      zeros_ = 1;
    else
      put(length);
  }
  void flush_zeros() {
    if (zeros_ == 0) return;
    put(0);
    put(static_cast<uint8_t>(zeros_ - 1));
    zeros_ = 0;
  }

 private:
  void put(uint8_t nibble) {
    if (half_)
      out_.back() |= static_cast<std::byte>(nibble << 4);
    else
      out_.push_back(static_cast<std::byte>(nibble));
    half_ = !half_;
  }

  Bytes& out_;
  bool half_ = false;
  unsigned zeros_ = 0;
};

class NibbleReader {
 public:
  explicit NibbleReader(std::span<const std::byte>& in) : in_(in) {}

  std::optional<uint8_t> take_length() {
    if (zeros_ > 0) {
      --zeros_;
      return uint8_t{0};
    }
    const auto length = take();
    if (length != 0) return length;
    const auto more = take();
    if (!more) return std::nullopt;
    zeros_ = *more;
    return length;
  }
  bool is_between_runs() const { return zeros_ == 0; }

 private:
  std::optional<uint8_t> take() {
    if (half_) {
      half_ = false;
      return static_cast<uint8_t>(last_ >> 4);
    }
    if (in_.empty()) return std::nullopt;
    last_ = std::to_integer<uint8_t>(in_.front());
    in_ = in_.subspan(1);
    half_ = true;
    return static_cast<uint8_t>(last_ & 15);
  }

  std::span<const std::byte>& in_;
  uint8_t last_ = 0;
  bool half_ = false;
  unsigned zeros_ = 0;
};

Bytes zero_bitmap(const ZeroGroups& zero) {
  Bytes map((zero.size() + 7) / 8);
  for (size_t i = 0; i < zero.size(); ++i) map[i / 8] |= static_cast<std::byte>(zero[i] << i % 8);
  return map;
}

Bytes zero_runs(const ZeroGroups& zero) {
  Bytes runs;
  uint8_t value = 0;
  for (auto at = zero.begin(); at != zero.end(); value ^= 1) {
    const auto end = std::find(at, zero.end(), value ^ 1);
    put_varint(runs, static_cast<uint64_t>(end - at));
    at = end;
  }
  return runs;
}

std::unexpected<Error> bad(const char* what) { return fail(ErrorKind::corrupt, what); }

Result<ZeroGroups> read_bitmap(std::span<const std::byte>& in, size_t groups) {
  const size_t bytes = (groups + 7) / 8;
  if (in.size() < bytes) return bad("lch data are too short");
  ZeroGroups zero(groups);
  for (size_t i = 0; i < groups; ++i) zero[i] = std::to_integer<uint8_t>(in[i / 8]) >> i % 8 & 1;
  in = in.subspan(bytes);
  return zero;
}

Result<ZeroGroups> read_runs(std::span<const std::byte>& in, size_t groups) {
  ZeroGroups zero(groups);
  uint8_t value = 0;
  for (size_t at = 0; at < groups; value ^= 1) {
    const auto run = take_varint(in);
    if (!run || *run > groups - at) return bad("lch data have a bad run of zeros");
    std::fill_n(zero.begin() + static_cast<ptrdiff_t>(at), *run, value);
    at += static_cast<size_t>(*run);
  }
  return zero;
}

Result<ZeroGroups> read_zero_groups(std::span<const std::byte>& in, ZeroMap map, size_t groups) {
  switch (map) {
    case ZeroMap::none:
      return ZeroGroups(groups);
    case ZeroMap::bitmap:
      return read_bitmap(in, groups);
    case ZeroMap::runs:
      return read_runs(in, groups);
  }
  return bad("lch data have an unknown map of zeros");
}

template <class Bounds>
void write_bounds(Bytes& out, const Bounds& bounds, unsigned classes) {
  for (unsigned i = 0; i + 1 < classes; ++i) out.push_back(static_cast<std::byte>(bounds[i]));
}

template <class Bounds>
void read_bounds(std::span<const std::byte>& in, Bounds& bounds, unsigned classes) {
  for (unsigned i = 0; i + 1 < classes; ++i) bounds[i] = std::to_integer<uint8_t>(in[i]);
  in = in.subspan(classes - 1);
}

Result<void> read_lengths(std::span<const std::byte>& in, Model& model) {
  model.lengths.resize(model.contexts());
  NibbleReader nibbles(in);
  for (auto& lengths : model.lengths) {
    for (unsigned symbol = 0; symbol < model.symbols; ++symbol) {
      const auto length = nibbles.take_length();
      if (!length) return bad("lch data are too short");
      lengths[symbol] = *length;
    }
    if (!is_code(std::span(lengths).first(model.symbols))) return bad("lch data have a bad code");
  }
  if (!nibbles.is_between_runs()) return bad("lch data have a bad code");
  return {};
}

}  // namespace

unsigned Model::longest_code() const {
  unsigned longest = 0;
  for (const auto& of_context : lengths)
    for (const uint8_t length : of_context)
      if (length != kLoneSymbol) longest = std::max<unsigned>(longest, length);
  return longest;
}

ContextTable::ContextTable(const Model& model) {
  for (unsigned symbol = 0; symbol < kMaxSymbols; ++symbol) {
    left_class[symbol] = static_cast<uint8_t>(model.left.of(symbol, model.left_classes));
    for (unsigned left = 0; left < model.left_classes; ++left)
      context[symbol][left] =
          static_cast<uint8_t>(left * model.upper_classes + model.upper[left].of(symbol, model.upper_classes));
  }
}

Lanes make_lanes(const FrameShape& shape, const ZeroGroups& zero) {
  Lanes lanes;
  lanes.groups.reserve(static_cast<size_t>(std::ranges::count(zero, 0)));
  size_t block_end = 0, distance = 0;
  auto block = shape.blocks.begin();
  for (size_t i = 0; i < zero.size(); ++i) {
    const size_t first = i * kGroupElements;
    for (; block_end <= first; ++block) {
      block_end += static_cast<size_t>(block->count());
      distance = upper_distance(*block);
    }
    if (zero[i] == 0) lanes.groups.push_back({first, distance});
  }
  for (size_t lane = 0; lane <= kLanes; ++lane) lanes.begin[lane] = lane * lanes.groups.size() / kLanes;
  for (size_t lane = 0; lane < kLanes; ++lane)
    for (size_t i = lanes.begin[lane]; i < lanes.begin[lane + 1]; ++i) {
      const size_t start = lanes.groups[lanes.begin[lane]].first;
      if (lanes.groups[i].distance > lanes.groups[i].first - start) lanes.groups[i].distance = 0;
    }
  return lanes;
}

Bytes write_head(const Model& model, const ZeroGroups& zero) {
  Bytes map, runs;
  ZeroMap kind = ZeroMap::none;
  if (std::ranges::find(zero, 1) != zero.end()) {
    map = zero_bitmap(zero);
    runs = zero_runs(zero);
    kind = runs.size() < map.size() ? ZeroMap::runs : ZeroMap::bitmap;
  }
  Bytes out;
  out.push_back(static_cast<std::byte>(model.leading_bits | static_cast<unsigned>(kind) << 2));
  out.push_back(static_cast<std::byte>((model.left_classes - 1) | (model.upper_classes - 1) << 4));
  out.push_back(static_cast<std::byte>(model.symbols - 1));
  write_bounds(out, model.left.bounds, model.left_classes);
  for (unsigned i = 0; i < model.left_classes; ++i) write_bounds(out, model.upper[i].bounds, model.upper_classes);
  Nibbles nibbles(out);
  for (const auto& lengths : model.lengths)
    for (unsigned symbol = 0; symbol < model.symbols; ++symbol) nibbles.put_length(lengths[symbol]);
  nibbles.flush_zeros();
  const Bytes& zeros = kind == ZeroMap::runs ? runs : map;
  out.insert(out.end(), zeros.begin(), zeros.end());
  return out;
}

Result<Head> read_head(std::span<const std::byte>& in, size_t groups, unsigned element_bits) {
  constexpr size_t kFixedBytes = 3;
  if (in.size() < kFixedBytes) return bad("lch data are too short");
  const auto flags = std::to_integer<unsigned>(in[0]), classes = std::to_integer<unsigned>(in[1]);
  Head head;
  Model& model = head.model;
  model.leading_bits = flags & 3;
  model.left_classes = (classes & 15) + 1;
  model.upper_classes = (classes >> 4) + 1;
  model.symbols = std::to_integer<unsigned>(in[2]) + 1;
  in = in.subspan(kFixedBytes);
  if (flags >> 4 != 0 || model.leading_bits > kMaxLeadingBits || model.upper_classes > kMaxUpperClasses ||
      model.symbols > largest_symbol(element_bits, model.leading_bits) + 1)
    return bad("lch data have a bad head");
  if (in.size() < model.left_classes - 1 + model.left_classes * (model.upper_classes - 1))
    return bad("lch data are too short");
  read_bounds(in, model.left.bounds, model.left_classes);
  for (unsigned i = 0; i < model.left_classes; ++i) read_bounds(in, model.upper[i].bounds, model.upper_classes);
  FOREBAY_CHECK(read_lengths(in, model));
  FOREBAY_TRY(head.zero, read_zero_groups(in, static_cast<ZeroMap>(flags >> 2), groups));
  return head;
}

}  // namespace forebay::codec::lch

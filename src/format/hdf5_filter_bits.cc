#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "base/cursor.h"
#include "format/hdf5_filter_steps.h"

namespace forebay::format::hdf5 {
namespace {

// Bits one after another, the most significant one of each byte first. Behind the end there are zeros, and ok() is
// false.
class BitsOfChunk {
 public:
  explicit BitsOfChunk(FilterBytes bytes) : bytes_(bytes) {}

  bool ok() const { return ok_; }

  uint64_t take(unsigned count) {  // at most 64
    uint64_t value = 0;
    while (count > 0) {
      if (at_ / 8 >= bytes_.size()) {
        ok_ = false;
        return 0;
      }
      const auto left = static_cast<unsigned>(8 - at_ % 8), now = std::min(left, count);
      const unsigned byte = std::to_integer<unsigned>(bytes_[at_ / 8]);
      value = value << now | (byte >> (left - now) & ((1U << now) - 1));
      at_ += now;
      count -= now;
    }
    return value;
  }

 private:
  FilterBytes bytes_;
  uint64_t at_ = 0;
  bool ok_ = true;
};

// The elements of an n-bit filter: what each is made of is described by the filter's parameters, from number 3 on.
class NBitElements {
 public:
  NBitElements(FilterValues values, FilterBytes stored) : values_(values), bits_(stored) {}

  // Fills one element of the type that is described from `at` on, and moves `at` behind the description.
  bool fill(size_t& at, std::span<std::byte> element, int depth = 0) {
    enum : uint32_t { kAtomic = 1, kArray = 2, kCompound = 3, kAsItIs = 4 };
    constexpr int kDeepest = 16;
    const uint32_t kind = value(at), size = value(at);
    if (!is_good_ || size == 0 || size > element.size() || depth > kDeepest) return false;
    element = element.first(size);
    switch (kind) {
      case kAtomic:
        return fill_number(at, element);
      case kArray:
        return fill_array(at, element, depth);
      case kCompound:
        return fill_compound(at, element, depth);
      case kAsItIs:
        for (std::byte& byte : element) byte = static_cast<std::byte>(bits_.take(8));
        return bits_.ok();
      default:
        return false;
    }
  }

 private:
  uint32_t value(size_t& at) {
    if (at < values_.size()) return values_[at++];
    is_good_ = false;
    return 0;
  }

  bool fill_number(size_t& at, std::span<std::byte> element) {
    const bool is_big = value(at) != 0;
    const uint64_t precision = value(at), offset = value(at), end = precision + offset;
    if (!is_good_ || precision == 0 || end > 8 * element.size()) return false;
    for (uint64_t byte = (end + 7) / 8; byte-- > offset / 8;) {  // by weight, the heaviest first
      const uint64_t low = std::max(offset, byte * 8), high = std::min(end, byte * 8 + 8);
      element[is_big ? element.size() - 1 - byte : byte] =
          static_cast<std::byte>(bits_.take(static_cast<unsigned>(high - low)) << (low - byte * 8));
    }
    return bits_.ok();
  }

  bool fill_array(size_t& at, std::span<std::byte> element, int depth) {
    const size_t base = at;
    size_t base_bytes = at + 1 < values_.size() ? values_[at + 1] : 0;
    if (base_bytes == 0 || base_bytes > element.size()) return false;
    for (size_t i = 0; i + base_bytes <= element.size(); i += base_bytes) {
      at = base;
      if (!fill(at, element.subspan(i, base_bytes), depth + 1)) return false;
    }
    return true;
  }

  bool fill_compound(size_t& at, std::span<std::byte> element, int depth) {
    const uint32_t members = value(at);
    if (members == 0) return false;
    for (uint32_t i = 0; i < members; ++i) {
      const uint32_t offset = value(at);
      if (!is_good_ || offset >= element.size() || !fill(at, element.subspan(offset), depth + 1)) return false;
    }
    return true;
  }

  FilterValues values_;
  BitsOfChunk bits_;
  bool is_good_ = true;
};

}  // namespace

std::optional<Bytes> undo_nbit(FilterValues values, FilterBytes stored, uint64_t most) {
  enum { kCount, kIsAsItWas, kElements, kType, kSize };
  if (values.size() <= kElements) return {};
  if (values[kIsAsItWas] != 0)
    return stored.size() > most ? std::nullopt : std::optional(Bytes(stored.begin(), stored.end()));
  if (values.size() <= kSize || values[kSize] == 0 || values[kElements] > most / values[kSize]) return {};
  const size_t width = values[kSize];
  Bytes raw(values[kElements] * width);
  NBitElements elements(values, stored);
  for (size_t i = 0; i < raw.size(); i += width)
    if (size_t at = kType; !elements.fill(at, std::span(raw).subspan(i, width))) return {};
  return raw;
}

namespace {

struct ScaleOffset {
  uint32_t kind = 0, factor = 0, elements = 0, size = 0;
  bool is_real = false, is_big = false, has_fill = false;
  uint64_t fill = 0, least = 0;
  unsigned bits = 0;  // of each packed number

  uint64_t marks_fill() const { return (uint64_t{1} << bits) - 1; }  // of the packed numbers the largest one
};

std::optional<ScaleOffset> scale_offset_of(FilterValues values) {
  enum { kKind, kFactor, kElements, kClass, kSize, kSign, kOrder, kHasFill, kFill };
  if (values.size() <= kHasFill) return {};
  ScaleOffset said{
      .kind = values[kKind], .factor = values[kFactor], .elements = values[kElements], .size = values[kSize]};
  said.is_real = values[kClass] == 1;
  said.is_big = values[kOrder] == 1;
  said.has_fill = values[kHasFill] == 1;
  for (size_t i = kFill; i < std::min<size_t>(values.size(), kFill + 2); ++i)
    said.fill |= uint64_t{values[i]} << (32 * (i - kFill));
  const bool is_size = said.size == 1 || said.size == 2 || said.size == 4 || said.size == 8;
  if (!is_size || values[kClass] > 1 || (said.is_real && said.size < 4)) return {};
  return said;
}

template <class T>
T real_of(uint64_t bits) {
  T value;
  const auto narrow = static_cast<std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>>(bits);
  std::memcpy(&value, &narrow, sizeof value);
  return value;
}

// The bits of the real number that a packed one stands for: with the arithmetic of HDF5, in the type itself.
template <class T>
uint64_t scaled_real(const ScaleOffset& said, uint64_t packed, T scale) {
  using Signed = std::conditional_t<sizeof(T) == 4, int32_t, int64_t>;
  using Unsigned = std::make_unsigned_t<Signed>;
  const T value = static_cast<T>(static_cast<Signed>(packed)) / scale + real_of<T>(said.least);
  Unsigned bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

void put_number(uint64_t value, bool is_big, std::span<std::byte> element) {
  for (size_t i = 0; i < element.size(); ++i)
    element[is_big ? element.size() - 1 - i : i] = static_cast<std::byte>(value >> (8 * i));
}

}  // namespace

// Numbers as what is to be added to the least of them: integers, or reals with a number of decimal digits (D-scaling;
// of E-scaling HDF5 has the name only).
std::optional<Bytes> undo_scale_offset(FilterValues values, FilterBytes stored, uint64_t most) {
  constexpr size_t kHead = 21;
  constexpr uint32_t kDecimal = 0, kInteger = 2;
  auto said = scale_offset_of(values);
  if (!said || said->elements > most / said->size) return {};
  if (said->kind != (said->is_real ? kDecimal : kInteger)) return {};
  const unsigned all_bits = 8 * said->size;
  if (!said->is_real && said->factor == all_bits)
    return stored.size() > most ? std::nullopt : std::optional(Bytes(stored.begin(), stored.end()));
  Cursor head(stored);
  const uint32_t bits = head.u32();
  const uint8_t least_bytes = head.u8();
  said->least = head.number(std::min<size_t>(least_bytes, sizeof(uint64_t)));
  if (!head.ok() || stored.size() < kHead || bits > all_bits) return {};
  said->bits = bits;
  Bytes raw(uint64_t{said->elements} * said->size);
  if (bits == all_bits) {  // as they were, in the byte order of the machine that wrote them
    const FilterBytes numbers = stored.subspan(kHead);
    if (numbers.size() < raw.size()) return {};
    for (size_t i = 0; i < raw.size(); i += said->size)
      put_number(Cursor(numbers.subspan(i, said->size)).number(said->size), said->is_big,
                 std::span(raw).subspan(i, said->size));
    return raw;
  }
  const auto digits = static_cast<int32_t>(said->factor);
  const double scale = std::pow(10.0, static_cast<double>(digits));
  const float scale_of_floats = std::pow(10.0F, static_cast<float>(digits));
  BitsOfChunk packed(stored.subspan(kHead));
  for (size_t i = 0; i < raw.size(); i += said->size) {
    uint64_t value = packed.take(bits);
    if (said->has_fill && value == said->marks_fill())
      value = said->fill;
    else if (!said->is_real)
      value += said->least;
    else
      value = said->size == 4 ? scaled_real<float>(*said, value, scale_of_floats)
                              : scaled_real<double>(*said, value, scale);
    put_number(value, said->is_big, std::span(raw).subspan(i, said->size));
  }
  if (!packed.ok()) return {};
  return raw;
}

namespace {

// Bit j of byte i becomes bit i of byte j.
uint64_t transpose_8x8(uint64_t x) {
  uint64_t t = (x ^ (x >> 7)) & 0x00AA00AA00AA00AAULL;
  x ^= t ^ (t << 7);
  t = (x ^ (x >> 14)) & 0x0000CCCC0000CCCCULL;
  x ^= t ^ (t << 14);
  t = (x ^ (x >> 28)) & 0x00000000F0F0F0F0ULL;
  return x ^ t ^ (t << 28);
}

// A block of elements, a multiple of eight, of which all bits of one weight lie together.
void unshuffle_bits(FilterBytes stored, size_t width, std::span<std::byte> raw) {
  const size_t row = stored.size() / width / 8;  // bytes: a bit of each element
  for (size_t byte = 0; byte < width; ++byte)
    for (size_t group = 0; group < row; ++group) {
      uint64_t bits = 0;
      for (size_t bit = 0; bit < 8; ++bit)
        bits |= std::to_integer<uint64_t>(stored[(byte * 8 + bit) * row + group]) << (8 * bit);
      bits = transpose_8x8(bits);
      for (size_t i = 0; i < 8; ++i) raw[(group * 8 + i) * width + byte] = static_cast<std::byte>(bits >> (8 * i));
    }
}

struct BitShuffle {
  size_t width = 0;    // bytes of an element
  uint64_t block = 0;  // elements
  uint32_t packing = 0;
};

enum : uint32_t { kNotPacked = 0, kLz4 = 2, kZstd = 3 };
enum : size_t { kMajor, kMinor, kWidth, kBlock, kPacking };  // the filter's parameters

uint32_t packing_of(FilterValues values) { return values.size() > kPacking ? values[kPacking] : kNotPacked; }

// The blocks, and behind them the few elements that make no group of eight, as they are.
std::optional<Bytes> undo_blocks(const BitShuffle& said, Cursor stored, uint64_t size) {
  constexpr uint64_t kGroup = 8;
  if (said.block == 0 || said.block % kGroup != 0) return {};
  Bytes raw(size);
  const uint64_t grouped = size / said.width / kGroup * kGroup;  // elements
  Bytes shuffled;
  for (uint64_t at = 0; at < grouped;) {
    const uint64_t elements = std::min(said.block, grouped - at);
    const auto out = std::span(raw).subspan(at * said.width, elements * said.width);
    if (said.packing == kNotPacked) {
      const auto here = stored.bytes(out.size());
      if (here.empty()) return {};
      unshuffle_bits(here, said.width, out);
    } else {
      const auto packed = stored.bytes(stored.be<uint32_t>());
      shuffled.resize(out.size());
      if (packed.empty() ||
          !(said.packing == kLz4 ? unpack_lz4_block(packed, shuffled) : unpack_zstd_block(packed, shuffled)))
        return {};
      unshuffle_bits(shuffled, said.width, out);
    }
    at += elements;
  }
  const auto rest = stored.bytes(size - grouped * said.width);
  if (!stored.ok()) return {};
  std::ranges::copy(rest, raw.begin() + static_cast<ptrdiff_t>(grouped * said.width));
  return raw;
}

}  // namespace

bool can_undo_bitshuffle(FilterValues values) {
#ifdef FOREBAY_HAVE_LZ4
  if (packing_of(values) == kLz4) return true;
#endif
  return packing_of(values) == kNotPacked || packing_of(values) == kZstd;
}

std::optional<Bytes> undo_bitshuffle(FilterValues values, FilterBytes stored, uint64_t most) {
  constexpr uint64_t kTargetBytes = 8192, kGroup = 8, kLeast = 128;
  if (values.size() <= kWidth || values[kWidth] == 0) return {};
  BitShuffle said{
      .width = values[kWidth], .block = values.size() > kBlock ? values[kBlock] : 0, .packing = packing_of(values)};
  Cursor cursor(stored);
  uint64_t size = stored.size();
  if (said.packing != kNotPacked) {
    size = cursor.be<uint64_t>();
    said.block = cursor.be<uint32_t>() / said.width;
  } else if (said.block == 0) {
    said.block = std::max(kTargetBytes / said.width / kGroup * kGroup, kLeast);
  }
  if (!cursor.ok() || size > most || size % said.width != 0) return {};
  return undo_blocks(said, cursor, size);
}

}  // namespace forebay::format::hdf5

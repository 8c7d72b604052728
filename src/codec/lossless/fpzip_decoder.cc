#include "codec/lossless/fpzip_decoder.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <type_traits>

#include "base/bytes.h"

namespace forebay::codec {
namespace {

constexpr unsigned kFrequencyBits = 16;
constexpr uint32_t kTotal = 1u << kFrequencyBits;

// A quasi-static probability model (after M. Schindler): the frequencies that the coder uses are renewed after a number
// of symbols, which doubles up to kMaxPeriod.
template <unsigned kSymbols>
class Model {
 public:
  Model() {
    frequency_.fill(kTotal / kSymbols);
    for (unsigned i = 0; i < kTotal % kSymbols; ++i) ++frequency_[i];
    cumulative_[kSymbols] = kTotal;
    renew();
  }

  // The symbol whose interval [begin(symbol), begin(symbol + 1)) has `at`, which is less than kTotal.
  unsigned find(uint32_t at) const {
    return static_cast<unsigned>(std::upper_bound(cumulative_.begin() + 1, cumulative_.end() - 1, at) -
                                 cumulative_.begin()) -
           1;
  }
  uint32_t begin(unsigned symbol) const { return cumulative_[symbol]; }

  void count(unsigned symbol) {
    if (left_ == 0) renew();
    --left_;
    frequency_[symbol] += increment_;
  }

 private:
  static constexpr uint32_t kMaxPeriod = 1024;

  void renew() {
    if (left_with_more_ > 0) {  // the remainder of the last division is handed out one by one
      left_ = left_with_more_;
      left_with_more_ = 0;
      ++increment_;
      return;
    }
    period_ = std::min(2 * period_, kMaxPeriod);
    uint32_t begin = kTotal, missing = kTotal;
    for (unsigned i = kSymbols; i-- > 0;) {
      begin -= frequency_[i];
      cumulative_[i] = begin;
      frequency_[i] = frequency_[i] >> 1 | 1;
      missing -= frequency_[i];
    }
    increment_ = missing / period_;
    left_with_more_ = missing % period_;
    left_ = period_ - left_with_more_;
  }

  std::array<uint32_t, kSymbols> frequency_;
  std::array<uint32_t, kSymbols + 1> cumulative_;
  uint32_t period_ = kSymbols >> 4 | 2, increment_ = 0, left_ = 0, left_with_more_ = 0;
};

// A range decoder. After a symbol that no encoder can have written, or past the end of its input, it goes on with
// arbitrary symbols; failed() tells. Both checks together keep the state within what encoders can reach, so that the
// range never becomes 0.
class RangeDecoder {
 public:
  explicit RangeDecoder(std::span<const std::byte> in) : at_(in.data()), end_(in.data() + in.size()) { shift_in(4); }

  template <class M>
  unsigned symbol(M& model) {
    range_ >>= kFrequencyBits;
    const unsigned found = model.find(position(kTotal));
    const uint32_t begin = model.begin(found), width = model.begin(found + 1) - begin;
    model.count(found);
    low_ += range_ * begin;
    range_ *= width;
    normalise();
    return found;
  }

  // A number of `count` bits, sent in groups of 16 from the lowest.
  uint64_t bits(unsigned count) {
    uint64_t value = 0;
    for (unsigned done = 0; done < count; done += 16) {
      const unsigned group = std::min(count - done, 16u);
      range_ >>= group;
      const uint32_t part = position(1u << group);
      low_ += range_ * part;
      normalise();
      value |= uint64_t{part} << done;
    }
    return value;
  }

  bool failed() const { return failed_; }
  bool at_end() const { return at_ == end_; }

 private:
  // Which of `count` subranges the code lies in.
  uint32_t position(uint32_t count) {
    const uint32_t found = (code_ - low_) / range_;
    if (found < count) return found;
    failed_ = true;
    return 0;
  }

  void normalise() {
    while ((low_ ^ (low_ + range_)) >> 24 == 0) {
      shift_in(1);
      range_ <<= 8;
    }
    if (range_ >> 16 == 0) {  // the carry is still open, but the range too small: cut it down to end the carry
      shift_in(2);
      range_ = 0 - low_;
    }
  }

  void shift_in(unsigned bytes) {
    for (; bytes > 0; --bytes) {
      failed_ = failed_ || at_ == end_;
      code_ = code_ << 8 | (at_ == end_ ? 0 : std::to_integer<uint32_t>(*at_++));
      low_ <<= 8;
    }
  }

  const std::byte *at_, *end_;
  uint32_t code_ = 0, low_ = 0, range_ = UINT32_MAX;
  bool failed_ = false;
};

// Floats as unsigned integers in descending order of value.
template <class U>
U flip(U bits) {
  return bits ^ static_cast<U>(static_cast<U>(0 - (bits >> (sizeof(U) * 8 - 1))) >> 1);
}

template <class T>
class FieldDecoder {
  using U = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  static constexpr unsigned kBits = sizeof(T) * 8;

 public:
  explicit FieldDecoder(RangeDecoder& decoder) : decoder_(decoder) {}

  T next(T prediction) {
    const unsigned symbol = decoder_.symbol(model_);
    if (symbol == kBits) return prediction;
    const bool above = symbol > kBits;
    const unsigned length = above ? symbol - kBits - 1 : kBits - 1 - symbol;
    const U distance = static_cast<U>((U{1} << length) + decoder_.bits(length));
    const U predicted = flip(static_cast<U>(~std::bit_cast<U>(prediction)));
    return std::bit_cast<T>(static_cast<U>(~flip(above ? predicted + distance : predicted - distance)));
  }

 private:
  RangeDecoder& decoder_;
  Model<2 * kBits + 1> model_;
};

template <class T>
T load(const std::byte* row, size_t x) {
  using U = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  return row == nullptr ? T{0} : std::bit_cast<T>(load_le<U>(row + x * sizeof(T)));
}

// One row from its neighbours (null: zeros). The order of the additions is part of the format.
template <class T>
void decode_row(FieldDecoder<T>& field, size_t nx, const std::byte* above, const std::byte* behind,
                const std::byte* behind_above, std::byte* out) {
  using U = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  T f100 = 0, f110 = 0, f101 = 0, f111 = 0;
  for (size_t x = 0; x < nx; ++x) {
    const T f010 = load<T>(above, x), f001 = load<T>(behind, x), f011 = load<T>(behind_above, x);
    const T value = field.next(f100 - f011 + f010 - f101 + f001 - f110 + f111);
    store_le(out + x * sizeof(T), std::bit_cast<U>(value));
    f100 = value;
    f110 = f010;
    f101 = f001;
    f111 = f011;
  }
}

}  // namespace

template <class T>
Result<void> decode_fpzip(std::span<const std::byte> stream, const FpzipShape& shape, std::byte* out) {
  RangeDecoder decoder(stream);
  const size_t row = shape.nx * sizeof(T), plane = row * shape.ny;
  for (size_t f = 0; f < shape.nf; ++f) {
    FieldDecoder<T> field(decoder);
    for (size_t z = 0; z < shape.nz; ++z)
      for (size_t y = 0; y < shape.ny; ++y, out += row) {
        decode_row(field, shape.nx, y > 0 ? out - row : nullptr, z > 0 ? out - plane : nullptr,
                   y > 0 && z > 0 ? out - plane - row : nullptr, out);
        if (decoder.failed()) return fail(ErrorKind::corrupt, "damaged fpzip data");
      }
  }
  if (!decoder.at_end()) return fail(ErrorKind::corrupt, "fpzip data are too long");
  return {};
}

template Result<void> decode_fpzip<float>(std::span<const std::byte>, const FpzipShape&, std::byte*);
template Result<void> decode_fpzip<double>(std::span<const std::byte>, const FpzipShape&, std::byte*);

}  // namespace forebay::codec

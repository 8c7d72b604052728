// FPC: M. Burtscher and P. Ratanaworabhan, "FPC: A High-Speed Compressor for Double-Precision Floating-Point Data",
// IEEE Transactions on Computers 58 (2009). Two predictors by hash table (the last values that followed a context of
// values, and of differences); the better one's XOR with the value, less its leading zero bytes, is stored.
#include <algorithm>
#include <bit>
#include <vector>

#include "codec/codec_ids.h"
#include "codec/own_codecs.h"

namespace forebay::codec {
namespace {

constexpr unsigned kFpcLevel = 10;

// The exponent of the table size: tables of more than twice the elements would only cost time and memory.
unsigned table_log(uint8_t level, size_t count) {
  return std::min(level == 0 ? kFpcLevel : level, static_cast<unsigned>(std::bit_width(count)));
}

// The two predictors of the paper's section 3, sharing what both sides do after each value.
class Predictors {
 public:
  explicit Predictors(unsigned log)
      : mask_((size_t{1} << log) - 1), values_(size_t{1} << log), differences_(size_t{1} << log) {}

  uint64_t by_value() const { return values_[value_hash_]; }
  uint64_t by_difference() const { return differences_[difference_hash_] + last_; }

  void learn(uint64_t value) {
    values_[value_hash_] = value;
    value_hash_ = ((value_hash_ << 6) ^ (value >> 48)) & mask_;
    const uint64_t difference = value - last_;
    differences_[difference_hash_] = difference;
    difference_hash_ = ((difference_hash_ << 2) ^ (difference >> 40)) & mask_;
    last_ = value;
  }

 private:
  const size_t mask_;
  std::vector<uint64_t> values_, differences_;
  size_t value_hash_ = 0, difference_hash_ = 0;
  uint64_t last_ = 0;
};

// Three bits for the number of leading zero bytes: 4 occurs seldom and counts as 3, so that 8 fits.
unsigned code_of_zero_bytes(unsigned zero_bytes) { return zero_bytes >= 4 ? zero_bytes - 1 : zero_bytes; }
unsigned stored_bytes(unsigned code) { return 8 - (code >= 4 ? code + 1 : code); }

uint64_t load(ByteOrder order, const std::byte* from) {
  return order == ByteOrder::big ? load_be<uint64_t>(from) : load_le<uint64_t>(from);
}

// Only the `count` low bytes of the eight at `from`, which may lie at the very end of the input.
uint64_t load_low_bytes(const std::byte* from, unsigned count) {
  std::byte bytes[8] = {};
  std::copy_n(from, count, bytes);
  return load_le<uint64_t>(bytes);
}

class Fpc final : public Codec {
 public:
  uint16_t id() const override { return kFpcId; }
  std::string_view name() const override { return "fpc"; }
  uint8_t max_level() const override { return 25; }
  bool accepts(const FrameShape& shape) const override { return shape.type.size == 8; }
  bool is_transform() const override { return false; }
  size_t bound(size_t raw) const override { return raw + raw / 16 + 1 + 8; }
  size_t scratch_bytes(uint8_t level, size_t raw) const override { return size_t{16} << table_log(level, raw / 8); }

  size_t encode(const Context& context, std::span<const std::byte> in, std::span<std::byte> out) const override {
    const size_t count = in.size() / 8;
    std::byte* codes = out.data();
    std::byte* residuals = codes + (count + 1) / 2;
    Predictors predictors(table_log(context.level, count));
    for (size_t i = 0; i < count; ++i) {
      const uint64_t value = load(context.shape.type.order, in.data() + 8 * i);
      const uint64_t by_value = value ^ predictors.by_value();
      const uint64_t by_difference = value ^ predictors.by_difference();
      predictors.learn(value);
      const uint64_t residual = std::min(by_value, by_difference);
      const unsigned zero_bytes = static_cast<unsigned>(std::countl_zero(residual)) / 8;
      const unsigned zero_code = code_of_zero_bytes(zero_bytes);
      const auto code = static_cast<std::byte>((by_difference < by_value ? 8 : 0) | zero_code);
      codes[i / 2] = i % 2 == 0 ? code : codes[i / 2] | code << 4;
      store_le(residuals, residual);
      residuals += stored_bytes(zero_code);
    }
    return static_cast<size_t>(residuals - out.data());
  }

  Result<void> decode(const Context& context, std::span<const std::byte> in, std::span<std::byte> out) const override {
    const size_t count = out.size() / 8;
    const size_t code_bytes = (count + 1) / 2;
    if (out.size() % 8 != 0 || in.size() < code_bytes) return fail(ErrorKind::corrupt, "fpc data are too short");
    const std::byte* codes = in.data();
    const std::byte* residuals = codes + code_bytes;
    const std::byte* const end = in.data() + in.size();
    Predictors predictors(table_log(context.level, count));
    for (size_t i = 0; i < count; ++i) {
      const auto code = std::to_integer<unsigned>(codes[i / 2] >> (i % 2 == 0 ? 0 : 4)) & 15;
      const unsigned bytes = stored_bytes(code & 7);
      if (static_cast<size_t>(end - residuals) < bytes) return fail(ErrorKind::corrupt, "fpc data are too short");
      const uint64_t residual = load_low_bytes(residuals, bytes);
      residuals += bytes;
      const uint64_t value = residual ^ ((code & 8) != 0 ? predictors.by_difference() : predictors.by_value());
      predictors.learn(value);
      store_le(out.data() + 8 * i, context.shape.type.order == ByteOrder::big ? std::byteswap(value) : value);
    }
    if (residuals != end) return fail(ErrorKind::corrupt, "fpc data are too long");
    return {};
  }
};

}  // namespace

const Codec& fpc_codec() {
  static const Fpc codec;
  return codec;
}

}  // namespace forebay::codec

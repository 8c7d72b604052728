// Bit shuffle: all lowest bits of the elements, then all second bits, and so on.
#include <algorithm>

#include "codec/codec_ids.h"
#include "codec/lossless/byte_planes.h"
#include "codec/own_codecs.h"
#include "codec/simd.h"

namespace forebay::codec {
namespace {

constexpr size_t kPlaneTile = 1024;  // elements at a time; eight of them make one byte of each bit plane
constexpr size_t kMaxWidth = 8;

// Transposes each word seen as an 8 x 8 matrix of bits: bit j of byte i becomes bit i of byte j. (Hacker's Delight,
// section 7-3: swap 1 x 1, 2 x 2 and 4 x 4 blocks across the diagonal.) Its own inverse.
struct TransposeBits {
  FOREBAY_KERNEL static void run(std::byte* bytes, size_t words) {
    for (size_t i = 0; i < words; ++i) {
      uint64_t x = load_le<uint64_t>(bytes + 8 * i);
      uint64_t swap = (x ^ (x >> 7)) & 0x00aa00aa00aa00aa;
      x ^= swap ^ (swap << 7);
      swap = (x ^ (x >> 14)) & 0x0000cccc0000cccc;
      x ^= swap ^ (swap << 14);
      swap = (x ^ (x >> 28)) & 0x00000000f0f0f0f0;
      x ^= swap ^ (swap << 28);
      store_le(bytes + 8 * i, x);
    }
  }
};

class Bitshuffle final : public Codec {
 public:
  uint16_t id() const override { return kBitshuffleId; }
  std::string_view name() const override { return "bitshuffle"; }
  uint8_t max_level() const override { return 0; }
  bool accepts(const FrameShape& shape) const override {
    const size_t width = shape.type.size;
    return width == 1 || width == 2 || width == 4 || width == 8;
  }
  bool is_transform() const override { return true; }
  size_t bound(size_t raw) const override { return raw; }
  size_t scratch_bytes(uint8_t, size_t) const override { return 0; }

  size_t encode(const Context& context, std::span<const std::byte> in, std::span<std::byte> out) const override {
    const size_t width = context.shape.type.size;
    const size_t whole = in.size() / width / 8 * 8;  // elements in full groups of eight; the rest is copied
    std::byte planes[kPlaneTile * kMaxWidth];
    for (size_t at = 0; at < whole; at += kPlaneTile) {
      const size_t count = std::min(kPlaneTile, whole - at);
      split_planes(in.data() + at * width, count, width, planes, count);
      run_kernel<TransposeBits>(planes, count * width / 8);
      for (size_t b = 0; b < width; ++b)
        split_planes(planes + b * count, count / 8, 8, out.data() + (b * whole + at / 8), whole / 8);
    }
    std::ranges::copy(in.subspan(whole * width), out.subspan(whole * width).begin());
    return in.size();
  }

  Result<void> decode(const Context& context, std::span<const std::byte> in, std::span<std::byte> out) const override {
    FOREBAY_CHECK(check_transform_input(context.shape, in, out));
    const size_t width = context.shape.type.size;
    const size_t whole = out.size() / width / 8 * 8;
    std::byte planes[kPlaneTile * kMaxWidth];
    for (size_t at = 0; at < whole; at += kPlaneTile) {
      const size_t count = std::min(kPlaneTile, whole - at);
      for (size_t b = 0; b < width; ++b)
        join_planes(in.data() + (b * whole + at / 8), whole / 8, count / 8, 8, planes + b * count);
      run_kernel<TransposeBits>(planes, count * width / 8);
      join_planes(planes, count, count, width, out.data() + at * width);
    }
    std::ranges::copy(in.subspan(whole * width), out.subspan(whole * width).begin());
    return {};
  }
};

}  // namespace

const Codec& bitshuffle_codec() {
  static const Bitshuffle codec;
  return codec;
}

}  // namespace forebay::codec

// LZ4 block format, through liblz4. Level 0 is the fast compressor; 1 to 12 are the levels of LZ4 HC.
#ifdef FOREBAY_HAVE_LZ4

#include <limits>

#include <lz4.h>
#include <lz4hc.h>

#include "codec/codec_ids.h"
#include "codec/own_codecs.h"

namespace forebay::codec {
namespace {

class Lz4 final : public Codec {
 public:
  uint16_t id() const override { return kLz4Id; }
  std::string_view name() const override { return "lz4"; }
  uint8_t max_level() const override { return LZ4HC_CLEVEL_MAX; }
  bool accepts(const FrameShape& shape) const override {
    return shape.element_total() <= LZ4_MAX_INPUT_SIZE / shape.type.size;
  }
  bool is_transform() const override { return false; }
  size_t bound(size_t raw) const override { return raw + raw / 255 + 16; }
  size_t scratch_bytes(uint8_t level, size_t) const override {
    return static_cast<size_t>(level == 0 ? LZ4_sizeofState() : LZ4_sizeofStateHC());
  }

  size_t encode(const Context& context, std::span<const std::byte> in, std::span<std::byte> out) const override {
    if (in.empty()) return 0;
    const auto* from = reinterpret_cast<const char*>(in.data());
    auto* to = reinterpret_cast<char*>(out.data());
    const int in_size = static_cast<int>(in.size()), out_size = static_cast<int>(out.size());
    const int size = context.level == 0 ? LZ4_compress_default(from, to, in_size, out_size)
                                        : LZ4_compress_HC(from, to, in_size, out_size, context.level);
    return size > 0 ? static_cast<size_t>(size) : 0;
  }

  Result<void> decode(const Context&, std::span<const std::byte> in, std::span<std::byte> out) const override {
    constexpr size_t kMax = std::numeric_limits<int>::max();
    if (in.size() > kMax || out.size() > kMax) return fail(ErrorKind::corrupt, "a frame too large for lz4");
    const int size = LZ4_decompress_safe(reinterpret_cast<const char*>(in.data()), reinterpret_cast<char*>(out.data()),
                                         static_cast<int>(in.size()), static_cast<int>(out.size()));
    if (size < 0 || static_cast<size_t>(size) != out.size()) return fail(ErrorKind::corrupt, "damaged lz4 data");
    return {};
  }
};

}  // namespace

const Codec& lz4_codec() {
  static const Lz4 codec;
  return codec;
}

}  // namespace forebay::codec

#endif

// Byte shuffle: all first bytes of the elements, then all second bytes, and so on.
#include "codec/codec_ids.h"
#include "codec/lossless/byte_planes.h"
#include "codec/own_codecs.h"

namespace forebay::codec {
namespace {

class Shuffle final : public Codec {
 public:
  uint16_t id() const override { return kShuffleId; }
  std::string_view name() const override { return "shuffle"; }
  uint8_t max_level() const override { return 0; }
  bool accepts(const FrameShape& shape) const override { return shape.type.size > 1; }
  bool is_transform() const override { return true; }
  size_t bound(size_t raw) const override { return raw; }
  size_t scratch_bytes(uint8_t, size_t) const override { return 0; }

  size_t encode(const Context& context, std::span<const std::byte> in, std::span<std::byte> out) const override {
    const size_t width = context.shape.type.size, count = in.size() / width;
    split_planes(in.data(), count, width, out.data(), count);
    return in.size();
  }

  Result<void> decode(const Context& context, std::span<const std::byte> in, std::span<std::byte> out) const override {
    FOREBAY_CHECK(check_transform_input(context.shape, in, out));
    const size_t width = context.shape.type.size, count = out.size() / width;
    join_planes(in.data(), count, count, width, out.data());
    return {};
  }
};

}  // namespace

const Codec& shuffle_codec() {
  static const Shuffle codec;
  return codec;
}

}  // namespace forebay::codec

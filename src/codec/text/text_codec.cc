#include <algorithm>

#include "codec/codec_ids.h"
#include "codec/own_codecs.h"
#include "codec/text/text.h"

namespace forebay::codec {
namespace {

text::Effort effort_of(uint8_t level) { return level == 0 ? text::Effort::balanced : static_cast<text::Effort>(level); }

// A decoder repeats much arithmetic of the encoder: what it makes is looked at before it counts.
bool comes_back(std::span<const std::byte> encoded, std::span<const std::byte> raw) {
  Bytes back(raw.size());
  return text::decode(encoded, back).has_value() && std::ranges::equal(back, raw);
}

class Text final : public Codec {
 public:
  uint16_t id() const override { return kTextId; }
  std::string_view name() const override { return "text"; }
  uint8_t max_level() const override { return static_cast<uint8_t>(text::Effort::max); }
  bool accepts(const FrameShape& shape) const override { return !shape.type.is_number(); }
  bool is_transform() const override { return false; }
  size_t bound(size_t raw) const override { return raw; }

  size_t scratch_bytes(uint8_t level, size_t raw) const override {
    if (raw < text::kLeastFrame) return 0;
    return std::max(text::encode_bytes(raw, effort_of(level)), 2 * raw + text::decode_bytes(raw));
  }
  size_t decode_scratch_bytes(uint8_t, size_t raw) const override { return text::decode_bytes(raw); }

  size_t encode(const Context& context, std::span<const std::byte> in, std::span<std::byte> out) const override {
    const Bytes encoded = text::encode(context.shape, in, effort_of(context.level));
    if (encoded.empty() || encoded.size() > out.size() || !comes_back(encoded, in)) return 0;
    std::ranges::copy(encoded, out.begin());
    return encoded.size();
  }

  Result<void> decode(const Context&, std::span<const std::byte> in, std::span<std::byte> out) const override {
    return text::decode(in, out);
  }
};

}  // namespace

const Codec& text_codec() {
  static const Text codec;
  return codec;
}

}  // namespace forebay::codec

// lch: residuals as the symbols of their magnitudes, coded in the contexts of two neighbours, and raw low bits.
#include "codec/lch/lch.h"

#include "codec/codec_ids.h"
#include "codec/own_codecs.h"

namespace forebay::codec {
namespace {

// Calls function.operator()<U>() for the unsigned integer U of `size` bytes.
template <class Function>
auto with_width(size_t size, const Function& function) {
  switch (size) {
    case 1:
      return function.template operator()<uint8_t>();
    case 2:
      return function.template operator()<uint16_t>();
    case 4:
      return function.template operator()<uint32_t>();
    default:
      return function.template operator()<uint64_t>();
  }
}

class Lch final : public Codec {
 public:
  uint16_t id() const override { return kLchId; }
  std::string_view name() const override { return "lch"; }
  uint8_t max_level() const override { return lch::kMaxLevel; }
  bool accepts(const FrameShape& shape) const override {
    const DataType& type = shape.type;
    return type.kind == Kind::unsigned_int && (type.size == 1 || type.order == ByteOrder::little);
  }
  bool is_transform() const override { return false; }
  size_t bound(size_t raw) const override { return raw + lch::kSlack; }
  // A symbol of one byte per element, a quarter of that for the groups, and tables.
  size_t scratch_bytes(uint8_t, size_t raw) const override { return raw + raw / 2 + (size_t{2} << 20); }

  size_t encode(const Context& context, std::span<const std::byte> in, std::span<std::byte> out) const override {
    return with_width(context.shape.type.size,
                      [&]<class U>() { return lch::encode<U>(context.shape, context.level, in, out); });
  }
  Result<void> decode(const Context& context, std::span<const std::byte> in, std::span<std::byte> out) const override {
    return with_width(context.shape.type.size, [&]<class U>() { return lch::decode<U>(context.shape, in, out); });
  }
};

}  // namespace

const Codec& lch_codec() {
  static const Lch codec;
  return codec;
}

}  // namespace forebay::codec

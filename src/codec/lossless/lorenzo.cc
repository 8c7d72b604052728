// Lorenzo transform: each element minus its prediction from the neighbours that come before it, in integers, so that
// nothing is lost and every machine computes the same. After Ibarria, Lindstrom, Rossignac and Szymczak, "Out-of-core
// compression and decompression of large n-dimensional scalar fields" (2003); the integer map is fpzip's (Lindstrom and
// Isenburg 2006).
#include "codec/codec_ids.h"
#include "codec/lossless/lorenzo_kernels.h"
#include "codec/own_codecs.h"

namespace forebay::codec {
namespace {

using Kernel = void (*)(const DataType&, const LorenzoArray&, const std::byte*, std::byte*, uint64_t&);

void run_blocks(Kernel kernel, const FrameShape& shape, uint8_t level, const std::byte* in, std::byte* out) {
  uint64_t carry = 0;
  if (level == 1) {  // folding makes all blocks lines, which the carry joins into one
    const LorenzoArray line{{1, 1, 1, shape.element_total()}};
    return kernel(shape.type, line, in, out, carry);
  }
  for (const Block& block : shape.blocks) {
    const LorenzoArray array = lorenzo_array(block, level);
    kernel(shape.type, array, in, out, carry);
    in += block.count() * shape.type.size;
    out += block.count() * shape.type.size;
  }
}

class Lorenzo final : public Codec {
 public:
  uint16_t id() const override { return kLorenzoId; }
  std::string_view name() const override { return "lorenzo"; }
  uint8_t max_level() const override { return 4; }
  bool accepts(const FrameShape& shape) const override { return shape.type.is_number(); }
  bool is_transform() const override { return true; }
  size_t bound(size_t raw) const override { return raw; }
  size_t scratch_bytes(uint8_t, size_t) const override { return 0; }

  size_t encode(const Context& context, std::span<const std::byte> in, std::span<std::byte> out) const override {
    run_blocks(lorenzo_forward, context.shape, context.level, in.data(), out.data());
    return in.size();
  }

  Result<void> decode(const Context& context, std::span<const std::byte> in, std::span<std::byte> out) const override {
    FOREBAY_CHECK(check_transform_input(context.shape, in, out));
    run_blocks(lorenzo_inverse, context.shape, context.level, in.data(), out.data());
    return {};
  }
};

}  // namespace

const Codec& lorenzo_codec() {
  static const Lorenzo codec;
  return codec;
}

}  // namespace forebay::codec

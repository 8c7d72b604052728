// The difference transform: elements minus those at the same place of another frame, in integers, so that nothing is
// lost and every machine computes the same. The frame may be the same variable of the checkpoint before.
#include "codec/codec_ids.h"
#include "codec/elements.h"
#include "codec/own_codecs.h"

namespace forebay::codec {
namespace {

// Residuals of level 0 are small numbers whatever their sign; those of level 1 are differences that another
// transform takes differences of.
template <class E, bool kSmall>
struct Forward {
  using U = typename E::Unsigned;

  FOREBAY_KERNEL static void run(size_t count, const std::byte* __restrict in, const std::byte* __restrict reference,
                                 std::byte* __restrict out) {
    for (size_t i = 0; i < count * sizeof(U); i += sizeof(U)) {
      const U difference = static_cast<U>(E::load(in + i) - E::load(reference + i));
      store_le(out + i, kSmall ? E::zigzag(difference) : difference);
    }
  }
};

template <class E, bool kSmall>
struct Inverse {
  using U = typename E::Unsigned;

  FOREBAY_KERNEL static void run(size_t count, const std::byte* __restrict in, const std::byte* __restrict reference,
                                 std::byte* __restrict out) {
    for (size_t i = 0; i < count * sizeof(U); i += sizeof(U)) {
      const U residual = load_le<U>(in + i);
      const U difference = kSmall ? E::unzigzag(residual) : residual;
      store_le(out + i, static_cast<U>(difference + E::load(reference + i)));
      E::unmap(out + i);
    }
  }
};

template <template <class, bool> class Direction, class E>
void run_level(const Context& context, std::span<const std::byte> in, std::span<std::byte> out) {
  const size_t count = in.size() / sizeof(typename E::Unsigned);
  const std::byte* const reference = context.references.back().data();
  if (context.level == 0)
    run_kernel<Direction<E, true>>(count, in.data(), reference, out.data());
  else
    run_kernel<Direction<E, false>>(count, in.data(), reference, out.data());
}

template <template <class, bool> class Direction, class U>
void run_type(const Context& context, std::span<const std::byte> in, std::span<std::byte> out) {
  const DataType& type = context.shape.type;
  const bool floating = type.kind == Kind::floating, big = type.is_number() && type.order == ByteOrder::big;
  if (floating && big) return run_level<Direction, Elements<U, true, true>>(context, in, out);
  if (floating) return run_level<Direction, Elements<U, true, false>>(context, in, out);
  if (big) return run_level<Direction, Elements<U, false, true>>(context, in, out);
  run_level<Direction, Elements<U, false, false>>(context, in, out);
}

template <template <class, bool> class Direction>
void run(const Context& context, std::span<const std::byte> in, std::span<std::byte> out) {
  switch (context.shape.type.size) {
    case 1:
      return run_level<Direction, Elements<uint8_t, false, false>>(context, in, out);
    case 2:
      return run_type<Direction, uint16_t>(context, in, out);
    case 4:
      return run_type<Direction, uint32_t>(context, in, out);
    default:
      return run_type<Direction, uint64_t>(context, in, out);
  }
}

bool has_reference(const Context& context, size_t bytes) {
  return !context.references.empty() && context.references.back().size() == bytes;
}

class DifferenceCodec final : public Codec {
 public:
  uint16_t id() const override { return kDifferenceId; }
  std::string_view name() const override { return "difference"; }
  uint8_t max_level() const override { return 1; }
  bool accepts(const FrameShape& shape) const override {
    const auto size = shape.type.size;
    return size == 1 || size == 2 || size == 4 || size == 8;
  }
  bool is_transform() const override { return true; }
  Result<FrameShape> output_shape(const Context& context) const override {
    return FrameShape{{Kind::unsigned_int, ByteOrder::little, context.shape.type.size}, context.shape.blocks};
  }
  size_t bound(size_t raw) const override { return raw; }
  size_t scratch_bytes(uint8_t, size_t) const override { return 0; }

  size_t encode(const Context& context, std::span<const std::byte> in, std::span<std::byte> out) const override {
    if (!has_reference(context, in.size())) return 0;
    run<Forward>(context, in, out);
    return in.size();
  }

  Result<void> decode(const Context& context, std::span<const std::byte> in, std::span<std::byte> out) const override {
    FOREBAY_CHECK(check_transform_input(context.shape, in, out));
    if (!has_reference(context, in.size()))
      return fail(ErrorKind::corrupt, "a difference from a frame that is missing or of another size");
    run<Inverse>(context, in, out);
    return {};
  }
};

}  // namespace

const Codec& difference_codec() {
  static const DifferenceCodec codec;
  return codec;
}

}  // namespace forebay::codec

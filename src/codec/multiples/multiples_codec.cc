// The multiples transform: which multiple of the frame's base each element is, counted from the lowest one.
#include <algorithm>

#include "codec/codec_ids.h"
#include "codec/multiples/multiples.h"
#include "codec/multiples/multiples_values.h"
#include "codec/own_codecs.h"

namespace forebay::codec {
namespace {

// Codes 0 to specials - 1 are specials, the others are multiples. An exception has the code of the element before it,
// which costs nothing.
template <class F>
bool to_codes(const Multiples& multiples, Values<F> in, size_t count, std::byte* out) {
  using Bits = typename Values<F>::Bits;
  const uint64_t specials = multiples.specials.size(), last = std::numeric_limits<Bits>::max();
  auto exception = multiples.exceptions.begin();
  uint64_t code = specials;
  for (size_t i = 0; i < count; ++i) {
    if (exception != multiples.exceptions.end() && exception->index == i) {
      if (exception->bits != in.bits(i)) return false;
      ++exception;
    } else if (const auto m = multiple_of(multiples.base, in[i])) {
      code = static_cast<uint64_t>(*m) - static_cast<uint64_t>(multiples.lowest);
      if (*m < multiples.lowest || code > last - specials) return false;
      code += specials;
    } else {
      const auto found = std::ranges::find(multiples.specials, uint64_t{in.bits(i)});
      if (found == multiples.specials.end()) return false;
      code = static_cast<uint64_t>(found - multiples.specials.begin());
    }
    store_le(out + i * sizeof(F), static_cast<Bits>(code));
  }
  return true;
}

template <class F>
void store(std::byte* to, typename Values<F>::Bits bits, bool is_big) {
  store_le(to, is_big ? std::byteswap(bits) : bits);
}

template <class F>
void from_codes(const Multiples& multiples, const std::byte* in, size_t count, bool is_big, std::byte* out) {
  using Bits = typename Values<F>::Bits;
  const uint64_t specials = multiples.specials.size();
  const uint64_t offset = static_cast<uint64_t>(multiples.lowest) - specials;
  for (size_t i = 0; i < count; ++i) {
    const uint64_t code = load_le<Bits>(in + i * sizeof(F));
    const Bits bits = code < specials ? static_cast<Bits>(multiples.specials[code])
                                      : bits_of(element_of<F>(multiples.base, static_cast<int64_t>(code + offset)));
    store<F>(out + i * sizeof(F), bits, is_big);
  }
  for (const Multiples::Exception& exception : multiples.exceptions)
    store<F>(out + exception.index * sizeof(F), static_cast<Bits>(exception.bits), is_big);
}

class MultiplesCodec final : public Codec {
 public:
  uint16_t id() const override { return kMultiplesId; }
  std::string_view name() const override { return "multiples"; }
  uint8_t max_level() const override { return 0; }
  bool accepts(const FrameShape& shape) const override {
    return shape.type.kind == Kind::floating && (shape.type.size == 4 || shape.type.size == 8);
  }
  bool is_transform() const override { return true; }
  size_t bound(size_t raw) const override { return raw; }
  // A sample, and the exceptions with their parameters, of which a frame has no more than elements.
  size_t scratch_bytes(uint8_t, size_t raw) const override {
    constexpr size_t kSample = 64 << 10;
    return kSample + std::min(8 * kMaxParameterBytes, 8 * raw);
  }

  Bytes fit(const Context& context, std::span<const std::byte> in) const override {
    const auto multiples = fit_multiples(in, context.shape.type);
    return multiples ? encode_multiples(*multiples, context.shape.type.size) : Bytes{};
  }

  size_t encode(const Context& context, std::span<const std::byte> in, std::span<std::byte> out) const override {
    const DataType& type = context.shape.type;
    const size_t count = in.size() / type.size;
    const auto multiples = decode_multiples(context.parameters, type.size, count);
    if (!multiples) return 0;
    const bool is_big = type.order == ByteOrder::big;
    const bool encoded = type.size == sizeof(float)
                             ? to_codes<float>(*multiples, {in.data(), is_big}, count, out.data())
                             : to_codes<double>(*multiples, {in.data(), is_big}, count, out.data());
    return encoded ? in.size() : 0;
  }

  Result<void> decode(const Context& context, std::span<const std::byte> in, std::span<std::byte> out) const override {
    FOREBAY_CHECK(check_transform_input(context.shape, in, out));
    const DataType& type = context.shape.type;
    const size_t count = in.size() / type.size;
    FOREBAY_TRY(const Multiples multiples, decode_multiples(context.parameters, type.size, count));
    const bool is_big = type.order == ByteOrder::big;
    if (type.size == sizeof(float))
      from_codes<float>(multiples, in.data(), count, is_big, out.data());
    else
      from_codes<double>(multiples, in.data(), count, is_big, out.data());
    return {};
  }
};

}  // namespace

const Codec& multiples_codec() {
  static const MultiplesCodec codec;
  return codec;
}

}  // namespace forebay::codec

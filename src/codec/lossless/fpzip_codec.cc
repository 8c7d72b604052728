// fpzip of little-endian floats and doubles. libfpzip encodes; fpzip_decoder.h decodes.
#include "codec/codec_ids.h"
#include "codec/lossless/fpzip_decoder.h"
#include "codec/own_codecs.h"

#ifdef FOREBAY_HAVE_FPZIP
#include <fpzip.h>
#endif

#include <algorithm>
#include <bit>
#include <limits>
#include <memory>

namespace forebay::codec {
namespace {

constexpr size_t kLengthBytes = 8;           // before each stream
constexpr size_t kMinStreamBytes = 512;      // frames of ever changing small shapes are not for fpzip
constexpr size_t kMaxStreamCount = 1 << 28;  // elements; the library counts in int

// The streams that a frame becomes: one for each run of blocks of the same shape.
std::vector<FpzipShape> streams_of(const FrameShape& shape, bool one_line) {
  if (one_line) return {FpzipShape{static_cast<size_t>(shape.element_total())}};
  std::vector<FpzipShape> streams;
  const Block* before = nullptr;
  for (const Block& block : shape.blocks) {
    if (before != nullptr && *before == block)
      streams.back().nf += block.dims[0];
    else
      streams.push_back({block.dims[3], block.dims[2], block.dims[1], block.dims[0]});
    before = &block;
  }
  return streams;
}

// Whether no value is so large that a sum of seven could overflow, or is no number: predictions stay finite then, and
// do not depend on how a processor chooses among NaNs.
template <class U>
bool is_tame(std::span<const std::byte> values) {
  constexpr unsigned kMantissa = sizeof(U) == 4 ? 23 : 52;
  constexpr U kExponentMask = (sizeof(U) == 4 ? U{0xff} : U{0x7ff}) << kMantissa;
  constexpr U kLimit = kExponentMask - (U{4} << kMantissa);
  U largest = 0;
  for (size_t i = 0; i < values.size(); i += sizeof(U))
    largest = std::max(largest, static_cast<U>(load_le<U>(values.data() + i) & kExponentMask));
  return largest < kLimit;
}

#ifdef FOREBAY_HAVE_FPZIP
struct CloseFpzip {
  void operator()(FPZ* stream) const { fpzip_write_close(stream); }
};

// The bytes written, or 0 if they do not fit.
size_t encode_stream(const DataType& type, const FpzipShape& shape, const std::byte* in, std::span<std::byte> out) {
  const std::unique_ptr<FPZ, CloseFpzip> stream(fpzip_write_to_buffer(out.data(), out.size()));
  stream->type = type.size == 4 ? FPZIP_TYPE_FLOAT : FPZIP_TYPE_DOUBLE;
  stream->prec = 0;
  stream->nx = static_cast<int>(shape.nx);
  stream->ny = static_cast<int>(shape.ny);
  stream->nz = static_cast<int>(shape.nz);
  stream->nf = static_cast<int>(shape.nf);
  return fpzip_write(stream.get(), in);
}

// The format that fpzip_decoder.h knows: that of libfpzip 1.1 to 1.3 built for fast floating point, which is the
// default.
bool is_known_fpzip() { return fpzip_codec_version == (0x0110u << 8) + FPZIP_FP_FAST; }
#else
size_t encode_stream(const DataType&, const FpzipShape&, const std::byte*, std::span<std::byte>) { return 0; }
bool is_known_fpzip() { return false; }
#endif

class Fpzip final : public Codec {
 public:
  Fpzip(uint16_t id, std::string_view name, bool one_line) : id_(id), name_(name), one_line_(one_line) {}

  uint16_t id() const override { return id_; }
  std::string_view name() const override { return name_; }
  uint8_t max_level() const override { return 0; }
  bool accepts(const FrameShape& shape) const override {
    return shape.type.kind == Kind::floating && shape.type.order == ByteOrder::little && shape.type.size >= 4 &&
           shape.element_total() <= kMaxStreamCount;
  }
  bool is_transform() const override { return false; }
  size_t bound(size_t raw) const override { return raw + kLengthBytes; }

  // The library keeps a front of up to 3 * nx values, rounded up to a power of two.
  size_t scratch_bytes(uint8_t, size_t raw) const override { return 8 * raw + (64 << 10); }

  size_t encode(const Context& context, std::span<const std::byte> in, std::span<std::byte> out) const override {
    if (!is_known_fpzip() || !(context.shape.type.size == 4 ? is_tame<uint32_t>(in) : is_tame<uint64_t>(in))) return 0;
    const std::vector<FpzipShape> streams = streams_of(context.shape, one_line_);
    if (streams.size() > 1 && in.size() / streams.size() < kMinStreamBytes) return 0;
    size_t written = 0;
    const std::byte* from = in.data();
    for (const FpzipShape& stream : streams) {
      if (stream.count() == 0) continue;
      if (out.size() - written <= kLengthBytes) return 0;
      const size_t size = encode_stream(context.shape.type, stream, from, out.subspan(written + kLengthBytes));
      if (size == 0) return 0;
      store_le<uint64_t>(out.data() + written, size);
      written += kLengthBytes + size;
      from += stream.count() * context.shape.type.size;
    }
    return written;
  }

  Result<void> decode(const Context& context, std::span<const std::byte> in, std::span<std::byte> out) const override {
    if (!accepts(context.shape) || context.shape.element_total() * context.shape.type.size != out.size())
      return fail(ErrorKind::corrupt, "fpzip data for another shape");
    std::byte* to = out.data();
    for (const FpzipShape& stream : streams_of(context.shape, one_line_)) {
      if (stream.count() == 0) continue;
      if (in.size() < kLengthBytes) return fail(ErrorKind::corrupt, "fpzip data are too short");
      const auto size = load_le<uint64_t>(in.data());
      in = in.subspan(kLengthBytes);
      if (size > in.size()) return fail(ErrorKind::corrupt, "fpzip data are too short");
      const auto bytes = in.first(static_cast<size_t>(size));
      FOREBAY_CHECK(context.shape.type.size == 4 ? decode_fpzip<float>(bytes, stream, to)
                                                 : decode_fpzip<double>(bytes, stream, to));
      in = in.subspan(static_cast<size_t>(size));
      to += stream.count() * context.shape.type.size;
    }
    if (!in.empty()) return fail(ErrorKind::corrupt, "fpzip data are too long");
    return {};
  }

 private:
  const uint16_t id_;
  const std::string_view name_;
  const bool one_line_;
};

}  // namespace

const Codec& fpzip1d_codec() {
  static const Fpzip codec(kFpzip1dId, "fpzip1d", true);
  return codec;
}

const Codec& fpzip_codec() {
  static const Fpzip codec(kFpzipId, "fpzip", false);
  return codec;
}

}  // namespace forebay::codec

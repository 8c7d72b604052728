// The planes coder: the bytes of equal significance of all elements, each plane with codes of its own. Of noisy numbers
// only the exponent shrinks: its plane gets an entropy coder without a search for matches, and what does not shrink
// stays as it is, as in ZipNN (Hershcovitch et al., "ZipNN: Lossless Compression for AI Models", 2024).
#include <algorithm>
#include <array>
#include <bit>

#include "base/buffer.h"
#include "codec/codec_ids.h"
#include "codec/elements.h"
#include "codec/lossless/byte_planes.h"
#include "codec/lossless/zstd_contexts.h"
#include "codec/own_codecs.h"
#include "codec/varint.h"

namespace forebay::codec {
namespace {

constexpr std::byte kAsIs{0}, kZstandard{1};

enum class Search : uint8_t { none, matches };

size_t compress(ZSTD_CCtx* state, Search search, std::span<const std::byte> in, std::span<std::byte> out) {
  ZSTD_CCtx_reset(state, ZSTD_reset_session_and_parameters);
  ZSTD_CCtx_setParameter(state, ZSTD_c_compressionLevel, 1);
  if (search == Search::none) {
    ZSTD_CCtx_setParameter(state, ZSTD_c_windowLog, 17);  // no smaller: blocks have at most a window
    ZSTD_CCtx_setParameter(state, ZSTD_c_strategy, ZSTD_fast);
    ZSTD_CCtx_setParameter(state, ZSTD_c_targetLength, ZSTD_TARGETLENGTH_MAX);  // a step as long as a block
    ZSTD_CCtx_setParameter(state, ZSTD_c_literalCompressionMode, ZSTD_ps_enable);
  }
  const size_t size = ZSTD_compress2(state, out.data(), out.size(), in.data(), in.size());
  return ZSTD_isError(size) ? in.size() : size;
}

struct Choice {
  Search search;
  bool pays;  // to compress it at all
};

// What takes longer to read must be worth it.
bool saves(size_t size, size_t of) { return size + of / 256 < of; }

// What suits a plane is tried on its beginning, its middle and its end, together a sixteenth of it, but at most 48 KiB.
Choice choice_for(ZSTD_CCtx* state, std::span<const std::byte> plane, std::span<std::byte> scratch) {
  constexpr size_t kParts = 3, kLeast = 4 << 10, kMost = 16 << 10;
  const size_t part = std::clamp(plane.size() / (16 * kParts), kLeast, kMost);
  Bytes tried;
  if (plane.size() <= kParts * part) {
    tried.assign(plane.begin(), plane.end());
  } else {
    for (size_t i = 0; i < kParts; ++i) {
      const auto piece = plane.subspan((plane.size() - part) / (kParts - 1) * i, part);
      tried.insert(tried.end(), piece.begin(), piece.end());
    }
  }
  const size_t none = compress(state, Search::none, tried, scratch);
  const size_t matches = compress(state, Search::matches, tried, scratch);
  return {matches < none ? Search::matches : Search::none, saves(std::min(none, matches), tried.size())};
}

// Moves the top bit, a sign, to the lowest place: what follows it, an exponent, then begins a byte.
template <class U, bool kForward>
struct Rotate {
  FOREBAY_KERNEL static void run(size_t count, const std::byte* in, std::byte* out) {
    for (size_t i = 0; i < count * sizeof(U); i += sizeof(U)) {
      const U bits = load_le<U>(in + i);
      store_le(out + i, std::rotl(bits, kForward ? 1 : -1));
    }
  }
};

template <bool kForward>
void rotate(size_t width, size_t count, const std::byte* in, std::byte* out) {
  switch (width) {
    case 1:
      return run_kernel<Rotate<uint8_t, kForward>>(count, in, out);
    case 2:
      return run_kernel<Rotate<uint16_t, kForward>>(count, in, out);
    case 4:
      return run_kernel<Rotate<uint32_t, kForward>>(count, in, out);
    default:
      return run_kernel<Rotate<uint64_t, kForward>>(count, in, out);
  }
}

// Reverses the bytes of elements whose first byte is the most significant one.
void reverse(size_t width, size_t count, std::byte* at) {
  for (size_t i = 0; i < count; ++i, at += width) std::reverse(at, at + width);
}

bool is_big(const DataType& type) { return type.is_number() && type.order == ByteOrder::big && type.size > 1; }

// Elements a piece at a time, so that they are still in the cache when they are split.
constexpr size_t kPieceBytes = 16 << 10;

void to_planes(const Context& context, std::span<const std::byte> in, std::byte* planes) {
  const size_t width = context.shape.type.size, count = in.size() / width, most = kPieceBytes / width;
  if (context.level == 0 && !is_big(context.shape.type)) return split_planes(in.data(), count, width, planes, count);
  std::byte piece[kPieceBytes];
  for (size_t done = 0; done < count; done += most) {
    const size_t some = std::min(most, count - done);
    std::memcpy(piece, in.data() + done * width, some * width);
    if (is_big(context.shape.type)) reverse(width, some, piece);
    if (context.level == 1) rotate<true>(width, some, piece, piece);
    split_planes(piece, some, width, planes + done, count);
  }
}

// planes[b]: plane b of all elements.
void from_planes(const Context& context, std::span<const std::byte* const> planes, std::span<std::byte> out) {
  const size_t width = context.shape.type.size, count = out.size() / width, most = kPieceBytes / width;
  std::byte piece[kPieceBytes];
  for (size_t done = 0; done < count; done += most) {
    const size_t some = std::min(most, count - done);
    std::byte* const to = out.data() + done * width;
    for (size_t plane = 0; plane < width; ++plane) std::memcpy(piece + plane * some, planes[plane] + done, some);
    join_planes(piece, some, some, width, to);
    if (context.level == 1) rotate<false>(width, some, to, to);
    if (is_big(context.shape.type)) reverse(width, some, to);
  }
}

std::unexpected<Error> malformed() { return fail(ErrorKind::corrupt, "malformed planes"); }

// Takes the next plane, of `count` bytes, off the front of `in`: where it lies there, or after it was decompressed to
// `room`.
Result<const std::byte*> take_plane(std::span<const std::byte>& in, size_t count, std::byte* room) {
  if (in.empty()) return malformed();
  const std::byte way = in.front();
  in = in.subspan(1);
  if (way != kAsIs && way != kZstandard) return malformed();
  const auto size = way == kAsIs ? std::optional<uint64_t>(count) : take_varint(in);
  if (!size || *size > in.size()) return malformed();
  const auto stored = in.first(static_cast<size_t>(*size));
  in = in.subspan(stored.size());
  if (way == kAsIs) return stored.data();
  ZSTD_DCtx* const state = decompression_context();
  if (state == nullptr) return fail(ErrorKind::limit, "no memory for a zstd context");
  const size_t made = ZSTD_decompressDCtx(state, room, count, stored.data(), stored.size());
  if (ZSTD_isError(made)) return fail(ErrorKind::corrupt, std::string("planes: zstd: ") + ZSTD_getErrorName(made));
  if (made != count) return malformed();
  return room;
}

class Planes final : public Codec {
 public:
  uint16_t id() const override { return kPlanesId; }
  std::string_view name() const override { return "planes"; }
  uint8_t max_level() const override { return 1; }
  bool accepts(const FrameShape& shape) const override {
    const auto size = shape.type.size;
    return size == 1 || size == 2 || size == 4 || size == 8;
  }
  bool is_transform() const override { return false; }
  size_t bound(size_t raw) const override { return raw + kHeads; }
  // The planes, one of them compressed, and what zstd takes.
  size_t scratch_bytes(uint8_t, size_t raw) const override {
    return raw + ZSTD_compressBound(raw) + zstd_codec().scratch_bytes(1, raw);
  }
  size_t decode_scratch_bytes(uint8_t, size_t raw) const override {
    return raw + zstd_codec().decode_scratch_bytes(1, raw);
  }

  size_t encode(const Context& context, std::span<const std::byte> in, std::span<std::byte> out) const override {
    const size_t width = context.shape.type.size, count = in.size() / width;
    const CompressionContext state(ZSTD_createCCtx());
    if (!state) return 0;
    Buffer planes(in.size()), compressed(ZSTD_compressBound(count));
    planes.resize(in.size());
    compressed.resize(ZSTD_compressBound(count));
    to_planes(context, in, planes.data());
    size_t size = 0;
    for (size_t plane = 0; plane < width; ++plane)
      size += put_plane(state.get(), planes.span().subspan(plane * count, count), compressed.span(), out.subspan(size));
    return size;
  }

  Result<void> decode(const Context& context, std::span<const std::byte> in, std::span<std::byte> out) const override {
    const size_t width = context.shape.type.size, count = out.size() / width;
    Buffer room(out.size());
    room.resize(out.size());
    std::array<const std::byte*, sizeof(uint64_t)> planes{};
    for (size_t plane = 0; plane < width; ++plane) {
      FOREBAY_TRY(planes[plane], take_plane(in, count, room.data() + plane * count));
    }
    if (!in.empty()) return malformed();
    from_planes(context, std::span(planes).first(width), out);
    return {};
  }

 private:
  static constexpr size_t kHeads = 8 * 11;

  // `out` has room for the plane as it is.
  static size_t put_plane(ZSTD_CCtx* state, std::span<const std::byte> plane, std::span<std::byte> compressed,
                          std::span<std::byte> out) {
    const Choice choice = choice_for(state, plane, compressed);
    const size_t size = choice.pays ? compress(state, choice.search, plane, compressed) : plane.size();
    const bool pays = saves(size, plane.size());
    Bytes head{pays ? kZstandard : kAsIs};
    if (pays) put_varint(head, size);
    std::ranges::copy(head, out.begin());
    std::ranges::copy(pays ? compressed.first(size) : plane, out.begin() + static_cast<ptrdiff_t>(head.size()));
    return head.size() + (pays ? size : plane.size());
  }
};

}  // namespace

const Codec& planes_codec() {
  static const Planes codec;
  return codec;
}

}  // namespace forebay::codec

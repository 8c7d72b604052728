// Zstandard, through libzstd.
#include <algorithm>
#include <bit>

#include "codec/codec_ids.h"
#include "codec/lossless/zstd_contexts.h"
#include "codec/own_codecs.h"

namespace forebay::codec {
namespace {

constexpr int kZstdLevel = 3;
constexpr int kMinWindowLog = 10, kMaxWindowLog = 27;  // what every decoder accepts without being asked

// Whether there are several of zstd's blocks, which have tables of codes of their own, and they would hold several
// planes, which are large enough for tables.
bool mixes_planes(size_t planes, size_t bytes) {
  constexpr size_t kLeastPlane = 8 << 10;
  return planes > 1 && bytes > ZSTD_BLOCKSIZE_MAX && bytes / planes >= kLeastPlane &&
         bytes / planes < ZSTD_BLOCKSIZE_MAX;
}

// Ends a block of zstd's at the end of each plane. 0 if it cannot.
size_t compress_planes(ZSTD_CCtx* state, std::span<const std::byte> in, size_t planes, std::span<std::byte> out) {
  ZSTD_CCtx_setParameter(state, ZSTD_c_stableInBuffer, 1);
  ZSTD_CCtx_setParameter(state, ZSTD_c_stableOutBuffer, 1);
  ZSTD_CCtx_setPledgedSrcSize(state, in.size());
  ZSTD_outBuffer to{out.data(), out.size(), 0};
  ZSTD_inBuffer from{in.data(), 0, 0};
  for (size_t i = 1; i <= planes; ++i) {
    from.size = i == planes ? in.size() : in.size() / planes * i;
    if (ZSTD_compressStream2(state, &to, &from, i == planes ? ZSTD_e_end : ZSTD_e_flush) != 0) return 0;
  }
  return to.pos;
}

int effective_level(uint8_t level) { return level == 0 ? kZstdLevel : level; }

// A window as long as the frame: the ranks of a group lie one after another, and copies lie a rank or more apart.
int window_log(size_t raw) { return std::clamp(static_cast<int>(std::bit_width(raw)), kMinWindowLog, kMaxWindowLog); }

class Zstd final : public Codec {
 public:
  uint16_t id() const override { return kZstdId; }
  std::string_view name() const override { return "zstd"; }
  uint8_t max_level() const override { return 19; }
  bool accepts(const FrameShape&) const override { return true; }
  bool is_transform() const override { return false; }
  size_t bound(size_t raw) const override { return ZSTD_compressBound(raw); }

  // The context of compression is the larger one: the level's tables and one block's buffers, but no window, because
  // both directions work on whole buffers.
  size_t scratch_bytes(uint8_t level, size_t raw) const override {
    ZSTD_compressionParameters parameters = ZSTD_getCParams(effective_level(level), raw, 0);
    parameters.windowLog = static_cast<unsigned>(window_log(raw));
    return ZSTD_estimateCCtxSize_usingCParams(parameters) + kContextSlack;
  }

  size_t decode_scratch_bytes(uint8_t, size_t) const override { return ZSTD_estimateDCtxSize() + kContextSlack; }

  size_t encode(const Context& context, std::span<const std::byte> in, std::span<std::byte> out) const override {
    const CompressionContext state(ZSTD_createCCtx());
    if (!state) return 0;
    ZSTD_CCtx_setParameter(state.get(), ZSTD_c_compressionLevel, effective_level(context.level));
    ZSTD_CCtx_setParameter(state.get(), ZSTD_c_windowLog, window_log(in.size()));
    if (mixes_planes(context.planes, in.size())) return compress_planes(state.get(), in, context.planes, out);
    const size_t size = ZSTD_compress2(state.get(), out.data(), out.size(), in.data(), in.size());
    return ZSTD_isError(size) ? 0 : size;
  }

  Result<void> decode(const Context&, std::span<const std::byte> in, std::span<std::byte> out) const override {
    ZSTD_DCtx* const state = decompression_context();
    if (state == nullptr) return fail(ErrorKind::limit, "no memory for a zstd context");
    const size_t size = ZSTD_decompressDCtx(state, out.data(), out.size(), in.data(), in.size());
    if (ZSTD_isError(size)) return fail(ErrorKind::corrupt, std::string("zstd: ") + ZSTD_getErrorName(size));
    if (size != out.size()) return fail(ErrorKind::corrupt, "zstd data of another size than the frame says");
    return {};
  }

 private:
  static constexpr size_t kContextSlack = 256 << 10;
};

}  // namespace

size_t zstd_size_of_parts(uint8_t level, std::span<const std::byte> in, size_t parts) {
  const CompressionContext state(ZSTD_createCCtx());
  if (!state) return in.size();
  const size_t length = in.size() / parts;
  ZSTD_CCtx_setParameter(state.get(), ZSTD_c_compressionLevel, effective_level(level));
  ZSTD_CCtx_setParameter(state.get(), ZSTD_c_windowLog, window_log(length));
  Bytes out(ZSTD_compressBound(length));
  size_t sum = 0;
  for (size_t i = 0; i < parts; ++i) {
    const size_t size = ZSTD_compress2(state.get(), out.data(), out.size(), in.data() + i * length, length);
    sum += ZSTD_isError(size) ? length : std::min(size, length);
  }
  return sum;
}

const Codec& zstd_codec() {
  static const Zstd codec;
  return codec;
}

}  // namespace forebay::codec

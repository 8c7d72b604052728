// Zstandard, through libzstd.
#define ZSTD_STATIC_LINKING_ONLY  // for the estimate of a context's size
#include <algorithm>
#include <bit>
#include <memory>

#include <zstd.h>

#include "codec/codec_ids.h"
#include "codec/own_codecs.h"

namespace forebay::codec {
namespace {

constexpr int kZstdLevel = 3;
constexpr int kMinWindowLog = 10, kMaxWindowLog = 27;  // what every decoder accepts without being asked

struct FreeZstd {
  void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};

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

  size_t encode(const Context& context, std::span<const std::byte> in, std::span<std::byte> out) const override {
    const std::unique_ptr<ZSTD_CCtx, FreeZstd> state(ZSTD_createCCtx());
    if (!state) return 0;
    ZSTD_CCtx_setParameter(state.get(), ZSTD_c_compressionLevel, effective_level(context.level));
    ZSTD_CCtx_setParameter(state.get(), ZSTD_c_windowLog, window_log(in.size()));
    const size_t size = ZSTD_compress2(state.get(), out.data(), out.size(), in.data(), in.size());
    return ZSTD_isError(size) ? 0 : size;
  }

  Result<void> decode(const Context&, std::span<const std::byte> in, std::span<std::byte> out) const override {
    const std::unique_ptr<ZSTD_DCtx, FreeZstd> state(ZSTD_createDCtx());
    if (!state) return fail(ErrorKind::limit, "no memory for a zstd context");
    const size_t size = ZSTD_decompressDCtx(state.get(), out.data(), out.size(), in.data(), in.size());
    if (ZSTD_isError(size)) return fail(ErrorKind::corrupt, std::string("zstd: ") + ZSTD_getErrorName(size));
    if (size != out.size()) return fail(ErrorKind::corrupt, "zstd data of another size than the frame says");
    return {};
  }

 private:
  static constexpr size_t kContextSlack = 256 << 10;
};

}  // namespace

size_t zstd_size_of_parts(uint8_t level, std::span<const std::byte> in, size_t parts) {
  const std::unique_ptr<ZSTD_CCtx, FreeZstd> state(ZSTD_createCCtx());
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

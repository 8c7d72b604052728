// libzstd, and its contexts.
#pragma once

#include <memory>

#ifndef ZSTD_STATIC_LINKING_ONLY
#define ZSTD_STATIC_LINKING_ONLY  // for the estimate of a context's size
#endif
#include <zstd.h>

namespace forebay::codec {

struct FreeZstd {
  void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};

using CompressionContext = std::unique_ptr<ZSTD_CCtx, FreeZstd>;  // null if there was no memory for it

// This thread's own: a context takes longer to make than a small frame to decode. Null if there was no memory for it.
inline ZSTD_DCtx* decompression_context() {
  thread_local const std::unique_ptr<ZSTD_DCtx, FreeZstd> own(ZSTD_createDCtx());
  return own.get();
}

}  // namespace forebay::codec

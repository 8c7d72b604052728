#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>
#include <tuple>

#include <libdeflate.h>
#include <zstd.h>

#include "base/cursor.h"
#include "format/hdf5_filter_steps.h"
#ifdef FOREBAY_HAVE_BZIP2
#include <bzlib.h>
#endif
#ifdef FOREBAY_HAVE_LZ4
#include <lz4.h>
#endif
#ifdef FOREBAY_HAVE_SZIP
extern "C" {  // which the header leaves out
#include <szlib.h>
}
#endif
#ifdef FOREBAY_HAVE_BLOSC
#include <blosc.h>
#endif

namespace forebay::format::hdf5 {

std::optional<Bytes> undo_deflate(FilterValues, FilterBytes stored, uint64_t most) {
  struct Free {
    void operator()(libdeflate_decompressor* state) const { libdeflate_free_decompressor(state); }
  };
  const std::unique_ptr<libdeflate_decompressor, Free> state(libdeflate_alloc_decompressor());
  Bytes raw(most);
  size_t size = 0;
  if (!state || libdeflate_zlib_decompress(state.get(), stored.data(), stored.size(), raw.data(), raw.size(), &size) !=
                    LIBDEFLATE_SUCCESS)
    return {};
  raw.resize(size);
  return raw;
}

std::optional<Bytes> undo_zstd(FilterValues, FilterBytes stored, uint64_t most) {
  Bytes raw(most);
  const size_t size = ZSTD_decompress(raw.data(), raw.size(), stored.data(), stored.size());
  if (ZSTD_isError(size) != 0) return {};
  raw.resize(size);
  return raw;
}

bool unpack_zstd_block(FilterBytes stored, std::span<std::byte> raw) {
  return ZSTD_decompress(raw.data(), raw.size(), stored.data(), stored.size()) == raw.size();
}

#ifdef FOREBAY_HAVE_LZ4
bool unpack_lz4_block(FilterBytes stored, std::span<std::byte> raw) {
  if (stored.size() > LZ4_MAX_INPUT_SIZE || raw.size() > LZ4_MAX_INPUT_SIZE) return false;
  const int size =
      LZ4_decompress_safe(reinterpret_cast<const char*>(stored.data()), reinterpret_cast<char*>(raw.data()),
                          static_cast<int>(stored.size()), static_cast<int>(raw.size()));
  return size >= 0 && static_cast<size_t>(size) == raw.size();
}

// The size of all, that of a block, and blocks behind their sizes; one that could not be made smaller lies as it was.
std::optional<Bytes> undo_lz4(FilterValues, FilterBytes stored, uint64_t most) {
  Cursor cursor(stored);
  const auto size = cursor.be<uint64_t>();
  const auto block = cursor.be<uint32_t>();
  if (!cursor.ok() || size > most || (block == 0 && size > 0)) return {};
  Bytes raw(size);
  for (uint64_t at = 0; at < size;) {
    const auto here = std::span(raw).subspan(at, std::min<uint64_t>(block, size - at));
    const auto packed = cursor.bytes(cursor.be<uint32_t>());
    if (packed.empty()) return {};
    if (packed.size() == here.size())
      std::memcpy(here.data(), packed.data(), here.size());
    else if (!unpack_lz4_block(packed, here))
      return {};
    at += here.size();
  }
  return raw;
}
#else
bool unpack_lz4_block(FilterBytes, std::span<std::byte>) { return false; }
#endif

#ifdef FOREBAY_HAVE_BZIP2
std::optional<Bytes> undo_bzip2(FilterValues, FilterBytes stored, uint64_t most) {
  constexpr size_t kMost = std::numeric_limits<unsigned>::max();
  if (stored.size() > kMost) return {};
  Bytes raw(std::min<uint64_t>(most, kMost));
  auto size = static_cast<unsigned>(raw.size());
  // The library takes a pointer to what it does not write to.
  auto* const from = const_cast<char*>(reinterpret_cast<const char*>(stored.data()));
  if (BZ2_bzBuffToBuffDecompress(reinterpret_cast<char*>(raw.data()), &size, from, static_cast<unsigned>(stored.size()),
                                 0, 0) != BZ_OK)
    return {};
  raw.resize(size);
  return raw;
}
#endif

#ifdef FOREBAY_HAVE_SZIP
// The size of what was packed, and then what szip makes of it.
std::optional<Bytes> undo_szip(FilterValues values, FilterBytes stored, uint64_t most) {
  enum { kMask, kPixelsPerBlock, kBitsPerPixel, kPixelsPerScanline, kValues };
  constexpr size_t kSize = 4;
  constexpr uint32_t kMostBlock = 32, kMostBits = 64, kMostScanline = 32 * 128;
  if (values.size() < kValues || stored.size() < kSize) return {};
  const auto [block, bits, scanline] =
      std::tuple(values[kPixelsPerBlock], values[kBitsPerPixel], values[kPixelsPerScanline]);
  const uint32_t size = load_le<uint32_t>(stored.data());
  if (size > most || block == 0 || block > kMostBlock || block % 2 != 0 || bits == 0 || bits > kMostBits ||
      (bits > 32 && bits != kMostBits) || scanline == 0 || scanline > kMostScanline || block > scanline)
    return {};
  SZ_com_t parameters{.options_mask = static_cast<int>(values[kMask]),
                      .bits_per_pixel = static_cast<int>(bits),
                      .pixels_per_block = static_cast<int>(block),
                      .pixels_per_scanline = static_cast<int>(scanline)};
  Bytes raw(size);
  size_t made = raw.size();
  if (SZ_BufftoBuffDecompress(raw.data(), &made, stored.data() + kSize, stored.size() - kSize, &parameters) != SZ_OK ||
      made != raw.size())
    return {};
  return raw;
}
#endif

#ifdef FOREBAY_HAVE_BLOSC
std::optional<Bytes> undo_blosc(FilterValues, FilterBytes stored, uint64_t most) {
  size_t size = 0;
  if (stored.size() < BLOSC_MIN_HEADER_LENGTH || blosc_cbuffer_validate(stored.data(), stored.size(), &size) != 0 ||
      size > most)
    return {};
  Bytes raw(size);
  if (size > 0 && blosc_decompress_ctx(stored.data(), raw.data(), raw.size(), 1) != static_cast<int64_t>(size))
    return {};
  return raw;
}
#endif

}  // namespace forebay::format::hdf5

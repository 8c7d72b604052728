#include "bp/transform.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>

#include <fmt/format.h>
#include <libdeflate.h>

#include "bp/cursor.h"
#ifdef FOREBAY_HAVE_BZIP2
#include <bzlib.h>
#endif
#ifdef FOREBAY_HAVE_LZ4
#include <lz4.h>
#endif

namespace forebay::bp {
namespace {

// Whether `stored` was decoded to exactly all of `raw`.
using Decode = bool (*)(std::span<const std::byte> stored, std::span<std::byte> raw);

bool inflate(std::span<const std::byte> stored, std::span<std::byte> raw) {
  struct Free {
    void operator()(libdeflate_decompressor* state) const { libdeflate_free_decompressor(state); }
  };
  const std::unique_ptr<libdeflate_decompressor, Free> state(libdeflate_alloc_decompressor());
  return state && libdeflate_zlib_decompress(state.get(), stored.data(), stored.size(), raw.data(), raw.size(),
                                             nullptr) == LIBDEFLATE_SUCCESS;
}

#ifdef FOREBAY_HAVE_BZIP2
bool bunzip(std::span<const std::byte> stored, std::span<std::byte> raw) {
  constexpr size_t kMost = std::numeric_limits<unsigned>::max();
  if (stored.size() > kMost || raw.size() > kMost) return false;
  auto size = static_cast<unsigned>(raw.size());
  // The library takes a pointer to what it does not write to.
  auto* const from = const_cast<char*>(reinterpret_cast<const char*>(stored.data()));
  return BZ2_bzBuffToBuffDecompress(reinterpret_cast<char*>(raw.data()), &size, from,
                                    static_cast<unsigned>(stored.size()), 0, 0) == BZ_OK &&
         size == raw.size();
}
#endif

#ifdef FOREBAY_HAVE_LZ4
bool unpack_lz4(std::span<const std::byte> stored, std::span<std::byte> raw) {
  if (stored.size() > LZ4_MAX_INPUT_SIZE || raw.size() > LZ4_MAX_INPUT_SIZE) return false;
  const int size =
      LZ4_decompress_safe(reinterpret_cast<const char*>(stored.data()), reinterpret_cast<char*>(raw.data()),
                          static_cast<int>(stored.size()), static_cast<int>(raw.size()));
  return size >= 0 && static_cast<size_t>(size) == raw.size();
}
#endif

// What a transform's metadata begin with.
enum class Metadata : uint8_t {
  size_and_flag,  // the raw size, and whether the bytes were compressed
  pieces,  // how many pieces of the largest size there are, and the stored size of the one behind; 0 of both: raw
};

struct Transform {
  std::string_view name;
  Metadata metadata;
  Decode decode;
};

constexpr Transform kTransforms[] = {
    {"zlib", Metadata::size_and_flag, inflate},
#ifdef FOREBAY_HAVE_BZIP2
    {"bzip2", Metadata::size_and_flag, bunzip},
#endif
#ifdef FOREBAY_HAVE_LZ4
    {"lz4", Metadata::pieces, unpack_lz4},
#endif
};

struct Stored {
  bool fits = false, is_raw = false;
};

Stored what_is_stored(Metadata kind, Cursor metadata, uint64_t stored_bytes, uint64_t raw_bytes) {
  Stored said;
  if (kind == Metadata::size_and_flag) {
    const auto size = metadata.get<uint64_t>();
    said.is_raw = metadata.get<uint8_t>() == 0;
    said.fits = size == raw_bytes;
  } else {
    const auto pieces = metadata.get<uint32_t>(), size = metadata.get<uint32_t>();
    said.is_raw = pieces == 0 && size == 0;
    said.fits = pieces == 0 && (said.is_raw || size == stored_bytes);  // blocks of 2 GB have more
  }
  said.fits = said.fits && metadata.ok() && (!said.is_raw || stored_bytes == raw_bytes);
  return said;
}

}  // namespace

bool changes_bytes(std::string_view transform) {
  return !transform.empty() && transform != "none" && transform != "identity";
}

Result<void> undo_transform(const Entry& entry, bool big_endian, std::span<const std::byte> stored,
                            std::span<std::byte> raw, const std::string& path) {
  const auto known = std::ranges::find(kTransforms, entry.transform, &Transform::name);
  if (known == std::end(kTransforms))
    return fail(ErrorKind::unsupported,
                fmt::format("it was stored with ADIOS's transform '{}', which is not undone", entry.transform), path,
                entry.payload, "read it with ADIOS, and write it again without a transform");
  const Cursor metadata(entry.transform_metadata, 0, big_endian);
  const Stored said = what_is_stored(known->metadata, metadata, stored.size(), raw.size());
  if (said.fits && said.is_raw) {
    if (!raw.empty()) std::memcpy(raw.data(), stored.data(), raw.size());
    return {};
  }
  if (said.fits && known->decode(stored, raw)) return {};
  return fail(ErrorKind::corrupt,
              fmt::format("its {} bytes of '{}' are not those of {} bytes", stored.size(), entry.transform, raw.size()),
              path, entry.payload);
}

}  // namespace forebay::bp

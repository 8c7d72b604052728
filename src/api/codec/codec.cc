// The C interface of single arrays (include/forebay/forebay_codec.h).
#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "api/last_failure.h"
#include "codec/array/array.h"
#include "forebay/forebay_codec.h"

namespace forebay::api {
namespace {

static_assert(FOREBAY_CODEC_MOST_DIMENSIONS == codec::kMostArrayDimensions);
static_assert(FOREBAY_CODEC_MOST_BYTES == codec::kMostArrayBytes);

int refused(const char* what) { return failed(FOREBAY_ARGUMENT, what); }

std::span<const std::byte> bytes_at(const void* at, uint64_t size) {
  return {static_cast<const std::byte*>(at), static_cast<size_t>(size)};
}

int compress(const char* profile, const char* type, std::span<const uint64_t> dims, const void* array,
             std::span<std::byte> out, size_t& size) {
  const auto chosen = codec::Profile::parse(profile != nullptr ? profile : "balanced");
  if (!chosen) return failed(chosen.error());
  const auto element = DataType::parse(type);
  if (!element) return failed(element.error());
  const codec::ArrayShape shape{*element, {dims.begin(), dims.end()}};
  const auto bytes = shape.bytes();
  if (!bytes) return failed(bytes.error());
  if (array == nullptr && *bytes > 0) return refused("there is no array");
  if (const uint64_t bound = codec::array_bound(*bytes); out.size() < bound)
    return refused(fmt::format("room for {} bytes, where {} may be needed", out.size(), bound).c_str());
  const auto encoded = codec::encode_array(*chosen, shape, bytes_at(array, *bytes));
  if (!encoded) return failed(encoded.error());
  std::memcpy(out.data(), encoded->data(), encoded->size());
  size = encoded->size();
  return FOREBAY_OK;
}

int describe(std::span<const std::byte> encoded, char* type, unsigned* dimensions, uint64_t* dims, uint64_t* bytes) {
  const auto shape = codec::describe_array(encoded);
  if (!shape) return failed(shape.error());
  if (type != nullptr) std::strcpy(type, shape->type.name().c_str());  // "x65535" and shorter
  if (dimensions != nullptr) *dimensions = static_cast<unsigned>(shape->dims.size());
  if (dims != nullptr) std::ranges::copy(shape->dims, dims);
  if (bytes != nullptr) *bytes = *shape->bytes();
  return FOREBAY_OK;
}

int decompress(std::span<const std::byte> encoded, std::span<std::byte> out) {
  const auto done = codec::decode_array(encoded, out);
  return done ? FOREBAY_OK : failed(done.error());
}

}  // namespace
}  // namespace forebay::api

namespace api = forebay::api;

extern "C" size_t forebay_codec_bound(size_t bytes) { return forebay::codec::array_bound(bytes); }

extern "C" int forebay_codec_compress(const char* profile, const char* type, unsigned dimensions, const uint64_t* dims,
                                      const void* array, void* out, size_t room, size_t* size) {
  if (type == nullptr || out == nullptr || size == nullptr || (dims == nullptr && dimensions > 0))
    return api::refused("a pointer is NULL");
  *size = 0;
  return api::guarded([&] {
    return api::compress(profile, type, {dims, dimensions}, array, {static_cast<std::byte*>(out), room}, *size);
  });
}

extern "C" int forebay_codec_describe(const void* encoded, size_t size, char* type, unsigned* dimensions,
                                      uint64_t* dims, uint64_t* bytes) {
  if (encoded == nullptr) return api::refused("a pointer is NULL");
  return api::guarded([&] { return api::describe(api::bytes_at(encoded, size), type, dimensions, dims, bytes); });
}

extern "C" int forebay_codec_decompress(const void* encoded, size_t size, void* out, size_t room) {
  if (encoded == nullptr || (out == nullptr && room > 0)) return api::refused("a pointer is NULL");
  return api::guarded(
      [&] { return api::decompress(api::bytes_at(encoded, size), {static_cast<std::byte*>(out), room}); });
}

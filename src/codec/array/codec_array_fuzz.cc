// Hostile encoded arrays: they are described and decoded, or refused. The input is taken as one, and, so that its
// checksum does not hide the rest, as the head and payload of one.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>

#include "base/checksum.h"
#include "codec/array/array.h"

using namespace forebay;

static void check(std::span<const std::byte> given) {
  constexpr uint64_t kMost = 1 << 20;
  const auto exact = std::make_unique<std::byte[]>(given.size());  // so that a sanitizer sees what is read behind it
  std::ranges::copy(given, exact.get());
  const std::span<const std::byte> encoded{exact.get(), given.size()};
  const auto shape = codec::describe_array(encoded);
  if (!shape) return;
  const uint64_t bytes = *shape->bytes();
  if (bytes > kMost) return;
  Bytes raw(bytes);
  (void)codec::decode_array(encoded, raw);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto input = std::as_bytes(std::span(data, size));
  check(input);
  constexpr size_t kHead = 32, kRecipe = 12, kDims = 8, kPayload = 16;
  if (size < kHead) return 0;
  Bytes made(input.begin(), input.end());
  std::memcpy(made.data(), "FBA1", 4);
  const size_t dims = std::to_integer<size_t>(made[kDims]) % 5, recipe = std::to_integer<size_t>(made[kRecipe]) % 64;
  const size_t hashed = kHead + 8 * dims + recipe;
  if (size < hashed) return 0;
  store_le(made.data() + kDims, static_cast<uint32_t>(dims));
  store_le(made.data() + kRecipe, static_cast<uint32_t>(recipe));
  store_le(made.data() + kPayload, static_cast<uint64_t>(size - hashed));
  for (size_t i = 0; i < dims; ++i) store_le(made.data() + kHead + 8 * i, load_le<uint64_t>(&made[kHead + 8 * i]) % 40);
  Bytes hash(8);
  store_le(hash.data(), hash64(std::span(made).first(hashed)));
  made.insert(made.begin() + static_cast<ptrdiff_t>(hashed), hash.begin(), hash.end());
  check(made);
  // Heads that are cut off, with a payload whose size makes up for that.
  const size_t fixed = kHead + 8 * dims + hash.size();
  for (size_t left = kHead; left < std::min(fixed, made.size()); ++left) {
    Bytes cut(made.begin(), made.begin() + static_cast<ptrdiff_t>(left));
    store_le(cut.data() + kRecipe, uint32_t{0});
    store_le(cut.data() + kPayload, static_cast<uint64_t>(left) - fixed);
    check(cut);
  }
  return 0;
}

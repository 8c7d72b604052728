#include "codec/array/array.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/checksum.h"
#include "base/shape.h"
#include "codec/recipe.h"

namespace forebay::codec {
namespace {

constexpr std::string_view kTag = "FBA", kVersion = "1";
constexpr size_t kHeadBytes = 32, kHashBytes = 8;

std::unexpected<Error> corrupt(const char* what) {
  return fail(ErrorKind::corrupt, fmt::format("an encoded array: {}", what));
}

// Blocks have four dimensions: of more, the outer ones are folded into one.
FrameShape frame_shape(const ArrayShape& shape) {
  Block block;
  size_t axis = std::size(block.dims);
  for (size_t i = shape.dims.size(); i-- > 0;) {
    if (axis > 0) --axis;
    block.dims[axis] *= shape.dims[i];
  }
  FrameShape frame{shape.type, {}};
  if (block.count() > 0) frame.blocks.push_back(block);
  return frame;
}

struct Parsed {
  ArrayShape shape;
  uint64_t raw_bytes = 0, raw_hash = 0;
  std::span<const std::byte> recipe, payload;
};

Result<ArrayShape> parse_shape(std::span<const std::byte> encoded) {
  const std::byte* const head = encoded.data();
  const auto kind = std::to_integer<uint8_t>(head[4]), order = std::to_integer<uint8_t>(head[5]);
  if (kind > static_cast<uint8_t>(Kind::floating) || order > static_cast<uint8_t>(ByteOrder::big))
    return corrupt("a type that is none");
  ArrayShape shape{{static_cast<Kind>(kind), static_cast<ByteOrder>(order), load_le<uint16_t>(head + 6)}, {}};
  const size_t count = load_le<uint32_t>(head + 8);
  if (count > kMostArrayDimensions || encoded.size() < kHeadBytes + 8 * count + kHashBytes)
    return corrupt("bad dimensions");
  for (size_t i = 0; i < count; ++i) shape.dims.push_back(load_le<uint64_t>(head + kHeadBytes + 8 * i));
  return shape;
}

Result<Parsed> parse(std::span<const std::byte> encoded) {
  if (encoded.size() < kHeadBytes + kHashBytes || as_text(encoded.first(kTag.size())) != kTag)
    return corrupt("it does not begin as one");
  if (as_text(encoded.subspan(kTag.size(), kVersion.size())) != kVersion)
    return fail(ErrorKind::unsupported, "an encoded array of a later version", {}, {}, "use a newer Forebay");
  FOREBAY_TRY(ArrayShape shape, parse_shape(encoded));
  const std::byte* const head = encoded.data();
  const uint64_t recipe = load_le<uint32_t>(head + 12), payload = load_le<uint64_t>(head + 16);
  const uint64_t fixed = kHeadBytes + 8 * shape.dims.size() + kHashBytes;
  if (recipe > kMaxRecipeBytes || recipe > encoded.size() - fixed || payload != encoded.size() - fixed - recipe)
    return corrupt("it is cut off, or bytes follow it");
  const uint64_t hashed = fixed - kHashBytes + recipe;
  if (load_le<uint64_t>(head + hashed) != hash64(encoded.first(hashed))) return corrupt("its head is damaged");
  const auto bytes = shape.bytes();
  if (!bytes) return corrupt("a shape that none has");
  return Parsed{.shape = std::move(shape),
                .raw_bytes = *bytes,
                .raw_hash = load_le<uint64_t>(head + 24),
                .recipe = encoded.subspan(fixed - kHashBytes, recipe),
                .payload = encoded.subspan(hashed + kHashBytes)};
}

template <class T>
void append(Bytes& out, T value) {
  out.resize(out.size() + sizeof(T));
  store_le(out.data() + out.size() - sizeof(T), value);
}

}  // namespace

Result<uint64_t> ArrayShape::bytes() const {
  if (!type.is_valid()) return fail(ErrorKind::invalid_argument, "an array of a type that is none");
  if (dims.size() > kMostArrayDimensions)
    return fail(ErrorKind::invalid_argument, fmt::format("an array has at most {} dimensions", kMostArrayDimensions));
  if (std::ranges::count(dims, 0u) > 0) return 0;
  uint64_t bytes = type.size;
  for (const uint64_t dim : dims) {
    if (dim > kMostArrayBytes / bytes)
      return fail(ErrorKind::limit, "an array of more than 1 GiB", {}, {}, "encode it in several pieces");
    bytes *= dim;
  }
  return bytes;
}

Result<Bytes> encode_array(const Profile& profile, const ArrayShape& shape, std::span<const std::byte> raw) {
  FOREBAY_TRY(const uint64_t bytes, shape.bytes());
  if (raw.size() != bytes)
    return fail(ErrorKind::invalid_argument,
                fmt::format("{} bytes are no array of that type and shape, which has {}", raw.size(), bytes));
  const Encoded encoded = bytes == 0 ? Encoded{} : profile.encode(frame_shape(shape), raw).encoded;
  Bytes out(as_bytes(kTag).begin(), as_bytes(kTag).end());
  out.insert(out.end(), as_bytes(kVersion).begin(), as_bytes(kVersion).end());
  append(out, static_cast<uint8_t>(shape.type.kind));
  append(out, static_cast<uint8_t>(shape.type.order));
  append(out, shape.type.size);
  append(out, static_cast<uint32_t>(shape.dims.size()));
  append(out, static_cast<uint32_t>(encoded.recipe.size()));
  append(out, static_cast<uint64_t>(encoded.payload.size()));
  append(out, hash64(raw));
  for (const uint64_t dim : shape.dims) append(out, dim);
  out.insert(out.end(), encoded.recipe.begin(), encoded.recipe.end());
  append(out, hash64(out));
  const auto payload = encoded.payload.span();
  out.insert(out.end(), payload.begin(), payload.end());
  return out;
}

Result<ArrayShape> describe_array(std::span<const std::byte> encoded) {
  FOREBAY_TRY(Parsed parsed, parse(encoded));
  return std::move(parsed.shape);
}

Result<void> decode_array(std::span<const std::byte> encoded, std::span<std::byte> raw) {
  FOREBAY_TRY(const Parsed parsed, parse(encoded));
  if (raw.size() != parsed.raw_bytes)
    return fail(ErrorKind::invalid_argument,
                fmt::format("room for {} bytes, where the array has {}", raw.size(), parsed.raw_bytes));
  if (raw.empty()) return parsed.payload.empty() ? Result<void>() : corrupt("an empty array with a payload");
  FOREBAY_CHECK(decode(parsed.recipe, frame_shape(parsed.shape), parsed.payload, raw));
  if (hash64(raw) != parsed.raw_hash) return corrupt("its elements do not match their checksum");
  return {};
}

}  // namespace forebay::codec

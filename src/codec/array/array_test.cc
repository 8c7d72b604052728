#include "codec/array/array.h"

#include <algorithm>
#include <memory>

#include <gtest/gtest.h>

#include "base/checksum.h"
#include "codec/codec_ids.h"
#include "codec/recipe.h"
#include "codec/test_frames.h"

namespace forebay::codec {
namespace {

constexpr const char* kProfiles[] = {"none", "gzip", "fast", "balanced", "max", "shuffle,zstd:9"};

Profile profile(const char* name) { return *Profile::parse(name); }

Bytes back(const Bytes& encoded) {
  const auto shape = describe_array(encoded);
  EXPECT_TRUE(shape) << shape.error().message();
  Bytes raw(*shape->bytes());
  const auto done = decode_array(encoded, raw);
  EXPECT_TRUE(done) << done.error().message();
  return raw;
}

ArrayShape smooth_shape() { return {{Kind::floating, ByteOrder::little, 8}, {9, 20, 31}}; }

Bytes smooth() { return testing::smooth_bytes({smooth_shape().type, {Block{{1, 9, 20, 31}}}}, 5); }

TEST(EncodedArray, ComesBackWithItsTypeAndShape) {
  for (const DataType& type : testing::all_types())
    for (const std::vector<uint64_t>& dims :
         {std::vector<uint64_t>{}, {0}, {7}, {3, 0, 5}, {6, 50}, {2, 3, 4, 5}, {2, 1, 3, 2, 5, 4, 2}}) {
      const ArrayShape shape{type, dims};
      const Bytes raw = testing::random_bytes(*shape.bytes(), dims.size());
      for (const char* name : kProfiles) {
        const auto encoded = encode_array(profile(name), shape, raw);
        ASSERT_TRUE(encoded) << encoded.error().message();
        EXPECT_LE(encoded->size(), array_bound(raw.size()));
        EXPECT_EQ(*describe_array(*encoded), shape);
        EXPECT_EQ(back(*encoded), raw) << name << " " << type.name();
      }
    }
}

TEST(EncodedArray, IsAsSmallAsAFrame) {
  const Bytes raw = smooth();
  for (const char* name : {"fast", "balanced", "max"}) {
    const auto encoded = encode_array(profile(name), smooth_shape(), raw);
    EXPECT_LT(encoded->size(), raw.size() / 2) << name;
    EXPECT_EQ(back(*encoded), raw);
  }
}

TEST(EncodedArray, WhatMakesNoArrayIsRefused) {
  const ArrayShape shape{{Kind::floating, ByteOrder::little, 4}, {10}};
  EXPECT_EQ(encode_array(profile("fast"), shape, Bytes(39)).error().kind, ErrorKind::invalid_argument);
  EXPECT_EQ((ArrayShape{shape.type, std::vector<uint64_t>(17, 1)}.bytes().error().kind), ErrorKind::invalid_argument);
  EXPECT_EQ((ArrayShape{{Kind::floating, ByteOrder::little, 3}, {1}}.bytes().error().kind),
            ErrorKind::invalid_argument);
  EXPECT_EQ((ArrayShape{shape.type, {uint64_t{1} << 62, 8}}.bytes().error().kind), ErrorKind::limit);
  EXPECT_EQ((ArrayShape{shape.type, {(kMostArrayBytes >> 2) + 1}}.bytes().error().kind), ErrorKind::limit);
  EXPECT_EQ(*(ArrayShape{shape.type, {uint64_t{1} << 62, 8, 0}}.bytes()), 0u);
  Bytes small(8);
  EXPECT_EQ(decode_array(*encode_array(profile("fast"), shape, Bytes(40)), small).error().kind,
            ErrorKind::invalid_argument);
}

TEST(EncodedArray, EveryFlippedBitIsFound) {
  const ArrayShape shape{{Kind::floating, ByteOrder::little, 4}, {12, 40}};
  const Bytes raw = testing::smooth_bytes({shape.type, {Block{{1, 1, 12, 40}}}}, 1);
  const Bytes good = *encode_array(profile("balanced"), shape, raw);
  for (size_t bit = 0; bit < 8 * good.size(); ++bit) {
    Bytes damaged = good;
    damaged[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
    Bytes out(raw.size());
    const auto done = decode_array(damaged, out);
    if (done) {  // bits of a stream that no decoder needs
      EXPECT_EQ(out, raw) << bit;
      continue;
    }
    const bool is_version = bit / 8 == 3;
    EXPECT_EQ(done.error().kind, is_version ? ErrorKind::unsupported : ErrorKind::corrupt) << bit;
  }
}

TEST(EncodedArray, EveryTruncationIsCorrupt) {
  const Bytes good = *encode_array(profile("fast"), smooth_shape(), smooth());
  Bytes out(*smooth_shape().bytes());
  for (size_t size = 0; size < good.size(); size += 1 + size / 50)
    EXPECT_EQ(decode_array(std::span(good).first(size), out).error().kind, ErrorKind::corrupt) << size;
  Bytes longer = good;
  longer.push_back({});
  EXPECT_EQ(decode_array(longer, out).error().kind, ErrorKind::corrupt);
}

// The number of bytes that a head gives for its payload is as hostile as the rest, and sums of it wrap around.
TEST(EncodedArray, AHeadWithoutRoomForItsChecksumIsCorrupt) {
  const Bytes good = *encode_array(profile("none"), {{Kind::floating, ByteOrder::little, 4}, {1}}, Bytes(4));
  constexpr size_t kFixed = 48, kRecipeAt = 12, kPayloadAt = 16;
  for (size_t size = 40; size < kFixed; ++size) {
    const auto exact = std::make_unique<std::byte[]>(size);  // so that a sanitizer sees what is read behind it
    std::ranges::copy(std::span(good).first(size), exact.get());
    store_le(exact.get() + kRecipeAt, uint32_t{0});
    store_le(exact.get() + kPayloadAt, static_cast<uint64_t>(size) - kFixed);
    EXPECT_EQ(describe_array({exact.get(), size}).error().message(), "an encoded array: bad dimensions") << size;
  }
}

TEST(EncodedArray, ACountOfDimensionsHasFourBytes) {
  Bytes encoded = *encode_array(profile("none"), {{Kind::floating, ByteOrder::little, 4}, {1}}, Bytes(4));
  constexpr size_t kHashed = 40;
  for (const size_t at : {9, 10, 11}) {
    Bytes changed = encoded;
    changed[at] = std::byte{1};
    store_le(changed.data() + kHashed, hash64(std::span(changed).first(kHashed)));
    EXPECT_EQ(describe_array(changed).error().kind, ErrorKind::corrupt) << at;
  }
}

TEST(EncodedArray, BytesAreThoseOfTheDocument) {
  const ArrayShape shape{{Kind::unsigned_int, ByteOrder::big, 2}, {1, 3}};
  const unsigned char values[] = {1, 2, 3, 4, 5, 6};
  const auto raw = std::as_bytes(std::span(values));
  const Bytes encoded = *encode_array(profile("none"), shape, raw);
  Bytes expected;
  for (const unsigned char byte : {'F',  'B',  'A',  '1',  '\2', '\1', '\2', '\0', '\2', '\0', '\0', '\0',
                                   '\0', '\0', '\0', '\0', '\6', '\0', '\0', '\0', '\0', '\0', '\0', '\0'})
    expected.push_back(std::byte{byte});
  const auto put = [&](uint64_t value) {
    for (int i = 0; i < 8; ++i) expected.push_back(static_cast<std::byte>(value >> 8 * i));
  };
  put(hash64(raw));
  put(1);
  put(3);
  put(hash64(expected));
  expected.insert(expected.end(), raw.begin(), raw.end());
  EXPECT_EQ(encoded, expected);
}

}  // namespace
}  // namespace forebay::codec

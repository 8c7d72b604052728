// The encodings of our own codecs are part of the container format: the same bytes from every compiler and machine,
// for ever. If a hash below changes, old containers can no longer be read.
#include <algorithm>
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>

#include "base/checksum.h"
#include "codec/chain.h"
#include "codec/test_frames.h"

namespace forebay::codec {
namespace {

struct Golden {
  const char* codec;
  uint8_t level;
  const char* type;
  uint64_t hash;
};

constexpr Golden kGolden[] = {
    {"shuffle", 0, "f8", 0x6e3e6058d534da73},    {"shuffle", 0, "x24", 0xf460941679f7074d},
    {"bitshuffle", 0, "f4", 0x325effc5049d6aed}, {"bitshuffle", 0, "u1", 0x60f9d7bd7dd2df5d},
    {"lorenzo", 0, "f4", 0x351944b1fdaed319},    {"lorenzo", 1, ">f8", 0x0713e3776dce0845},
    {"lorenzo", 2, "f8", 0xf18d45b52429b892},    {"lorenzo", 3, ">i8", 0x7677a6bcdb49cd6c},
    {"lorenzo", 4, "u2", 0x0c3b0025c8911417},    {"lorenzo", 0, "i1", 0x5f7a6ce922a29c15},
    {"lorenzo", 0, "f2", 0xfb4cb8cd2966d27a},    {"fpc", 0, "f8", 0xfa52730b6c116a14},
    {"fpc", 2, ">f8", 0x88e05d1c4d584599},       {"lch", 0, "u4", 0x030bbb2303874986},
    {"lch", 0, "u8", 0xc7f7fd425db991bb},        {"lch", 1, "u4", 0x2e48018372c291bf},
    {"lch", 0, "u2", 0x2d06800538d394c2},        {"columns", 0, "f4", 0x3c6f462b4391075d},
    {"columns", 0, ">i8", 0x07def87642d37f84},   {"columns", 0, "u1", 0x070ed0061a227328},
    {"difference", 0, "f4", 0x2c382d0cebc875f7}, {"difference", 0, ">f8", 0xeca1cd0bc342d1cb},
    {"difference", 1, "f8", 0xf1f0dca7d3554c8b}, {"difference", 0, "u1", 0xf4292f97c635ee7c},
    {"difference", 0, "x2", 0x4acc08db9f88bc88}, {"difference", 1, ">i8", 0x823e903011e20888},
};

Bytes bytes(std::initializer_list<int> values) {
  Bytes result;
  for (const int value : values) result.push_back(static_cast<std::byte>(value));
  return result;
}

Bytes golden_input(const FrameShape& shape) {
  Bytes input;
  testing::Random random(11);
  uint64_t value = 0;
  for (uint64_t i = 0; i < shape.element_total(); ++i) {
    value += random.next() >> (i % 5 == 0 ? 1 : 40);
    testing::append(input, shape.type, value);
  }
  return input;
}

TEST(Golden, EncodingsNeverChange) {
  for (const Golden& golden : kGolden) {
    const FrameShape shape{*DataType::parse(golden.type),
                           {Block{{2, 5, 7, 11}}, Block{{1, 1, 1, 1}}, Block{{1, 3, 1, 700}}, Block{{1, 1, 1, 13}}}};
    const Bytes input = golden_input(shape);
    const Codec& codec = *find_codec(std::string_view(golden.codec));
    ASSERT_TRUE(codec.accepts(shape));
    Bytes out(codec.bound(input.size())), other = input;
    std::ranges::reverse(other);
    const std::span<const std::byte> references[] = {other};
    out.resize(codec.encode({shape, golden.level, {}, references}, input, out));
    EXPECT_EQ(hash64(out), golden.hash) << golden.codec << ":" << int{golden.level} << " of " << golden.type;
  }
}

// Encoded forms of `text` that were made by its description (tests/fuzz/make_format_corpus.py).
TEST(Golden, TextStaysReadable) {
  struct Form {
    const char* file;
    uint64_t hash;
  };
  for (const Form& form : {Form{"integers", 1476890566778358968u},
                           {"fixed", 142650207901183457u},
                           {"values", 15911574529815651412u},
                           {"fraction", 9103255618377703541u}}) {
    std::ifstream file(std::string(FOREBAY_SOURCE_DIR) + "/tests/fuzz/text_fuzz/" + form.file, std::ios::binary);
    const std::string read{std::istreambuf_iterator<char>(file), {}};
    const auto bytes = std::as_bytes(std::span(read));
    ASSERT_GT(bytes.size(), 2u) << form.file;
    const FrameShape shape{kBytes, {Block{{1, 1, 1, load_le<uint16_t>(bytes.data())}}}};
    Bytes raw(shape.element_total());
    const auto result = find_codec("text")->decode({.shape = shape, .parameters = {}}, bytes.subspan(2), raw);
    ASSERT_TRUE(result) << form.file;
    EXPECT_EQ(hash64(raw), form.hash) << form.file;
  }
}

TEST(Golden, FpzipStreamsStayReadable) {
  // libfpzip 1.3.0 wrote this: 4 fields of 2 x 3 floats, i * i - 5 for i = 0 to 23.
  constexpr uint8_t kStream[] = {
      0x58, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x03, 0xf1, 0x00, 0x08, 0x6c, 0x76, 0x50, 0x01,
      0x9d, 0xec, 0x00, 0x07, 0x25, 0x6c, 0x3c, 0xd3, 0x7b, 0xfc, 0xcd, 0x7d, 0x9c, 0xc9, 0x40, 0x1a,
      0xd2, 0x15, 0x83, 0x53, 0xe6, 0xe9, 0x05, 0x27, 0xc8, 0x70, 0xbb, 0x99, 0xa8, 0x06, 0x8e, 0xf3,
      0xd7, 0x78, 0x99, 0xea, 0x3d, 0x72, 0xa3, 0xa2, 0x51, 0x24, 0x19, 0x81, 0xd4, 0x12, 0xc4, 0x8b,
      0x05, 0x65, 0x8c, 0xd6, 0xd4, 0x37, 0xf6, 0xbd, 0xb2, 0xbf, 0xc9, 0x00, 0x4f, 0x56, 0xa0, 0xc3,
      0x8f, 0x35, 0x34, 0xc5, 0x16, 0x30, 0x14, 0x5b, 0xf1, 0xd5, 0x90, 0x73, 0x00, 0x00, 0x00, 0x00,
  };
  const FrameShape shape{{Kind::floating, ByteOrder::little, 4}, std::vector<Block>(4, Block{{1, 1, 2, 3}})};
  Bytes expected, decoded(testing::byte_count(shape));
  for (int i = 0; i < 24; ++i) testing::append(expected, shape.type, testing::bits_of(shape.type, i * i - 5));
  ASSERT_TRUE(find_codec("fpzip")->decode({shape}, std::as_bytes(std::span(kStream)), decoded));
  EXPECT_EQ(decoded, expected);
}

TEST(Golden, HaloParametersStayReadable) {
  // Two planes of 3 x 4: the first two columns of the second one are the last two of the first one, but in the last
  // row, which is the first row of the first one.
  const FrameShape shape{{Kind::unsigned_int, ByteOrder::little, 2}, {Block{{1, 1, 3, 4}}, Block{{1, 1, 3, 4}}}};
  const Bytes parameters = bytes({16, 1, 1, 0, 1, 0, 0, 2, 2, 0, 1, 2, 0, 0, 0, 0, 0});
  const Bytes stored =
      bytes({1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7, 0, 8, 0, 9, 0, 10, 0, 11, 0, 12, 0, 13, 0, 14, 0, 15, 0, 16, 0});
  const Bytes expected = bytes({1, 0, 2, 0, 3,  0, 4,  0, 5, 0, 6, 0, 7,  0, 8,  0, 9, 0, 10, 0, 11, 0, 12, 0,
                                3, 0, 4, 0, 13, 0, 14, 0, 7, 0, 8, 0, 15, 0, 16, 0, 1, 0, 2,  0, 3,  0, 4,  0});
  const Codec& halo = *find_codec("halo");
  Bytes decoded(testing::byte_count(shape));
  ASSERT_TRUE(halo.decode({shape, 0, parameters}, stored, decoded));
  EXPECT_EQ(decoded, expected);
  Bytes encoded(expected.size());
  encoded.resize(halo.encode({shape, 0, parameters}, expected, encoded));
  EXPECT_EQ(encoded, stored);
}

TEST(Golden, MultiplesStayReadable) {
  // Multiples of 1 / 100 from -3 on; a NaN is special, and the fourth element is an exception.
  const FrameShape shape{{Kind::floating, ByteOrder::little, 8}, {Block{{1, 1, 1, 5}}}};
  const Bytes parameters = bytes({1, 0, 0, 0,    0,    0, 0,    0x59, 0x40, 5,    1,    1,    0,    0,
                                  0, 0, 0, 0xf8, 0x7f, 3, 0x18, 0x2d, 0x44, 0x54, 0xfb, 0x21, 0x09, 0x40});
  Bytes stored, expected;
  const DataType kWord{Kind::unsigned_int, ByteOrder::little, 8};
  for (const uint64_t code : {1u, 129u, 0u, 0u, 4u}) testing::append(stored, kWord, code);
  for (const double value : {-0.03, 1.25, 0.0, 3.141592653589793, 0.0})
    testing::append(expected, shape.type, std::bit_cast<uint64_t>(value));
  store_le(expected.data() + 2 * sizeof(double), uint64_t{0x7ff8000000000001});
  const Codec& codec = *find_codec("multiples");
  Bytes decoded(expected.size()), encoded(expected.size());
  ASSERT_TRUE(codec.decode({shape, 0, parameters}, stored, decoded));
  EXPECT_EQ(decoded, expected);
  ASSERT_EQ(codec.encode({shape, 0, parameters}, expected, encoded), stored.size());
  EXPECT_EQ(encoded, stored);
}

TEST(Golden, PlanesStayReadable) {
  const FrameShape shape{{Kind::floating, ByteOrder::big, 4}, {Block{{1, 1, 1, 2}}}};
  const Bytes raw = bytes({0x81, 0x02, 0x03, 0x04, 0x40, 0x00, 0x00, 0x01});
  const Bytes as_is = bytes({0, 4, 1, 0, 3, 0, 0, 2, 0, 0, 0x81, 0x40});
  const Bytes rotated = bytes({0, 9, 2, 0, 6, 0, 0, 4, 0, 0, 2, 0x80});
  for (const uint8_t level : {uint8_t{0}, uint8_t{1}}) {
    Bytes decoded(raw.size());
    ASSERT_TRUE(find_codec("planes")->decode({shape, level}, level == 0 ? as_is : rotated, decoded));
    EXPECT_EQ(decoded, raw) << int{level};
  }
}

TEST(Golden, RecipesNeverChange) {
  const FrameShape shape{{Kind::floating, ByteOrder::little, 8}, {Block{{1, 1, 1, 1000}}}};
  const Bytes raw = testing::smooth_bytes(shape, 3);
  const Encoded encoded = encode(*parse_chain("lorenzo,fpc:2"), shape, raw);
  ASSERT_LT(encoded.payload.size(), raw.size());
  const auto low = static_cast<std::byte>(0x80 | (encoded.payload.size() & 0x7f));
  const auto high = static_cast<std::byte>(encoded.payload.size() >> 7);
  const Bytes expected{
      std::byte{2}, std::byte{3}, std::byte{0}, std::byte{0}, std::byte{0xc0}, std::byte{0x3e}, std::byte{16},
      std::byte{0}, std::byte{2}, low,          high};
  EXPECT_EQ(encoded.recipe, expected);
}

}  // namespace
}  // namespace forebay::codec

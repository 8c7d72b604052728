#include "codec/lossy/lossy.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "codec/codec_ids.h"
#include "codec/recipe.h"
#include "codec/test_frames.h"

namespace forebay::codec {
namespace {

using testing::all_shapes;
using testing::byte_count;

const DataType kLossyTypes[] = {{Kind::floating, ByteOrder::little, 4},
                                {Kind::floating, ByteOrder::little, 8},
                                {Kind::floating, ByteOrder::big, 4},
                                {Kind::floating, ByteOrder::big, 8}};

const FrameShape kBox{kLossyTypes[1], {Block{{1, 24, 20, 28}}, Block{{1, 24, 20, 28}}}};

Bytes bytes_of(const DataType& type, const std::vector<double>& values) {
  Bytes bytes;
  for (const double value : values) testing::append(bytes, type, testing::bits_of(type, value));
  return bytes;
}

std::vector<double> values_of(const DataType& type, std::span<const std::byte> bytes) {
  std::vector<double> values;
  for (size_t i = 0; i < bytes.size(); i += type.size) {
    uint64_t bits = 0;
    for (size_t k = 0; k < type.size; ++k) {
      const size_t place = type.order == ByteOrder::big ? k : type.size - 1u - k;
      bits = bits << 8 | std::to_integer<uint64_t>(bytes[i + place]);
    }
    values.push_back(type.size == 8 ? std::bit_cast<double>(bits) : std::bit_cast<float>(static_cast<uint32_t>(bits)));
  }
  return values;
}

// Encodes and checks everything that lossy.h promises. Returns whether there was an encoding.
bool check(const ErrorBound& bound, const FrameShape& shape, const Bytes& raw, const std::string& name) {
  const auto lossy = encode_lossy(bound, shape, raw, raw.size());
  if (!lossy) return false;
  EXPECT_LT(lossy->encoded.payload.size(), raw.size());
  Bytes decoded(raw.size());
  EXPECT_TRUE(decode(lossy->encoded.recipe, shape, lossy->encoded.payload, decoded)) << name;
  EXPECT_TRUE(std::ranges::equal(decoded, lossy->decoded.span())) << name;
  EXPECT_EQ(lossy_note(lossy->encoded.recipe), lossy->note);
  EXPECT_EQ(lossy->note.bound, bound);
  const auto before = values_of(shape.type, raw), after = values_of(shape.type, decoded);
  const auto [low, high] = std::ranges::minmax_element(before);
  const double fixed_unit = bound.kind == BoundKind::range ? *high - *low : 1;
  long double largest = 0;
  for (size_t i = 0; i < before.size(); ++i) {
    const long double difference = std::abs(static_cast<long double>(before[i]) - after[i]);
    const long double unit = bound.kind == BoundKind::relative ? std::abs(before[i]) : fixed_unit;
    EXPECT_LE(difference, bound.value * unit) << name << ": value " << i << " is " << before[i];
    if (difference > 0) largest = std::max(largest, difference / unit);
    if (::testing::Test::HasFailure()) return true;
  }
  EXPECT_NEAR(static_cast<double>(largest), lossy->note.error, 1e-12 * static_cast<double>(largest)) << name;
  return true;
}

class Lossy : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!can_encode_lossy()) GTEST_SKIP() << "this build lacks zfp";
  }
};

TEST_F(Lossy, KeepsEveryBoundForAnyValues) {
  size_t encoded = 0, frames = 0;
  for (const DataType& type : kLossyTypes)
    for (const auto& [name, blocks] : all_shapes()) {
      const FrameShape shape{type, blocks};
      Bytes finite = testing::random_bytes(byte_count(shape), 9);
      for (size_t i = type.order == ByteOrder::big ? 0 : type.size - 1u; i < finite.size(); i += type.size)
        finite[i] &= std::byte{0xbf};  // no exponent is all ones
      const Bytes contents[] = {testing::smooth_bytes(shape, 1), finite, testing::small_bytes(shape),
                                testing::special_bytes(shape), Bytes(byte_count(shape), std::byte{0x3f})};
      for (const Bytes& raw : contents)
        for (const BoundKind kind : {BoundKind::absolute, BoundKind::relative, BoundKind::range})
          for (const double value : {1e-300, 1e-12, 1e-5, 1e-3, 0.4}) {
            ++frames;
            encoded += check({kind, value}, shape, raw, type.name() + " " + name + " " + to_string(kind));
            if (HasFailure()) return;
          }
    }
  EXPECT_GT(encoded, frames / 8);
}

TEST_F(Lossy, SavesMuchOfSmoothFields) {
  const Bytes raw = testing::smooth_bytes(kBox, 1);
  for (const BoundKind kind : {BoundKind::absolute, BoundKind::relative, BoundKind::range}) {
    const auto lossy = encode_lossy({kind, 1e-3}, kBox, raw, raw.size());
    ASSERT_TRUE(lossy);
    EXPECT_LT(lossy->encoded.payload.size(), raw.size() / 4) << to_string(kind);
    EXPECT_GT(lossy->note.error, 0);
  }
}

TEST_F(Lossy, BearsHugeAndTinyValuesSideBySide) {
  for (const DataType& type : kLossyTypes)
    for (const double scale : {1e-320, 1e-310, 1e-45, 1e-38, 1e30, 1e38, 1e300, 1.7e308}) {
      std::vector<double> values(4000);
      for (size_t i = 0; i < values.size(); ++i) {
        values[i] = scale * std::sin(static_cast<double>(i) / 50);
        if (i % 97 == 0) values[i] *= 1e-12;
        if (type.size == 4) values[i] = std::clamp(values[i], -3.4e38, 3.4e38);
      }
      const FrameShape shape{type, {Block{{1, 1, 40, 100}}}};
      for (const BoundKind kind : {BoundKind::absolute, BoundKind::relative, BoundKind::range})
        for (const double value : {scale, 1e-3 * scale, 1e-3, 1e-9})
          if (value > 0) check({kind, value}, shape, bytes_of(type, values), type.name() + " " + to_string(kind));
    }
}

TEST_F(Lossy, RefusesFramesThatAreNotFinite) {
  for (const double bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    std::vector<double> values(kBox.element_total(), 2.5);
    values[777] = bad;
    EXPECT_FALSE(encode_lossy({BoundKind::absolute, 1}, kBox, bytes_of(kBox.type, values), SIZE_MAX));
  }
}

TEST_F(Lossy, KeepsZerosUnderARelativeBound) {
  // Whole cells of zeros stay zeros; a zero among others does not, so that the frame stays lossless.
  std::vector<double> values(kBox.element_total());
  for (size_t i = values.size() / 2; i < values.size(); ++i) values[i] = 5 + std::sin(static_cast<double>(i) / 100);
  EXPECT_TRUE(check({BoundKind::relative, 1e-3}, kBox, bytes_of(kBox.type, values), "halves"));
  testing::Random random(4);
  for (double& value : values)
    value = random.next() % 3 == 0 ? 0 : 1 + 1e-3 * static_cast<double>(random.next() % 1000);
  EXPECT_FALSE(check({BoundKind::relative, 1e-3}, kBox, bytes_of(kBox.type, values), "scattered"));
}

TEST_F(Lossy, RefusesWhatDoesNotPay) {
  const Bytes raw = testing::smooth_bytes(kBox, 1);
  const auto lossy = encode_lossy({BoundKind::absolute, 1e-3}, kBox, raw, raw.size());
  ASSERT_TRUE(lossy);
  const size_t size = lossy->encoded.payload.size();
  EXPECT_FALSE(encode_lossy({BoundKind::absolute, 1e-3}, kBox, raw, size));
  EXPECT_TRUE(encode_lossy({BoundKind::absolute, 1e-3}, kBox, raw, size + 1));
  Bytes noise = testing::random_bytes(raw.size(), 3);
  for (size_t i = 7; i < noise.size(); i += 8) noise[i] = std::byte{0x3f};
  EXPECT_FALSE(encode_lossy({BoundKind::absolute, 1e-300}, kBox, noise, noise.size()));
}

TEST_F(Lossy, IsOnlyForFloatingPoint) {
  const Bytes raw(8000);
  for (const char* name : {"i8", "u4", "f2", "x8"}) {
    const DataType type = *DataType::parse(name);
    const FrameShape shape{type, {Block{{1, 1, 1, raw.size() / type.size}}}};
    EXPECT_FALSE(encode_lossy({BoundKind::absolute, 1}, shape, raw, raw.size())) << name;
  }
}

// libzfp 1.0.0 wrote this: 5 x 6 floats, i * i - 5 for i = 0 to 29, with a tolerance of 2, none of which it needed.
constexpr uint8_t kRecipe[] = {0x01, 0x60, 0x00, 0x00, 0x2a, 0x19, 0x01, 0x00, 0x00, 0x00, 0x00,
                               0x00, 0x00, 0xe0, 0x3f, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
                               0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x40};
constexpr uint8_t kPayload[] = {0x11, 0x49, 0x85, 0x94, 0x5a, 0x04, 0x54, 0x84, 0x49, 0x00, 0x00, 0x98, 0x88, 0x29,
                                0x68, 0x82, 0x80, 0x03, 0xab, 0x0a, 0x88, 0x00, 0x00, 0x98, 0x68, 0x75, 0xc2, 0xa6,
                                0xd2, 0x14, 0x00, 0xc0, 0x44, 0x2b, 0x46, 0x51, 0x10, 0x41, 0x00, 0x14, 0x01, 0x00};
const FrameShape kGoldenShape{kLossyTypes[0], {Block{{1, 1, 5, 6}}}};

TEST_F(Lossy, StreamsStayReadable) {
  std::vector<double> expected;
  for (int i = 0; i < 30; ++i) expected.push_back(i * i - 5);
  Bytes decoded(byte_count(kGoldenShape));
  ASSERT_TRUE(decode(std::as_bytes(std::span(kRecipe)), kGoldenShape, std::as_bytes(std::span(kPayload)), decoded));
  EXPECT_EQ(decoded, bytes_of(kGoldenShape.type, expected));
}

TEST(LossyBuilds, WithoutZfpSayWhatIsMissing) {
  if (can_encode_lossy()) GTEST_SKIP() << "this build has zfp";
  Bytes decoded(byte_count(kGoldenShape));
  const auto result =
      decode(std::as_bytes(std::span(kRecipe)), kGoldenShape, std::as_bytes(std::span(kPayload)), decoded);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, ErrorKind::unsupported);
  EXPECT_NE(result.error().what.find("zfp"), std::string::npos);
  EXPECT_TRUE(lossy_note(std::as_bytes(std::span(kRecipe))));
}

TEST_F(Lossy, CannotBeNamedInAChain) {
  const auto chain = parse_chain("shuffle,zfp");
  ASSERT_FALSE(chain);
  EXPECT_EQ(chain.error().kind, ErrorKind::invalid_argument);
  EXPECT_EQ(encode({{.id = kZfpId}}, kBox, testing::smooth_bytes(kBox, 1)).recipe, Bytes());
}

TEST(LossyParameters, ThatAreHostileAreCorrupt) {
  const LossyParameters good{.note = {.bound = {BoundKind::range, 1e-3}, .error = 5e-4}, .tolerance = 0.25};
  const auto back = decode_lossy_parameters(encode_lossy_parameters(good));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->note, good.note);
  EXPECT_EQ(back->tolerance, good.tolerance);
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN(), kInfinity = std::numeric_limits<double>::infinity();
  for (const double value : {0.0, -1.0, kNan, kInfinity, -kInfinity}) {
    LossyParameters bad = good;
    bad.tolerance = value;
    EXPECT_FALSE(decode_lossy_parameters(encode_lossy_parameters(bad))) << value;
    bad = good;
    bad.note.bound.value = value;
    EXPECT_FALSE(decode_lossy_parameters(encode_lossy_parameters(bad))) << value;
  }
  for (const double error : {-1.0, 1.0, kNan, kInfinity}) {
    LossyParameters bad = good;
    bad.note.error = error;
    EXPECT_FALSE(decode_lossy_parameters(encode_lossy_parameters(bad))) << error;
  }
  for (const int kind : {0, 4, 255}) {
    Bytes bytes = encode_lossy_parameters(good);
    bytes[0] = static_cast<std::byte>(kind);
    EXPECT_FALSE(decode_lossy_parameters(bytes));
  }
  Bytes longer = encode_lossy_parameters(good);
  longer.push_back({});
  EXPECT_FALSE(decode_lossy_parameters(longer));
  EXPECT_FALSE(decode_lossy_parameters({}));
}

TEST(LossyNotes, AreInRecipesOfLossyFramesOnly) {
  const Bytes parameters =
      encode_lossy_parameters({.note = {.bound = {BoundKind::absolute, 2}, .error = 1}, .tolerance = 1});
  const Step lossy{{.id = kZfpId, .parameters = parameters}, 8}, lossless{{.id = kZstdId}, 8};
  EXPECT_EQ(lossy_note(encode_recipe({&lossy, 1})), (LossyNote{{BoundKind::absolute, 2}, 1}));
  EXPECT_FALSE(lossy_note(encode_recipe({&lossless, 1})));
  EXPECT_FALSE(lossy_note({}));
  EXPECT_FALSE(lossy_note(Bytes{std::byte{9}}));
}

}  // namespace
}  // namespace forebay::codec

#include "base/meaning.h"

#include <cmath>
#include <cstring>
#include <random>

#include <gtest/gtest.h>

namespace forebay {
namespace {

template <class T>
std::span<const std::byte> bytes_of(const std::vector<T>& values) {
  return std::as_bytes(std::span(values));
}

DataType type_named(const char* name) { return *DataType::parse(name); }

template <class To>
std::vector<To> meant_values(const Meaning& meaning, const DataType& type, std::span<const std::byte> values) {
  const DataType to = meant_type(meaning, type);
  EXPECT_EQ(to.size, sizeof(To));
  std::vector<To> out(values.size() / type.size);
  to_meant(meaning, type, to, values, reinterpret_cast<std::byte*>(out.data()));
  return out;
}

TEST(Meaning, ComesBackFromItsText) {
  std::mt19937_64 random(1);
  const auto number = [&]() -> long double {
    switch (random() % 4) {
      case 0:
        return static_cast<int64_t>(random());
      case 1:
        return random();
      case 2:
        return std::bit_cast<float>(static_cast<uint32_t>(random() % 0x7f000000));
      default:
        return static_cast<double>(random() % 1000) / 10 - 30;
    }
  };
  for (int round = 0; round < 500; ++round) {
    Meaning meaning;
    for (size_t i = random() % 3; i > 0; --i) meaning.fills.push_back(number());
    if (random() % 2 == 0) meaning.least = number();
    if (random() % 2 == 0) meaning.most = number();
    meaning.is_unsigned = random() % 2 == 0;
    if (random() % 2 == 0) meaning.scale = static_cast<double>(number());
    if (random() % 2 == 0) meaning.offset = static_cast<double>(number());
    if (meaning.is_packed() && random() % 2 == 0) meaning.unpacked_bytes = 4;
    const auto back = parse_meaning(to_text(meaning));
    ASSERT_TRUE(back) << to_text(meaning);
    EXPECT_EQ(*back, meaning) << to_text(meaning);
  }
  EXPECT_EQ(to_text({}), "");
  EXPECT_EQ(to_text({.least = 1 / 3.0L, .most = 0x1.8p+100L}), "least 0.3333333333333333 most 1.901475900342344e+30");
  for (const char* bad : {"fill", "fill x", "fill nan", "scale inf", "bytes 3", "other 1", "fill 1 2", " "})
    EXPECT_FALSE(parse_meaning(bad)) << bad;
  EXPECT_FALSE(parse_meaning(std::string(kMostMeaningBytes, 'x')));
}

TEST(Meaning, HolesAreNaN) {
  const Meaning meaning{.fills = {1e20F, -1}, .least = -5, .most = 1e21};
  const std::vector<float> stored = {1, 1e20F, -1, -6, 2e21F, NAN, INFINITY};
  const auto values = meant_values<float>(meaning, type_named("f4"), bytes_of(stored));
  EXPECT_EQ(values[0], 1);
  for (size_t i = 1; i < values.size(); ++i) EXPECT_TRUE(std::isnan(values[i])) << i;
  std::vector<uint8_t> holes(stored.size());
  find_holes(meaning, type_named("f4"), bytes_of(stored), holes.data());
  EXPECT_EQ(holes, (std::vector<uint8_t>{0, 1, 1, 1, 1, 0, 1})) << "what is no number anyway is no hole";
}

TEST(Meaning, IntegersGetATypeThatHasHoles) {
  EXPECT_EQ(meant_type({.fills = {1}}, type_named("i2")), type_named("f4"));
  EXPECT_EQ(meant_type({.fills = {1}}, type_named("i4")), type_named("f8"));
  EXPECT_EQ(meant_type({.fills = {1}}, type_named(">i8")), type_named("i8")) << "no double has all of them";
  EXPECT_EQ(meant_type({.is_unsigned = true}, type_named("i1")), type_named("u1"));
  EXPECT_EQ(meant_type({.scale = 2, .unpacked_bytes = 4}, type_named("i2")), type_named("f4"));
  EXPECT_EQ(meant_type({.scale = 2, .unpacked_bytes = 4}, type_named("i4")), type_named("f8"));
  EXPECT_EQ(meant_type({.offset = 2, .unpacked_bytes = 8}, type_named("f4")), type_named("f8"));
  EXPECT_EQ(meant_type({}, type_named(">f4")), type_named("f4"));
  const auto unsigned_bytes = meant_values<float>({.fills = {255}, .is_unsigned = true}, type_named("i1"),
                                                  bytes_of(std::vector<int8_t>{-1, -2, 3}));
  EXPECT_TRUE(std::isnan(unsigned_bytes[0]));
  EXPECT_EQ(unsigned_bytes[1], 254);
  const auto packed = meant_values<double>({.fills = {-9}, .scale = 0.5, .offset = 10}, type_named(">i2"),
                                           bytes_of(std::vector<uint8_t>{0, 3, 0xff, 0xf7}));
  EXPECT_EQ(packed[0], 11.5);
  EXPECT_TRUE(std::isnan(packed[1]));
}

TEST(Meaning, BoundsBeyondATypeAreNoneOrAll) {
  std::vector<uint8_t> holes(2);
  const std::vector<int64_t> wide = {INT64_MAX, INT64_MIN};
  const auto holes_of = [&](const Meaning& meaning) {
    find_holes(meaning, type_named("i8"), bytes_of(wide), holes.data());
    return holes;
  };
  EXPECT_EQ(holes_of({.fills = {static_cast<long double>(INT64_MAX)}}), (std::vector<uint8_t>{1, 0}));
  EXPECT_EQ(holes_of({.fills = {0x1p63L}}), (std::vector<uint8_t>{0, 0})) << "which it has not";
  EXPECT_EQ(holes_of({.least = 1e30L}), (std::vector<uint8_t>{1, 1}));
  EXPECT_EQ(holes_of({.most = 1e30L}), (std::vector<uint8_t>{0, 0}));
  EXPECT_EQ(holes_of({.least = -0.5L}), (std::vector<uint8_t>{0, 1}));
}

}  // namespace
}  // namespace forebay

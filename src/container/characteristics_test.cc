#include "container/characteristics.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "base/checksum.h"
#include "container/characteristics_kernel.h"

namespace forebay::container {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

template <class T>
std::span<const std::byte> bytes_of(const std::vector<T>& values) {
  return std::as_bytes(std::span(values));
}

DataType type_named(std::string_view name) { return *DataType::parse(name); }

uint64_t bits(double value) { return std::bit_cast<uint64_t>(value); }

TEST(Characteristics, OfAFewNumbers) {
  const std::vector<double> values = {1, -2.5, 4};
  const Characteristics result = characterise(type_named("f8"), bytes_of(values));
  EXPECT_EQ(result, (Characteristics{.count = 3, .min = -2.5, .max = 4, .sum = 2.5, .sum_of_squares = 23.25}));
}

TEST(Characteristics, LeaveNansAndInfinitiesOut) {
  for (size_t padding = 0; padding < 20; ++padding) {
    std::vector<float> values(padding, 1.0f);
    for (const double special : {kNan, kInfinity, -kInfinity, kInfinity}) values.push_back(static_cast<float>(special));
    values.push_back(-3);
    const Characteristics result = characterise(type_named("f4"), bytes_of(values));
    const auto ones = static_cast<double>(padding);
    EXPECT_EQ(result, (Characteristics{.count = padding + 1,
                                       .min = -3,
                                       .max = padding > 0 ? 1.0 : -3.0,
                                       .sum = ones - 3,
                                       .sum_of_squares = ones + 9,
                                       .nans = 1,
                                       .infinities = 3}));
  }
}

TEST(Characteristics, OfNothingAreZero) {
  EXPECT_EQ(characterise(type_named("f8"), {}), Characteristics{});
  EXPECT_EQ(characterise(type_named("x4"), as_bytes("abcdefgh")), Characteristics{});
  const std::vector<double> values = {kNan, -kInfinity};
  EXPECT_EQ(characterise(type_named("f8"), bytes_of(values)), (Characteristics{.nans = 1, .infinities = 1}));
}

TEST(Characteristics, OfEveryIntegerType) {
  EXPECT_EQ(characterise(type_named("i1"), as_bytes("\x80\x7f\xff")).min, -128);
  EXPECT_EQ(characterise(type_named("u1"), as_bytes("\x80\x7f\xff")).max, 255);
  EXPECT_EQ(characterise(type_named(">i2"), as_bytes("\x01\x02\xff\xfe")),
            (Characteristics{.count = 2, .min = -2, .max = 258, .sum = 256, .sum_of_squares = 258 * 258 + 4}));
  EXPECT_EQ(characterise(type_named(">u4"), as_bytes(std::string_view("\x01\0\0\0", 4))).sum, 1 << 24);
  const std::vector<int64_t> large = {INT64_MIN, INT64_MAX, 5};
  EXPECT_EQ(characterise(type_named("i8"), bytes_of(large)).min, -0x1p63);
  EXPECT_EQ(characterise(type_named("i8"), bytes_of(large)).max, 0x1p63);
  const std::vector<uint64_t> unsigned_large = {UINT64_MAX, 0};
  EXPECT_EQ(characterise(type_named("u8"), bytes_of(unsigned_large)).max, 0x1p64);
}

TEST(Characteristics, OfEveryHalf) {
  std::vector<uint16_t> all(65536);
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<uint16_t>(i);
  const Characteristics result = characterise(type_named("f2"), bytes_of(all));
  EXPECT_EQ(result.nans, 2 * 1023u);
  EXPECT_EQ(result.infinities, 2u);
  EXPECT_EQ(result.count, 65536 - 2 * 1024u);
  EXPECT_EQ(result.min, -65504);
  EXPECT_EQ(result.max, 65504);
  EXPECT_EQ(result.sum, 0);
}

TEST(Characteristics, OfSingleHalves) {
  const auto value = [](uint16_t half) { return characterise(type_named("f2"), bytes_of(std::vector{half})).sum; };
  EXPECT_EQ(value(0x3c00), 1);
  EXPECT_EQ(value(0xc000), -2);
  EXPECT_EQ(value(0x0001), 0x1p-24);
  EXPECT_EQ(value(0x03ff), 1023 * 0x1p-24);
  EXPECT_EQ(value(0x0400), 0x1p-14);
}

TEST(Characteristics, MergeIsOfAllTogether) {
  Characteristics a = characterise(type_named("f8"), bytes_of(std::vector{1.0, 2.0, kNan}));
  a.merge(characterise(type_named("f8"), bytes_of(std::vector{-1.0, kInfinity})));
  a.merge({});
  EXPECT_EQ(
      a, (Characteristics{.count = 3, .min = -1, .max = 2, .sum = 2, .sum_of_squares = 6, .nans = 1, .infinities = 1}));
  Characteristics empty;
  empty.merge(a);
  EXPECT_EQ(empty, a);
}

// Numbers of every magnitude, now and then special ones, from integers alone: the same on every machine.
Bytes mixed_bytes(const DataType& type, size_t elements) {
  std::mt19937_64 random(elements * 10 + type.size);
  Bytes bytes(elements * type.size);
  for (size_t i = 0; i + 8 <= bytes.size(); i += 8) store_le<uint64_t>(bytes.data() + i, random());
  return bytes;
}

uint64_t hash_of(const Characteristics& c) {
  const uint64_t words[] = {c.count, bits(c.min), bits(c.max), bits(c.sum), bits(c.sum_of_squares),
                            c.nans,  c.infinities};
  return hash64(std::as_bytes(std::span(words)));
}

TEST(Characteristics, HaveTheSameBitsOnEveryInstructionSet) {
#if defined(__x86_64__)
  if (!__builtin_cpu_supports("avx2")) GTEST_SKIP() << "this machine has no AVX2";
#else
  GTEST_SKIP() << "there is one instruction set only";
#endif
  for (const char* name : {"f2", "f4", "f8", ">f2", ">f4", ">f8", "i1", "u1", "i2", ">u2", "i4", ">u4", "i8", ">u8"}) {
    const DataType type = type_named(name);
    for (const size_t elements : {0, 1, 7, 8, 9, 1000, 4099}) {
      const Bytes bytes = mixed_bytes(type, elements);
      EXPECT_EQ(hash_of(characterise_on(InstructionSet::baseline, type, bytes)),
                hash_of(characterise_on(InstructionSet::avx2, type, bytes)))
          << name << " x " << elements;
    }
  }
}

// The reference: one element after another, as docs/format.md says it.
Characteristics naive(const std::vector<double>& values) {
  Characteristics result;
  double sums[8] = {}, squares[8] = {};
  result.min = kInfinity;
  result.max = -kInfinity;
  for (size_t i = 0; i < values.size(); ++i) {
    if (std::isnan(values[i])) ++result.nans;
    if (std::isinf(values[i])) ++result.infinities;
    if (!std::isfinite(values[i])) continue;
    ++result.count;
    result.min = std::min(result.min, values[i]);
    result.max = std::max(result.max, values[i]);
    sums[i % 8] += values[i];
    squares[i % 8] += values[i] * values[i];
  }
  const auto fold = [](const double* l) { return ((l[0] + l[1]) + (l[2] + l[3])) + ((l[4] + l[5]) + (l[6] + l[7])); };
  result.sum = fold(sums);
  result.sum_of_squares = fold(squares);
  return result;
}

TEST(Characteristics, AreThoseOfTheNaiveLoop) {
  std::mt19937_64 random(3);
  for (const size_t count : {1, 5, 8, 100, 12345}) {
    std::vector<double> values(count);
    for (double& value : values)
      value = random() % 50 == 0   ? kNan
              : random() % 50 == 0 ? -kInfinity
                                   : static_cast<double>(random() % 1'000'000) / 7 - 1000;
    values[0] = 0.25;
    EXPECT_EQ(characterise(type_named("f8"), bytes_of(values)), naive(values));
  }
}

TEST(Characteristics, SumsThatOverflowAreTheSameNan) {
  const std::vector<double> values = {1e308, -1e308, 0, 0, 0, 0, 0, 0, 1e308, -1e308};
  const Characteristics result = characterise(type_named("f8"), bytes_of(values));
  EXPECT_EQ(bits(result.sum), bits(kNan));
  EXPECT_EQ(result.sum_of_squares, kInfinity);
}

TEST(Characteristics, HolesAreCountedApart) {
  std::vector<int16_t> values;
  for (int i = 0; i < 10000; ++i) values.push_back(static_cast<int16_t>(i % 3 == 0 ? -999 : i % 100));
  const Meaning meaning{.fills = {-999}, .most = 90, .scale = 0.5};
  const Characteristics result = characterise(type_named("i2"), bytes_of(values), meaning);
  std::vector<int16_t> kept;
  for (const int16_t value : values)
    if (value != -999 && value <= 90) kept.push_back(value);
  const Characteristics expected = characterise(type_named("i2"), bytes_of(kept));
  EXPECT_EQ(result.holes, values.size() - kept.size());
  EXPECT_EQ(result.count, kept.size());
  EXPECT_EQ(result.min, expected.min);
  EXPECT_EQ(result.max, 90);
  EXPECT_EQ(result.sum, expected.sum) << "whole numbers, of what is stored";
  EXPECT_EQ(result.nans, 0u);
  Characteristics twice = result;
  twice.merge(result);
  EXPECT_EQ(twice.holes, 2 * result.holes);
  const std::vector<float> floats = {1, 1e30F, NAN, INFINITY};
  EXPECT_EQ(
      characterise(type_named("f4"), bytes_of(floats), {.fills = {1e30F}}),
      (Characteristics{
          .count = 1, .min = 1, .max = 1, .sum = 1, .sum_of_squares = 1, .nans = 1, .infinities = 1, .holes = 1}));
  EXPECT_EQ(characterise(type_named("i1"), bytes_of(std::vector<int8_t>{-1, 1}), {.is_unsigned = true}).max, 255);
}

}  // namespace
}  // namespace forebay::container

#include "codec/multiples/multiples.h"

#include <algorithm>
#include <limits>

#include <gtest/gtest.h>

#include "codec/chain.h"
#include "codec/choice/chooser.h"
#include "codec/codec_ids.h"
#include "codec/test_frames.h"

namespace forebay::codec {
namespace {

using testing::Random;

constexpr DataType kDouble{Kind::floating, ByteOrder::little, 8}, kSingle{Kind::floating, ByteOrder::little, 4};

template <class F>
Bytes bytes_of(const std::vector<F>& values) {
  Bytes bytes(values.size() * sizeof(F));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

// A walk in steps of up to 100 units of `unit`.
template <class F, class ToValue>
std::vector<F> walk(size_t count, uint64_t seed, ToValue value) {
  Random random(seed);
  std::vector<F> values;
  int64_t at = 1000;
  for (size_t i = 0; i < count; ++i) {
    at += static_cast<int64_t>(random.next() % 201) - 100;
    values.push_back(static_cast<F>(value(at)));
  }
  return values;
}

std::vector<double> hundredths(size_t count) {
  return walk<double>(count, 1, [](int64_t m) { return static_cast<double>(m) / 100; });
}

template <class F>
std::optional<Base> base_of(const std::vector<F>& values) {
  const Bytes raw = bytes_of(values);
  return find_base<F>(sample_of<F>(raw, {Kind::floating, ByteOrder::little, sizeof(F)}));
}

TEST(Multiples, FindsDecimals) {
  const auto base = base_of(hundredths(5000));
  ASSERT_TRUE(base);
  EXPECT_TRUE(base->is_divisor);
  EXPECT_EQ(base->value, 100);
  const auto single = base_of(walk<float>(5000, 2, [](int64_t m) { return static_cast<double>(m) / 1000; }));
  ASSERT_TRUE(single);
  EXPECT_EQ(single->value, 1000);
}

TEST(Multiples, FindsTicksThatNoDecimalIsAMultipleOf) {
  const auto tenths = base_of(walk<double>(5000, 3, [](int64_t m) { return static_cast<double>(m) * 0.1; }));
  ASSERT_TRUE(tenths);
  EXPECT_FALSE(tenths->is_divisor);
  EXPECT_EQ(tenths->value, 0.1);
  const auto sevenths = base_of(walk<double>(5000, 4, [](int64_t m) { return static_cast<double>(m) / 7; }));
  ASSERT_TRUE(sevenths);
  EXPECT_NEAR(sevenths->is_divisor ? 1 / sevenths->value : sevenths->value, 1.0 / 7, 1e-15);
}

TEST(Multiples, FindsTheLargestBase) {
  const auto even = base_of(walk<double>(5000, 5, [](int64_t m) { return static_cast<double>(m) * 4096; }));
  ASSERT_TRUE(even);
  EXPECT_EQ(even->is_divisor ? 1 / even->value : even->value, 4096);
}

TEST(Multiples, FindsNoneInNoiseNorInTooFew) {
  Random random(6);
  std::vector<double> noise;
  for (int i = 0; i < 5000; ++i) noise.push_back(static_cast<double>(random.next()) * 0x1p-64);
  EXPECT_FALSE(base_of(noise));
  EXPECT_FALSE(base_of(hundredths(20)));
  EXPECT_FALSE(base_of(std::vector<double>(5000, std::numeric_limits<double>::quiet_NaN())));
}

TEST(Multiples, KeepHolesAndExceptionsToTheBit) {
  std::vector<double> values = hundredths(40000);
  for (size_t i = 0; i < values.size(); i += 3) values[i] = 9.96921e36;
  for (size_t i = 1; i < values.size(); i += 50) values[i] = -0.0;
  for (size_t i = 2; i < values.size(); i += 100) values[i] = std::bit_cast<double>(0x7ff8000000000000 + i);
  const Bytes raw = bytes_of(values);
  const auto found = fit_multiples(raw, kDouble);
  ASSERT_TRUE(found);
  EXPECT_GE(found->specials.size(), 2u);
  EXPECT_GE(found->exceptions.size(), 390u);
  const FrameShape shape{kDouble, {Block{{1, 1, 1, values.size()}}}};
  const Encoded encoded = encode({{kMultiplesId, 0, {}}, {kZstdId, 3, {}}}, shape, raw);
  EXPECT_EQ(chain_of(encoded.recipe)->front().id, kMultiplesId);
  Bytes back(raw.size());
  ASSERT_TRUE(decode(encoded.recipe, shape, encoded.payload.span(), back));
  EXPECT_EQ(back, raw);
}

TEST(Multiples, RefuseParametersOfAnotherFrame) {
  const Bytes raw = bytes_of(hundredths(1000)), other = bytes_of(std::vector<double>(1000, 0.001));
  const FrameShape shape{kDouble, {Block{{1, 1, 1, 1000}}}};
  const Codec& codec = *find_codec(kMultiplesId);
  const Bytes parameters = codec.fit({shape}, raw);
  ASSERT_FALSE(parameters.empty());
  Bytes out(raw.size());
  EXPECT_EQ(codec.encode({shape, 0, parameters}, raw, out), raw.size());
  EXPECT_EQ(codec.encode({shape, 0, parameters}, other, out), 0u);
}

TEST(Multiples, RefuseHostileParameters) {
  const Multiples good{{true, 100}, -5, {1, 2}, {{3, 7}, {999, 8}}};
  const Bytes parameters = encode_multiples(good, 8);
  ASSERT_TRUE(decode_multiples(parameters, 8, 1000));
  EXPECT_EQ(decode_multiples(parameters, 8, 1000)->exceptions.back().index, 999u);
  EXPECT_FALSE(decode_multiples(parameters, 8, 999)) << "an exception beyond the frame";
  const auto changed = [&](size_t at, uint8_t to) {
    Bytes bad = parameters;
    bad[at] = std::byte{to};
    return decode_multiples(bad, 8, 1000).has_value();
  };
  EXPECT_FALSE(changed(0, 2)) << "a third way";
  EXPECT_FALSE(changed(8, 0xff)) << "a base below 0";
  EXPECT_FALSE(changed(10, 9)) << "too many specials";
  for (size_t size = 0; size < 27; ++size)
    EXPECT_FALSE(decode_multiples(std::span(parameters).first(size), 8, 1000)) << size;
  const Bytes zero = encode_multiples({{false, 0}, 0, {}, {}}, 8);
  EXPECT_FALSE(decode_multiples(zero, 8, 1000));
}

// Whatever is rounded to few digits in either precision comes back, and takes less than half of what it took without.
TEST(Multiples, MakeLessOfRoundedSeriesInEveryProfile) {
  for (const char* name : {"fast", "balanced", "max"}) {
    const Bytes raw = bytes_of(hundredths(100000));
    const FrameShape shape{kDouble, {Block{{1, 1, 1, 100000}}}};
    const Chosen chosen = Profile::parse(name)->encode(shape, raw);
    EXPECT_EQ(chosen.chain.front().id, kMultiplesId) << name;
    EXPECT_LT(chosen.encoded.payload.size() * 7, raw.size()) << name;
    Bytes back(raw.size());
    ASSERT_TRUE(decode(chosen.encoded.recipe, shape, chosen.encoded.payload.span(), back));
    EXPECT_EQ(back, raw);
  }
}

TEST(Planes, SuitNoisyNumbersInEveryProfile) {
  Random random(9);
  Bytes raw;
  for (int i = 0; i < 200000; ++i) {
    double sum = 0;
    for (int k = 0; k < 6; ++k) sum += static_cast<double>(random.next() >> 40) * 0x1p-24;
    testing::append(raw, kSingle, testing::bits_of(kSingle, (sum - 3) * 0.02));
  }
  const FrameShape shape{kSingle, {Block{{1, 1, 400, 500}}}};
  const uint64_t shuffled = encode({{kShuffleId, 0, {}}, {kZstdId, 3, {}}}, shape, raw).payload.size();
  for (const char* name : {"fast", "balanced", "max"}) {
    const Chosen chosen = Profile::parse(name)->encode(shape, raw);
    EXPECT_EQ(chosen.chain.back().id, kPlanesId) << name;
    EXPECT_LT(chosen.encoded.payload.size() * 100, shuffled * 99) << name;
  }
}

}  // namespace
}  // namespace forebay::codec

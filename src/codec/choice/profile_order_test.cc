// A higher profile makes no more of a frame than the one below it, whatever the data are.
#include <cmath>
#include <functional>

#include <gtest/gtest.h>

#include "codec/choice/chooser.h"
#include "codec/choice/repeats.h"
#include "codec/test_frames.h"

namespace forebay::codec {
namespace {

using testing::Frame;
using testing::Random;

constexpr DataType kF2{Kind::floating, ByteOrder::little, 2}, kOrderF4{Kind::floating, ByteOrder::little, 4},
    kOrderF8{Kind::floating, ByteOrder::little, 8}, kPairs{Kind::opaque, ByteOrder::little, 2};

// About normal, from sums and products only.
double normal(Random& random) {
  double sum = 0;
  for (int i = 0; i < 12; ++i) sum += static_cast<double>(random.next() >> 40) * 0x1p-24;
  return sum - 6;
}

// Cells of a field of 32 x 32 x 64 on 16 ranks, each with two layers of its neighbours' cells on demand.
Frame field(const char* name, uint64_t ghosts, const std::function<double(double, double, double)>& value,
            const DataType& type = kOrderF8) {
  constexpr uint64_t kRank = 16, kAcross[] = {4, 2, 2};
  const uint64_t side = kRank + 2 * ghosts;
  Frame frame{name, {type, std::vector<Block>(16, Block{{1, side, side, side}})}, {}};
  for (uint64_t rank = 0; rank < 16; ++rank) {
    const uint64_t origin[] = {rank / 4 * kRank, rank / 2 % 2 * kRank, rank % 2 * kRank};
    const auto at = [&](int axis, uint64_t i) {
      const uint64_t cells = kAcross[axis] * kRank;
      return static_cast<double>((origin[axis] + i + cells - ghosts) % cells) - static_cast<double>(cells) / 2 + 0.5;
    };
    for (uint64_t z = 0; z < side; ++z)
      for (uint64_t y = 0; y < side; ++y)
        for (uint64_t x = 0; x < side; ++x)
          testing::append(frame.raw, type, testing::bits_of(type, value(at(0, z), at(1, y), at(2, x))));
  }
  return frame;
}

// A shell that spreads through a constant gas.
double blast(double z, double y, double x) {
  const double square = x * x + y * y + z * z;
  if (square > 150) return 1.0;
  return square > 90 ? 1 + (150 - square) * 0.031 + x * 1e-5 : 0.2 + square * 0.0087;
}

// The same all around, so that values come again in other octants.
double symmetric(double z, double y, double x) {
  const double square = x * x + y * y + z * z;
  return square > 200 ? 0 : 3 / (1 + square * 0.37);
}

Frame noise(const char* name, const DataType& type, const std::function<uint64_t(double)>& bits,
            std::vector<Block> blocks = std::vector<Block>(4, Block{{1, 1, 128, 192}})) {
  Random random(3);
  Frame frame{name, {type, std::move(blocks)}, {}};
  for (uint64_t i = 0; i < frame.shape.element_total(); ++i) testing::append(frame.raw, type, bits(normal(random)));
  return frame;
}

uint64_t single(double value) { return testing::bits_of(kOrderF4, value); }

// 4 exponent bits of a half, as far as normal weights need them.
uint64_t half(double value) {
  const uint64_t bits = single(value);
  const uint64_t magnitude = ((bits >> 13) & 0x3ffff) - ((127 - 15) << 10);
  return (bits >> 16 & 0x8000) | (magnitude & 0x7fff);
}

Frame text() {
  Random random(4);
  Frame frame{"text", {}, {}};
  std::string lines;
  for (int i = 0; i < 6000; ++i)
    lines += std::to_string(i) + " step " + std::to_string(i / 7) + " residual " + std::to_string(random.next() >> 34) +
             "e-" + std::to_string(i % 9) + "\n";
  const auto bytes = as_bytes(lines);
  frame.raw.assign(bytes.begin(), bytes.end());
  frame.shape = {kBytes, {Block{{1, 1, 1, frame.raw.size()}}}};
  return frame;
}

// Coordinates that every rank writes again.
Frame coordinates() {
  Random random(5);
  Frame frame{"coordinates", {kOrderF8, std::vector<Block>(12, Block{{1, 1, 1, 4000}})}, {}};
  std::vector<uint64_t> once(4000);
  for (uint64_t& one : once) one = testing::bits_of(kOrderF8, 10 + normal(random));
  for (int rank = 0; rank < 12; ++rank)
    for (const uint64_t one : once) testing::append(frame.raw, kOrderF8, one);
  return frame;
}

std::vector<Frame> frames() {
  std::vector<Block> small;
  for (uint64_t i = 0; i < 3000; ++i) small.push_back({{1, 1, 1, 1 + i % 37}});
  const auto f8 = [](double value) { return testing::bits_of(kOrderF8, value); };
  std::vector<Frame> all;
  all.push_back(field("blast", 0, blast));
  all.push_back(field("blast with ghosts", 2, blast));
  all.push_back(field("blast with ghosts, f4", 2, blast, kOrderF4));
  all.push_back(field("symmetric", 0, symmetric));
  all.push_back(field("symmetric with ghosts", 2, symmetric));
  all.push_back(noise("weights f4", kOrderF4, [](double value) { return single(value * 0.03); }));
  all.push_back(noise("second moments f4", kOrderF4, [](double value) { return single(value * value * 1e-8); }));
  all.push_back(noise("weights f2", kF2, [](double value) { return half(value * 0.03); }));
  all.push_back(noise("weights bf16", kPairs, [](double value) { return single(value * 0.03) >> 16; }));
  all.push_back(noise("small variables", kOrderF8, f8, small));
  all.push_back(noise("decimals", kOrderF8, [&](double value) { return f8(std::round(value * 1000) / 1000); }));
  all.push_back(noise("ticks f4", kOrderF4, [](double value) { return single(std::round(value * 40) * 0.05); }));
  all.push_back(noise("decimals with holes", kOrderF8,
                      [&](double value) { return f8(value < 0 ? 9.96921e36 : std::round(value * 100) / 100); }));
  all.push_back(field("rounded", 0,
                      [](double z, double y, double x) { return std::round((x * x - y * z + 30 * x) * 100) / 100; }));
  Random random(8);
  Frame corners{"corners", {{Kind::signed_int, ByteOrder::little, 4}, {Block{{1, 1, 60000, 4}}}}, {}};
  for (uint64_t i = 0; i < 240000; ++i)
    testing::append(corners.raw, corners.shape.type, i / 24 + (i % 4) * 900 + random.next() % 3);
  all.push_back(std::move(corners));
  Frame positions{"positions", {kOrderF4, {Block{{1, 1, 60000, 3}}}}, {}};
  for (uint64_t i = 0; i < 180000; ++i)
    testing::append(positions.raw, kOrderF4, single(double(i % 3) + normal(random)));
  all.push_back(std::move(positions));
  for (const DataType& type : {kBytes, DataType{Kind::unsigned_int, ByteOrder::little, 1}})
    all.push_back(field("mask", 0, [](double z, double y, double x) { return blast(z, y, x) > 1 ? 1.0 : 0.0; }, type));
  all.push_back(text());
  all.push_back(coordinates());
  for (const uint16_t width : std::initializer_list<uint16_t>{1, 2, 24}) {
    const Bytes once = testing::random_bytes(300'000, width);
    Frame again{"opaque again, " + std::to_string(width), {{Kind::opaque, ByteOrder::little, width}, {}}, {}};
    for (int i = 0; i < 4; ++i) again.raw.insert(again.raw.end(), once.begin(), once.end());
    again.shape.blocks.push_back({{1, 1, 1, again.raw.size() / width}});
    all.push_back(std::move(again));
  }
  all.push_back({"random", {kBytes, {Block{{1, 1, 1, 300'000}}}}, testing::random_bytes(300'000, 1)});
  all.push_back(testing::text_frame());
  return all;
}

uint64_t size_with(const char* profile, const Frame& frame) {
  const Encoded encoded = Profile::parse(profile)->encode(frame.shape, frame.raw).encoded;
  return encoded.payload.size() + encoded.recipe.size();
}

constexpr double kMargin = 1.001;      // what one profile may make more than the one below it
constexpr double kEntryMargin = 1.01;  // what it may cost that parts of a frame can be decoded alone
constexpr double kRecipeBytes = 32;

TEST(ProfileOrder, NoProfileMakesMoreThanTheOneBelowIt) {
  for (const Frame& frame : frames()) {
    const auto fast = static_cast<double>(size_with("fast", frame));
    const auto balanced = static_cast<double>(size_with("balanced", frame));
    const auto max = static_cast<double>(size_with("max", frame));
    EXPECT_LE(balanced, kMargin * fast) << frame.name;
    EXPECT_LE(max, kMargin * balanced) << frame.name;
  }
}

// `fast` estimates on a small sample what suits zstd; blasts with ghosts and symmetric fields repeat beyond its reach.
TEST(ProfileOrder, PlainZstdIsNotSmaller) {
  for (const Frame& frame : frames()) {
    const double plain = kEntryMargin * static_cast<double>(size_with("zstd:3", frame)) + kRecipeBytes;
    EXPECT_LE(static_cast<double>(size_with("balanced", frame)), plain) << frame.name;
    if (frame.name.find("ghosts") != std::string::npos || frame.name.find("symmetric") != std::string::npos) continue;
    EXPECT_LE(static_cast<double>(size_with("fast", frame)), plain) << frame.name;
  }
}

TEST(Repeats, AreSeenWhereverTheyLie) {
  for (const uint16_t width : std::initializer_list<uint16_t>{1, 2, 4, 8}) {
    const DataType type{Kind::unsigned_int, ByteOrder::little, width};
    const Bytes once = testing::random_bytes(100'000 * width, 1);
    EXPECT_LE(find_repeats(once, type).repeated, width == 1 ? 30u : 2u) << width;
    EXPECT_EQ(find_repeats(once, type).constant, 0u) << width;
    Bytes twice = once;
    twice.insert(twice.end(), 3 * width, std::byte{7});  // not in step with anything
    twice.insert(twice.end(), once.begin(), once.end());
    EXPECT_NEAR(find_repeats(twice, type).repeated, 500, 80) << width;
    Bytes half = once;
    half.insert(half.end(), once.size(), std::byte{7});
    EXPECT_NEAR(find_repeats(half, type).constant, 500, 10) << width;
    EXPECT_LE(find_repeats(half, type).repeated, width == 1 ? 30u : 2u) << width;
  }
  Bytes rounded = testing::random_bytes(800'000, 1);
  rounded.resize(1'600'000);
  for (size_t i = 0; i < 800'000; ++i) rounded[800'000 + i] = rounded[i] ^ std::byte{i % 8 < 3};
  EXPECT_NEAR(find_repeats(rounded, kOrderF8).repeated, 500, 80);
  EXPECT_EQ(find_repeats({}, kOrderF8).repeated, 0u);
}

TEST(Repeats, AreFarWhereAnEntryDoesNotReachThem) {
  EXPECT_EQ(find_far_repeats({}), 0u);
  EXPECT_EQ(find_far_repeats(testing::random_bytes(1'600'000, 3)), 0u);
  for (const size_t length : {20'000, 400'000}) {
    const Bytes once = testing::random_bytes(length, 2);
    Bytes often;
    while (often.size() < 1'600'000) often.insert(often.end(), once.begin(), once.end());
    EXPECT_GT(find_repeats(often, kBytes).repeated, 600u);
    EXPECT_EQ(find_far_repeats(often) > 500, length > kFarBytes) << find_far_repeats(often);
  }
  EXPECT_EQ(find_repeats(Bytes(10), kOrderF8).constant, 0u);
}

}  // namespace
}  // namespace forebay::codec

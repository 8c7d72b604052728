#include "codec/fitted/fitted.h"

#include <algorithm>
#include <limits>

#include <gtest/gtest.h>

#include "base/checksum.h"
#include "codec/codec_ids.h"
#include "codec/elements.h"
#include "codec/fitted/fitted_kernels.h"
#include "codec/own_codecs.h"
#include "codec/test_frames.h"

namespace forebay::codec {
namespace {

using testing::random_bytes;
using testing::smooth_bytes;
using testing::special_bytes;

const char* const kTypes[] = {"f4", ">f4", "f8", ">f8"};
const Block kVolume{{1, 5, 7, 19}}, kPlane{{1, 1, 13, 300}}, kFour{{2, 3, 4, 8}}, kTiny{{1, 1, 1, 3}};

FrameShape shape_of(const char* type, std::vector<Block> blocks) { return {*DataType::parse(type), std::move(blocks)}; }

Bytes encode(const FrameShape& shape, const Bytes& parameters, const Bytes& raw) {
  Bytes out(raw.size());
  EXPECT_EQ(fitted_codec().encode({shape, 0, parameters}, raw, out), raw.size());
  return out;
}

void expect_round_trip(const FrameShape& shape, const Bytes& parameters, const Bytes& raw) {
  Bytes back(raw.size());
  const auto result = fitted_codec().decode({shape, 0, parameters}, encode(shape, parameters, raw), back);
  ASSERT_TRUE(result) << result.error().message();
  EXPECT_EQ(back, raw);
}

// Coefficients that are no prediction's in particular, but not wild either.
FittedRun some_run(FittedForm form, uint64_t blocks) {
  FittedRun run{.blocks = blocks, .form = form};
  if (form == FittedForm::lorenzo) return run;
  run.plane = lorenzo_plane();
  for (size_t i = 0; i < run.plane.size(); ++i) run.plane[i] += 0.03125 * static_cast<double>(i % 3) - 0.015625;
  if (form == FittedForm::plane) return run;
  run.volume = lorenzo_volume();
  for (size_t i = 0; i < run.volume.size(); ++i) run.volume[i] += 0.0625 * static_cast<double>(i % 5) - 0.125;
  return run;
}

// Of both precisions.
std::vector<FittedRun> golden_runs() {
  std::vector runs{some_run(FittedForm::volume, 1), some_run(FittedForm::lorenzo, 1), some_run(FittedForm::plane, 1),
                   some_run(FittedForm::volume, 1)};
  runs[3].doubles = true;
  runs[3].volume[4] += 1e-9;
  return runs;
}

Bytes golden_parameters() { return encode_runs(golden_runs()); }

std::vector<Block> golden_blocks() { return {kVolume, kVolume, kTiny, kPlane, kFour, kTiny}; }

uint64_t bits_of_residuals(const FrameShape& shape, const Bytes& residuals) {
  uint64_t bits = 0;
  for (size_t at = 0; at < residuals.size(); at += shape.type.size)
    bits += static_cast<uint64_t>(std::bit_width(shape.type.size == 4 ? load_le<uint32_t>(residuals.data() + at)
                                                                      : load_le<uint64_t>(residuals.data() + at)));
  return bits;
}

Bytes lorenzo_of(const FrameShape& shape, const Bytes& raw) {
  Bytes out(raw.size());
  lorenzo_codec().encode({shape}, raw, out);
  return out;
}

// Part of the container format, as the hashes of codec_golden_test.cc are.
TEST(Fitted, EncodingsNeverChange) {
  struct Hashes {
    uint64_t smooth, special, small;
  };
  constexpr Hashes kFloats{0xe97bc824e863dfb4, 0xc1bf69f8999c29f6, 0x3d5ecb44bb7a4df5},
      kDoubles{0x804c04df1bd4d4a6, 0xe1144c0f62576823, 0xa96353bfb005e259};
  for (const char* type : kTypes) {
    const FrameShape shape = shape_of(type, golden_blocks());
    const Hashes& expected = shape.type.size == 4 ? kFloats : kDoubles;
    const auto hash = [&](const Bytes& raw) { return hash64(encode(shape, golden_parameters(), raw)); };
    EXPECT_EQ(hash(smooth_bytes(shape, 9)), expected.smooth) << type;
    EXPECT_EQ(hash(special_bytes(shape)), expected.special) << type;
    EXPECT_EQ(hash(testing::small_bytes(shape)), expected.small) << type;
  }
}

TEST(Fitted, BothPathsGiveTheSame) {
  if (!has_avx2()) GTEST_SKIP() << "this machine has only one path";
  for (const char* type : kTypes)
    for (const Block& block : {kVolume, kPlane, Block{{1, 2, 4, 8}}, Block{{1, 40, 5, 33}}}) {
      const FrameShape shape = shape_of(type, {block});
      const LorenzoArray array = lorenzo_array(block, 0);
      const FittedRun run = some_run(form_of(array), 1);
      std::vector<double> scratch(fitted_scratch(array));
      for (const Bytes& raw :
           {smooth_bytes(shape, 4), special_bytes(shape), random_bytes(block.count() * shape.type.size, 5)})
        for (const bool wide : {false, true}) {
          uint64_t carry = 0;
          Bytes residuals(raw.size()), back = raw;
          fitted_forward(shape.type, run, array, raw.data(), residuals.data(), carry, scratch.data(), wide);
          const size_t first_row = array.dims[3] * shape.type.size;
          std::fill(back.begin() + static_cast<ptrdiff_t>(first_row), back.end(), std::byte{0x77});
          fitted_inverse(shape.type, run, array, residuals.data(), back.data(), carry, scratch.data(), !wide);
          EXPECT_EQ(back, raw) << type << " encoded " << (wide ? "wide" : "narrow");
        }
    }
}

TEST(Fitted, AnyCoefficientsComeBack) {
  const double kWild[] = {std::numeric_limits<double>::quiet_NaN(),
                          std::numeric_limits<double>::infinity(),
                          -std::numeric_limits<double>::infinity(),
                          1e300,
                          std::numeric_limits<double>::denorm_min(),
                          -1e30,
                          0.0};
  for (const char* type : kTypes) {
    const FrameShape shape = shape_of(type, {kVolume, kPlane, kFour});
    for (const double wild : kWild)
      for (const size_t step : {1u, 3u, 8u}) {
        std::vector<FittedRun> runs{some_run(FittedForm::volume, 1), some_run(FittedForm::plane, 1),
                                    some_run(FittedForm::volume, 1)};
        for (FittedRun& run : runs) {
          run.doubles = true;
          for (size_t i = 0; i < run.plane.size(); i += step) run.plane[i] = wild;
          for (size_t i = 0; i < run.volume.size(); i += step) run.volume[i] = wild;
        }
        expect_round_trip(shape, encode_runs(runs), smooth_bytes(shape, 1));
        expect_round_trip(shape, encode_runs(runs), special_bytes(shape));
      }
  }
}

TEST(Fitted, PolynomialsArePredicted) {
  for (const char* type : kTypes) {
    const FrameShape shape = shape_of(type, {Block{{1, 30, 31, 32}}, Block{{1, 1, 150, 160}}});
    Bytes raw;
    for (const Block& block : shape.blocks)
      for (uint64_t i = 0; i < block.count(); ++i) {
        const auto x = static_cast<double>(i % block.dims[3]),
                   y = static_cast<double>(i / block.dims[3] % block.dims[2]),
                   z = static_cast<double>(i / block.dims[3] / block.dims[2]);
        const double value = 5e4 + 0.51 * x * x - 3.3 * y + x * y / 7 + 0.37 * z * z - 0.013 * x * z + 0.2 * y * y;
        testing::append(raw, shape.type, testing::bits_of(shape.type, value));
      }
    const Bytes parameters = fitted_codec().fit({shape}, raw);
    const Bytes residuals = encode(shape, parameters, raw);
    const uint64_t bits = bits_of_residuals(shape, residuals);
    EXPECT_LT(bits, 6 * shape.element_total()) << type;
    EXPECT_LT(bits, bits_of_residuals(shape, lorenzo_of(shape, raw)) * 3 / 5) << type;
    expect_round_trip(shape, parameters, raw);
  }
}

TEST(Fitted, IsNoWorseThanLorenzoOnNoise) {
  for (const char* type : kTypes) {
    const FrameShape shape = shape_of(type, {kTiny, Block{{1, 30, 31, 32}}, Block{{1, 1, 150, 160}}, kTiny});
    const Bytes raw = random_bytes(testing::byte_count(shape), 8);
    const uint64_t bits = bits_of_residuals(shape, encode(shape, fitted_codec().fit({shape}, raw), raw));
    EXPECT_LT(bits, bits_of_residuals(shape, lorenzo_of(shape, raw)) * 101 / 100) << type;
  }
}

TEST(Fitted, LeavesToLorenzoWhatItCannotImprove) {
  for (const char* type : kTypes) {
    const FrameShape shape = shape_of(type, {kTiny, Block{{1, 30, 31, 32}}, Block{{1, 1, 150, 160}}, kTiny});
    const Bytes raw(testing::byte_count(shape), std::byte{0x3f});
    const Bytes parameters = fitted_codec().fit({shape}, raw);
    EXPECT_EQ(parameters, encode_runs(std::vector{some_run(FittedForm::lorenzo, 2)}));
    EXPECT_EQ(encode(shape, parameters, raw), lorenzo_of(shape, raw)) << type;
  }
}

TEST(Fitted, ParametersStayWithinTheirBound) {
  std::vector<Block> blocks;
  for (int i = 0; i < 400; ++i) {
    blocks.push_back(Block{{1, 1, 40, 60}});
    blocks.push_back(Block{{1, 3, 16, 50}});
  }
  const FrameShape shape = shape_of("f4", blocks);
  const Bytes raw = smooth_bytes(shape, 1);
  const Bytes parameters = fitted_codec().fit({shape}, raw);
  EXPECT_GT(parameters.size(), 1000u);
  EXPECT_LE(parameters.size(), kMaxParameterBytes);
  expect_round_trip(shape, parameters, raw);
}

TEST(Fitted, SmallBlocksNeedNoStencils) {
  const FrameShape shape = shape_of("f8", {kTiny, Block{{1, 1, 3, 100}}, Block{{4, 4, 4, 7}}, Block{{1, 0, 9, 9}}});
  const Bytes raw = smooth_bytes(shape, 2);
  const Bytes parameters = fitted_codec().fit({shape}, raw);
  EXPECT_EQ(parameters, Bytes{std::byte{0}});
  expect_round_trip(shape, parameters, raw);
}

TEST(FittedParameters, ComeBack) {
  const FrameShape shape = shape_of("f4", golden_blocks());
  const auto runs = decode_runs(golden_parameters(), shape);
  ASSERT_TRUE(runs);
  EXPECT_EQ(*runs, golden_runs());
}

void expect_refused(std::span<const FittedRun> runs, const FrameShape& shape) {
  const auto result = decode_runs(encode_runs(runs), shape);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, ErrorKind::corrupt);
}

TEST(FittedParameters, MustMatchTheBlocks) {
  const FrameShape shape = shape_of("f4", {kVolume, kPlane});
  const FittedRun volume = some_run(FittedForm::volume, 1), plane = some_run(FittedForm::plane, 1);
  EXPECT_TRUE(decode_runs(encode_runs(std::vector{volume, plane}), shape));
  EXPECT_TRUE(decode_runs(encode_runs(std::vector{some_run(FittedForm::lorenzo, 2)}), shape));
  expect_refused(std::vector{plane, volume}, shape);
  expect_refused(std::vector{volume}, shape);
  expect_refused(std::vector{volume, plane, plane}, shape);
  expect_refused(std::vector{some_run(FittedForm::volume, 2)}, shape);
  expect_refused(std::vector{some_run(FittedForm::lorenzo, 3)}, shape);
  expect_refused(std::vector{some_run(FittedForm::lorenzo, 0), some_run(FittedForm::lorenzo, 2)}, shape);
  expect_refused({}, shape);
}

TEST(FittedParameters, AreRefusedCutOffOrTooMany) {
  const FrameShape shape = shape_of("f4", golden_blocks());
  Bytes parameters = golden_parameters();
  for (size_t size = 0; size < parameters.size(); ++size)
    EXPECT_FALSE(decode_runs(std::span(parameters).first(size), shape)) << size;
  parameters.push_back({});
  EXPECT_FALSE(decode_runs(parameters, shape));
  const std::vector<Block> blocks(kMaxFittedRuns + 1, kPlane);
  const std::vector<FittedRun> most(kMaxFittedRuns, some_run(FittedForm::lorenzo, 1));
  EXPECT_TRUE(decode_runs(encode_runs(most), shape_of("f4", {blocks.begin() + 1, blocks.end()})));
  expect_refused(std::vector<FittedRun>(kMaxFittedRuns + 1, some_run(FittedForm::lorenzo, 1)), shape_of("f4", blocks));
}

TEST(Fitted, TakesOnlyFloatsAndDoubles) {
  for (const char* type : kTypes) EXPECT_TRUE(fitted_codec().accepts(shape_of(type, {kPlane})));
  for (const char* type : {"f2", "u4", "i8", "x8", "u1"})
    EXPECT_FALSE(fitted_codec().accepts(shape_of(type, {kPlane})));
}

}  // namespace
}  // namespace forebay::codec

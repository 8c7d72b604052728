#include "codec/choice/chooser.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "codec/choice/estimate.h"
#include "codec/choice/sample.h"
#include "codec/codec_ids.h"
#include "codec/test_frames.h"

namespace forebay::codec {
namespace {

using testing::Frame;

constexpr DataType kF4{Kind::floating, ByteOrder::little, 4}, kF8{Kind::floating, ByteOrder::little, 8};

Profile profile(std::string_view name) { return *Profile::parse(name); }

Frame frame_of(const DataType& type, std::vector<Block> blocks, Bytes (*make)(const FrameShape&)) {
  const FrameShape shape{type, std::move(blocks)};
  return {"", shape, make(shape)};
}

Bytes smooth(const FrameShape& shape) { return testing::smooth_bytes(shape, 1); }
Bytes noise(const FrameShape& shape) { return testing::random_bytes(testing::byte_count(shape), 1); }

// Random doubles of 24 significant bits: particle positions that were floats once.
Bytes trailing_zeros(const FrameShape& shape) {
  testing::Random random(9);
  Bytes bytes;
  for (uint64_t i = 0; i < shape.element_total(); ++i)
    testing::append(bytes, shape.type,
                    testing::bits_of(shape.type, static_cast<double>(random.next() >> 40) * 0x1p-24));
  return bytes;
}

// Values from a table of sixty, in random order.
Bytes from_a_table(const FrameShape& shape) {
  testing::Random random(9);
  uint64_t table[60];
  for (uint64_t& value : table) value = random.next();
  Bytes bytes;
  for (uint64_t i = 0; i < shape.element_total(); ++i)
    testing::append(bytes, shape.type, table[random.next() % std::size(table)]);
  return bytes;
}

TEST(Profile, TakesNamesAndChains) {
  for (const ProfileInfo& info : profiles()) EXPECT_EQ(profile(info.name).name(), info.name);
  EXPECT_EQ(to_string(profile("shuffle,zstd:7").encode({}, {}).chain), "shuffle,zstd:7");
  EXPECT_FALSE(Profile::parse("fastest"));
}

TEST(Profile, NumbersInTextGetACodecOfTheirOwn) {
  const Frame text = testing::text_frame();
  for (const char* name : {"fast", "balanced", "max"}) {
    const Chosen chosen = profile(name).encode(text.shape, text.raw);
    EXPECT_EQ(chosen.chain.front().id, kTextId) << name;
    EXPECT_LE(encode_bytes(chosen.chain, text.raw.size()), profile(name).memory_bytes(text.raw.size())) << name;
  }
  Frame other = text;
  for (std::byte& byte : other.raw) byte ^= std::byte{0x80};
  EXPECT_NE(profile("fast").encode(other.shape, other.raw).chain.front().id, kTextId);
}

TEST(Profile, FollowsThePaperByDatatype) {
  const auto chosen = [](const DataType& type) {
    return to_string(profile("paper").encode({type, {Block{{1, 1, 1, 100}}}}, Bytes(100u * type.size)).chain);
  };
  EXPECT_EQ(chosen(kF8), "fpc:2,deflate:6");
  EXPECT_EQ(chosen(kF4), "fpzip1d,deflate:6");
  const FrameShape tiny{kF8, std::vector<Block>(50, Block{{1, 1, 1, 12}})};
  EXPECT_EQ(to_string(profile("paper").encode(tiny, Bytes(50 * 96)).chain), "deflate:6");
}

TEST(Profile, PredictsSmoothFields) {
  const Frame frame = frame_of(kF8, {Block{{1, 24, 24, 24}}, Block{{1, 24, 24, 24}}}, smooth);
  const Chain chosen = profile("fast").encode(frame.shape, frame.raw).chain;
  EXPECT_EQ(chosen.front().id, kLorenzoId) << to_string(chosen);
}

TEST(Profile, TakesTrailingZerosForMultiples) {
  const Frame frame = frame_of(kF8, {Block{{1, 1, 1, 60000}}}, trailing_zeros);
  EXPECT_EQ(to_string(profile("fast").encode(frame.shape, frame.raw).chain), "multiples,shuffle,zstd:1");
}

TEST(Profile, SeesValuesThatRepeat) {
  const Frame frame = frame_of(kF8, {Block{{1, 1, 1, 60000}}}, from_a_table);
  EXPECT_EQ(to_string(profile("fast").encode(frame.shape, frame.raw).chain), "zstd:1");
}

TEST(Profile, ChoosesWhatItLists) {
  for (const ProfileInfo& info : profiles())
    for (const Frame& frame : testing::all_frames()) {
      if (frame.raw.size() > 20000 && info.name == std::string_view("max")) continue;
      const auto candidates = profile(info.name).candidates(frame.shape.type);
      const Chain chosen = profile(info.name).encode(frame.shape, frame.raw).chain;
      ASSERT_TRUE(std::ranges::count(candidates, chosen)) << info.name << ", " << frame.name << to_string(chosen);
      ASSERT_LE(encode_bytes(chosen, frame.raw.size()), profile(info.name).memory_bytes(frame.raw.size()));
    }
}

// Half of the blocks are copies of others, all cells of them or those near one end.
Bytes half_copies(const FrameShape& shape) {
  Bytes bytes = testing::smooth_bytes(shape, 1);
  const size_t block_bytes = shape.blocks.front().count() * shape.type.size;
  for (size_t block = 1; block < shape.blocks.size(); block += 2) {
    const size_t bytes_to_copy = block % 4 == 1 ? block_bytes : block_bytes / 4;
    std::copy_n(bytes.begin() + static_cast<ptrdiff_t>((block - 1) * block_bytes), bytes_to_copy,
                bytes.begin() + static_cast<ptrdiff_t>(block * block_bytes));
  }
  return bytes;
}

void expect_near_best(const char* name, const Frame& frame, double margin) {
  const auto size_with = [&](const Chain& chain) {
    const Encoded encoded = encode(chain, frame.shape, frame.raw);
    return static_cast<double>(encoded.payload.size() + encoded.recipe.size());
  };
  auto best = static_cast<double>(frame.raw.size());
  for (const Chain& chain : profile(name).candidates(frame.shape.type)) best = std::min(best, size_with(chain));
  const Chain chosen = profile(name).encode(frame.shape, frame.raw).chain;
  EXPECT_LE(size_with(chosen), (1 + margin) * best) << name << " takes " << to_string(chosen);
}

TEST(Profile, IsWithinTwoPercentOfTheBestCandidate) {
  const std::vector<Frame> frames = {frame_of(kF4, {Block{{1, 40, 40, 40}}, Block{{1, 40, 40, 40}}}, smooth),
                                     frame_of(kF4, {Block{{1, 1, 200, 200}}}, smooth),
                                     frame_of(kF8, {Block{{1, 1, 1, 50000}}}, trailing_zeros),
                                     frame_of(kF8, {Block{{1, 1, 1, 50000}}}, from_a_table),
                                     frame_of(kF8, std::vector<Block>(5000, Block{{1, 1, 1, 3}}), smooth),
                                     frame_of(kF8, {Block{{1, 1, 100, 100}}}, noise)};
  for (const char* name : {"fast", "balanced", "max"})
    for (const Frame& frame : frames) expect_near_best(name, frame, 0.02);
}

// A sample shows no copies of cells elsewhere: what is chosen may be further from the best, with `fast` most, which
// does not look for halos.
TEST(Profile, IsNotFarFromTheBestCandidateAmongCopies) {
  for (const Frame& frame : {frame_of(kF4, std::vector<Block>(24, Block{{1, 16, 16, 16}}), half_copies),
                             frame_of(kF8, std::vector<Block>(24, Block{{1, 1, 40, 40}}), half_copies)}) {
    expect_near_best("fast", frame, 0.25);
    expect_near_best("balanced", frame, 0.11);
    expect_near_best("max", frame, 0.1);
  }
}

TEST(Sample, StandsForTheWholeFrame) {
  for (const Frame& frame : testing::all_frames()) {
    const size_t width = frame.shape.type.size, budget = 600;
    const Sample sample = take_sample(frame.shape, frame.raw, budget);
    ASSERT_EQ(sample.bytes.size(), testing::byte_count(sample.shape)) << frame.name;
    ASSERT_EQ(sample.trimmed.size(), sample.shape.blocks.size());
    ASSERT_TRUE(frame.raw.size() > budget || sample.bytes == frame.raw);
    ASSERT_GE(sample.bytes.size(), std::min(frame.raw.size(), budget / 4) / width * width) << frame.name;
    const Bytes telling = telling_elements(sample, sample.bytes);
    ASSERT_LE(telling.size(), sample.bytes.size());
    ASSERT_EQ(telling.empty(), frame.raw.empty()) << frame.name;
  }
}

TEST(Sample, KeepsBoxesSmall) {
  const Frame frame = frame_of(kF4, {Block{{1, 64, 64, 64}}, Block{{4, 8, 64, 512}}}, smooth);
  EXPECT_LE(take_sample(frame.shape, frame.raw, 16 << 10).bytes.size(), 64u << 10);
}

TEST(Estimate, KnowsNoiseFromRuns) {
  const Bytes random = testing::random_bytes(1 << 16, 1);
  EXPECT_NEAR(static_cast<double>(shuffled_bits(random, 4)), 8.0 * 65536, 8.0 * 700);
  EXPECT_LT(shuffled_bits(Bytes(1 << 16), 4), 2000u);
}

}  // namespace
}  // namespace forebay::codec

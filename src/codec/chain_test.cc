#include "codec/chain.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "codec/codec_ids.h"
#include "codec/test_frames.h"

namespace forebay::codec {
namespace {

using testing::all_frames;
using testing::Frame;

const std::vector<std::string> kChains = {"none",
                                          "zstd:1",
                                          "shuffle",
                                          "lorenzo,shuffle,zstd:1",
                                          "lorenzo:2,bitshuffle,lz4",
                                          "fpc:2,deflate:6",
                                          "fpzip1d,deflate:6",
                                          "fpzip",
                                          "shuffle,shuffle,lorenzo:1,lorenzo,bitshuffle,shuffle,zstd,deflate"};

Chain chain_from(const std::string& text) {
  auto chain = parse_chain(text);
  EXPECT_TRUE(chain) << text;
  return chain.value_or(Chain{});
}

Frame smooth_frame() {
  const FrameShape shape{{Kind::floating, ByteOrder::little, 8}, {Block{{1, 10, 20, 30}}}};
  return {"smooth", shape, testing::smooth_bytes(shape, 7)};
}

bool has_lz4() { return find_codec("lz4") != nullptr; }

TEST(ChainText, ReadsWhatItWrites) {
  for (const std::string& text : kChains) {
    if (!has_lz4() && text.contains("lz4")) continue;
    EXPECT_EQ(to_string(chain_from(text)), text);
  }
  EXPECT_EQ(to_string({{999, 3, {}}, {kShuffleId, 0, {}}}), "999:3,shuffle");
}

TEST(ChainText, RefusesNonsense) {
  for (const char* text : {"", ",", "zstd,", ",zstd", "zip", "zstd:", "zstd:x", "zstd:20", "zstd:-1", "zstd:1 ",
                           "shuffle:1", "lorenzo:5", "lorenzo:256", "zstd,shuffle", "fpc,lorenzo", "none,zstd",
                           "shuffle,shuffle,shuffle,shuffle,shuffle,shuffle,shuffle,shuffle,zstd"}) {
    const auto chain = parse_chain(text);
    ASSERT_FALSE(chain) << text;
    EXPECT_EQ(chain.error().kind, ErrorKind::invalid_argument) << text;
  }
}

TEST(Chain, GivesBackEveryFrameAndNeverExpands) {
  for (const std::string& text : kChains) {
    if (!has_lz4() && text.contains("lz4")) continue;
    const Chain chain = chain_from(text);
    for (const Frame& frame : all_frames()) {
      const Encoded encoded = encode(chain, frame.shape, frame.raw);
      ASSERT_LE(encoded.payload.size(), frame.raw.size()) << text << ", " << frame.name;
      ASSERT_TRUE(encoded.payload.size() < frame.raw.size() || encoded.recipe.empty());
      ASSERT_LE(encoded.payload.capacity(), encode_bytes(chain, frame.raw.size()));
      Bytes back(frame.raw.size(), std::byte{0xee});
      const auto result = decode(encoded.recipe, frame.shape, encoded.payload, back);
      ASSERT_TRUE(result) << text << ", " << frame.name << ": " << result.error().message();
      ASSERT_EQ(back, frame.raw) << text << ", " << frame.name;
    }
  }
}

TEST(Chain, RecordsTheStagesItApplied) {
  const Frame frame = smooth_frame();
  const Encoded all = encode(chain_from("lorenzo,shuffle,zstd:1"), frame.shape, frame.raw);
  EXPECT_EQ(to_string(*chain_of(all.recipe)), "lorenzo,shuffle,zstd:1");

  const FrameShape opaque{kBytes, {Block{{1, 1, 1, frame.raw.size()}}}};
  const Encoded some = encode(chain_from("lorenzo,shuffle,zstd:1"), opaque, frame.raw);
  EXPECT_EQ(to_string(*chain_of(some.recipe)), "zstd:1") << "no transform takes single bytes without a type";

  const Bytes noise = testing::random_bytes(frame.raw.size(), 1);
  const Encoded none = encode(chain_from("lorenzo,shuffle,zstd:1"), frame.shape, noise);
  EXPECT_EQ(to_string(*chain_of(none.recipe)), "none");
  EXPECT_TRUE(std::ranges::equal(none.payload.span(), noise));
}

TEST(Chain, BearsAHostileRecipe) {
  const Frame frame = smooth_frame();
  const Encoded good = encode(chain_from("lorenzo,shuffle,zstd:1"), frame.shape, frame.raw);
  Bytes raw(frame.raw.size());
  const auto decode_with = [&](const Bytes& recipe) { return decode(recipe, frame.shape, good.payload, raw); };
  for (size_t size = 0; size < good.recipe.size(); ++size) {
    const Bytes cut(good.recipe.begin(), good.recipe.begin() + static_cast<ptrdiff_t>(size));
    EXPECT_FALSE(decode_with(cut));
  }
  for (size_t at = 0; at < good.recipe.size(); ++at)
    for (int value = 0; value < 256; ++value) {
      Bytes changed = good.recipe;
      changed[at] = static_cast<std::byte>(value);
      EXPECT_LE(decode_bytes(changed, raw.size()), 9 * raw.size() + (128u << 20));
      const auto result = decode_with(changed);
      if (!result) {
        EXPECT_THAT(result.error().kind, ::testing::AnyOf(ErrorKind::corrupt, ErrorKind::unsupported));
      }
    }
}

TEST(Chain, NamesACodecThatThisBuildLacks) {
  const Bytes recipe{std::byte{1}, std::byte{0xe7}, std::byte{3}, std::byte{0},
                     std::byte{4}, std::byte{1},    std::byte{8}};  // codec 999 with one byte of parameters
  Bytes raw(8);
  const auto result = decode(recipe, {{Kind::floating, ByteOrder::little, 8}, {Block{}}}, Bytes(4), raw);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, ErrorKind::unsupported);
  EXPECT_THAT(result.error().what, ::testing::HasSubstr("999"));
  EXPECT_EQ(to_string(*chain_of(recipe)), "999");
}

TEST(Chain, RefusesAFrameOfAnotherSize) {
  const Frame frame = smooth_frame();
  const Encoded good = encode(chain_from("lorenzo,shuffle,zstd:1"), frame.shape, frame.raw);
  Bytes raw(frame.raw.size());
  for (const size_t size : {size_t{0}, raw.size() - 8, raw.size() - 1}) {
    EXPECT_FALSE(decode(good.recipe, frame.shape, good.payload, std::span(raw).first(size)));
    EXPECT_FALSE(decode({}, frame.shape, frame.raw, std::span(raw).first(size)));
  }
}

TEST(Chain, RefusesShapesThatOverflow) {
  const Frame frame = smooth_frame();
  const Encoded good = encode(chain_from("lorenzo,shuffle,zstd:1"), frame.shape, frame.raw);
  FrameShape huge = frame.shape;
  huge.blocks.push_back(Block{{1u << 31, 1u << 31, 4, 1}});  // 2^64 elements: none, if one forgets to look
  Bytes raw(frame.raw.size());
  EXPECT_FALSE(decode(good.recipe, huge, good.payload, raw));
}

}  // namespace
}  // namespace forebay::codec

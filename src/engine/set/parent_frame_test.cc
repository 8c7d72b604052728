#include "engine/set/parent_frame.h"

#include <gtest/gtest.h>

#include "codec/chain.h"
#include "codec/codec_ids.h"
#include "codec/recipe.h"

namespace forebay::engine {
namespace {

const ParentFrame kParent{
    .set = "DD0008", .container = "00001-of-00004.fbc", .container_id = 0x8877665544332211, .number = 7};

Bytes recipe_of(const std::string& set, const std::string& container) {
  return parent_recipe({.set = set, .container = container, .container_id = 1, .number = 2});
}

TEST(ParentFrame, ComesBackAsItWas) {
  const Bytes recipe = parent_recipe(kParent);
  EXPECT_TRUE(is_parent_recipe(recipe));
  const auto back = parse_parent_recipe(recipe);
  ASSERT_TRUE(back) << back.error().message();
  EXPECT_EQ(*back, kParent);
  EXPECT_EQ(to_string(*back), "frame 7 of DD0008/00001-of-00004.fbc");
}

TEST(ParentFrame, TheLongestNamesFit) {
  const std::string longest(200, 'n');
  EXPECT_EQ(parse_parent_recipe(recipe_of(longest, longest))->container, longest);
}

TEST(ParentFrame, BytesAreThoseOfTheDocument) {
  const unsigned char expected[] = {1,   128, 0,   0,   0,   37,  0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 7,
                                    0,   0,   0,   6,   'D', 'D', '0',  '0',  '0',  '8',  '0',  '0',  '0',  '0',  '1',
                                    '-', 'o', 'f', '-', '0', '0', '0',  '0',  '4',  '.',  'f',  'b',  'c'};
  EXPECT_EQ(as_text(parent_recipe(kParent)), as_text(std::as_bytes(std::span(expected))));
}

TEST(ParentFrame, NamesThatLeadElsewhereAreCorrupt) {
  for (const char* bad : {"", ".", "..", ".hidden", "a/b", "/a", "latest", "a "}) {
    EXPECT_EQ(parse_parent_recipe(recipe_of(bad, "c")).error().kind, ErrorKind::corrupt) << bad;
    EXPECT_EQ(parse_parent_recipe(recipe_of("set", bad)).error().kind, ErrorKind::corrupt) << bad;
  }
}

TEST(ParentFrame, EveryTruncationIsCorrupt) {
  const Bytes recipe = parent_recipe(kParent);
  for (size_t size = 0; size < recipe.size(); ++size)
    EXPECT_FALSE(parse_parent_recipe(std::span(recipe).first(size))) << size;
}

TEST(ParentFrame, OtherRecipesAreNone) {
  const Bytes parameters = codec::decode_recipe(parent_recipe(kParent))->at(0).stage.parameters;
  const codec::Step parent{.stage = {.id = codec::kParentFrameId, .parameters = parameters}};
  codec::Step with_size = parent, with_level = parent;
  with_size.size = 1;
  with_level.stage.level = 1;
  const codec::Step zstd{.stage = {.id = codec::kZstdId}, .size = 3};
  for (const std::vector<codec::Step>& steps : {std::vector{with_size},
                                                std::vector{with_level},
                                                std::vector{parent, parent},
                                                std::vector{zstd, parent},
                                                {zstd},
                                                {}})
    EXPECT_FALSE(parse_parent_recipe(codec::encode_recipe(steps)));
  EXPECT_FALSE(is_parent_recipe(codec::encode_recipe(std::vector{zstd})));
  EXPECT_FALSE(is_parent_recipe({}));
}

const Bytes kShuffled =
    codec::encode_recipe(std::vector{codec::Step{.stage = {.id = codec::kDifferenceId}, .size = 800},
                                     codec::Step{.stage = {.id = codec::kZstdId, .level = 1}, .size = 77}});

TEST(BeforeRecipe, ComesBackAsItWas) {
  const Bytes recipe = before_recipe(kParent, kShuffled);
  EXPECT_TRUE(is_before_recipe(recipe));
  EXPECT_FALSE(is_parent_recipe(recipe));
  EXPECT_FALSE(parse_parent_recipe(recipe));
  const auto back = parse_before_recipe(recipe);
  ASSERT_TRUE(back) << back.error().message();
  EXPECT_EQ(back->before, kParent);
  EXPECT_EQ(back->recipe, kShuffled);
}

TEST(BeforeRecipe, EveryTruncationIsCorrupt) {
  const Bytes recipe = before_recipe(kParent, kShuffled);
  for (size_t size = 0; size < recipe.size(); ++size)
    EXPECT_FALSE(parse_before_recipe(std::span(recipe).first(size))) << size;
}

TEST(BeforeRecipe, OtherRecipesAreNone) {
  const Bytes parameters = codec::decode_recipe(parent_recipe(kParent))->at(0).stage.parameters;
  const codec::Step before{.stage = {.id = codec::kFrameBeforeId, .parameters = parameters}};
  const codec::Step parent{.stage = {.id = codec::kParentFrameId, .parameters = parameters}};
  const codec::Step zstd{.stage = {.id = codec::kZstdId}, .size = 3};
  codec::Step with_size = before, with_level = before;
  with_size.size = 1;
  with_level.stage.level = 1;
  for (const std::vector<codec::Step>& steps : {std::vector{before},
                                                std::vector{with_size, zstd},
                                                std::vector{with_level, zstd},
                                                std::vector{before, before, zstd},
                                                std::vector{before, zstd, parent},
                                                std::vector{zstd, before},
                                                {zstd},
                                                {}})
    EXPECT_FALSE(parse_before_recipe(codec::encode_recipe(steps)));
}

TEST(ParentFrame, NoCodecHasItsNumber) {
  EXPECT_EQ(codec::find_codec(codec::kParentFrameId), nullptr);
  EXPECT_EQ(codec::find_codec(codec::kFrameBeforeId), nullptr);
}

}  // namespace
}  // namespace forebay::engine

#include "codec/entries/entries.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "base/checksum.h"
#include "codec/codec_ids.h"
#include "codec/relation/relation.h"
#include "codec/test_frames.h"

namespace forebay::codec {
namespace {

using testing::Frame;
using testing::Random;

constexpr DataType kF8{Kind::floating, ByteOrder::little, 8}, kF4{Kind::floating, ByteOrder::little, 4};
constexpr uint64_t kSmall = 4 << 10;

Chain chain_named(const char* text) { return *parse_chain(text); }

std::vector<Block> blocks_of(const std::vector<EntryCut>& cuts) {
  std::vector<Block> blocks;
  for (const EntryCut& cut : cuts) blocks.insert(blocks.end(), cut.shape.blocks.begin(), cut.shape.blocks.end());
  return blocks;
}

TEST(EntryCuts, FollowThePage) {
  const auto cuts = cut_entries({kF8,
                                 {Block{{1, 1, 1, 100}},     // joins the next one
                                  Block{{1, 1, 1, 400}},     // 4000 bytes together
                                  Block{{1, 1, 1, 0}},       // passed over
                                  Block{{1, 1, 1, 20}},      // does not fit any more
                                  Block{{1, 5, 10, 20}},     // planes of 1600 bytes, 2 at most: 3 entries of 1, 2, 2
                                  Block{{2, 1, 3, 300}},     // rows of 2400 bytes: 1 at a time, 6 entries
                                  Block{{1, 1, 1, 1000}}}},  // elements: 512 at most, 2 entries of 500
                                kSmall);
  const std::vector<Block> expected = {
      Block{{1, 1, 1, 100}}, Block{{1, 1, 1, 400}}, Block{{1, 1, 1, 20}},  Block{{1, 1, 10, 20}}, Block{{1, 2, 10, 20}},
      Block{{1, 2, 10, 20}}, Block{{1, 1, 1, 300}}, Block{{1, 1, 1, 300}}, Block{{1, 1, 1, 300}}, Block{{1, 1, 1, 300}},
      Block{{1, 1, 1, 300}}, Block{{1, 1, 1, 300}}, Block{{1, 1, 1, 500}}, Block{{1, 1, 1, 500}}};
  EXPECT_EQ(blocks_of(cuts), expected);
  ASSERT_EQ(cuts.size(), 13u);
  EXPECT_EQ(cuts[0].bytes(), 4000u);
  EXPECT_EQ(cuts[1].begin, 4000u);
  EXPECT_TRUE(cut_entries({kF8, {Block{{1, 1, 0, 4}}}}, kSmall).empty());
  const DataType large{Kind::opaque, ByteOrder::little, 5000};
  EXPECT_EQ(cut_entries({large, {Block{{1, 1, 1, 3}}}}, kSmall).size(), 3u);
}

TEST(EntryCuts, CoverEveryFrameInSmallPieces) {
  Random random(1);
  for (int round = 0; round < 300; ++round) {
    FrameShape shape{round % 2 == 0 ? kF8 : kF4, {}};
    for (uint64_t blocks = 1 + random.next() % 5; blocks > 0; --blocks) {
      Block block;
      for (uint64_t& dim : block.dims) dim = 1 + random.next() % (random.next() % 3 == 0 ? 60 : 4);
      shape.blocks.push_back(block);
    }
    uint64_t at = 0;
    const auto cuts = cut_entries(shape, kSmall);
    for (const EntryCut& cut : cuts) {
      ASSERT_EQ(cut.begin, at);
      ASSERT_GT(cut.bytes(), 0u);
      ASSERT_LE(cut.bytes(), kSmall);
      at += cut.bytes();
    }
    ASSERT_EQ(at, testing::byte_count(shape));
    ASSERT_LE(cuts.size(), 2 * at / kSmall + 2 * shape.blocks.size());
  }
}

std::vector<Frame> frames() {
  std::vector<Frame> all;
  for (const DataType& type : {kF8, kF4, DataType{Kind::floating, ByteOrder::big, 8}}) {
    const FrameShape shape{type,
                           {Block{{1, 9, 12, 14}}, Block{{1, 1, 1, 0}}, Block{{1, 2, 3, 5}}, Block{{1, 1, 60, 31}},
                            Block{{2, 6, 7, 30}}, Block{{1, 1, 1, 3000}}}};
    all.push_back({"smooth " + type.name(), shape, testing::smooth_bytes(shape, 3)});
    all.push_back({"constant " + type.name(), shape, Bytes(testing::byte_count(shape), std::byte{0x3f})});
    all.push_back({"special " + type.name(), shape, testing::special_bytes(shape)});
  }
  for (Frame& frame : testing::all_frames())
    if (frame.raw.size() > kSmall) all.push_back(std::move(frame));
  return all;
}

Result<Bytes> decode_alone(const Encoded& encoded, const FrameShape& shape, size_t number) {
  FOREBAY_TRY(const EntryTable table, read_entry_table(encoded.recipe));
  FOREBAY_TRY(const auto cuts, cut_entries(table, shape));
  Bytes raw(cuts[number].bytes());
  const EntryTable::Place& place = table.places[number];
  FOREBAY_CHECK(
      decode_entry(table, number, cuts[number], encoded.payload.span().subspan(place.offset, place.size), raw));
  return raw;
}

TEST(Entries, GiveBackFramesAndEachEntryAlone) {
  size_t cut = 0;
  for (const char* text : {"zstd:1", "shuffle,zstd:1", "lorenzo:2,shuffle,zstd", "fitted,lch", "halo,fitted,lch:1"})
    for (const Frame& frame : frames()) {
      const Encoded encoded = encode_entries(chain_named(text), kSmall, frame.shape, frame.raw);
      ASSERT_LE(encoded.payload.size() + encoded.recipe.size(), frame.raw.size()) << frame.name;
      Bytes back(frame.raw.size());
      ASSERT_TRUE(decode(encoded.recipe, frame.shape, encoded.payload.span(), back)) << text << " " << frame.name;
      ASSERT_EQ(back, frame.raw) << text << " " << frame.name;
      if (!has_entries(encoded.recipe)) continue;
      ++cut;
      const auto chain = chain_of(encoded.recipe);
      ASSERT_TRUE(chain && !chain->empty());
      const auto cuts = cut_entries(frame.shape, kSmall);
      for (size_t i = 0; i < cuts.size(); ++i) {
        const auto raw = decode_alone(encoded, frame.shape, i);
        ASSERT_TRUE(raw) << raw.error().message();
        ASSERT_TRUE(std::ranges::equal(*raw, std::span(frame.raw).subspan(cuts[i].begin, cuts[i].bytes())));
      }
    }
  EXPECT_GT(cut, 50u);
}

TEST(Entries, ArePredictedFromTheSameStretchOfTheReferences) {
  const Frame frame = frames().front();
  Bytes reference = frame.raw;
  for (size_t i = 0; i < reference.size(); i += 64) reference[i] ^= std::byte{1};
  const std::span<const std::byte> references[] = {reference};
  Chain chain = chain_named("lch");
  chain.insert(chain.begin(), Stage{kRelationId, 0, encode_relation({RelationKind::value, {{0, false, 1.0}}})});
  const Encoded encoded = encode_entries(chain, kSmall, frame.shape, frame.raw, references);
  ASSERT_TRUE(has_entries(encoded.recipe));
  ASSERT_EQ(chain_of(encoded.recipe)->front().id, kRelationId);
  const auto stage = find_stage(encoded.recipe, encoded.payload.span(), kRelationId);
  EXPECT_EQ(stage.value_or(Stage{}), chain.front());
  EXPECT_FALSE(find_stage(encoded.recipe, encoded.payload.span(), kHaloId));
  Bytes back(frame.raw.size());
  ASSERT_TRUE(decode(encoded.recipe, frame.shape, encoded.payload.span(), back, references));
  EXPECT_EQ(back, frame.raw);
  const std::span<const std::byte> cut_off[] = {std::span(reference).first(10'000)};
  EXPECT_FALSE(decode(encoded.recipe, frame.shape, encoded.payload.span(), back, cut_off));
  EXPECT_FALSE(decode(encoded.recipe, frame.shape, encoded.payload.span(), back));
}

TEST(Entries, NoticeEveryFlippedBitAndEveryCut) {
  const FrameShape shape{kF8, {Block{{1, 4, 12, 30}}, Block{{1, 1, 1, 300}}}};
  const Bytes raw = testing::smooth_bytes(shape, 3);
  const Encoded encoded = encode_entries(chain_named("fitted,shuffle,zstd:1"), kSmall, shape, raw);
  ASSERT_TRUE(has_entries(encoded.recipe));
  const Bytes payload(encoded.payload.span().begin(), encoded.payload.span().end());
  Bytes back(raw.size());
  const auto check = [&](const Bytes& recipe, std::span<const std::byte> body) {
    back.assign(raw.size(), std::byte{});
    const bool decoded = decode(recipe, shape, body, back).has_value();
    if (decoded) {
      EXPECT_EQ(back, raw);
    }
    return !decoded;
  };
  for (size_t bit = 0; bit < 8 * encoded.recipe.size(); ++bit) {
    Bytes recipe = encoded.recipe;
    recipe[bit / 8] ^= std::byte{1} << bit % 8;
    check(recipe, payload);
  }
  size_t noticed = 0;
  for (size_t at = 0; at < payload.size(); ++at) {
    Bytes damaged = payload;
    damaged[at] ^= std::byte{1} << at % 8;
    noticed += check(encoded.recipe, damaged) ? 1 : 0;
  }
  EXPECT_GT(noticed, payload.size() / 10 * 9);  // some bits at the ends of streams are nobody's
  for (size_t size = 0; size < encoded.recipe.size(); ++size)
    EXPECT_FALSE(decode(std::span(encoded.recipe).first(size), shape, payload, back)) << size;
  for (size_t size = 0; size < payload.size(); ++size)
    EXPECT_FALSE(decode(encoded.recipe, shape, std::span(payload).first(size), back)) << size;
}

TEST(Entries, HaveNoEntriesAndNoReferencesToOtherSetsInside) {
  const FrameShape shape{kF8, {Block{{1, 1, 1, 2000}}}};
  const Bytes raw = testing::smooth_bytes(shape, 3);
  const Encoded encoded = encode_entries(chain_named("shuffle,zstd:1"), kSmall, shape, raw);
  const auto steps = decode_recipe(encoded.recipe);
  ASSERT_TRUE(has_entries(*steps));
  for (const uint16_t id : {kEntriesId, kParentFrameId}) {
    Step step = steps->front();
    step.stage.parameters[2] = static_cast<std::byte>(id);
    Bytes back(raw.size());
    const auto decoded = decode(encode_recipe({&step, 1}), shape, encoded.payload.span(), back);
    ASSERT_FALSE(decoded);
    EXPECT_EQ(decoded.error().kind, ErrorKind::corrupt);
  }
}

TEST(Entries, EncodingOfTheTableNeverChanges) {
  const FrameShape shape{kF8, {Block{{1, 4, 12, 30}}}};
  const Bytes raw = testing::smooth_bytes(shape, 3);
  const Encoded encoded = encode_entries(chain_named("lorenzo,lch"), kSmall, shape, raw);
  Bytes all = encoded.recipe;
  all.insert(all.end(), encoded.payload.span().begin(), encoded.payload.span().end());
  EXPECT_EQ(hash64(all), 0x8e58d1d19b1e29b1u) << std::hex << hash64(all);
}

}  // namespace
}  // namespace forebay::codec

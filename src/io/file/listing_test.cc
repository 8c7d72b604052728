#include "io/file/listing.h"

#include <gtest/gtest.h>

#include "io/file/part.h"
#include "io/file/testing.h"

namespace forebay::io {
namespace {

constexpr uint64_t kListingMemory = 64 << 20;

Listing sample_listing(uint32_t rank, uint64_t step) {
  const testing::OwnedGroup sample = testing::sample_group(rank, 4, step);
  return EncodedPart::make(sample.group, {.container_id = 5})->listing();
}

void expect_equal(const Listing& a, const Listing& b) {
  EXPECT_EQ(a.files, b.files);
  EXPECT_EQ(a.groups, b.groups);
  EXPECT_EQ(a.patterns, b.patterns);
  EXPECT_EQ(a.parts, b.parts);
  EXPECT_EQ(a.places, b.places);
  ASSERT_EQ(a.variables.size(), b.variables.size());
  for (size_t i = 0; i < a.variables.size(); ++i) {
    EXPECT_TRUE(a.variables[i].is_same(b.variables[i]));
    EXPECT_EQ(a.variables[i].transform, b.variables[i].transform);
  }
  ASSERT_EQ(a.characteristics.size(), b.characteristics.size());
  for (size_t i = 0; i < a.characteristics.size(); ++i) {
    EXPECT_EQ(a.characteristics[i].step, b.characteristics[i].step);
    EXPECT_EQ(a.characteristics[i].variable, b.characteristics[i].variable);
    EXPECT_EQ(a.characteristics[i].blocks, b.characteristics[i].blocks);
    EXPECT_EQ(a.characteristics[i].values, b.characteristics[i].values);
  }
  ASSERT_EQ(a.attributes.size(), b.attributes.size());
  for (size_t i = 0; i < a.attributes.size(); ++i) {
    EXPECT_EQ(a.attributes[i].step, b.attributes[i].step);
    EXPECT_EQ(a.attributes[i].value.name, b.attributes[i].value.name);
    EXPECT_EQ(a.attributes[i].value.value, b.attributes[i].value.value);
  }
}

TEST(Listing, ComesBackFromItsBytes) {
  Listing all;
  for (uint64_t step = 0; step < 3; ++step)
    for (uint32_t rank = 0; rank < 4; ++rank) {
      Listing one = sample_listing(rank, step);
      one.shift(5000 * (4 * step + rank));
      all.merge(std::move(one));
    }
  const Bytes bytes = *encode(all);
  const auto again = decode_listing(bytes, kListingMemory);
  ASSERT_TRUE(again) << again.error().message();
  // Places are put in order of the parts.
  expect_equal(*again, all);
  EXPECT_FALSE(decode_listing(bytes, 10'000));
  EXPECT_EQ(*encode(*decode_listing(*encode(Listing{}), kListingMemory)), *encode(Listing{}));
}

// However the tree of ranks joins them, the same is known.
TEST(Listing, MergesInAnyShapeOfTree) {
  Listing one_by_one, left, right;
  for (uint32_t rank = 0; rank < 4; ++rank) {
    one_by_one.merge(sample_listing(rank, 0));
    (rank < 2 ? left : right).merge(sample_listing(rank, 0));
  }
  left.merge(std::move(right));
  expect_equal(left, one_by_one);
  ASSERT_EQ(left.parts.size(), 4u);
  for (uint32_t rank = 0; rank < 4; ++rank) EXPECT_EQ(left.parts[rank].rank, rank);
  const Pattern& pattern = left.patterns[left.parts[3].pattern];
  const Place field = left.place(left.parts[3], pattern.writes[1].slot);
  EXPECT_TRUE(std::ranges::equal(field.shape, Shape{4, 6}));
  EXPECT_TRUE(std::ranges::equal(field.global_shape, Shape{4, 24}));
  EXPECT_TRUE(std::ranges::equal(field.offsets, Shape{0, 18}));
}

TEST(Listing, PutsStepsInOrder) {
  Listing later = sample_listing(0, 7);
  later.merge(sample_listing(0, 2));
  ASSERT_EQ(later.parts.size(), 2u);
  EXPECT_EQ(later.parts[0].step, 2u);
  EXPECT_EQ(later.characteristics.front().step, 2u);
  EXPECT_TRUE(later.validate());
}

TEST(Listing, AttributesAreListedWhereTheyChange) {
  Listing all;
  for (uint64_t step = 0; step < 6; ++step) {
    Listing one = sample_listing(0, step);
    if (step >= 3) one.attributes[0].value.value = Bytes(2, std::byte{'x'});
    all.merge(std::move(one));
  }
  ASSERT_EQ(all.attributes.size(), 3u);
  EXPECT_EQ(all.attributes[0].step, 0u);
  EXPECT_EQ(all.attributes[1].step, 3u);
  EXPECT_EQ(all.attributes[2].value.variable, "count");
}

TEST(Listing, ForgetsPlacesBeforeItGrowsTooLarge) {
  Listing all;
  for (uint32_t rank = 0; rank < 4; ++rank) all.merge(sample_listing(rank, 0), 40);
  EXPECT_LE(all.places.size(), 40u);
  for (const Pattern::Write& write : all.patterns[all.parts[0].pattern].writes)
    EXPECT_EQ(write.slot, Pattern::kUnlisted);
  const auto again = decode_listing(*encode(all), kListingMemory);
  ASSERT_TRUE(again) << again.error().message();
  expect_equal(*again, all);
}

TEST(Listing, IsCheckedBeforeItIsUsed) {
  const Listing good = sample_listing(1, 0);
  const auto is_refused = [&](auto spoil) {
    Listing bad = good;
    spoil(bad);
    return !decode_listing(*encode(bad), kListingMemory);
  };
  EXPECT_FALSE(is_refused([](Listing&) {}));
  EXPECT_TRUE(is_refused([](Listing& l) { l.files[0].name = "../outside"; }));
  EXPECT_TRUE(is_refused([](Listing& l) { l.variables[0].group = 1; }));
  EXPECT_TRUE(is_refused([](Listing& l) { l.patterns[0].writes[0].variable = 99; }));
  EXPECT_TRUE(is_refused([](Listing& l) { l.patterns[0].writes[0].slot = 99; }));
  EXPECT_TRUE(is_refused([](Listing& l) { l.parts[0].file = 1; }));
  EXPECT_TRUE(is_refused([](Listing& l) { l.parts[0].index_bytes = l.parts[0].bytes + 1; }));
  EXPECT_TRUE(is_refused([](Listing& l) { l.parts[0].offset = UINT64_MAX; }));
  EXPECT_TRUE(is_refused([](Listing& l) { l.characteristics[0].variable = 99; }));
  EXPECT_TRUE(is_refused([](Listing& l) { l.attributes[0].value.type = ValueType::float64; }));
  EXPECT_TRUE(is_refused([](Listing& l) { l.variables[0].type = static_cast<ValueType>(8); }));
}

}  // namespace
}  // namespace forebay::io

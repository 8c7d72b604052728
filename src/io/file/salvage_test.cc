// Process groups of a step that was never finished: which of them are found again.
#include "io/file/salvage.h"

#include <algorithm>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/byte_source.h"
#include "container/container.h"
#include "container/format.h"
#include "container/part_draft.h"
#include "io/file/testing.h"

namespace forebay::io {
namespace {

using testing::bytes_of;
using ::testing::IsEmpty;
using testing::kMemory;
using testing::sample_group;

constexpr uint64_t kContainer = 4711;

// Process groups one behind another, as the ranks of a step write them, with gaps between.
class Salvaging : public ::testing::Test {
 protected:
  static constexpr uint32_t kRanks = 3;

  Salvaging() {
    bytes_.resize(1000, std::byte{7});
    for (uint32_t rank = 0; rank < kRanks; ++rank) add(rank, kContainer);
  }

  void add(uint32_t rank, uint64_t container_id) {
    const auto group = sample_group(rank, kRanks, 1);
    const auto part = EncodedPart::make(group.group, {.container_id = container_id});
    const Bytes part_bytes = bytes_of(*part);
    places_.push_back({bytes_.size(), bytes_.size() + part_bytes.size() - part->listing().parts[0].index_bytes,
                       bytes_.size() + part_bytes.size()});
    bytes_.insert(bytes_.end(), part_bytes.begin(), part_bytes.end());
    bytes_.resize(bytes_.size() + 100);
  }

  // Of a process group whose writer came no further.
  void add_head(const PlanSpec& plan) {
    const auto draft =
        container::PartDraft::make({}, plan, {.number = 99, .container_id = kContainer, .description = Bytes(8)});
    for (const Bytes& bytes : {draft->head_front().bytes, draft->head()})
      bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    bytes_.resize(bytes_.size() + 100);
  }

  static Result<Salvage> salvage_in(std::span<const std::byte> bytes, uint64_t max_bytes = kMemory) {
    return salvage(MemorySource(bytes, "unfinished.bp"), kContainer, 500, max_bytes);
  }

  void wipe(uint64_t begin, uint64_t end) {
    std::fill(bytes_.begin() + static_cast<ptrdiff_t>(begin), bytes_.begin() + static_cast<ptrdiff_t>(end),
              std::byte{0xaa});
  }

  struct Place {
    uint64_t begin = 0, index = 0, end = 0;
  };
  Bytes bytes_;
  std::vector<Place> places_;
};

// A file whose writers died at any byte.
TEST_F(Salvaging, OfAFileThatWasCutFindsTheProcessGroupsInFrontOfTheCut) {
  for (size_t size = 500; size <= bytes_.size(); size += 41) {
    const auto found = salvage_in(std::span(bytes_).first(size));
    ASSERT_TRUE(found) << found.error().message();
    const auto whole = std::ranges::count_if(places_, [&](const Place& place) { return place.end <= size; });
    ASSERT_EQ(found->listing.parts.size(), static_cast<size_t>(whole)) << size;
    ASSERT_EQ(found->end, whole == 0 ? 0 : places_[static_cast<size_t>(whole) - 1].end);
    ASSERT_LE(found->incomplete, 1u);
    for (size_t i = 0; i < found->listing.parts.size(); ++i) {
      const ListedPart& part = found->listing.parts[i];
      ASSERT_EQ(part.offset, places_[i].begin);
      ASSERT_EQ(part.bytes, places_[i].end - places_[i].begin);
      ASSERT_EQ(part.index_bytes, places_[i].end - places_[i].index);
      ASSERT_EQ(part.rank, i);
    }
  }
}

TEST_F(Salvaging, CountsThoseThatLackAnything) {
  wipe(places_[0].begin, places_[0].begin + 100);      // the head
  wipe(places_[1].index, places_[1].index + 100);      // the index
  wipe(places_[2].index - 100, places_[2].index - 1);  // a frame
  add(3, kContainer);
  const auto found = salvage_in(bytes_);
  ASSERT_TRUE(found) << found.error().message();
  EXPECT_EQ(found->incomplete, 3u);
  ASSERT_EQ(found->listing.parts.size(), 1u);
  EXPECT_EQ(found->listing.parts[0].offset, places_[3].begin);
}

TEST_F(Salvaging, GoesOnBehindAHeadWhosePlanCannotBeOrIsOfALaterVersion) {
  for (const PlanSpec& plan : {PlanSpec{.scheme = static_cast<Scheme>(99), .key_block_bytes = {}},
                               PlanSpec{.frame_bytes = 1, .key_block_bytes = {}}}) {
    add_head(plan);
    const auto found = salvage_in(bytes_);
    ASSERT_TRUE(found) << found.error().message();
    EXPECT_EQ(found->listing.parts.size(), kRanks);
    EXPECT_THAT(found->remarks, ::testing::Not(IsEmpty()));
  }
}

TEST_F(Salvaging, LeavesOutThoseOfOtherFiles) {
  add(3, kContainer + 1);
  wipe(places_[3].index, places_[3].end);
  add(4, kContainer + 1);
  const auto found = salvage_in(bytes_);
  ASSERT_TRUE(found) << found.error().message();
  EXPECT_EQ(found->listing.parts.size(), kRanks);
  EXPECT_EQ(found->incomplete, 0u);
  EXPECT_THAT(found->remarks, IsEmpty());
}

TEST_F(Salvaging, KeepsToItsMemory) {
  const auto kind_within = [&](uint64_t memory) {
    const auto found = salvage_in(bytes_, memory);
    return found ? std::nullopt : std::optional(found.error().kind);
  };
  for (const uint64_t memory : {100, 1000, 3000}) EXPECT_EQ(kind_within(memory), ErrorKind::limit) << memory;
  uint64_t memory = 4000;
  while (memory < kMemory && kind_within(memory)) memory += 500;
  for (uint32_t rank = kRanks; rank < 10 * kRanks; ++rank) add(rank, kContainer);
  EXPECT_EQ(kind_within(memory), ErrorKind::limit) << "what is listed of all of them counts";
  EXPECT_EQ(kind_within(10 * memory), std::nullopt);
}

TEST_F(Salvaging, RandomDamageNeverBreaksIt) {
  std::mt19937 random(5);
  for (int i = 0; i < 200; ++i) {
    Bytes bytes = bytes_;
    for (size_t n = random() % 8; n > 0; --n) bytes[random() % bytes.size()] = static_cast<std::byte>(random());
    if (random() % 4 == 0) bytes.resize(500 + random() % (bytes.size() - 500));
    const auto found = salvage_in(bytes);
    ASSERT_TRUE(found) << found.error().message();
    const auto source = std::make_shared<MemorySource>(bytes, "damaged.bp");
    for (const ListedPart& part : found->listing.parts) {
      const auto reader = container::Reader::open_part(
          source, {part.offset, {part.offset + part.bytes - part.index_bytes, part.index_bytes, part.index_hash}},
          kMemory);
      ASSERT_TRUE(reader) << reader.error().message();
      for (uint32_t number = 0; number < (*reader)->index().frames.size(); ++number)
        ASSERT_TRUE((*reader)->read(number));
    }
  }
}

}  // namespace
}  // namespace forebay::io

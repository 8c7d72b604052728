#include "engine/set/each_container.h"

#include <numeric>

#include "engine/inspect/find_in_set.h"
#include "engine/set/frame_io.h"
#include "engine/test_sets.h"

namespace forebay::engine {
namespace {

class EachContainerTest : public SetTest {
 protected:
  static constexpr size_t kContainers = 12;

  EachContainerTest() {
    write_ranks(kContainers, 100, 100);
    PackOptions one_each = options("aware", "fast");
    one_each.group_size = 1;
    pack_ok(one_each);
    set_ = find();
  }

  static Resources with_memory(uint64_t bytes, unsigned threads = 3) {
    return {.memory_bytes = bytes, .threads = threads, .progress = {}};
  }

  // What all containers take together while they are open.
  uint64_t standing_of_all() const {
    const OpenSet all = open();
    return std::accumulate(all.containers.begin(), all.containers.end(), uint64_t{0},
                           [](uint64_t sum, const OpenContainer& one) { return sum + standing_memory(one); });
  }

  store::SetInfo set_;
};

TEST_F(EachContainerTest, ComesInOrderWhateverTheMemory) {
  const uint64_t all = standing_of_all();
  for (const uint64_t memory : {uint64_t{64} << 20, all, all / 2}) {
    std::vector<size_t> seen;
    const std::vector<size_t> numbers = {0, 1, 2, 3, 7, 7, 5, 11};
    const auto visit = [&](size_t number, Result<OpenContainer> opened, uint64_t left) -> Result<uint64_t> {
      if (!opened) return std::unexpected(opened.error());
      EXPECT_TRUE(opened->path.ends_with(set_.manifest->containers[number].name));
      EXPECT_LE(left + standing_memory(*opened), memory);
      EXPECT_TRUE(read_frame(*opened, 0));
      seen.push_back(number);
      return 0;
    };
    const auto done = for_each_container(set_, numbers, with_memory(memory), visit);
    ASSERT_TRUE(done) << memory << " of " << all << ": " << done.error().message();
    EXPECT_EQ(seen, numbers);
  }
}

TEST_F(EachContainerTest, AContainerThatNeedsItGetsAllMemory) {
  const uint64_t all = standing_of_all();
  uint64_t least_left = UINT64_MAX;
  const auto visit = [&](size_t, Result<OpenContainer> opened, uint64_t left) -> Result<uint64_t> {
    if (!opened) return std::unexpected(opened.error());
    least_left = std::min(least_left, left + standing_memory(*opened));
    return 0;
  };
  ASSERT_TRUE(for_each_container(set_, all_containers(*set_.manifest), with_memory(all / 2), visit));
  EXPECT_EQ(least_left, all / 2) << "nothing is held back for the next ones";
}

TEST_F(EachContainerTest, WhatIsKeptCounts) {
  std::vector<uint64_t> left;
  const auto keep = [&](size_t, Result<OpenContainer> opened, uint64_t bytes) -> Result<uint64_t> {
    if (!opened) return std::unexpected(opened.error());
    left.push_back(bytes);
    return uint64_t{1} << 20;
  };
  ASSERT_TRUE(for_each_container(set_, all_containers(*set_.manifest), with_memory(64 << 20), keep));
  EXPECT_LE(left.back() + (uint64_t{kContainers - 1} << 19), left.front());
  const auto too_much = for_each_container(set_, all_containers(*set_.manifest), with_memory(6 << 20), keep);
  EXPECT_EQ(too_much.error().kind, ErrorKind::limit);
}

TEST_F(EachContainerTest, TheFirstErrorEndsIt) {
  size_t visits = 0;
  const auto visit = [&](size_t number, const Result<OpenContainer>&, uint64_t) -> Result<uint64_t> {
    ++visits;
    if (number == 4) return fail(ErrorKind::cancelled, "enough");
    return 0;
  };
  EXPECT_EQ(for_each_container(set_, all_containers(*set_.manifest), with_memory(64 << 20), visit).error().kind,
            ErrorKind::cancelled);
  EXPECT_EQ(visits, 5u);
}

TEST_F(EachContainerTest, TheManifestTellsWhereToLook) {
  EXPECT_EQ(containers_with_names(*set_.manifest, {"dump.7.npy"}), std::vector<size_t>{7});
  EXPECT_EQ(containers_with_names(*set_.manifest, {"*.1?.npy", "notes*"}), (std::vector<size_t>{0, 10, 11}));
  EXPECT_EQ(containers_with_names(*set_.manifest, {}).size(), kContainers);
  EXPECT_EQ(containers_of_rank(*set_.manifest, 3), std::vector<size_t>{3});
  EXPECT_TRUE(containers_of_rank(*set_.manifest, 99).empty());
  for (store::ContainerEntry& entry : set_.manifest->containers) {
    entry.names.clear();  // as earlier versions wrote it
    entry.ranks.reset();
  }
  EXPECT_EQ(containers_with_names(*set_.manifest, {"dump.7.npy"}).size(), kContainers);
  EXPECT_EQ(containers_of_rank(*set_.manifest, 3).size(), kContainers);
}

TEST_F(EachContainerTest, FilesComeBackWithoutLookingIntoOtherContainers) {
  std::filesystem::remove(container_path("set", 3));
  const auto restored = restore_to("back", "set", {"dump.7.npy"});
  ASSERT_TRUE(restored) << restored.error().message();
  EXPECT_TRUE(restored->unread.empty());
  EXPECT_EQ(expect_subset("back"), 1u);
  const auto found = find_in_set(set_, "/data", 7, with_memory(64 << 20));
  ASSERT_TRUE(found) << found.error().message();
  EXPECT_EQ(found->size(), 1u);
  EXPECT_EQ(find_in_set(set_, "/data", {}, with_memory(64 << 20)).error().kind, ErrorKind::corrupt);
}

TEST_F(EachContainerTest, WhatCannotBeOpenedIsTheVisitorsConcern) {
  std::filesystem::remove(container_path("set", 3));
  std::vector<size_t> missing;
  const auto visit = [&](size_t number, const Result<OpenContainer>& opened, uint64_t) -> Result<uint64_t> {
    if (!opened) missing.push_back(number);
    return 0;
  };
  ASSERT_TRUE(for_each_container(set_, all_containers(*set_.manifest), with_memory(64 << 20), visit));
  EXPECT_EQ(missing, std::vector<size_t>{3});
}

}  // namespace
}  // namespace forebay::engine

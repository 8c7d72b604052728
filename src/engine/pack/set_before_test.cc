#include "engine/pack/set_before.h"

#include <algorithm>

#include "codec/codec_ids.h"
#include "engine/test_gas.h"

namespace forebay::engine {
namespace {

class SetBeforeTest : public GasTest {
 protected:
  static constexpr uint64_t kMemory = 32 << 20;

  // Packs the tree, and returns the chains of its frames.
  std::vector<std::string> pack_as(const std::string& name, uint64_t frame_bytes = 0) const {
    PackOptions options = named(name);
    options.scheme.frame_bytes = frame_bytes;
    pack_ok(options);
    const OpenSet set = open(name);
    const container::Index& index = set.containers.front().index();
    std::vector<std::string> chains;
    for (const container::FrameEntry& frame : index.frames) chains.push_back(index.chains[frame.chain]);
    return chains;
  }

  Remembered remember_set(const std::string& name) const {
    return remember(find(name).files, "00000-of-00001.fbc", kMemory);
  }

  void expect_restores(const std::string& name, size_t files = 3) const {
    const auto restored = restore_to("back-" + name, name);
    ASSERT_TRUE(restored) << restored.error().message();
    EXPECT_EQ(expect_subset("back-" + name), files);
  }
};

TEST_F(SetBeforeTest, TellsChainsSharesAndRelations) {
  write_gas(0.76);
  const auto chains = pack_as("set");
  const Remembered remembered = remember_set("set");
  EXPECT_EQ(remembered.relations.size(), 3u);
  const OpenSet set = open();
  const OpenContainer& container = set.containers.front();
  size_t known = 0;
  for (uint32_t number = 0; number < chains.size(); ++number) {
    const RememberedFrame* frame = remembered.find(*container.plan, number);
    if (frame == nullptr) continue;
    ++known;
    const container::FrameEntry& entry = container.index().frames[number];
    EXPECT_EQ(codec::to_string(frame->chain), chains[number]);
    EXPECT_TRUE(frame->still_holds(entry.encoded_bytes, entry.raw_bytes));
    EXPECT_FALSE(frame->still_holds(2 * entry.encoded_bytes + 1000, entry.raw_bytes));
  }
  EXPECT_GE(known, 5u);
}

TEST_F(SetBeforeTest, NothingIsRememberedOfWhatIsNotThere) {
  write_gas(0.76);
  pack_as("set");
  EXPECT_TRUE(remember(open_store().files_of("gone"), "00000-of-00001.fbc", kMemory).frames.empty());
  EXPECT_TRUE(remember(find().files, "none.fbc", kMemory).frames.empty());
  EXPECT_TRUE(remember(find().files, "../set/00000-of-00001.fbc", kMemory).frames.empty());
  write(set_path("set") + "/junk", std::string(5000, 'x'));
  EXPECT_TRUE(remember(find().files, "junk", kMemory).relations.empty());
}

TEST_F(SetBeforeTest, TheSameDataArePackedAlike) {
  write_gas(0.76);
  const auto first = pack_as("first");
  EXPECT_EQ(pack_as("second"), first);
  EXPECT_EQ(find("second").manifest->bytes(), find("first").manifest->bytes());
}

// What was good for the set before is dropped where it is good no longer.
TEST_F(SetBeforeTest, ChainsThatAreGoodNoLongerAreDropped) {
  for (int rank = 0; rank < 3; ++rank)
    write(tree() + "/dump." + std::to_string(rank) + ".npy", npy_file(std::vector<double>(40000, 1.5), {40000}));
  const auto constant = pack_as("constant");
  for (int rank = 0; rank < 3; ++rank)
    write(tree() + "/dump." + std::to_string(rank) + ".npy", npy_file(field(rank, 40000), {40000}));
  const auto after = pack_as("after");
  std::filesystem::remove_all(set_path("constant"));
  std::filesystem::remove_all(set_path("after"));
  EXPECT_EQ(after, pack_as("fresh"));
  EXPECT_NE(after, constant);
  expect_restores("fresh");
}

TEST_F(SetBeforeTest, AnotherNumberOfFramesIsAnotherGroup) {
  write_gas(0.76);
  pack_as("large");
  const Remembered remembered = remember_set("large");
  pack_as("small", 32 << 10);
  const OpenSet small = open("small");
  const merge::Plan& plan = *small.containers.front().plan;
  for (uint32_t number = 0; number < plan.frames().size(); ++number)
    if (plan.groups()[plan.frames()[number].group].frame_count > 1) {
      EXPECT_EQ(remembered.find(plan, number), nullptr) << number;
    }
  expect_restores("small");
}

TEST_F(SetBeforeTest, ADamagedSetBeforeDoesNoHarm) {
  write_gas(0.76);
  pack_as("first");
  const std::string container = container_path("first", 0);
  for (const uint64_t offset : {200u, 3000u, 100000u}) flip_bit(container, offset, 4);
  pack_as("second");
  std::filesystem::resize_file(container_path("second", 0), 1000);
  pack_as("third");
  expect_restores("third");
}

store::SetInfo set_of(const std::string& name, const std::string& profile, uint64_t ranks,
                      std::optional<int64_t> since_chosen = {}) {
  return {.name = name,
          .files = {},
          .manifest = store::Manifest{
              .name = name, .profile = profile, .ranks = ranks, .group_size = 4, .since_chosen = since_chosen}};
}

TEST(FindSetBefore, IsTheNewestOfItsKind) {
  const std::vector<store::SetInfo> sets = {
      set_of("a", "max", 8),
      set_of("b", "max", 8, 2),
      set_of("c", "fast", 8),
      set_of("d", "max", 9),
      {.name = "e", .files = {}, .manifest = fail(ErrorKind::corrupt, "not to be read")}};
  const SetBefore before = find_set_before(sets, "max", 8, 4);
  EXPECT_EQ(before.name, "b");
  EXPECT_EQ(before.since_chosen, 3);
  EXPECT_EQ(find_set_before(sets, "fast", 8, 4).since_chosen, 1);
  EXPECT_EQ(find_set_before(sets, "max", 8, 5).name, "");
  EXPECT_EQ(find_set_before({}, "max", 8, 4).since_chosen, std::nullopt);
}

TEST(FindSetBefore, EveryEighthIsChosenAnew) {
  const std::vector<store::SetInfo> sixth = {set_of("a", "max", 8, 6)}, seventh = {set_of("a", "max", 8, 7)};
  EXPECT_EQ(find_set_before(sixth, "max", 8, 4).since_chosen, 7);
  EXPECT_EQ(find_set_before(seventh, "max", 8, 4).since_chosen, std::nullopt);
  EXPECT_EQ(find_set_before(seventh, "max", 8, 4).name, "");
}

}  // namespace
}  // namespace forebay::engine

// Sets whose frames lie in other sets.
#include <gmock/gmock.h>

#include "engine/inspect/diff.h"
#include "engine/inspect/repair.h"
#include "engine/pack/parent_matcher.h"
#include "engine/test_sets.h"

namespace forebay::engine {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class ParentTest : public SetTest {
 protected:
  PackReport pack_as(const std::string& name, const std::string& parent, uint64_t full_every = 8) const {
    PackOptions options = this->options();
    options.name = name;
    options.parent = parent;
    options.full_every = full_every;
    options.group_size = 2;
    return pack_ok(options);
  }

  // Rank 1's values change with `version`, and with them the first group's array frame.
  void write_version(int version) const {
    for (int rank = 0; rank < 4; ++rank)
      write(tree() + "/dump." + std::to_string(rank) + ".npy",
            npy_file(field(rank == 1 ? rank + 10 * version : rank, 300 * 300), {300, 300}));
  }

  void expect_restores(const std::string& set) const {
    const auto restored = restore_to("back-" + set, set);
    ASSERT_TRUE(restored) << restored.error().message();
    EXPECT_EQ(expect_subset("back-" + set), 4u);
  }
};

TEST_F(ParentTest, TheSameFilesTakeNextToNothing) {
  write_version(0);
  pack_as("a", "");
  const PackReport report = pack_as("b", "latest");
  EXPECT_EQ(report.parent, "a");
  ASSERT_EQ(report.parents.size(), 1u);
  EXPECT_EQ(report.parents[0].name, "a");
  EXPECT_GE(report.parents[0].frames, 2u);
  EXPECT_LT(bytes_of("b"), bytes_of("a") * 2 / 3);  // what is left is index
  EXPECT_TRUE(verify_ok("b").intact());
  expect_restores("b");
}

TEST_F(ParentTest, ReferencesLeadToWhereTheBytesAre) {
  write_version(0);
  pack_as("a", "");
  write_version(1);
  pack_as("b", "a");
  EXPECT_EQ(parents_of_set("b"), std::vector<std::string>{"a"});
  pack_as("c", "b");  // rank 1's group as in b, the other one as in a
  EXPECT_EQ(parents_of_set("c"), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(find("c").manifest->since_full, 2u);
  expect_restores("b");
  expect_restores("c");
  fs::remove_all(set_path("b"));
  const auto report = verify_ok("c");
  ASSERT_FALSE(report.intact());
  for (const Damage& damage : report.damages) {
    EXPECT_THAT(damage.what, HasSubstr("of b/00000-of-00002.fbc, which is missing"));
    EXPECT_TRUE(damage.is_derived);
  }
}

TEST_F(ParentTest, EveryKthSetIsFull) {
  write_version(0);
  std::vector<bool> full;
  for (int i = 0; i < 7; ++i) {
    const std::string name = "s" + std::to_string(i);
    pack_as(name, "latest", 3);
    full.push_back(find(name).manifest->parents.empty());
  }
  EXPECT_EQ(full, (std::vector<bool>{true, false, false, true, false, false, true}));
  pack_as("one", "latest", 1);
  EXPECT_TRUE(find("one").manifest->parents.empty());
}

TEST_F(ParentTest, AParentThatIsNotThere) {
  write_version(0);
  EXPECT_THAT(pack_as("a", "latest").remarks, testing::Contains(HasSubstr("no set yet")));
  PackOptions options = this->options();
  options.parent = "none";
  SoloTeam team;
  EXPECT_EQ(pack(options, team).error().kind, ErrorKind::not_found);
}

TEST_F(ParentTest, DamagedFramesOfTheParentAreStoredAgain) {
  write_version(0);
  pack_as("a", "");
  const auto set = open("a");
  const auto& frames = set.containers[0].index().frames;
  const auto largest = std::ranges::max_element(frames, {}, &container::FrameEntry::encoded_bytes);
  flip_bit(container_path("a", 0), largest->record_offset + 150, 3);
  const PackReport report = pack_as("b", "a");
  EXPECT_THAT(report.remarks, testing::Contains(HasSubstr("a/00000-of-00002.fbc cannot be read back (corrupt)")));
  expect_restores("b");
  EXPECT_TRUE(verify_ok("b").intact());
}

TEST_F(ParentTest, AFlippedBitInTheParentIsReportedForBoth) {
  write_version(0);
  pack_as("a", "");
  pack_as("b", "a");
  const auto set = open("a");
  const auto& frames = set.containers[1].index().frames;
  const auto largest = std::ranges::max_element(frames, {}, &container::FrameEntry::encoded_bytes);
  flip_bit(container_path("a", 1), largest->record_offset + 150, 0);
  EXPECT_FALSE(verify_ok("a").intact());
  const auto report = verify_ok("b");
  ASSERT_EQ(report.damages.size(), 1u);
  EXPECT_THAT(report.damages[0].what, HasSubstr("of a/00001-of-00002.fbc, which is damaged"));
  EXPECT_THAT(report.damages[0].container, HasSubstr("sets/b/00001-of-00002.fbc"));
  const auto restored = restore_to("back", "b");
  ASSERT_FALSE(restored);
  EXPECT_EQ(restored.error().kind, ErrorKind::corrupt);
  // What the damage does not concern can be had.
  ASSERT_TRUE(restore_to("part", "b", {"dump.0.npy"}));
  EXPECT_EQ(expect_subset("part"), 1u);
}

TEST_F(ParentTest, LatestFallsBackWhenAParentIsGone) {
  write_version(0);
  pack_as("full", "");
  pack_as("parent", "");
  pack_as("new", "parent");
  fs::remove_all(set_path("parent"));
  const auto restored = restore_to("back", "latest");
  ASSERT_TRUE(restored) << restored.error().message();
  EXPECT_EQ(restored->name, "full");
  ASSERT_EQ(restored->skipped.size(), 1u);
  EXPECT_THAT(restored->skipped[0], HasSubstr("of parent/"));
}

TEST_F(ParentTest, LatestIsNoSetThatWasSetAside) {
  write_version(0);
  pack_as("old", "");
  pack_as("new", "");
  const auto store = store::Store::open(store_path()).value();
  ASSERT_TRUE(store.set_aside("new", "rank 3 could not read it"));
  const auto restored = restore_to("back", "latest");
  ASSERT_TRUE(restored) << restored.error().message();
  EXPECT_EQ(restored->name, "old");
  EXPECT_THAT(restored->skipped, testing::ElementsAre("new: was set aside: rank 3 could not read it"));
  EXPECT_TRUE(restore_to("by-name", "new"));
  ASSERT_TRUE(store.set_aside("old", "likewise"));
  EXPECT_EQ(restore_to("none", "latest").error().kind, ErrorKind::not_found);
}

TEST_F(ParentTest, AnotherSetOfTheNameIsNoParent) {
  write_version(0);
  pack_as("a", "");
  pack_as("b", "a");
  fs::remove_all(set_path("a"));
  write_version(5);
  pack_as("a", "");
  EXPECT_FALSE(verify_ok("b").intact());
  EXPECT_EQ(restore_to("back", "b").error().kind, ErrorKind::corrupt);
}

TEST_F(ParentTest, AParentOfOtherFrameSizesOrProfileDoesNoHarm) {
  write_version(0);
  PackOptions other = options("agnostic", "none");
  other.name = "a";
  pack_ok(other);
  pack_as("b", "a");
  expect_restores("b");
}

TEST_F(ParentTest, ExtractAndDiffFollowReferences) {
  write_version(0);
  pack_as("a", "");
  pack_as("b", "a");
  const OpenSet b = open("b");
  EXPECT_TRUE(diff(find("a"), find("b"), resources())->files.empty());
  const auto found = find_variables(b, "*", 2);
  ASSERT_EQ(found.size(), 1u);
  const auto extracted = extract(b, found[0], 64 << 20);
  ASSERT_TRUE(extracted) << extracted.error().message();
  EXPECT_EQ(std::string(as_text(extracted->bytes)), to_text(field(2, 300 * 300)));
}

TEST_F(ParentTest, ARepairedSetKeepsItsReferences) {
  write_version(0);
  pack_as("a", "");
  write_version(1);
  pack_as("b", "a");
  fs::resize_file(container_path("b", 0), fs::file_size(container_path("b", 0)) - 10);  // the trailer
  const auto report = repair(open_store(), "b", "fixed", resources());
  ASSERT_TRUE(report) << report.error().message();
  EXPECT_TRUE(report->lost_files.empty());
  EXPECT_EQ(parents_of_set("fixed"), std::vector<std::string>{"a"});
  EXPECT_EQ(find("fixed").manifest->parents[0].created_ns, find("a").manifest->created_ns);
  EXPECT_TRUE(verify_ok("fixed").intact());
  expect_restores("fixed");
}

TEST_F(ParentTest, ARepairWithoutAManifestFindsTheParents) {
  write_version(0);
  pack_as("a", "");
  pack_as("b", "a");
  flip_bit(set_path("b") + "/manifest", 60, 1);
  EXPECT_EQ(parents_of(find("b"), 64 << 20)->at(0).name, "a");
  ASSERT_TRUE(repair(open_store(), "b", "fixed", resources()));
  EXPECT_EQ(find("fixed").manifest->parents.at(0).created_ns, find("a").manifest->created_ns);
  expect_restores("fixed");
}

TEST_F(ParentTest, ARepairDoesNotTakeWhatItsParentLostForWhole) {
  write_version(0);
  pack_as("a", "");
  pack_as("b", "a");
  fs::remove(container_path("a", 1));
  const auto report = repair(open_store(), "b", "fixed", resources());
  ASSERT_TRUE(report) << report.error().message();
  EXPECT_EQ(report->name, "") << "nothing could be made better";
  EXPECT_EQ(report->whole_files.size(), 2u);
  ASSERT_EQ(report->lost_files.size(), 2u);
  EXPECT_THAT(report->lost_files[0], HasSubstr("of a/00001-of-00002.fbc, which is missing"));
}

TEST_F(ParentTest, AParentTravelsAsText) {
  write_version(0);
  pack_as("a", "");
  write_version(1);
  pack_as("b", "a");
  std::vector<std::string> remarks;
  const auto parent = read_parent(find("b"), 64 << 20, remarks);
  ASSERT_TRUE(parent);
  const Parent back = parent_from_text(to_text(*parent));
  EXPECT_EQ(to_text(back), to_text(*parent));
  EXPECT_EQ(back.frames, parent->frames);
  EXPECT_EQ(back.places, parent->places);
  EXPECT_FALSE(back.places.empty());
  EXPECT_EQ(back.manifest.name, "b");
  EXPECT_TRUE(std::ranges::is_sorted(back.frames));
}

TEST_F(ParentTest, TheSmallestBudgetIsEnough) {
  write_version(0);
  pack_as("a", "");
  PackOptions options = this->options();
  options.name = "b";
  options.parent = "a";
  options.group_size = 2;
  options.resources.memory_bytes = 64 << 20;
  pack_ok(options);
  ASSERT_TRUE(restore({.store = store_path(),
                       .name = "b",
                       .target = path("back"),
                       .only = {},
                       .overwrite = true,
                       .resources = {.memory_bytes = 64 << 20, .threads = 1, .progress = {}}}));
  EXPECT_EQ(expect_subset("back"), 4u);
}

// Without its index nothing tells beforehand which frames of a container lie in sets that are gone.
TEST_F(ParentTest, ARebuiltContainerIsNotWholeWithoutItsParent) {
  write_version(0);
  pack_as("a", "");
  pack_as("b", "a");
  const std::string container = container_path("b", 0);
  fs::resize_file(container, fs::file_size(container) - 1);
  const auto with_parent = repair(open_store(), "b", "with-parent", resources());
  ASSERT_TRUE(with_parent) << with_parent.error().message();
  EXPECT_EQ(with_parent->whole_files.size(), 4u);
  expect_restores("with-parent");
  fs::remove_all(set_path("a"));
  const auto without = repair(open_store(), "b", "without", resources());
  ASSERT_TRUE(without) << without.error().message();
  EXPECT_TRUE(without->whole_files.empty());
  ASSERT_EQ(without->lost_files.size(), 4u);
  EXPECT_THAT(without->lost_files[0], HasSubstr("which is missing"));
}

}  // namespace
}  // namespace forebay::engine

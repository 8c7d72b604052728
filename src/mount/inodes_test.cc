#include "mount/inodes.h"

#include <gtest/gtest.h>

namespace forebay::mount {
namespace {

std::shared_ptr<const MountedSet> set_of(const std::string& name, int64_t created_ns) {
  auto cache = std::make_shared<engine::FrameCache>(1 << 20);
  return std::make_shared<const MountedSet>(
      name, created_ns, std::make_unique<engine::SharedReader>(engine::OpenSet{}, std::move(cache), 1));
}

TEST(Inodes, AFileHasOneNumberAsLongAsItIsKnown) {
  Inodes inodes;
  const auto set = set_of("a", 1);
  const uint64_t number = inodes.look_up(set, 3, Inodes::kRoot, "x");
  EXPECT_GT(number, Inodes::kLatest);
  EXPECT_EQ(inodes.look_up(set, 3, Inodes::kRoot, "x"), number);
  EXPECT_NE(inodes.look_up(set, 4, Inodes::kRoot, "y"), number);
  inodes.forget(number, 1);
  ASSERT_TRUE(inodes.find(number));
  EXPECT_EQ(inodes.find(number)->node, 3u);
  inodes.forget(number, 1);
  EXPECT_FALSE(inodes.find(number));
  EXPECT_NE(inodes.look_up(set, 3, Inodes::kRoot, "x"), number) << "numbers are never given again";
}

TEST(Inodes, SetsOfOneNameAreTold) {
  Inodes inodes;
  const auto before = set_of("a", 1), after = set_of("a", 2), other = set_of("b", 1);
  const uint64_t number = inodes.look_up(before, 0, Inodes::kRoot, "a");
  EXPECT_NE(inodes.look_up(after, 0, Inodes::kRoot, "a"), number);
  EXPECT_NE(inodes.look_up(other, 0, Inodes::kRoot, "b"), number);
  EXPECT_EQ(inodes.find(number)->set->created_ns, 1);
}

TEST(Inodes, NumbersDoNotKeepSetsOpen) {
  Inodes inodes;
  auto set = set_of("a", 1);
  const uint64_t number = inodes.look_up(set, 0, Inodes::kRoot, "a");
  EXPECT_EQ(inodes.find(number)->set->open.lock(), set);
  set.reset();
  EXPECT_EQ(inodes.find(number)->set->open.lock(), nullptr);
  EXPECT_EQ(inodes.find(number)->set->name, "a");
  // Opened anew, it is found by all its numbers.
  const auto again = set_of("a", 1);
  inodes.look_up(again, 7, number, "x");
  EXPECT_EQ(inodes.find(number)->set->open.lock(), again);
}

TEST(Inodes, PathsAreForMessages) {
  Inodes inodes;
  const auto set = set_of("a", 1);
  const uint64_t root = inodes.look_up(set, 0, Inodes::kRoot, "a"), folder = inodes.look_up(set, 1, root, "deep");
  EXPECT_EQ(inodes.path_of(inodes.look_up(set, 2, folder, "file")), "/a/deep/file");
  EXPECT_EQ(inodes.path_of(Inodes::kRoot), "/");
  EXPECT_FALSE(inodes.find(999));
  inodes.forget(999, 1);  // changes nothing
  ASSERT_TRUE(inodes.find(Inodes::kRoot));
  EXPECT_EQ(inodes.find(Inodes::kRoot)->set, nullptr);
}

}  // namespace
}  // namespace forebay::mount

#include "cli/mount_table.h"

#include <gmock/gmock.h>

namespace forebay::cli {
namespace {

using testing::Contains;
using testing::ElementsAre;

constexpr std::string_view kMounts =
    "23 27 0:22 / /sys rw,relatime - sysfs sysfs rw\n"
    "27 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw,discard\n"
    "41 27 0:33 / /mnt/my\\040store ro,noatime shared:2 master:1 - nfs4 host:/export rw,vers=4.2,local_lock=none\n"
    "42 27 broken\n"
    "43 27 0:1 / /x rw - ext4\n";

TEST(MountTable, FindsTypePointAndOptions) {
  const auto root = find_mount(kMounts, 27);
  ASSERT_TRUE(root);
  EXPECT_EQ(root->type, "ext4");
  EXPECT_EQ(root->point, "/");
  EXPECT_THAT(root->options, ElementsAre("rw", "relatime", "rw", "discard"));
  const auto nfs = find_mount(kMounts, 41);
  ASSERT_TRUE(nfs);
  EXPECT_EQ(nfs->point, "/mnt/my store");
  EXPECT_THAT(nfs->options, Contains("local_lock=none"));
}

TEST(MountTable, FindsNothingInWhatIsNoSuchList) {
  EXPECT_FALSE(find_mount(kMounts, 2));
  EXPECT_FALSE(find_mount(kMounts, 42));
  EXPECT_FALSE(find_mount(kMounts, 43));
  EXPECT_FALSE(find_mount("", 27));
}

}  // namespace
}  // namespace forebay::cli

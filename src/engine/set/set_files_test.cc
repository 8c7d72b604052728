#include "engine/set/set_files.h"

#include <gtest/gtest.h>

namespace forebay::engine {
namespace {

using Names = std::vector<std::string>;

TEST(SetFiles, NamesTellWhatIsMissing) {
  EXPECT_EQ(container_name(2, 4), "00002-of-00004.fbc");
  EXPECT_EQ(missing_containers({"00000-of-00003.fbc", "00002-of-00003.fbc"}), Names{"00001-of-00003.fbc"});
  EXPECT_EQ(missing_containers({"00000-of-00002.fbc"}), Names{"00001-of-00002.fbc"}) << "the last one, too";
  EXPECT_EQ(missing_containers({"00000-of-00001.fbc"}), Names{});
  EXPECT_EQ(missing_containers({}), Names{});
}

TEST(SetFiles, AnAttemptIsThatContainer) {
  EXPECT_EQ(container_name(2, 4, 7), "00002-of-00004.7.fbc");
  EXPECT_EQ(missing_containers({"00000-of-00003.12.fbc", "00002-of-00003.fbc"}), Names{"00001-of-00003.fbc"});
  EXPECT_EQ(missing_containers({"00000-of-00002.0.fbc"}), Names{}) << "no name of ours";
  EXPECT_EQ(missing_containers({"00000-of-00002.1.2.fbc"}), Names{});
}

TEST(SetFiles, StrangeNamesTellNothing) {
  EXPECT_EQ(missing_containers({"notes", "0-of-5.fbc", "00000-of-00005.fbcx", "00000-of-99999999999999999999.fbc"}),
            Names{});
}

}  // namespace
}  // namespace forebay::engine

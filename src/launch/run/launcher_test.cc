#include "launch/run/launcher.h"

#include <gmock/gmock.h>

#include "launch/test_launch.h"

namespace forebay::launch {
namespace {

using testing::ElementsAre;

TEST(Launcher, AShellOnTheWayNeedsQuotes) {
  const auto ssh = value(parse_launcher("auto", false));
  EXPECT_THAT(ssh.command("n1", "/a b", {"x", "y z"}),
              ElementsAre("ssh", "-o", "BatchMode=yes", "n1", "env", "-C", "'/a b'", "x", "'y z'"));
  EXPECT_EQ(value(parse_launcher("ssh", true)).words, ssh.words);
}

TEST(Launcher, AStepOfSlurmGetsTheWordsAsTheyAre) {
  const auto srun = value(parse_launcher("auto", true));
  const auto words = srun.command("n1", "/a b", {"x", "y z"});
  EXPECT_EQ(words[0], "srun");
  EXPECT_THAT(std::vector(words.end() - 6, words.end()), ElementsAre("--nodelist=n1", "env", "-C", "/a b", "x", "y z"));
  EXPECT_EQ(value(parse_launcher("srun", false)).command("n1", "/", {}), srun.command("n1", "/", {}));
}

TEST(Launcher, AnyCommand) {
  const auto other = value(parse_launcher("rsh -l 'a b'", true));
  EXPECT_THAT(other.command("n1", "/", {"x y"}), ElementsAre("rsh", "-l", "a b", "n1", "env", "-C", "/", "'x y'"));
  EXPECT_FALSE(parse_launcher(" ", false));
  EXPECT_FALSE(parse_launcher("a 'b", false));
}

}  // namespace
}  // namespace forebay::launch

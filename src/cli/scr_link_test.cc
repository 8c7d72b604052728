#include "cli/scr_link.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace forebay::cli {
namespace {

using testing::ElementsAre;

TEST(ScrLink, LeavesTheCommandAlone) {
  EXPECT_THAT(words_of_link("/usr/bin/forebay", {"run", "x"}), ElementsAre("run", "x"));
  EXPECT_THAT(words_of_link("scr_other", {"x"}), ElementsAre("x"));
}

TEST(ScrLink, StandsForAnAction) {
  EXPECT_THAT(words_of_link("/opt/bin/scr_halt", {"--list", "dir"}), ElementsAre("scr", "halt", "--list", "dir"));
  EXPECT_THAT(words_of_link("scr_halt", {"--unset-reason"}), ElementsAre("scr", "halt", "--unset=reason"));
  EXPECT_THAT(words_of_link("scr_index", {}), ElementsAre("scr", "index"));
}

TEST(ScrLink, KnowsWhereTheLauncherBegins) {
  EXPECT_THAT(words_of_link("scr_run", {"mpiexec", "-n", "4", "./app"}),
              ElementsAre("scr", "run", "--", "mpiexec", "-n", "4", "./app"));
  EXPECT_THAT(words_of_link("scr_run", {"--nodes-file=hosts", "srun", "./app"}),
              ElementsAre("scr", "run", "--nodes-file=hosts", "--", "srun", "./app"));
  EXPECT_THAT(words_of_link("scr_run", {"--", "srun"}), ElementsAre("scr", "run", "--", "srun"));
  EXPECT_THAT(words_of_link("scr_srun", {"-n", "4", "./app"}),
              ElementsAre("scr", "run", "--", "srun", "-n", "4", "./app"));
}

}  // namespace
}  // namespace forebay::cli

#include "job/clocks/clocks.h"

#include <set>

#include <gtest/gtest.h>

namespace forebay::job {
namespace {

using namespace std::chrono_literals;

TEST(ClocksTest, HaveNamesOptionsAndSentencesOfTheirOwn) {
  std::set<std::string_view> names, options, sentences;
  for (const TimeBound* clock : all_clocks()) {
    EXPECT_TRUE(names.insert(clock->name).second) << clock->name;
    if (!clock->option.empty()) {
      EXPECT_TRUE(options.insert(clock->option).second) << clock->option;
    }
    EXPECT_TRUE(sentences.insert(clock->bounds).second) << clock->name;
    EXPECT_TRUE(clock->bounds.ends_with(".")) << clock->name;
    EXPECT_GT(clock->length, 0ms) << clock->name;
  }
}

TEST(ClocksTest, HelpHasTheDefaultInSeconds) {
  EXPECT_EQ(seconds_text(1500ms), "1.5");
  EXPECT_EQ(help_of(clocks::kDrain), "Wait this long for the drain after the end of COMMAND. Default: 3600.");
}

}  // namespace
}  // namespace forebay::job

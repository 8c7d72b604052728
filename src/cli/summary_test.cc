#include "cli/summary.h"

#include <gmock/gmock.h>

namespace forebay::cli {
namespace {

TEST(Summary, TellsOfCachedSetsWhereThereAreAny) {
  Json status{
      {"totals",
       {{"durable_count", 3}, {"skipped_count", 1}, {"failed_count", 0}, {"raw_bytes", 2048}, {"stored_bytes", 1024}}}};
  EXPECT_EQ(summary_text(status), "3 sets durable, 1 skipped, 0 failed; 2.0 KiB -> 1.0 KiB (ratio 2.00)");
  status["totals"]["cached_count"] = 2;
  EXPECT_EQ(summary_text(status),
            "3 sets durable, 1 skipped, 0 failed, 2 kept in caches; 2.0 KiB -> 1.0 KiB (ratio 2.00)");
}

TEST(Summary, CachedSetsAreSets) {
  EXPECT_TRUE(has_no_set({{"totals", {{"durable_count", 0}, {"cached_count", 0}}}}));
  EXPECT_FALSE(has_no_set({{"totals", {{"durable_count", 0}, {"cached_count", 1}}}}));
}

TEST(Summary, WhatTheApplicationHasGoneOnWithoutIsNotMissed) {
  Json status{{"past_sets", Json::array({{{"name", "a"}, {"state", "failed"}, {"message", "the store is full"}},
                                         {{"name", "b"}, {"state", "failed"}, {"void", true}}})}};
  ASSERT_EQ(not_stored(status).size(), 1u);
  EXPECT_EQ(not_stored(status)[0], "'a' is not stored: the store is full");
}

TEST(Summary, NamesWhatWasSkippedAndNotStoredSince) {
  Json status{{"totals", {{"skipped_count", 2}}}};
  EXPECT_EQ(skipped(status), "");
  status["past_sets"] = Json::array({{{"name", "a"}, {"state", "skipped"}},
                                     {{"name", "b"}, {"state", "skipped"}},
                                     {{"name", "c"}, {"state", "durable"}},
                                     {{"name", "a"}, {"state", "durable"}}});
  EXPECT_EQ(skipped(status), "skipped, and not stored, since the drain was behind: b");
  status["totals"]["skipped_count"] = 7;
  EXPECT_EQ(skipped(status), "skipped, and not stored, since the drain was behind: b, and 5 before these");
}

}  // namespace
}  // namespace forebay::cli

#include "cli/summary.h"

#include <gmock/gmock.h>

namespace forebay::cli {
namespace {

TEST(Summary, TellsOfCachedSetsWhereThereAreAny) {
  Json status{{"totals", {{"durable", 3}, {"skipped", 1}, {"failed", 0}, {"raw_bytes", 2048}, {"stored_bytes", 1024}}}};
  EXPECT_EQ(summary_text(status), "3 sets durable, 1 skipped, 0 failed; 2.0 KiB -> 1.0 KiB (ratio 2.00)");
  status["totals"]["cached"] = 2;
  EXPECT_EQ(summary_text(status),
            "3 sets durable, 1 skipped, 0 failed, 2 kept in caches; 2.0 KiB -> 1.0 KiB (ratio 2.00)");
}

TEST(Summary, CachedSetsAreSets) {
  EXPECT_TRUE(has_no_set({{"totals", {{"durable", 0}, {"cached", 0}}}}));
  EXPECT_FALSE(has_no_set({{"totals", {{"durable", 0}, {"cached", 1}}}}));
}

}  // namespace
}  // namespace forebay::cli

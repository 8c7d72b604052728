#include "cli/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace forebay::cli {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

TEST(Metrics, HaveTypesUnitsAndAnEnd) {
  const Json status = {
      {"generation", 2},
      {"host", "n\"1\\"},
      {"agent_count", 3},
      {"totals",
       {{"durable_count", 4}, {"skipped_count", 1}, {"failed_count", 0}, {"raw_bytes", 1000}, {"stored_bytes", 10}}},
      {"sets", {{{"name", "dump_1"}, {"state", "packing"}, {"bytes_per_second", 2.5}, {"total_bytes", 7}}}},
      {"workers",
       {{{"host", "a"}, {"pid", 5}, {"memory_bytes", 64}, {"tasks", {{{"set", "dump_1"}}, {{"set", "dump_1"}}}}}}}};
  const std::string text = open_metrics(status);
  EXPECT_THAT(text, HasSubstr("# TYPE forebay_sets counter\n# HELP forebay_sets "));
  EXPECT_THAT(text, HasSubstr("\nforebay_sets_total{state=\"durable\"} 4\n"));
  EXPECT_THAT(text, HasSubstr("\nforebay_drained_bytes_total 1000\n"));
  EXPECT_THAT(text, HasSubstr("# UNIT forebay_drained_bytes bytes\n"));
  EXPECT_THAT(text, HasSubstr("forebay_job_info{host=\"n\\\"1\\\\\","));
  EXPECT_THAT(text, HasSubstr("\nforebay_sets_in_flight{state=\"packing\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("\nforebay_sets_in_flight{state=\"waiting\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("\nforebay_drain_rate_bytes_per_second{set=\"dump_1\"} 2.5\n"));
  EXPECT_THAT(text, HasSubstr("\nforebay_aggregator_busy{host=\"a\",pid=\"5\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("\nforebay_aggregator_tasks{host=\"a\",pid=\"5\"} 2\n"));
  EXPECT_THAT(text, EndsWith("\n# EOF\n"));
}

TEST(Metrics, NameSeriesRunAndNode) {
  const Json status = {{"series", "heat"},
                       {"run", "4711"},
                       {"newest_durable", {{"name", "dump_3"}, {"seconds", 12.5}}},
                       {"store_room", {{"free_bytes", 100}, {"capacity_bytes", 1000}, {"left_set_count", 7}}},
                       {"agents", {{{"host", "n1"}, {"staged_bytes", 64}, {"silent_seconds", 0.5}}}}};
  const std::string text = open_metrics(status);
  EXPECT_THAT(text, HasSubstr("\nforebay_newest_durable_seconds{series=\"heat\",run=\"4711\"} 12.5\n"));
  EXPECT_THAT(text, HasSubstr("\nforebay_store_free_bytes{series=\"heat\",run=\"4711\"} 100\n"));
  EXPECT_THAT(text, HasSubstr("\nforebay_store_sets_left{series=\"heat\",run=\"4711\"} 7\n"));
  EXPECT_THAT(text, HasSubstr("\nforebay_staged_bytes{series=\"heat\",run=\"4711\",node=\"n1\"} 64\n"));
}

TEST(Metrics, ShowRedrainsAndWhatIsBeingRebuilt) {
  const Json status = {
      {"totals", {{"redrain_count", 3}}},
      {"cache",
       {{"sets", {{{"name", "a"}, {"state", "sealed"}}, {{"name", "b"}, {"state", "broken"}}}},
        {"recovery", {{"set", "a"}, {"seconds", 1.5}, {"lost_member_count", 2}, {"repaired_bytes", 64}}}}}};
  const std::string text = open_metrics(status);
  EXPECT_THAT(text, HasSubstr("\nforebay_redrains_total 3\n"));
  EXPECT_THAT(text, HasSubstr("\nforebay_cached_sets{state=\"sealed\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("\nforebay_cached_sets{state=\"encoded\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("\nforebay_rebuild_seconds{set=\"a\"} 1.5\n"));
  EXPECT_THAT(text, HasSubstr("\nforebay_rebuild_lost_members{set=\"a\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("\nforebay_rebuilt_bytes{set=\"a\"} 64\n"));
  const std::string nothing = open_metrics(Json{{"cache", {{"recovery", nullptr}}}});
  EXPECT_THAT(nothing, Not(HasSubstr("\nforebay_rebuild_seconds{")));
}

TEST(Metrics, LeaveOutWhatIsNotKnown) {
  for (const Json& status :
       {Json::object(), Json(), Json(3), Json({{"sets", 7}, {"workers", "x"}, {"totals", nullptr}})}) {
    const std::string text = open_metrics(status);
    EXPECT_THAT(text, Not(HasSubstr("null")));
    EXPECT_THAT(text, EndsWith("# EOF\n"));
  }
}

}  // namespace
}  // namespace forebay::cli

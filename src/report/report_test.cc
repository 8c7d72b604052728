#include <algorithm>
#include <limits>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/test_sets.h"
#include "report/chart.h"
#include "report/collect.h"
#include "report/page.h"
#include "report/text.h"
#include "report/thin.h"

namespace forebay::report {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Text, IsNeverMarkup) {
  EXPECT_EQ(escaped("<a href=\"x\" id='y'>&"), "&lt;a href=&quot;x&quot; id=&#39;y&#39;&gt;&amp;");
  EXPECT_EQ(escaped("\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80"), "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80");
  EXPECT_EQ(escaped("\xff|\x01|\u202e<"), "\\xff|\\x01|\\u{202e}&lt;");
  EXPECT_EQ(bytes_text(1023), "1023 B");
  EXPECT_EQ(bytes_text(UINT64_MAX), "16.0 EiB");
  EXPECT_EQ(short_numbers(std::vector{0.0350666, 0.0273881, 0.0197096}),
            (std::vector<std::string>{"0.0351", "0.0274", "0.0197"}));
  EXPECT_EQ(short_numbers(std::vector{1000000.0, 1000001.0, 1000002.0}),
            (std::vector<std::string>{"1000000", "1000001", "1000002"}));
  EXPECT_EQ(short_numbers(std::vector{5.0, 5.0}), (std::vector<std::string>{"5", "5"}));
  EXPECT_EQ(time_text(0), "1970-01-01 00:00:00 UTC");
}

TEST(Chart, BearsEveryRange) {
  constexpr double kMost = std::numeric_limits<double>::max();
  for (const auto& [low, high] : {std::pair{0.0, 0.0}, {5.0, 5.0}, {-kMost, kMost}, {0.0, 5e-324}, {-1e-300, 1e300}}) {
    const std::string svg = svg_of({.title = "t",
                                    .description = "d",
                                    .lines = {{"l", {{0, low}, {1, high}}}},
                                    .marks = {},
                                    .first_label = "<",
                                    .last_label = "b"});
    EXPECT_THAT(svg, Not(HasSubstr("nan")));
    EXPECT_THAT(svg, Not(HasSubstr("inf")));
    EXPECT_THAT(svg, HasSubstr(">&lt;</text>"));
  }
  EXPECT_THAT(svg_of({.title = "t", .description = "", .lines = {}, .marks = {}, .first_label = "", .last_label = ""}),
              HasSubstr("</svg>"));
}

class CollectTest : public engine::SetTest {};

TEST_F(CollectTest, TellsInWhichStepValuesBlowUpOfWhichFewAreShown) {
  for (int step = 0; step < 12; ++step) {
    std::vector<double> values(100, 1 + step % 2);
    if (step >= 8) values[7] = std::numeric_limits<double>::quiet_NaN();
    if (step == 4) values[9] = -1e30;
    write(tree() + "/density.0.npy", engine::npy_file(values, {100}));
    write(tree() + "/calm.0.npy", engine::npy_file(std::vector<double>(10, 1.5), {10}));
    engine::PackOptions wanted = options("aware", "fast");
    wanted.name = "dump_" + std::to_string(step);
    pack_ok(wanted);
  }
  const auto report = collect(store_path(), {}, {.steps = 3});
  ASSERT_TRUE(report) << report.error().message();
  ASSERT_EQ(report->leaps.size(), 1u);
  EXPECT_EQ(report->leaps[0].set, 4u);
  EXPECT_EQ(report->leaps[0].before, 2);
  EXPECT_EQ(report->leaps[0].now, 1e30);
  ASSERT_FALSE(report->variables.empty());
  EXPECT_EQ(report->variables[0].name, report->leaps[0].variable) << "what leapt comes first";
  const std::string page = page_of(*report);
  EXPECT_THAT(page, HasSubstr("step 4: magnitudes up to 1e+30, after 2 at most"));
  EXPECT_THAT(page, HasSubstr("step 8: 1 NaN appear"));
  EXPECT_EQ(report->sets.size(), 12u);
  for (const SetLine& set : report->sets) EXPECT_FALSE(set.stages.empty()) << set.name;
  const auto one = collect(store_path(), {}, {.variables = 1});
  ASSERT_TRUE(one) << one.error().message();
  ASSERT_EQ(one->variables.size(), 1u);
  EXPECT_EQ(one->variables[0].name, report->leaps[0].variable) << "a calm one does not take its place in later steps";
}

Values values_of(size_t set, double low, double high) {
  return {.set = set, .count = 10, .min = low, .max = high, .mean = 0};
}

TEST(Thin, ACurveKeepsItsExtremes) {
  std::mt19937 random(3);
  for (int round = 0; round < 100; ++round) {
    std::vector<Values> all;
    const size_t count = 1 + random() % 600;
    for (size_t set = 0; set < count; ++set) all.push_back(values_of(set, -1 - static_cast<double>(set % 7) * 0.1, 1));
    const size_t low = random() % count, high = random() % count, broken = random() % count;
    all[low].min = -1e30;
    all[high].max = 1e30;
    all[broken].nans = 1;
    const std::vector<Values> few = thinned(all, 30);
    EXPECT_LE(few.size(), 34u);
    const auto has = [&](size_t set) { return std::ranges::find(few, set, &Values::set) != few.end(); };
    EXPECT_TRUE(has(0) && has(count - 1) && has(low) && has(high) && has(broken)) << round;
    EXPECT_TRUE(std::ranges::is_sorted(few, {}, &Values::set));
  }
}

TEST(Thin, ALeapIsFarBeyondAllThatWasBefore) {
  Watch watch;
  EXPECT_FALSE(watch.add(values_of(0, 0, 0))) << "nothing is known before";
  EXPECT_FALSE(watch.add(values_of(1, -1e20, 5)));
  EXPECT_FALSE(watch.add(values_of(2, 0, 1)));
  EXPECT_FALSE(watch.add(values_of(3, 0, 9e22)));
  EXPECT_FALSE(watch.add({.set = 4, .count = 0, .nans = 5}));
  const auto leap = watch.add(values_of(5, -1e26, 0));
  ASSERT_TRUE(leap);
  EXPECT_EQ(leap->set, 5u);
  EXPECT_EQ(leap->before, 9e22);
  EXPECT_FALSE(watch.add(values_of(6, 0, 1e300))) << "told once";
}

TEST(Page, TellsOfNansDamageAndWhatWasLeftOut) {
  Report report{.store = "<script>alert(1)</script>", .series = "", .made_ns = 0};
  report.sets = {{.name = "a", .step = 1, .raw_bytes = 100, .stored_bytes = 50},
                 {.name = "\"onload=x", .problem = "the manifest is damaged", .is_readable = false},
                 {.name = "c", .step = 3, .raw_bytes = 100, .stored_bytes = 20}};
  report.sets[2].stages = {{"gather", 2.5}, {"en<code", 0, 0.125}};
  report.variables = {{"temp<b>", "float64", "8x8", {{0, 64, 0, 0, 1, 2, 1.5}, {2, 60, 4, 0, 1, 3, 2}}}};
  report.notes = {"Only 1 variable is shown."};
  const std::string page = page_of(report);
  EXPECT_TRUE(page.starts_with(kPageBegin));
  EXPECT_THAT(page, Not(HasSubstr("<script")));
  EXPECT_THAT(page, Not(HasSubstr("\"onload")));
  EXPECT_THAT(page, Not(HasSubstr("temp<b>")));
  EXPECT_THAT(page, Not(HasSubstr("http")));
  EXPECT_THAT(page, HasSubstr("step 3: 4 NaN appear"));
  EXPECT_THAT(page, HasSubstr("the manifest is damaged"));
  EXPECT_THAT(page, HasSubstr("ratio 2.86"));
  EXPECT_THAT(page, HasSubstr("en&lt;code, processors"));
  EXPECT_THAT(page, HasSubstr("<th scope=\"row\">step 3</th><td>2.500</td><td>0.125</td>"));
  EXPECT_THAT(page_of({.store = "untimed", .sets = {{.name = "a"}}}), Not(HasSubstr("Time in each stage")));
  EXPECT_THAT(page, HasSubstr("Only 1 variable is shown."));
  EXPECT_THAT(page_of({.store = "empty"}), HasSubstr("</html>"));
  for (int i = 0; i < 100'000; ++i) report.sets[2].stages.push_back({"s" + std::to_string(i), 1});
  EXPECT_LT(page_of(report).size(), 100'000u) << "as many columns as a hostile manifest claims";
}

}  // namespace
}  // namespace forebay::report

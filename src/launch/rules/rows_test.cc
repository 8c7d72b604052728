#include <gmock/gmock.h>

#include "launch/rules/test_rows.h"

namespace forebay::launch::rules {
namespace {

const test::Rows& all_rows() {
  static const test::Rows rows = test::read_rows(FOREBAY_SOURCE_DIR "/src/launch/rules/rows.txt");
  return rows;
}

TEST(Rows, AreMany) {
  EXPECT_GE(all_rows().rules.size(), 60u);
  EXPECT_GE(all_rows().rows.size(), 129u);
}

TEST(Rows, EveryRuleHasSome) {
  std::set<std::string> codes;
  for (const test::Row& row : all_rows().rows) codes.insert(row.code);
  for (const auto& [code, rule] : all_rows().rules) EXPECT_TRUE(codes.contains(code)) << code;
}

TEST(Rows, GiveTheSetsThatTheySay) {
  for (const test::Row& row : all_rows().rows) {
    SCOPED_TRACE(row.code + "." + row.number + ": " + row.events);
    ASSERT_TRUE(all_rows().rules.contains(row.code));
    const auto rule = parse_rule(all_rows().rules.at(row.code));
    ASSERT_TRUE(rule) << rule.error().message();
    test::Play play(*rule);
    play.run(row.events);
    EXPECT_EQ(row.sets, play.sets());
    for (const std::string& path : row.left) EXPECT_TRUE(play.is_left(path)) << path;
  }
}

TEST(Rows, RulesReadBackAsTheyArePrinted) {
  for (const auto& [code, text] : all_rows().rules) {
    const auto rule = parse_rule(text);
    ASSERT_TRUE(rule) << code << ": " << rule.error().message();
    const auto again = parse_rule(print_rule(*rule));
    ASSERT_TRUE(again) << code << ": " << again.error().message();
    EXPECT_EQ(*rule, *again) << print_rule(*rule);
    EXPECT_EQ(print_rule(*rule), print_rule(*again));
  }
}

}  // namespace
}  // namespace forebay::launch::rules

#include "launch/rules/rule.h"

#include <chrono>
#include <ctime>
#include <random>

#include <fmt/format.h>
#include <gmock/gmock.h>

namespace forebay::launch::rules {
namespace {

using testing::HasSubstr;

std::string fault_of(std::string_view text) {
  const auto rule = parse_rule(text);
  return rule ? "" : rule.error().message();
}

Captures captured(std::string_view pattern, std::string_view path, Subject subject = Subject::path) {
  const auto parsed = parse_pattern(pattern, subject);
  EXPECT_TRUE(parsed) << pattern;
  const auto found = parsed ? match(*parsed, path, subject) : std::optional<Captures>();
  EXPECT_TRUE(found) << pattern << " on " << path;
  return found.value_or(Captures{});
}

bool matches(std::string_view pattern, std::string_view path, Subject subject = Subject::path) {
  const auto parsed = parse_pattern(pattern, subject);
  EXPECT_TRUE(parsed) << pattern;
  return parsed && match(*parsed, path, subject);
}

TEST(Rule, SaysWhereItIsWrongAndWhatWasExpected) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"", "column 1: the rule has no member"},
      {"with a.log", "column 1: the rule has no member"},
      {"chk{set/**", "column 4: '{' has no '}'"},
      {"chk{}/a", "column 5: '' is no name"},
      {"chk{1st}", "column 5: '1st' is no name"},
      {"chk{set:}", "column 9: '' is no word"},
      {"chk{set:a||b}", "column 11: '' is no word"},
      {"a[0-9", "column 2: '[' has no ']'"},
      {"a[]", "column 2: '[' and ']' are around"},
      {"a}", "column 2: '}' closes nothing"},
      {"a**b", "column 2: '**' is not at the end"},
      {"a/**/b", "column 3: '**' is not at the end"},
      {"/scratch/a", "column 1: a pattern begins with '/'"},
      {"a//b", "column 1: a component of the path is empty"},
      {"a/../b", "column 1: '..' is no name of a file"},
      {".forebay/sets", "column 1: what begins with '.forebay' is Forebay's own"},
      {"a; not", "column 7: 'not' has no pattern"},
      {"a b", "column 3: 'b' follows a pattern"},
      {"a; \"b\"", "column 5: a pattern is not quoted"},
      {"a; with b appended c", "column 20: 'c' follows a pattern"},
      {"a; done", "column 4: 'done' has no condition"},
      {"a; done soon", "column 9: 'soon' is no condition"},
      {"a; done same", "column 4: 'same' alone does not say when"},
      {"a; done quiet", "column 9: 'quiet' is followed by a time"},
      {"a; done quiet 2", "column 15: '2' is no time"},
      {"a; done quiet 0s", "column 15: '0s' is no time"},
      {"a; done quiet 2d", "column 15: '2d' is no time"},
      {"a; done quiet 99999999s", "column 15: '99999999s' is not between"},
      {"a; done quiet 1s quiet 2s", "column 18: 'quiet' is there twice"},
      {"a; done renamed; done renamed", "column 18: 'done' is there twice"},
      {"a; done last", "column 9: 'last' is followed by a pattern"},
      {"a; done says b c", "column 9: 'says' is followed by a file and a text in quotes"},
      {"a; done says b \"c", "column 16: a '\"' is not closed"},
      {"a{set}; b", "column 9: {set} is in some members and not in b"},
      {"{p}.a; b", "column 8: {p} is not in all members"},
      {"a; {p}.b", "column 4: {p}.b has words that other members have not"},
      {"{p}.a; with {q}.log", "column 13: {q} is not in all members"},
      {"a{set}; done says b \"c\"", "column 22: the text does not name the set"},
      {"a; done says b \"{set}\"", "column 17: the rule has no {set}"},
      {"a; done says b \"{q}\"", "column 17: {q} is not in the members"},
      {"{a}{b}{c}/{a}{b}{c}", "column 1: 'b' occurs twice, first behind a '*' or a word"},
      {"*{set:word}/{set}", "column 1: 'set' occurs twice, first behind a '*' or a word"},
      {"{set}{set:time}", "column 7: 'set' takes something else than before"},
  };
  for (const auto& [text, fault] : cases) EXPECT_THAT(fault_of(text), HasSubstr(fault)) << text;
  EXPECT_THAT(fault_of("a;\nb; done\n  soon"), HasSubstr("line 3, column 3: 'soon' is no condition"));
  EXPECT_THAT(fault_of(std::string(kMostRuleBytes + 1, 'a')), HasSubstr("longer than"));
  std::string many;
  for (size_t i = 0; i <= kMostItems; ++i) many += "a;";
  EXPECT_THAT(fault_of(many), HasSubstr("more than 64 items"));
  many = "a*b*";
  for (size_t i = 0; i < kMostPatternPieces; ++i) many += "?";
  EXPECT_THAT(fault_of(many), HasSubstr("more than 64 parts"));
}

TEST(Rule, WithoutConditionWaitsForTheSameFilesAndTwoSeconds) {
  const Done expected{.is_same = true, .quiet = std::chrono::milliseconds(2000)};
  EXPECT_EQ(expected, parse_rule("restart.{rank}")->done);
  EXPECT_EQ("restart.{rank}; done same quiet 2s", print_rule(*parse_rule(" restart.{rank} ;;\n")));
  EXPECT_EQ("a; done quiet 500ms", print_rule(*parse_rule("a; done quiet 0.5s")));
}

TEST(Pattern, TakesWhatItsFieldsTake) {
  EXPECT_EQ("0.8", captured("processor{rank}/{set:time}/**", "processor0/0.8/U").fields["set"]);
  EXPECT_EQ("1e-05", captured("processor{rank}/{set:time}/**", "processor0/1e-05/U").fields["set"]);
  EXPECT_EQ("2000-01-31_00:00:00",
            captured("wrfrst_d{rank}_{set:date}", "wrfrst_d01_2000-01-31_00:00:00").fields["set"]);
  EXPECT_EQ("0001-02-01-00000", captured("{case}.cam.r.{set:date}.nc", "c.cam.r.0001-02-01-00000.nc").fields["set"]);
  EXPECT_EQ(
      "Y1958_D032_S00000",
      captured("RESTART/MOM.res_{set:Y0000_D000_S00000}*.nc", "RESTART/MOM.res_Y1958_D032_S00000_1.nc").fields["set"]);
  EXPECT_EQ("ckptB", captured("pickup.{set:ckptA|ckptB}.*", "pickup.ckptB.data").fields["set"]);
  EXPECT_TRUE(matches("rs8{case}0.f0000[1-4]", "rs8eddy0.f00003"));
  EXPECT_FALSE(matches("rs8{case}0.f0000[1-4]", "rs8eddy0.f00005"));
  EXPECT_FALSE(matches("chk{set}/**", "chk00100"));
  EXPECT_FALSE(matches("chk{set}/**", "chk00100/"));
  EXPECT_FALSE(matches("chk{set}/**", "chk00100.temp/Header"));
  EXPECT_FALSE(matches("*.rst", "a/b.rst"));
  EXPECT_FALSE(matches("{name}.rst", ".rst"));
}

TEST(Pattern, TakesNumbersWhole) {
  EXPECT_EQ("00100", captured("*{set}", "chk00100").fields["set"]);
  EXPECT_EQ("00100", captured("{name}{set}.h5", "chk00100.h5").fields["set"]);
  EXPECT_EQ("200", captured("*restart*.{set}", "melt.restart.2.200").fields["set"]);
  EXPECT_FALSE(matches("*_{set:0000}*", "chk_00012.h5"));
  EXPECT_FALSE(matches("*{set:0000}", "chk00012"));
}

TEST(Pattern, TakesTheSameValueTwice) {
  const Captures enzo = captured("DD{set}/DD{set}.cpu{rank}", "DD0003/DD0003.cpu0007");
  EXPECT_EQ("0003", enzo.fields.at("set"));
  EXPECT_EQ("0007", enzo.fields.at("rank"));
  EXPECT_FALSE(matches("DD{set}/DD{set}.cpu{rank}", "DD0003/DD0004.cpu0007"));
  EXPECT_EQ("b-c", captured("{x}/{y}/{x}-{y}", "a/b-c/a-b-c").fields["y"]);
  EXPECT_EQ("a", captured("{x}_*/{x}.h5", "a_b_c/a.h5").fields["x"]);
  EXPECT_EQ("a_b", captured("{x}_*/{x}.h5", "a_b_c/a_b.h5").fields["x"]);
}

TEST(Pattern, OfLinesTakesBlanksWithStarsOnly) {
  EXPECT_EQ("ckptA",
            captured("*%CHECKPOINT * {set:word}", "(PID.TID 0000.0001) %CHECKPOINT       100 ckptA", Subject::line)
                .fields["set"]);
  EXPECT_TRUE(matches("a/*c", "a/b/c", Subject::line));
  EXPECT_FALSE(matches("{name}", "a b", Subject::line));
}

TEST(Pattern, MatchesInBoundedTime) {
  const std::string path(kMostMatchedBytes - 1, 'a');
  const std::clock_t start = std::clock();
  EXPECT_FALSE(matches("*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b", path));
  EXPECT_FALSE(matches("{a}a{b}a{c}a{d}a{e}a{f}a{g}b", path));
  EXPECT_FALSE(matches("{x}a*/{x}a*b", std::string(250, 'a') + "/" + std::string(250, 'a')));
  std::string numbers;
  for (int i = 0; i < 120; ++i) numbers += "1a";
  EXPECT_FALSE(matches("*{set}*{rank}*/*{set}*{rank}*b", numbers + "/" + numbers));
  EXPECT_LT((std::clock() - start) / CLOCKS_PER_SEC, 5) << "seconds of processor time";
  EXPECT_FALSE(matches("*", std::string(kMostMatchedBytes + 1, 'a')));
}

TEST(Pattern, ReadsBackAsItIsPrinted) {
  std::minstd_rand random(7);
  const std::string_view parts[] = {"a",   "*",          "?",       "[0-9a]",    "{set}", "{rank}",      "{set:time}",
                                    "/",   "{name}",     "{x:a|b}", "{y:Y0000}", ".",     "{rank:word}", "-",
                                    "/**", "{z:digits}", " ",       "\"",        "}",     "..",          "{set:date}"};
  int good = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string text;
    for (auto n = 1 + random() % 7; n > 0; --n) text += parts[random() % std::size(parts)];
    for (const Subject subject : {Subject::path, Subject::line}) {
      const auto pattern = parse_pattern(text, subject);
      if (!pattern) continue;
      ++good;
      const auto again = parse_pattern(print_pattern(*pattern), subject);
      ASSERT_TRUE(again) << text << ": " << again.error().message();
      ASSERT_EQ(*pattern, *again) << text;
    }
  }
  EXPECT_GT(good, 2000);
}

TEST(Rule, ReadsBackAsItIsPrinted) {
  std::minstd_rand random(3);
  const std::string_view parts[] = {
      "a{set}", "b.{rank}",     "optional", "with",     "appended",     "not",      ";",
      ";",      "done renamed", "same",     "quiet 2s", "still 1500ms", "last *.x", "says f \"{set} *;\"",
      "done",   "c/**"};
  int good = 0;
  for (int i = 0; i < 50'000; ++i) {
    std::string text;
    for (auto n = 1 + random() % 9; n > 0; --n) text += fmt::format("{} ", parts[random() % std::size(parts)]);
    const auto rule = parse_rule(text);
    if (!rule) continue;
    ++good;
    const auto again = parse_rule(print_rule(*rule));
    ASSERT_TRUE(again) << text << ": " << again.error().message();
    ASSERT_EQ(*rule, *again) << text;
  }
  EXPECT_GT(good, 1000);
}

TEST(Rule, TellsMembersFromOthers) {
  const auto rule =
      parse_rule("{name}.cpt; not *_prev.cpt; optional {name}.top; with {name}.log appended; done renamed");
  ASSERT_TRUE(rule);
  EXPECT_EQ(Item::Kind::member, role_of(*rule, "md.cpt").kind);
  EXPECT_EQ((Words{{"name", "md"}}), role_of(*rule, "md.cpt").series);
  EXPECT_EQ(Item::Kind::never, role_of(*rule, "md_prev.cpt").kind);
  EXPECT_EQ(Item::Kind::optional, role_of(*rule, "md.top").kind);
  EXPECT_EQ(Item::Kind::companion, role_of(*rule, "md.log").kind);
  EXPECT_EQ(Item::Kind::never, role_of(*rule, "md.edr").kind);
  EXPECT_EQ(Item::Kind::never, role_of(*rule, ".forebay-aside/1/md.cpt").kind);
  EXPECT_EQ(Item::Kind::never, role_of(*parse_rule("a/**"), "a/.nfs0001").kind);
}

TEST(Rule, HasItsWordsReplaced) {
  const auto rule = parse_rule("{out}/{p}.save/**; with {p}.log appended; done says {out}/done \"{p} is\"");
  ASSERT_TRUE(rule) << rule.error().message();
  const auto fixed = with_words(*rule, {{"out", "scratch/tmp"}, {"p", "si"}});
  ASSERT_TRUE(fixed) << fixed.error().message();
  EXPECT_EQ("scratch/tmp/si.save/**; with si.log appended; done says scratch/tmp/done \"si is\"", print_rule(*fixed));
  EXPECT_THAT(with_words(*rule, {{"case", "a"}}).error().message(), HasSubstr("the rule has no word {case}"));
  EXPECT_THAT(with_words(*rule, {{"p", "a*"}}).error().message(), HasSubstr("'a*' for the word p"));
  EXPECT_THAT(with_words(*rule, {{"out", "/tmp"}}).error().message(), HasSubstr("begins with '/'"));
  EXPECT_FALSE(with_words(*rule, {{"out", "../x"}}));
}

}  // namespace
}  // namespace forebay::launch::rules

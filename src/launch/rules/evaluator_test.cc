#include "launch/rules/evaluator.h"

#include <gmock/gmock.h>

#include "launch/rules/test_rows.h"

namespace forebay::launch::rules {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> played(std::string_view rule, const std::string& events) {
  const auto parsed = parse_rule(rule);
  EXPECT_TRUE(parsed) << parsed.error().message();
  test::Play play(*parsed);
  play.run(events);
  return play.sets();
}

Evaluator evaluator_of(std::string_view rule) { return Evaluator(*parse_rule(rule)); }

Time at(double seconds) { return Time(static_cast<int64_t>(seconds * 1e9)); }

TEST(Evaluator, HoldsWhatAKillCutOffForSuspectHoweverLongItWasQuiet) {
  EXPECT_THAT(played("a.{set}; done quiet 1s", "0 +a.1 9M; 500 !"), ElementsAre("1?@500"));
  EXPECT_THAT(played("a.{set}; done quiet 1s", "0 =a.1 9M; 500 !"), ElementsAre("1@1"));
  EXPECT_THAT(played("{set}/**; done last */END", "0 +1/a 9M; 1 =1/END 1; 500 !"), ElementsAre("1?@500"));
}

// "set" for each that was probably one, of what is unfinished when the code has ended by itself.
std::vector<std::string> losses(std::string_view rule, const std::string& events) {
  test::Play play(*parse_rule(rule));
  play.run(events);
  return play.losses();
}

TEST(Evaluator, TellsALossFromWhatIsNoSet) {
  const std::string same = "{set}/{rank}; done same quiet 1s", says = "{set:word}/**; done says latest \"{set:word}\"";
  EXPECT_THAT(losses(same, "0 =1/0 9, =1/1 9; 20 =2/0 9; 21 ."), ElementsAre("2"));
  EXPECT_THAT(losses(same, "0 =1/0 9, =1/1 9; 20 =2/0 9; 30 =3/0 9, =3/1 9; 60 ."), ElementsAre()) << "3 is newer";
  EXPECT_THAT(losses("a.{set}; optional b.{set}; done same quiet 1s", "0 =a.1 9; 20 =b.2 9; 21 ."), ElementsAre());
  EXPECT_THAT(losses(says, "0 =s1/x 9; 1 =latest \"s1\"; 20 =log/x 9; 21 ."), ElementsAre()) << "it marks its sets";
  EXPECT_THAT(losses(says, "0 =s1/x 9; 21 ."), ElementsAre("s1")) << "it has marked none: the rule may be wrong";
  EXPECT_THAT(losses("{set}/**; done last */END", "0 =1/END 9; 20 =2/x 9; 21 ."), ElementsAre());
}

TEST(Evaluator, CutsCompanionsWhereTheLastMemberWasWritten) {
  Evaluator evaluator = evaluator_of("restart.{rank}; with traj appended; with input; done quiet 2s");
  evaluator.there("input", 10);
  evaluator.written("traj", 100, at(0));
  evaluator.closed("restart.0", 5, at(1));
  evaluator.written("traj", 200, at(1.5));
  evaluator.closed("restart.1", 5, at(2));
  evaluator.written("traj", 300, at(2.5));
  evaluator.written("traj", 400, at(3));
  evaluator.passed(at(4));
  const auto verdicts = evaluator.take_verdicts();
  ASSERT_EQ(1u, verdicts.size());
  ASSERT_EQ(2u, verdicts[0].companions.size());
  EXPECT_EQ("input", verdicts[0].companions[0].path);
  EXPECT_FALSE(verdicts[0].companions[0].is_appended);
  EXPECT_EQ(200u, verdicts[0].companions[1].length);
  EXPECT_TRUE(verdicts[0].companions[1].is_appended);
  ASSERT_EQ(2u, verdicts[0].members.size());
  EXPECT_EQ("1", verdicts[0].members[1].rank);
  EXPECT_EQ(5u, verdicts[0].members[1].size);
}

TEST(Evaluator, TakesCompanionsOfTheSeriesAlone) {
  Evaluator evaluator = evaluator_of("{name}.cpt; with {name}.log appended; done renamed");
  evaluator.there("a.log", 1);
  evaluator.there("b.log", 2);
  const Evaluator::Move move{"x", "a.cpt", 7};
  evaluator.renamed({&move, 1}, at(1));
  const auto verdicts = evaluator.take_verdicts();
  ASSERT_EQ(1u, verdicts.size());
  ASSERT_EQ(1u, verdicts[0].companions.size());
  EXPECT_EQ("a.log", verdicts[0].companions[0].path);
}

TEST(Evaluator, SaysWhenToLookAgain) {
  Evaluator evaluator = evaluator_of("a.{set}; done quiet 2s");
  EXPECT_FALSE(evaluator.again());
  evaluator.written("a.1", 1, at(1));
  EXPECT_FALSE(evaluator.again());
  evaluator.closed("a.1", 1, at(2));
  ASSERT_TRUE(evaluator.again());
  EXPECT_EQ(at(4), *evaluator.again());
  evaluator.passed(at(3.9));
  EXPECT_TRUE(evaluator.take_verdicts().empty());
  evaluator.passed(at(4));
  EXPECT_EQ(1u, evaluator.take_verdicts().size());
  EXPECT_FALSE(evaluator.again());
}

TEST(Evaluator, SaysWhyASetIsNotComplete) {
  Evaluator evaluator = evaluator_of("d.{set}.{rank}; done same quiet 1s");
  evaluator.closed("d.1.0", 5, at(0));
  evaluator.closed("d.1.7", 5, at(0));
  evaluator.passed(at(10));
  evaluator.closed("d.2.0", 5, at(20));
  ASSERT_EQ(1u, evaluator.waiting().size());
  EXPECT_EQ("2", evaluator.waiting()[0].id.label);
  EXPECT_EQ("rank 7 of d.{set}.{rank} is not there again", evaluator.waiting()[0].reason);
  evaluator.written("d.2.7", 1, at(21));
  EXPECT_EQ("d.2.7 is still open", evaluator.waiting()[0].reason);
  evaluator.killed(at(22));
  const auto verdicts = evaluator.take_verdicts();
  ASSERT_EQ(2u, verdicts.size());
  EXPECT_EQ(Verdict::State::suspect, verdicts[1].state);
  EXPECT_THAT(verdicts[1].reason, HasSubstr("killed"));
}

TEST(Evaluator, GoesOnCountingVersionsOfAStore) {
  Evaluator evaluator = evaluator_of("{name}.cpt; done renamed");
  evaluator.known({.series = {{"name", "md"}}, .version = 4});
  const Evaluator::Move move{"x", "md.cpt", 7};
  evaluator.renamed({&move, 1}, at(1));
  EXPECT_EQ("md:*#5", to_string(evaluator.take_verdicts().at(0).id));
}

TEST(Evaluator, AcceptsOtherRanksAfterARestart) {
  const std::string events = "0 =r.0 4M, =r.1 4M, =r.2 4M, =r.3 4M; 30 !; 40 =r.0 8M, =r.1 8M; 90 =r.0 8M, =r.1 8M";
  EXPECT_THAT(played("r.{rank}; done same quiet 2s", events), ElementsAre("*#2@50", "*#3@92", "*@10"));
}

TEST(Evaluator, TakesASecondSmallSetForTheNewNorm) {
  EXPECT_THAT(played("a.{set}; done quiet 1s", "0 =a.1 9M; 10 =a.2 3M; 20 =a.3 3M; 30 =a.4 2M; 40 =a.5 9M; 50 =a.6 3M"),
              ElementsAre("1@1", "2?@11", "3@21", "4@31", "5@41", "6?@51"));
  EXPECT_THAT(played("a.{set}; done quiet 1s", "0 =a.1 9M; 10 =a.2 3M; 20 =a.3 1k; 30 =a.4 9M"),
              ElementsAre("1@1", "2?@11", "3?@21", "4@31"));
}

TEST(Evaluator, LetsWhatIsDoubtfulWait) {
  Evaluator evaluator = evaluator_of("a.{set}; done quiet 1s");
  evaluator.closed("a.1", 1, at(0));
  evaluator.doubted(at(6));
  evaluator.closed("a.2", 1, at(2));
  evaluator.passed(at(4));
  ASSERT_EQ(1u, evaluator.take_verdicts().size()) << "a.2 was written later";
  evaluator.killed(at(5));
  const auto verdicts = evaluator.take_verdicts();
  ASSERT_EQ(1u, verdicts.size());
  EXPECT_EQ("1", verdicts[0].id.label);
  EXPECT_EQ(Verdict::State::suspect, verdicts[0].state);
  Evaluator marked = evaluator_of("a.{set}; done last a.*");
  marked.closed("a.1", 1, at(0));
  marked.doubted(at(6));
  marked.passed(at(0));
  EXPECT_EQ(1u, marked.take_verdicts().size()) << "a mark says that it is whole";
}

TEST(Evaluator, ForgetsASetWhoseFilesAreGone) {
  EXPECT_THAT(played("{set}/**; done renamed", "0 +1/a 5; 1 -1; 2 !"), ElementsAre());
}

TEST(Evaluator, TakesOnlyNewLinesOfALogForWord) {
  const std::string rule = "c_{set}; done says log \"{set}\"";
  // The old line of a label that is written again does not complete it.
  EXPECT_THAT(played(rule, "0 =c_7 9M; 1 =log \"7\"; 9 +c_7 1M; 10 =log \"7\\n5\"; 11 =c_7 9M; 12 =log \"7\\n5\\n7\""),
              ElementsAre("7#2@12", "7@1"));
  // A line that is not ended yet may grow.
  EXPECT_THAT(played(rule, "0 =c_1 9M, =c_12 9M; 1 +log \"1\"; 2 =log \"12\""), ElementsAre("1-", "12@2"));
  EXPECT_THAT(played(rule, "0 =c_1 9M, =c_2 9M; 1 =log \"1\"; 2 =log \"1\\n2\""), ElementsAre("1@1", "2@2"));
}

TEST(Evaluator, TakesAPointerThatIsWrittenAgainForWordAgain) {
  EXPECT_THAT(played("{set:word}/**; done says latest \"{set:word}\"",
                     "0 =a/x 1M; 1 =latest \"a\"; 5 =a/x 1M; 6 =latest \"a\""),
              ElementsAre("a#2@6", "a@1"));
}

TEST(TextSeen, FindsWhatWasAppendedInTheEndOfAFile) {
  Evaluator evaluator = evaluator_of("c_{set}; done says log \"{set}\"");
  evaluator.closed("c_1", 1, at(0));
  const std::string old(1000, 'x');
  evaluator.text("log", old + "\n2\n", 0, at(1));
  evaluator.closed("c_2", 1, at(2));
  evaluator.text("log", old.substr(700) + "\n2\n1\n", 700, at(3));
  const auto verdicts = evaluator.take_verdicts();
  ASSERT_EQ(1u, verdicts.size());
  EXPECT_EQ("1", verdicts[0].id.label);
}

TEST(SetId, HasNamesForStores) {
  EXPECT_EQ("kh_00012", name_of({.series = {{"name", "kh"}}, .label = "00012"}, "x"));
  EXPECT_EQ("md-v2", name_of({.series = {{"name", "md"}}, .version = 2}, "x"));
  EXPECT_EQ("fortran-v3", name_of({.version = 3}, "fortran"));
  EXPECT_EQ("2000-01-31_00_00_00", name_of({.label = "2000-01-31_00:00:00"}, "x"));
}

TEST(SetId, HasAnOrderOfLabels) {
  const std::vector<std::vector<std::string>> ordered = {
      {"0.8", "0.9", "1", "1.1"}, {"1e-05", "2e-05", "0.0001"},       {"2000-01-30", "2000-02-01"},
      {"9", "10", "0011"},        {"global_step9", "global_step100"}, {"Y1958_D032_S00000", "Y1958_D033_S00000"}};
  for (const auto& labels : ordered)
    for (size_t i = 1; i < labels.size(); ++i)
      EXPECT_EQ(std::partial_ordering::less, compare_labels(labels[i - 1], labels[i])) << labels[i];
  EXPECT_EQ(std::partial_ordering::unordered, compare_labels("final", "00012"));
  EXPECT_EQ(std::partial_ordering::unordered, compare_labels("a", "b"));
  EXPECT_EQ("1000", step_text("001000"));
  EXPECT_EQ("0", step_text("0000"));
  EXPECT_EQ("1e-05", step_text("1e-05"));
}

}  // namespace
}  // namespace forebay::launch::rules

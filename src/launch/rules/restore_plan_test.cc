#include "launch/rules/restore_plan.h"

#include <gmock/gmock.h>

namespace forebay::launch::rules {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

Rule rule_of(std::string_view text) {
  const auto rule = parse_rule(text);
  EXPECT_TRUE(rule) << text;
  return *rule;
}

StoredSet set_of(const Rule& rule, SetId id, const std::vector<std::string>& paths) {
  StoredSet set{.id = std::move(id), .members = {}};
  for (const std::string& path : paths) set.members.push_back({path, 100, role_of(rule, path).rank});
  return set;
}

RestorePlan plan(const Rule& rule, const Resume& resume, const RestoreInput& input) {
  EXPECT_TRUE(check_resume(resume, rule));
  const auto made = plan_restore(rule, resume, input);
  EXPECT_TRUE(made) << made.error().message();
  return made.value_or(RestorePlan{});
}

std::vector<std::string> targets(const RestorePlan& plan) {
  std::vector<std::string> to;
  for (const RestorePlan::Put& put : plan.put) to.push_back(put.to);
  return to;
}

TEST(RestorePlan, OpenFoamGetsItsLatestTimeAsideAndKeepsItsCase) {
  const Rule rule =
      rule_of("processor{rank}/{set:time}/**; not processor*/0/**; with processor*/constant/**; done same quiet 2s");
  StoredSet chosen = set_of(rule, {.label = "0.9"}, {"processor0/0.9/U", "processor1/0.9/U"});
  chosen.companions = {{.path = "processor0/constant/points", .length = 5}};
  const RestorePlan made =
      plan(rule, {.is_in_place = true},
           {.root = "/s",
            .files = {{.path = "processor0/0/U"},
                      {.path = "processor0/0.8/U"},
                      {.path = "processor1/0.8/U"},
                      {.path = "processor0/0.9/U", .is_same = true},
                      {.path = "processor0/1.1/U"},
                      {.path = "processor0/1.1/uniform/time"},
                      {.path = "processor0/constant/points", .is_same = true},
                      {.path = "system/controlDict"}},
            .directories = {"processor0", "processor0/1.1", "processor0/1.1/uniform", "processor1/1.1"},
            .known = {{.label = "0.8"}, {.label = "0.9"}},
            .sets = {chosen}});
  EXPECT_THAT(made.aside, ElementsAre("processor0/1.1", "processor1/1.1"));
  EXPECT_THAT(targets(made), ElementsAre("processor1/0.9/U"));
  EXPECT_THAT(made.cut, IsEmpty());
}

TEST(RestorePlan, ADirectoryOfWhichSomethingStaysDoesNotGo) {
  const Rule rule = rule_of("{set:time}/**; not *.log; done same quiet 2s");
  const RestorePlan made = plan(rule, {.is_in_place = true},
                                {.root = "/s",
                                 .files = {{.path = "1/U", .is_same = true},
                                           {.path = "1/old"},
                                           {.path = "2/U"},
                                           {.path = "2/a/U"},
                                           {.path = "3/U"},
                                           {.path = "3/notes"}},
                                 .directories = {"1", "2", "2/a", "3"},
                                 .known = {{.label = "1"}},
                                 .sets = {set_of(rule, {.label = "1"}, {"1/U"})}});
  EXPECT_THAT(made.aside, ElementsAre("1/old", "2", "3"));
  const Rule with_notes = rule_of("{set:time}/**; not */notes; done same quiet 2s");
  const RestorePlan kept = plan(with_notes, {.is_in_place = true},
                                {.root = "/s",
                                 .files = {{.path = "3/U"}, {.path = "3/notes"}},
                                 .directories = {"3"},
                                 .known = {},
                                 .sets = {set_of(with_notes, {.label = "1"}, {})}});
  EXPECT_THAT(kept.aside, ElementsAre("3/U"));
}

struct Gromacs {
  Rule rule = rule_of(
      "{name}.cpt; not *_prev.cpt; not *_step*.cpt; with {name}.log appended; with {name}.xtc appended; done renamed");
  StoredSet chosen = set_of(rule, {.series = {{"name", "md"}}}, {"md.cpt"});
  RestoreInput input{.root = "/s",
                     .files = {{.path = "md.cpt"}, {.path = "md_prev.cpt"}, {.path = "md.xtc", .size = 9'000'000}},
                     .directories = {},
                     .known = {chosen.id, {.series = {{"name", "md"}}, .version = 2}},
                     .sets = {}};
  Gromacs() {
    chosen.companions = {{.path = "md.xtc", .length = 6'000'000, .is_appended = true, .is_stored = false}};
    input.sets = {chosen};
  }
};

TEST(RestorePlan, GromacsGetsItsTrajectoryCut) {
  Gromacs gromacs;
  const RestorePlan made = plan(gromacs.rule, {.is_in_place = true}, gromacs.input);
  EXPECT_THAT(made.aside, ElementsAre("md.cpt"));
  EXPECT_THAT(targets(made), ElementsAre("md.cpt"));
  EXPECT_THAT(made.cut, ElementsAre(RestorePlan::Cut{"md.xtc", 6'000'000}));
}

TEST(RestorePlan, AShorterTrajectoryComesFromTheStoreOrIsRefused) {
  Gromacs gromacs;
  gromacs.input.files[2].size = 5'000'000;
  const auto refused = plan_restore(gromacs.rule, {.is_in_place = true}, gromacs.input);
  ASSERT_FALSE(refused);
  EXPECT_EQ(ErrorKind::not_found, refused.error().kind);
  EXPECT_THAT(refused.error().message(), HasSubstr("md.xtc: the file has 5000000 bytes, and had 6000000"));
  EXPECT_THAT(refused.error().hint, HasSubstr("-noappend"));
  gromacs.input.sets[0].companions[0].is_stored = true;
  const RestorePlan made = plan(gromacs.rule, {.is_in_place = true}, gromacs.input);
  EXPECT_THAT(made.aside, UnorderedElementsAre("md.cpt", "md.xtc"));
  EXPECT_THAT(targets(made), UnorderedElementsAre("md.cpt", "md.xtc"));
  EXPECT_THAT(made.cut, ElementsAre(RestorePlan::Cut{"md.xtc", 6'000'000}));
  gromacs.input.files.pop_back();
  EXPECT_THAT(targets(plan(gromacs.rule, {.is_in_place = true}, gromacs.input)),
              UnorderedElementsAre("md.cpt", "md.xtc"));
}

TEST(RestorePlan, GadgetGetsAllFilesOfOneVersion) {
  const Rule rule = rule_of("restartfiles/restart.{rank}; done same quiet 5s");
  const StoredSet chosen = set_of(rule, {}, {"restartfiles/restart.0", "restartfiles/restart.1"});
  const RestorePlan made = plan(rule, {.is_in_place = true},
                                {.root = "/s",
                                 .files = {{.path = "restartfiles/restart.0"},
                                           {.path = "restartfiles/bak-restart.0"},
                                           {.path = "restartfiles/bak-restart.1"}},
                                 .directories = {"restartfiles"},
                                 .known = {{}, {.version = 2}},
                                 .sets = {chosen}});
  EXPECT_THAT(made.aside, ElementsAre("restartfiles/restart.0"));
  EXPECT_THAT(targets(made), ElementsAre("restartfiles/restart.0", "restartfiles/restart.1"));
}

TEST(RestorePlan, E3smGetsPointersOfOneDate) {
  const Rule rule = rule_of(
      "{case}.eam.r.{set:date}.nc; {case}.elm.r.{set:date}.nc; {case}.cpl.r.{set:date}.nc; with rpointer.*; "
      "done says rpointer.drv \"*.cpl.r.{set:date}.nc\" same quiet 10s");
  const Words series = {{"case", "c"}};
  StoredSet chosen =
      set_of(rule, {.series = series, .label = "0001-02-01-00000"},
             {"c.eam.r.0001-02-01-00000.nc", "c.elm.r.0001-02-01-00000.nc", "c.cpl.r.0001-02-01-00000.nc"});
  chosen.companions = {{.path = "rpointer.atm"}, {.path = "rpointer.drv.prev"}, {.path = "rpointer.lnd"}};
  const RestorePlan made =
      plan(rule, {.is_in_place = true, .aside = {*parse_pattern("rpointer.*.prev", Subject::path)}},
           {.root = "/s",
            .files = {{.path = "c.eam.r.0001-02-01-00000.nc", .is_same = true},
                      {.path = "c.elm.r.0001-02-01-00000.nc", .is_same = true},
                      {.path = "c.cpl.r.0001-02-01-00000.nc", .is_same = true},
                      {.path = "c.eam.r.0001-03-01-00000.nc"},
                      {.path = "rpointer.atm"},
                      {.path = "rpointer.drv.prev"},
                      {.path = "rpointer.lnd", .is_same = true}},
            .directories = {},
            .known = {chosen.id, {.series = series, .label = "0001-03-01-00000"}},
            .sets = {chosen}});
  EXPECT_THAT(made.aside, ElementsAre("c.eam.r.0001-03-01-00000.nc", "rpointer.atm", "rpointer.drv.prev"));
  EXPECT_THAT(targets(made), ElementsAre("rpointer.atm"));
}

TEST(RestorePlan, DeepSpeedGetsItsPointerWritten) {
  const Rule rule = rule_of("{set:word}/**; done says latest \"{set:word}\"");
  const StoredSet chosen = set_of(rule, {.label = "global_step100"}, {"global_step100/a.pt"});
  const RestorePlan made = plan(
      rule, {.is_in_place = true, .points = {*parse_point("latest \"{set}\"")}},
      {.root = "/s",
       .files = {{.path = "global_step100/a.pt", .is_same = true}, {.path = "global_step200/a.pt"}, {.path = "latest"}},
       .directories = {"global_step100", "global_step200"},
       .known = {chosen.id},
       .sets = {chosen}});
  EXPECT_THAT(made.aside, ElementsAre("global_step200", "latest"));
  EXPECT_THAT(made.texts, ElementsAre(RestorePlan::Text{"latest", "global_step100\n"}));
  EXPECT_THAT(made.put, IsEmpty());
}

TEST(RestorePlan, Sw4GetsTheSetsThatItWillRemove) {
  const Rule rule = rule_of("{file}.cycle={set}.sw4checkpoint; done quiet 5s");
  const Words series = {{"file", "L"}};
  const StoredSet old = set_of(rule, {.series = series, .label = "050"}, {"L.cycle=050.sw4checkpoint"});
  const StoredSet chosen = set_of(rule, {.series = series, .label = "100"}, {"L.cycle=100.sw4checkpoint"});
  const RestorePlan made = plan(rule, {.is_in_place = true},
                                {.root = "/s",
                                 .files = {{.path = "L.cycle=150.sw4checkpoint"}},
                                 .directories = {},
                                 .known = {old.id, chosen.id},
                                 .sets = {old, chosen}});
  EXPECT_THAT(made.aside, ElementsAre("L.cycle=150.sw4checkpoint"));
  ASSERT_EQ(2u, made.put.size());
  EXPECT_EQ((RestorePlan::Put{0, "L.cycle=050.sw4checkpoint", "L.cycle=050.sw4checkpoint"}), made.put[0]);
  EXPECT_EQ((RestorePlan::Put{1, "L.cycle=100.sw4checkpoint", "L.cycle=100.sw4checkpoint"}), made.put[1]);
}

TEST(RestorePlan, EnzoEGetsLaterDirectoriesOutOfItsWay) {
  const Rule rule = rule_of("Check-{set}/**; done same quiet 5s");
  const StoredSet chosen = set_of(rule, {.label = "10"}, {"Check-10/check.file_list"});
  const RestorePlan made = plan(rule, {.is_in_place = true},
                                {.root = "/s",
                                 .files = {{.path = "Check-5/check.file_list"},
                                           {.path = "Check-10/check.file_list", .is_same = true},
                                           {.path = "Check-15/check.file_list"}},
                                 .directories = {"Check-5", "Check-10", "Check-15", "Check-20"},
                                 .known = {{.label = "5"}, {.label = "10"}, {.label = "15"}},
                                 .sets = {chosen}});
  EXPECT_THAT(made.aside, ElementsAre("Check-15", "Check-20"));
  EXPECT_THAT(made.put, IsEmpty());
}

TEST(RestorePlan, EspressoGetsItsStopFileAside) {
  const Rule rule = rule_of("out/**; done quiet 1s");
  const StoredSet chosen = set_of(rule, {}, {"out/si.wfc1"});
  const RestorePlan made =
      plan(rule, {.is_in_place = true, .aside = {*parse_pattern("*.EXIT", Subject::path)}},
           {.root = "/s",
            .files = {{.path = "out/si.wfc1", .is_same = true}, {.path = "out/si.md"}, {.path = "si.EXIT"}},
            .directories = {"out"},
            .known = {{}},
            .sets = {chosen}});
  EXPECT_THAT(made.aside, ElementsAre("out/si.md", "si.EXIT"));
  EXPECT_THAT(made.put, IsEmpty());
}

TEST(RestorePlan, PicongpuGetsItsListCut) {
  const Rule rule = rule_of("checkpoints/checkpoint_{set}.bp/**; done says checkpoints/checkpoints.txt \"{set}\"");
  const StoredSet chosen = set_of(rule, {.label = "002000"}, {"checkpoints/checkpoint_002000.bp/data.0"});
  RestoreInput input{.root = "/s",
                     .files = {{.path = "checkpoints/checkpoint_002000.bp/data.0", .is_same = true},
                               {.path = "checkpoints/checkpoints.txt", .text = "1000\n2000\n3000\n"}},
                     .directories = {},
                     .known = {chosen.id},
                     .sets = {chosen}};
  const Resume resume{.is_in_place = true, .points = {*parse_point("checkpoints/checkpoints.txt += \"{step}\"")}};
  EXPECT_THAT(plan(rule, resume, input).texts,
              ElementsAre(RestorePlan::Text{"checkpoints/checkpoints.txt", "1000\n2000\n"}));
  input.files[1].text = "1000\n";
  EXPECT_THAT(plan(rule, resume, input).texts,
              ElementsAre(RestorePlan::Text{"checkpoints/checkpoints.txt", "1000\n2000\n"}));
  input.files[1].text = "1000\n2000\n";
  EXPECT_THAT(plan(rule, resume, input).texts, IsEmpty());
  input.files.pop_back();
  EXPECT_THAT(plan(rule, resume, input).texts, ElementsAre(RestorePlan::Text{"checkpoints/checkpoints.txt", "2000\n"}));
}

TEST(RestorePlan, OtherSeriesAreNotLookedAt) {
  const Rule rule = rule_of("{name}.cpt; done renamed");
  const StoredSet chosen = set_of(rule, {.series = {{"name", "a"}}}, {"a.cpt"});
  const RestorePlan made = plan(rule, {.is_in_place = true},
                                {.root = "/s",
                                 .files = {{.path = "a.cpt"}, {.path = "b.cpt"}},
                                 .directories = {},
                                 .known = {chosen.id, {.series = {{"name", "b"}}}},
                                 .sets = {chosen}});
  EXPECT_THAT(made.aside, ElementsAre("a.cpt"));
  EXPECT_THAT(targets(made), ElementsAre("a.cpt"));
}

TEST(RestorePlan, AWordAmongNumbersIsNewerByItsTime) {
  const Rule rule = rule_of("{name}.{set:00000}.rst; {name}.{set:final}.rst; done quiet 2s");
  StoredSet chosen = set_of(rule, {.series = {{"name", "kh"}}, .label = "00011"}, {"kh.00011.rst"});
  chosen.complete_ns = 1000;
  RestoreInput input{.root = "/s",
                     .files = {{.path = "kh.00011.rst", .is_same = true}, {.path = "kh.final.rst", .written_ns = 900}},
                     .directories = {},
                     .known = {chosen.id},
                     .sets = {chosen}};
  EXPECT_THAT(plan(rule, {.is_in_place = true}, input).aside, IsEmpty());
  input.files[1].written_ns = 1100;
  EXPECT_THAT(plan(rule, {.is_in_place = true}, input).aside, ElementsAre("kh.final.rst"));
}

TEST(RestorePlan, TheOtherOfTwoFilesInTurnIsHalfNew) {
  const Rule rule = rule_of("restart.{set:a|b}; done quiet 2s");
  const StoredSet chosen = set_of(rule, {.label = "a", .version = 2}, {"restart.a"});
  RestoreInput input{.root = "/s",
                     .files = {{.path = "restart.a", .is_same = true}, {.path = "restart.b"}},
                     .directories = {},
                     .known = {{.label = "a"}, {.label = "b"}, chosen.id},
                     .sets = {chosen}};
  EXPECT_THAT(plan(rule, {.is_in_place = true}, input).aside, IsEmpty());
  input.known.push_back({.label = "b", .version = 2});
  EXPECT_THAT(plan(rule, {.is_in_place = true}, input).aside, ElementsAre("restart.b"));
}

TEST(RestorePlan, CopiesMembersToTheNamesThatAreRead) {
  const Rule rule = rule_of("{exp}_{set:00000000}_restart_{rank}.nc; done same quiet 5s");
  const StoredSet chosen =
      set_of(rule, {.series = {{"exp", "ORCA"}}, .label = "00000100"}, {"ORCA_00000100_restart_0003.nc"});
  const Resume resume{.is_in_place = true, .as = {*parse_as("{exp}_{set}_restart_{rank}.nc -> restart_{rank}.nc")}};
  const RestoreInput input{
      .root = "/s", .files = {{.path = "restart_0003.nc"}}, .directories = {}, .known = {chosen.id}, .sets = {chosen}};
  const RestorePlan made = plan(rule, resume, input);
  EXPECT_THAT(targets(made), ElementsAre("ORCA_00000100_restart_0003.nc", "restart_0003.nc"));
  EXPECT_THAT(made.aside, ElementsAre("restart_0003.nc"));
}

TEST(RestorePlan, GivesSu2BothSetsUnderTheNamesThatItReads) {
  const Rule rule = rule_of("{name}_{set:00000}.dat; done quiet 2s");
  const Words series = {{"name", "restart_flow"}};
  const StoredSet old = set_of(rule, {.series = series, .label = "00099"}, {"restart_flow_00099.dat"});
  const StoredSet chosen = set_of(rule, {.series = series, .label = "00100"}, {"restart_flow_00100.dat"});
  const Resume resume{.is_in_place = true, .as = {*parse_as("restart_flow_* -> solution_flow_*")}};
  const RestorePlan made = plan(rule, resume,
                                {.root = "/s",
                                 .files = {{.path = "restart_flow_00099.dat", .is_same = true},
                                           {.path = "restart_flow_00100.dat", .is_same = true}},
                                 .directories = {},
                                 .known = {old.id, chosen.id},
                                 .sets = {old, chosen}});
  EXPECT_THAT(targets(made), ElementsAre("solution_flow_00099.dat", "solution_flow_00100.dat"));
  EXPECT_THAT(made.aside, IsEmpty());
}

TEST(RestorePlan, LinksEachRank) {
  const Rule rule = rule_of("RE/rst-{set}.n{rank}; done same quiet 2s");
  const StoredSet chosen = set_of(rule, {.label = "000002"}, {"RE/rst-000002.n0001", "RE/rst-000002.n0002"});
  const Resume resume{.is_in_place = true, .links = {*parse_link("RE/rstrtdat.n{rank} -> rst-{set}.n{rank}")}};
  const RestorePlan made = plan(rule, resume,
                                {.root = "/s",
                                 .files = {{.path = "RE/rstrtdat.n0002"}},
                                 .directories = {},
                                 .known = {chosen.id},
                                 .sets = {chosen}});
  EXPECT_THAT(made.links, ElementsAre(RestorePlan::Link{"RE/rstrtdat.n0001", "rst-000002.n0001"},
                                      RestorePlan::Link{"RE/rstrtdat.n0002", "rst-000002.n0002"}));
  EXPECT_THAT(made.aside, ElementsAre("RE/rstrtdat.n0002"));
}

TEST(RestorePlan, NothingLeavesTheDirectory) {
  const Rule rule = rule_of("{a}.x; done quiet 1s");
  for (const char* path : {"../a.x", "/a.x", "a/../../b.x", ".forebay/a.x", ""}) {
    const auto made = plan_restore(rule, {}, {.root = "/s", .sets = {set_of(rule, {.series = {{"a", "a"}}}, {path})}});
    ASSERT_FALSE(made) << path;
    EXPECT_EQ(ErrorKind::invalid_argument, made.error().kind);
  }
  const auto named = plan_restore(rule, {.as = {*parse_as("*.x -> ../*")}},
                                  {.root = "/s", .sets = {set_of(rule, {.series = {{"a", "a"}}}, {"a.x"})}});
  EXPECT_FALSE(named);
  EXPECT_FALSE(plan_restore(rule, {}, {}));
}

std::vector<std::string> args(std::string_view rule, SetId id, const std::vector<std::string>& paths,
                              const std::vector<std::string>& texts) {
  const Rule parsed = rule_of(rule);
  Resume resume;
  for (const std::string& text : texts) resume.args.push_back(*parse_template(text));
  EXPECT_TRUE(check_resume(resume, parsed));
  const auto made = resumed_command(parsed, resume, "/s", set_of(parsed, std::move(id), paths));
  EXPECT_TRUE(made) << made.error().message();
  return made ? made->args : std::vector<std::string>();
}

TEST(ResumedCommand, HasWordsReplaced) {
  EXPECT_THAT(
      args("chk{set}/**", {.label = "00100"}, {"chk00100/Header", "chk00100/Level_0/D"}, {"amr.restart={path}"}),
      ElementsAre("amr.restart=/s/chk00100"));
  EXPECT_THAT(args("*restart*.{set}", {.label = "200"}, {"melt.restart.200"}, {"-var", "restart", "{path}"}),
              ElementsAre("-var", "restart", "/s/melt.restart.200"));
  EXPECT_THAT(args("{name}.{set:00000}.rst", {.series = {{"name", "kh"}}, .label = "00012"}, {"kh.00012.rst"},
                   {"-r", "{file:*.rst}", "{name}", "{step}", "{set}"}),
              ElementsAre("-r", "/s/kh.00012.rst", "kh", "12", "00012"));
  EXPECT_THAT(args("processor{rank}/{set:time}/**", {.label = "0.9"}, {"processor0/0.9/U", "processor1/0.9/U"},
                   {"{path} {dir}"}),
              ElementsAre("/s /s"));
}

TEST(ResumedCommand, SaysWhatCannotBeMeant) {
  const Rule rule = rule_of("d{set}/**");
  const StoredSet set = set_of(rule, {.label = "1"}, {"d1/a.x", "d1/b.x"});
  const auto two = resumed_command(rule, {.args = {*parse_template("{file:*.x}")}}, "/s", set);
  ASSERT_FALSE(two);
  EXPECT_THAT(two.error().message(), HasSubstr("{file:*.x} may be d1/a.x or d1/b.x"));
  const auto none = resumed_command(rule, {.args = {*parse_template("{file:*.y}")}}, "/s", set);
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().message(), HasSubstr("no file of the set matches"));
  EXPECT_EQ("/s/d1/b.x", resumed_command(rule, {.args = {*parse_template("{file:d1/b.*}")}}, "/s", set)->args.at(0));
  EXPECT_FALSE(check_resume({.args = {*parse_template("{rank}")}}, rule));
  EXPECT_FALSE(check_resume({.args = {*parse_template("{case}")}}, rule));
  EXPECT_FALSE(check_resume({.as = {*parse_as("a -> b*")}}, rule));
}

TEST(Resume, SaysWhereALineIsWrong) {
  EXPECT_THAT(parse_as("a > b").error().message(), HasSubstr("not of the form PATTERN -> NAME"));
  EXPECT_THAT(parse_as("a{ -> b").error().message(), HasSubstr("column 2: '{' has no '}'"));
  EXPECT_THAT(parse_as("a -> b{1st!}").error().message(), HasSubstr("column 8: '1st!' is no word"));
  EXPECT_THAT(parse_point("latest {set}").error().message(), HasSubstr("not of the form FILE \"TEXT\""));
  EXPECT_THAT(parse_point("latest \"{set").error().message(), HasSubstr("not of the form FILE \"TEXT\""));
  EXPECT_THAT(parse_link("a ->").error().message(), HasSubstr("not of the form FILE -> TARGET"));
}

TEST(Resume, HasItsWordsReplaced) {
  const Resume resume{.args = {*parse_template("{out}/x {set}")},
                      .as = {*parse_as("{out}/a* -> {out}/b*")},
                      .points = {*parse_point("{out}/last \"{step}\"")}};
  const auto fixed = with_words(resume, {{"out", "run"}});
  ASSERT_TRUE(fixed);
  EXPECT_EQ("run/x {set}", print_template(fixed->args[0]));
  EXPECT_EQ("run/a* -> run/b*", print_as(fixed->as[0]));
  EXPECT_EQ("run/last \"{step}\"", print_point(fixed->points[0]));
}

}  // namespace
}  // namespace forebay::launch::rules

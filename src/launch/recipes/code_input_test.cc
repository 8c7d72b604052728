#include "launch/recipes/code_input.h"

#include <gmock/gmock.h>

#include "launch/recipes/recipe_files.h"

namespace forebay::launch {
namespace {

using testing::HasSubstr;
using testing::Not;

CodeInput input_of(std::string_view code) {
  const auto recipe = find_recipe(code, {FOREBAY_SOURCE_DIR "/recipes"});
  EXPECT_TRUE(recipe && recipe->input) << code;
  return *recipe->input;
}

std::string copy_of(std::string_view code, std::string_view text) {
  const auto copy =
      resumed_input(input_of(code), text, {{"path", "/d/melt.restart.200"}, {"set", "200"}, {"step", "200"}});
  return copy ? *copy : "refused: " + copy.error().message();
}

// As a user has it.
constexpr std::string_view kMelt = R"(# 3-D melt; run 7
units lj
lattice fcc 0.8442
region box block 0 16 0 16 0 16
create_box 1 box
create_atoms   1 box
mass 1 1.0
velocity all create 3.0 &
  87287 loop geom   # with a seed
pair_style lj/cut 2.5
fix 1 all nve
dump d all custom 400 ${stage}/melt.dump id type x y z
dump e all custom 400 melt.*.dump id
restart 200 ${stage}/melt.restart.*
run   1200
write_data end.data
)";

TEST(CodeInput, OfLammpsIsCopiedForARestart) {
  EXPECT_FALSE(resumes_by_itself(input_of("lammps"), kMelt));
  EXPECT_EQ(copy_of("lammps", kMelt), R"(# 3-D melt; run 7
units lj
lattice fcc 0.8442
region box block 0 16 0 16 0 16
read_restart "/d/melt.restart.200"
mass 1 1.0
pair_style lj/cut 2.5
fix 1 all nve
dump d all custom 400 ${stage}/melt.dump id type x y z
dump_modify d append yes
dump e all custom 400 melt.*.dump id
restart 200 ${stage}/melt.restart.*
run 1200 upto start 0 stop 1200
write_data end.data
)");
}

TEST(CodeInput, ThatResumesByItselfIsKnown) {
  const CodeInput input = input_of("lammps");
  EXPECT_TRUE(
      resumes_by_itself(input, "if \"$(is_defined(variable,restart))\" then &\n  \"read_restart ${restart}\"\n"));
  EXPECT_TRUE(resumes_by_itself(input, "read_restart x"));
  EXPECT_FALSE(resumes_by_itself(input, "# read_restart x"));
}

TEST(CodeInput, OfLammpsIsNotCopiedWhereItMayMeanSomethingElse) {
  const std::string melt(kMelt);
  EXPECT_THAT(copy_of("lammps", melt + "run 100\n"), HasSubstr("line 17, 'run 100', is there twice"));
  EXPECT_THAT(copy_of("lammps", melt + "velocity all scale 1\n"), HasSubstr("stands behind what is to be run"));
  EXPECT_THAT(copy_of("lammps", "minimize 1 1 1 1\n" + melt), HasSubstr("line 1, 'minimize 1 1 1 1', may mean"));
  EXPECT_THAT(copy_of("lammps", "include other.in\n" + melt), HasSubstr("may mean something else"));
  EXPECT_THAT(copy_of("lammps", "fix 2 all ave/time 1 1 1 c_1 file out.txt\n" + melt), HasSubstr("may mean"));
  EXPECT_THAT(copy_of("lammps", "variable x equal $(step)\n" + melt), HasSubstr("may mean"));
  EXPECT_THAT(copy_of("lammps", "create_box 1 box\n"), HasSubstr("it has no line 'run *'"));
  EXPECT_THAT(copy_of("lammps", "units lj\n"), HasSubstr("no line of it can be replaced"));
  EXPECT_THAT(copy_of("lammps", "run 10\n"), HasSubstr("no line of it can be replaced"));
  EXPECT_THAT(copy_of("lammps", "read_data a\n" + melt), HasSubstr("'create_box 1 box', would read the set twice"));
  EXPECT_THAT(copy_of("lammps", "read_data a.data\nrun 10 every 5 \"print x\"\n"), HasSubstr("may mean"));
}

TEST(CodeInput, OfEspressoIsCopiedForARestart) {
  const CodeInput input = input_of("espresso");
  EXPECT_TRUE(resumes_by_itself(input, "&control\n restart_mode = 'restart',\n"));
  EXPECT_FALSE(resumes_by_itself(input, "&control\n ! restart_mode = 'restart',\n"));
  EXPECT_TRUE(resumes_by_itself(input, "&control\n calculation='md', restart_mode=\"restart\"\n"));
  EXPECT_EQ(copy_of("espresso", "&control\n calculation='md', restart_mode = \"from_scratch\", nstep=9\n/\n"),
            "&control\n restart_mode='restart'\n\ncalculation='md', restart_mode = 'restart', nstep=9\n/\n");
  EXPECT_EQ(copy_of("espresso", "&CONTROL calculation = 'md'\n/\n"),
            "&control\n restart_mode='restart'\n calculation = 'md'\n/\n");
}

TEST(CodeInput, IsNamedByTheCommand) {
  const CodeInput input = input_of("lammps");
  const std::vector<std::string> command = {"mpiexec", "-n", "2", "lmp", "-in", "in.melt", "-var", "x", "1"};
  EXPECT_EQ(input_word(input, command), 5u);
  EXPECT_FALSE(input_word(input, std::vector<std::string>{"lmp", "-in"}));
}

TEST(CodeInput, EditsThatAreWrongAreRefused) {
  EXPECT_TRUE(parse_edit("run {n} -> run {n} upto"));
  EXPECT_FALSE(parse_edit("run {n}"));
  EXPECT_FALSE(parse_edit("run {n} -> run {m}"));
  EXPECT_FALSE(parse_edit("run -> run *"));
  EXPECT_FALSE(parse_edit("run -> run {file:x}"));
}

}  // namespace
}  // namespace forebay::launch

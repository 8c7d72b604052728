#include "launch/recipes/candidates.h"

#include <gmock/gmock.h>

#include "launch/recipes/recipe_files.h"

namespace forebay::launch {
namespace {

using testing::HasSubstr;
using Words = std::vector<std::string>;

constexpr int64_t kNow = 1'000'000'000'000'000'000, kHour = 3'600'000'000'000;

std::vector<Candidate> found(const Words& words, const Words& paths) {
  static const RecipeList list = all_recipes({FOREBAY_SOURCE_DIR "/recipes"});
  std::vector<rules::PresentFile> files;
  for (const std::string& path : paths)
    files.push_back({.path = path, .size = 1000, .written_ns = kNow - kHour, .is_same = false});
  return candidates(list.recipes, words, files, kNow);
}

std::string chosen(const Words& words, const Words& paths = {}) {
  const auto one = clear_one(found(words, paths));
  return one ? one->name : "";
}

TEST(Candidates, OfWhichTheProgramsNameSaysOne) {
  EXPECT_EQ("gromacs", chosen({"/opt/bin/gmx_mpi", "mdrun", "-deffnm", "md"}));
  EXPECT_EQ("espresso", chosen({"sh", "-c", "exec pw.x -in scf.in"}));
  EXPECT_EQ("openfoam", chosen({"icoFoam", "-parallel"}));
  EXPECT_EQ("openfoam-collated", chosen({"icoFoam", "-parallel", "-fileHandler", "collated"}));
  EXPECT_EQ("", chosen({"./my_code", "-in", "lmp.in"}));
}

TEST(Candidates, AreNotTakenForWordsThatFollowTheProgram) { EXPECT_EQ("gromacs", chosen({"gmx", "mdrun", "nemo"})); }

TEST(Candidates, AreToldApartByWhatLiesThere) {
  EXPECT_EQ("", chosen({"lmp", "-in", "in.melt"}));
  EXPECT_EQ("lammps", chosen({"lmp", "-in", "in.melt"}, {"melt.restart.100", "melt.restart.200"}));
  EXPECT_EQ("lammps-two", chosen({"lmp", "-in", "in.melt"}, {"poly.restart.a", "poly.restart.b"}));
}

TEST(Candidates, ByWhatLiesThereAloneAreListedButNotTaken) {
  const Words paths = {"processor0/0.1/U", "processor1/0.1/U"};
  EXPECT_EQ("", chosen({"./run.sh"}, paths));
  const auto list = found({"./run.sh"}, paths);
  ASSERT_FALSE(list.empty());
  EXPECT_EQ("openfoam", list[0].name);
  EXPECT_EQ("1 set in the directory, the newest 0.1", reason_of(list[0]));
  EXPECT_THAT(reason_of(found({"icoFoam"}, paths)[0]), HasSubstr("the program 'icoFoam'; 1 set in"));
}

}  // namespace
}  // namespace forebay::launch

#include "cli/series.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/series.h"

namespace forebay::cli {
namespace {

using Words = std::vector<std::string>;

std::string series(const Words& words, const std::string& directory = "/home/u/sedov", const Words& job_ids = {},
                   uint64_t user = 1) {
  return default_series({.words = words,
                         .directory = directory,
                         .user = user,
                         .job_ids = job_ids,
                         .is_program = [](const std::string& word) { return word == "./app" || word == "nice"; }});
}

TEST(DefaultSeries, IsThatOfTheProgramItsArgumentsTheDirectoryAndTheUser) {
  const std::string own = series({"./app", "--to", "9"});
  EXPECT_EQ(series({"./app", "--to", "9"}), own);
  EXPECT_THAT(own, testing::StartsWith("sedov-"));
  for (const std::string& other :
       {series({"./app", "--to", "10"}), series({"./app", "--to 9"}), series({"./app"}),
        series({"./app", "--to", "9"}, "/home/v/sedov"), series({"./app", "--to", "9"}, "/home/u/sedov", {}, 2)})
    EXPECT_NE(other, own);
}

TEST(DefaultSeries, IsTheSameWithAnotherNumberOfRanksAndOtherNodes) {
  const std::string own = series({"./app", "x"});
  EXPECT_EQ(series({"mpiexec", "-n", "8", "./app", "x"}), own);
  EXPECT_EQ(series({"/opt/mpich/bin/mpiexec", "-n", "16", "-f", "hosts.4711", "./app", "x"}), own);
  EXPECT_EQ(series({"srun", "--ntasks=4", "./app", "x"}), own);
  EXPECT_NE(series({"nice", "./app", "x"}), own);
  // A program that nobody can find is known by all words.
  EXPECT_NE(series({"mpiexec", "-n", "8", "gone"}), series({"mpiexec", "-n", "4", "gone"}));
}

TEST(DefaultSeries, IsTheSameForTheNextBatchJob) {
  EXPECT_EQ(series({"./app", "/tmp/job.4711/in"}, "/w", {"4711"}),
            series({"./app", "/tmp/job.4712/in"}, "/w", {"4712"}));
  EXPECT_NE(series({"./app", "/tmp/job.4711/in"}, "/w"), series({"./app", "/tmp/job.4712/in"}, "/w"));
}

TEST(DefaultSeries, IsAlwaysAName) {
  for (const std::string& directory : {std::string("/"), std::string(""), std::string("/a b/\xc3\xa9\n"),
                                       std::string("/.hidden"), "/" + std::string(250, 'x')})
    EXPECT_TRUE(store::is_series_name(series({"./app"}, directory))) << series({"./app"}, directory);
}

}  // namespace
}  // namespace forebay::cli

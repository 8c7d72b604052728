#include "engine/inspect/match_files.h"

#include <string>

#include <gtest/gtest.h>

namespace forebay::engine {
namespace {

struct Set {
  std::string name;
  std::vector<FileLabel> files;
};

// The pairs of names that match, "A=B" each, in the order of `a`.
std::vector<std::string> matches(const Set& a, const Set& b) {
  const auto found = match_files({a.name, a.files}, {b.name, b.files});
  std::vector<std::string> pairs;
  for (size_t i = 0; i < found.size(); ++i)
    if (found[i]) pairs.push_back(std::string(a.files[i].name) + "=" + std::string(b.files[*found[i]].name));
  return pairs;
}

using Pairs = std::vector<std::string>;

TEST(MatchFiles, EqualNamesWhateverTheirRanks) {
  EXPECT_EQ(matches({"a", {{"x", 0}, {"y", 1}, {"z", 2}}}, {"b", {{"y", 0}, {"x", 1}}}), (Pairs{"x=x", "y=y"}));
}

TEST(MatchFiles, NamesThatContainTheNumberOfTheDump) {
  const Set a = {"DD0002", {{"DD0002", 0}, {"DD0002.hierarchy", 0}, {"DD0002.cpu0000", 0}, {"DD0002.cpu0001", 1}}};
  const Set b = {"last", {{"DD0010.cpu0001", 1}, {"DD0010.cpu0000", 0}, {"DD0010", 0}, {"DD0010.hierarchy", 0}}};
  EXPECT_EQ(matches(a, b), (Pairs{"DD0002=DD0010", "DD0002.hierarchy=DD0010.hierarchy", "DD0002.cpu0000=DD0010.cpu0000",
                                  "DD0002.cpu0001=DD0010.cpu0001"}));
}

TEST(MatchFiles, NamesThatContainTheNameOfTheSet) {
  const Set a = {"before", {{"before/r0.bin", 0}, {"before/r1.bin", 1}}};
  const Set b = {"after", {{"after/r0.bin", 0}, {"after/r1.bin", 1}, {"after/r2.bin", 2}}};
  EXPECT_EQ(matches(a, b), (Pairs{"before/r0.bin=after/r0.bin", "before/r1.bin=after/r1.bin"}));
}

TEST(MatchFiles, OtherRanksAndKindsAreNoCounterparts) {
  EXPECT_EQ(matches({"1", {{"d1.x", 0}}}, {"2", {{"d2.x", 3}}}), Pairs{});
  EXPECT_EQ(matches({"1", {{"d1.x", 0}}}, {"2", {{"d2.x", 0, FileKind::symlink}}}), Pairs{});
}

TEST(MatchFiles, AFewRanksOfTheDumpAreEnough) {
  const Set a = {"1", {{"d1.r0", 0}, {"d1.r1", 1}, {"d1.r2", 2}}};
  EXPECT_EQ(matches(a, {"2", {{"d2.r1", 1}}}), (Pairs{"d1.r1=d2.r1"})) << "whose only name is like no other";
  EXPECT_EQ(matches(a, {"2", {{"d2.r3", 1}}}), Pairs{}) << "another rank's number";
}

TEST(MatchFiles, WhereSeveralWouldDoNoneDoes) {
  const Set a = {"a", {{"old.txt", 0}, {"x1", 0}}};
  EXPECT_EQ(matches(a, {"b", {{"new.txt", 0}, {"x2", 0}, {"x3", 0}}}), Pairs{});
}

}  // namespace
}  // namespace forebay::engine

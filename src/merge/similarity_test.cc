#include "merge/similarity.h"

#include <gtest/gtest.h>

namespace forebay::merge {
namespace {

Variable make(std::string path, const char* type, Shape shape) {
  return {.path = std::move(path), .type = *DataType::parse(type), .shape = std::move(shape)};
}

TEST(Similarity, KeyNamesGroupNameDatatypeAndClass) {
  const Similarity exact{.matching = Matching::exact};
  EXPECT_EQ(exact.key(make("/ToyGrp/Temperature", "f4", {10})), "/ToyGrp/Temperature_f4_Array1D");
  EXPECT_EQ(exact.key(make("/Time", ">f8", {})), "/Time_>f8_Scalar");
}

TEST(Similarity, DefaultSeesThroughCountersInGroupsOnly) {
  const Similarity similarity;
  EXPECT_EQ(similarity.key(make("/Grid00000007/Density", "f4", {4, 4, 4})), "/Grid#/Density_f4_Array3D");
  EXPECT_EQ(similarity.key(make("/Grid00000007/Density", "f4", {4, 4, 4})),
            similarity.key(make("/Grid31/Density", "f4", {2, 3, 4})));
  EXPECT_NE(similarity.key(make("/Grid7/velocity1", "f4", {4})), similarity.key(make("/Grid7/velocity2", "f4", {4})));
}

TEST(Similarity, TypeClassAndFiltersSeparate) {
  const Similarity similarity;
  EXPECT_NE(similarity.key(make("/a", "f4", {4})), similarity.key(make("/a", "f8", {4})));
  EXPECT_NE(similarity.key(make("/a", "f4", {4})), similarity.key(make("/a", "f4", {2, 2})));
  Variable filtered = make("/a", "f4", {4});
  filtered.filtered = true;
  EXPECT_EQ(similarity.key(filtered), "/a_f4_Filtered_Array1D");
}

TEST(Similarity, FirstMatchingRuleWinsAndExpandsCaptures) {
  Similarity similarity;
  similarity.rules.push_back(*MatchRule::parse("/[^/]+/velocity[0-9]=/velocity"));
  similarity.rules.push_back(*MatchRule::parse("/Grid[0-9]+/(.*)=/G/$1"));
  EXPECT_EQ(similarity.key(make("/Grid1/velocity2", "f4", {4})), "/velocity_f4_Array1D");
  EXPECT_EQ(similarity.key(make("/Grid1/Density", "f4", {4})), "/G/Density_f4_Array1D");
  EXPECT_EQ(similarity.key(make("/xGrid1/Density", "f4", {4})), "/xGrid#/Density_f4_Array1D")
      << "rules match whole paths";
}

TEST(MatchRule, RefusesWhatIsNoRule) {
  for (const char* text : {"", "=", "abc", "abc=", "=abc", "(=x", "[z-a]=x"})
    EXPECT_EQ(MatchRule::parse(text).error().kind, ErrorKind::invalid_argument) << text;
}

}  // namespace
}  // namespace forebay::merge

#include "io/group/dimensions.h"

#include <string>

#include <gtest/gtest.h>

#include "io/group/attribute_value.h"

namespace forebay::io {
namespace {

class Dimensions : public testing::Test {
 protected:
  Dimensions() {
    group.variables.push_back({.name = "nx", .type = ValueType::int32});
    group.variables.push_back({.name = "ny", .path = "/mesh", .type = ValueType::uint64});
    group.variables.push_back({.name = "dx", .type = ValueType::float64});
    group.attributes.push_back(*make_attribute(group, "five", "", ValueType::int16, "5", ""));
    group.attributes.push_back(*make_attribute(group, "width", "", ValueType::int32, "", "nx"));
    group.attributes.push_back(*make_attribute(group, "title", "", ValueType::string, "x", ""));
  }

  Outcome<Extents> extents(std::string_view local, std::string_view global = "", std::string_view offsets = "") {
    const NameIndex names(group);
    VariableDefinition variable{.name = "T", .path = "/f"};
    FOREBAY_TRY(variable.dimensions, parse_extensions(group, names, local, Code::invalid_dimension));
    FOREBAY_TRY(variable.global_dimensions, parse_extensions(group, names, global, Code::invalid_global_dimension));
    FOREBAY_TRY(variable.offsets, parse_extensions(group, names, offsets, Code::invalid_offset));
    return evaluate(group, names, variable, scalars);
  }

  void expect_refused(Code code, std::string_view word, const Outcome<Extents>& got) {
    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().code, code) << got.error().error.message();
    EXPECT_NE(got.error().error.message().find(word), std::string::npos) << got.error().error.message();
  }

  GroupDefinition group{.name = "g", .time_index = "iter"};
  ScalarValues scalars{{"nx", 3}, {"/mesh/ny", 4}};
};

TEST_F(Dimensions, NumbersVariablesAndAttributes) {
  EXPECT_EQ(extents("").value(), Extents{});
  EXPECT_EQ(extents("2").value(), (Extents{.is_array = true, .shape = {2}}));
  EXPECT_EQ(extents(" nx , /mesh/ny,five,width").value(), (Extents{.is_array = true, .shape = {3, 4, 5, 3}}));
  EXPECT_EQ(extents("nx,2", "10,2", "7,0").value(),
            (Extents{.is_array = true, .shape = {3, 2}, .global_shape = {10, 2}, .offsets = {7, 0}}));
  EXPECT_EQ(extents("0").value(), (Extents{.is_array = true, .shape = {0}}));
  EXPECT_EQ(extents("2", "4").value().offsets, Shape{0});
}

TEST_F(Dimensions, FortranOrderIsReversed) {
  group.fortran_order = true;
  EXPECT_EQ(extents("nx,/mesh/ny,iter", "30,40", "1,2").value(),
            (Extents{.is_array = true, .shape = {4, 3}, .global_shape = {40, 30}, .offsets = {2, 1}}));
  const Extents joined = extents("2,nx", "2,JoinedDim", "0,0").value();
  EXPECT_EQ(joined.joined, 0u);
  EXPECT_EQ(joined.shape, (Shape{3, 2}));
  EXPECT_EQ(joined.global_shape, (Shape{0, 2}));
}

TEST_F(Dimensions, TimeIsLeftOut) {
  EXPECT_EQ(extents("iter,nx", "12", "9").value(),
            (Extents{.is_array = true, .shape = {3}, .global_shape = {12}, .offsets = {9}}));
  EXPECT_EQ(extents("iter").value(), Extents{}) << "each step has one value";
  EXPECT_EQ(extents("iter", "1", "0").value(),
            (Extents{.is_array = true, .shape = {1}, .global_shape = {1}, .offsets = {0}}));
}

TEST_F(Dimensions, AJoinedDimensionMayBeAnywhere) {
  const Extents extent = extents("nx,/mesh/ny", "joineddim,/mesh/ny", "0,0").value();
  EXPECT_EQ(extent,
            (Extents{.is_array = true, .shape = {3, 4}, .global_shape = {0, 4}, .offsets = {0, 0}, .joined = 0}));
  EXPECT_EQ(extents("2,nx", "2,Joined").value().joined, 1u);
  expect_refused(Code::invalid_global_dimension, "joined", extents("2,2", "joined,joined"));
  expect_refused(Code::invalid_dimension, "JoinedDim", extents("JoinedDim"));
}

TEST_F(Dimensions, UnknownNamesAreToldWithTheNearest) {
  expect_refused(Code::invalid_dimension, "did you mean nx?", extents("nxx"));
  expect_refused(Code::invalid_global_dimension, "/mesh/ny", extents("2", "/mesh/nz"));
  expect_refused(Code::invalid_offset, "oy", extents("2", "2", "oy"));
  expect_refused(Code::invalid_variable_as_dimension, "double", extents("dx"));
  expect_refused(Code::invalid_variable_as_dimension, "title", extents("title"));
  expect_refused(Code::invalid_dimension, "-3", extents("-3"));
  std::string many = "1";
  for (size_t i = 1; i < kMostDimensions; ++i) many += ",1";
  EXPECT_TRUE(extents(many));
  expect_refused(Code::invalid_dimension, "more than", extents(many + ",1"));
  expect_refused(Code::invalid_dimension, "99999999999999999999", extents("99999999999999999999"));
}

TEST_F(Dimensions, ValuesMustHaveBeenWrittenAndMakeSense) {
  scalars.erase("nx");
  expect_refused(Code::invalid_variable_as_dimension, "'nx'", extents("nx"));
  expect_refused(Code::invalid_variable_as_dimension, "'nx'", extents("width"));
  scalars["nx"] = -2;
  expect_refused(Code::invalid_dimension, "-2", extents("nx"));
  scalars["nx"] = int64_t{1} << 62;
  expect_refused(Code::invalid_dimension, "too large", extents("nx,nx"));
  EXPECT_EQ(extents("0,nx").value().shape[0], 0u);
}

TEST_F(Dimensions, ListsMustFitTogether) {
  expect_refused(Code::invalid_global_dimension, "/f/T", extents("2,2", "4", "0"));
  expect_refused(Code::invalid_offset, "/f/T", extents("2,2", "4,4", "0"));
  expect_refused(Code::invalid_offset, "dimension 1", extents("2,2", "4,4", "0,3"));
  expect_refused(Code::invalid_offset, "dimension 0", extents("2", "4", "18446744073709551615"));
  EXPECT_TRUE(extents("2", "4", "2"));
}

TEST_F(Dimensions, ListsAreWrittenAsTheyWereRead) {
  const NameIndex names(group);
  const auto list = parse_extensions(group, names, "nx, 4,iter, JOINED", Code::invalid_global_dimension);
  ASSERT_TRUE(list);
  EXPECT_EQ(to_string(group, *list), "nx,4,iter,JoinedDim");
}

}  // namespace
}  // namespace forebay::io

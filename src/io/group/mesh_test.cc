#include "io/group/mesh.h"

#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace forebay::io {
namespace {

using testing::ElementsAre;

// "integer /adios_schema/m/dimensions-num = 2", as tools list attributes.
std::vector<std::string> listed(const GroupDefinition& group) {
  std::vector<std::string> lines;
  for (const AttributeDefinition& attribute : group.attributes) {
    std::string value(as_text(attribute.value));
    if (attribute.type == ValueType::int32) value = fmt::format("{}", load_le<int32_t>(attribute.value.data()));
    if (attribute.type == ValueType::float64)
      value = fmt::format("{:g}", std::bit_cast<double>(load_le<int64_t>(attribute.value.data())));
    lines.push_back(fmt::format("{} {} = {}", to_string(attribute.type), attribute.full_name(), value));
  }
  return lines;
}

TEST(Meshes, UniformOnesHaveListsOfNumbersAndNames) {
  GroupDefinition group;
  ASSERT_TRUE(set_schema_version(group, "1.1"));
  ASSERT_TRUE(define_mesh(group, "u", UniformMesh{"nx,5", "0.5,dx", "dx,2", "", "2"}));
  EXPECT_THAT(listed(group),
              ElementsAre("string /adios_schema/version_major = 1", "string /adios_schema/version_minor = 1",
                          "string /adios_schema/u/type = uniform", "string /adios_schema/u/dimensions0 = nx",
                          "string /adios_schema/u/dimensions1 = 5", "integer /adios_schema/u/dimensions-num = 2",
                          "string /adios_schema/u/origins0 = 0.5", "string /adios_schema/u/origins1 = dx",
                          "integer /adios_schema/u/origins-num = 2", "string /adios_schema/u/spacings0 = dx",
                          "string /adios_schema/u/spacings1 = 2", "integer /adios_schema/u/spacings-num = 2",
                          "string /adios_schema/u/nspace = 2"));
}

TEST(Meshes, CoordinatesAreOneVariableOrSeveral) {
  GroupDefinition group;
  ASSERT_TRUE(define_mesh(group, "r", MeshKind::rectilinear, CurvedMesh{"4", "P", ""}));
  ASSERT_TRUE(define_mesh(group, "s", MeshKind::structured, CurvedMesh{"4", "X,Y", "2"}));
  EXPECT_THAT(listed(group),
              ElementsAre("string /adios_schema/r/type = rectilinear", "string /adios_schema/r/dimensions0 = 4",
                          "integer /adios_schema/r/dimensions-num = 1", "string /adios_schema/r/coords-single-var = P",
                          "string /adios_schema/s/type = structured", "string /adios_schema/s/dimensions0 = 4",
                          "integer /adios_schema/s/dimensions-num = 1", "string /adios_schema/s/points-multi-var0 = X",
                          "string /adios_schema/s/points-multi-var1 = Y",
                          "integer /adios_schema/s/points-multi-var-num = 2", "string /adios_schema/s/nspace = 2"));
}

TEST(Meshes, UnstructuredOnesHaveSetsOfCells) {
  GroupDefinition group;
  ASSERT_TRUE(define_mesh(group, "t", UnstructuredMesh{"P", "C", "4", "triangle", "16", ""}));
  ASSERT_TRUE(set_mesh_cells(group, "m", "4,a", "C,D", "triangle,quad"));
  EXPECT_THAT(listed(group),
              ElementsAre("string /adios_schema/t/type = unstructured", "string /adios_schema/t/npoints = 16",
                          "string /adios_schema/t/points-single-var = P", "integer /adios_schema/t/ncsets = 1",
                          "string /adios_schema/t/ccount = 4", "string /adios_schema/t/cdata = C",
                          "string /adios_schema/t/ctype = triangle", "string /adios_schema/m/ccount0 = 4",
                          "string /adios_schema/m/ccount1 = a", "integer /adios_schema/m/ncsets = 2",
                          "string /adios_schema/m/cdata0 = C", "string /adios_schema/m/cdata1 = D",
                          "string /adios_schema/m/ctype0 = triangle", "string /adios_schema/m/ctype1 = quad"));
}

TEST(Meshes, TimesAreNumbersOrNames) {
  GroupDefinition group;
  ASSERT_TRUE(set_mesh_time(group, "m", MeshTime::steps, "0,1,200"));
  ASSERT_TRUE(set_mesh_time(group, "m", MeshTime::scale, "t0,9.5"));
  ASSERT_TRUE(set_variable_time(group, "/p/V", MeshTime::steps, "a"));
  ASSERT_TRUE(set_variable_time(group, "/p/V", MeshTime::scale, "0,0.01,10"));
  EXPECT_THAT(
      listed(group),
      ElementsAre("double /adios_schema/m/time-steps-start = 0", "double /adios_schema/m/time-steps-stride = 1",
                  "double /adios_schema/m/time-steps-count = 200", "string /adios_schema/m/time-scale-min = t0",
                  "double /adios_schema/m/time-scale-max = 9.5", "string /p/V/adios_schema/time-steps-var = a",
                  "double /p/V/adios_schema/time-scale-start = 0", "string /p/V/adios_schema/time-scale-stride = 0.01",
                  "string /p/V/adios_schema/time-scale-count = 10"));
}

TEST(Meshes, VariablesKnowTheirMesh) {
  GroupDefinition group;
  set_variable_mesh(group, "/p/V", "m");
  set_variable_centering(group, "/p/V", "point");
  ASSERT_TRUE(set_variable_hyperslab(group, "/p/V", "0,1,32"));
  ASSERT_TRUE(set_variable_hyperslab(group, "W", "7"));
  set_mesh_text(group, "m", MeshText::time_varying, "no");
  set_mesh_text(group, "m", MeshText::mesh_file, "");
  EXPECT_THAT(listed(group), ElementsAre("string /p/V/adios_schema = m", "string /p/V/adios_schema/centering = point",
                                         "string /p/V/adios_schema/start = 0", "string /p/V/adios_schema/stride = 1",
                                         "string /p/V/adios_schema/count = 32", "string W/adios_schema/singleton = 7",
                                         "string /adios_schema/m/time-varying = no"));
}

TEST(Meshes, WhatIsMissingIsTold) {
  GroupDefinition group;
  EXPECT_FALSE(define_mesh(group, "u", UniformMesh{}));
  EXPECT_FALSE(define_mesh(group, "r", MeshKind::rectilinear, CurvedMesh{"4", "", ""}));
  EXPECT_FALSE(set_mesh_cells(group, "t", "4,5", "C", "triangle"));
  EXPECT_FALSE(set_mesh_cells(group, "t", "", "", ""));
  EXPECT_FALSE(set_mesh_time(group, "m", MeshTime::steps, "1,2,3,4"));
  EXPECT_FALSE(set_variable_hyperslab(group, "V", "1,2,3,4"));
  EXPECT_FALSE(set_schema_version(group, "one"));
  const auto missing = define_mesh(group, "fluid", UniformMesh{});
  EXPECT_NE(missing.error().error.message().find("fluid"), std::string::npos);
}

}  // namespace
}  // namespace forebay::io

#include "io/config/config.h"

#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/group/dimensions.h"

namespace forebay::io {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Outcome<Config> parsed(std::string_view text) { return parse_config(text, "run.xml", 1000000); }

// A configuration around what stands in its only group, and what follows it.
std::string around(std::string_view group, std::string_view rest = "") {
  return fmt::format(
      "<adios-config host-language=\"C\">\n<adios-group name=\"g\" time-index=\"it\">\n"
      "<var name=\"n\" type=\"integer\"/>\n{}\n</adios-group>\n<method group=\"g\" "
      "method=\"MPI\"/>\n{}\n</adios-config>",
      group, rest);
}

GroupDefinition group_of(std::string_view text) {
  auto config = parsed(text);
  EXPECT_TRUE(config) << config.error().error.message();
  return config && !config->groups.empty() ? config->groups.front() : GroupDefinition{};
}

TEST(Configuration, TellsGroupsVariablesAndMethods) {
  const auto config = parsed(R"(<?xml version="1.0"?>
    <!-- a comment > with < marks -->
    <adios-config host-language="C">
      <adios-group name="temperature" stats="On">
        <var name="NX" type="integer"/>
        <global-bounds dimensions="8,NX" offsets="1,0">
          <var name="T" path="/field" gwrite="t" gread="u" type="real*8" dimensions="1,NX" transform="zlib:5"/>
        </global-bounds>
        <var name="note" type="string" read="no"/>
        <attribute name="T/description" path="/field" value="a &lt; b" type="string"/>
        <attribute name="levels" type="integer" value="7"/>
        <attribute name="width" var="NX"/>
      </adios-group>
      <method group="temperature" method="MPI_AGGREGATE" base-path="out/" priority="1" iterations="2">
        num_aggregators=2;verbose=1
      </method>
      <transport group="temperature" method="POSIX"/>
      <buffer max-size-MB="2"/>
    </adios-config>)");
  ASSERT_TRUE(config) << config.error().error.message();
  EXPECT_THAT(config->warnings, IsEmpty());
  EXPECT_EQ(config->max_buffer_bytes, uint64_t{2} << 20);
  ASSERT_EQ(config->groups.size(), 1u);
  const GroupDefinition& group = config->groups[0];
  EXPECT_FALSE(group.fortran_order);
  EXPECT_EQ(group.statistics, Statistics::full);
  ASSERT_EQ(group.variables.size(), 3u);
  const VariableDefinition& field = group.variables[1];
  EXPECT_EQ(field.full_name(), "/field/T");
  EXPECT_EQ(field.type, ValueType::float64);
  EXPECT_EQ(to_string(group, field.dimensions), "1,NX");
  EXPECT_EQ(to_string(group, field.global_dimensions), "8,NX");
  EXPECT_EQ(to_string(group, field.offsets), "1,0");
  EXPECT_EQ(field.transform, "zlib:5");
  EXPECT_EQ(field.gwrite, "t");
  EXPECT_EQ(field.gread, "u");
  EXPECT_FALSE(group.variables[2].read);
  ASSERT_EQ(group.attributes.size(), 3u);
  EXPECT_EQ(group.attributes[0].full_name(), "/field/T/description");
  EXPECT_EQ(as_text(group.attributes[0].value), "a < b");
  EXPECT_EQ(group.attributes[2].variable, "NX");
  ASSERT_EQ(group.methods.size(), 2u);
  EXPECT_EQ(group.methods[0].parameters, "num_aggregators=2;verbose=1");
  EXPECT_EQ(group.methods[0].base_path, "out/");
  EXPECT_EQ(group.methods[0].priority, 1);
  EXPECT_EQ(group.methods[0].iterations, 2);
  EXPECT_EQ(group.methods[1].name, "POSIX");
}

TEST(Configuration, CaseDoesNotCountAndQuotesMayBeLeftOut) {
  const GroupDefinition group = group_of(
      "<ADIOS-Config Host-Language=c><Adios-Group NAME=g><VAR Name=n TYPE=INTEGER/>"
      "<Global-Bounds Local-Offset=0 Global-Dimension = 'n' ><var name=x type=Double dimension=n/></Global-Bounds>"
      "</Adios-Group><METHOD group=g method=mpi base-path=/tmp/a/ >x=1</METHOD>"
      "<time-aggregation group=g buffer-size=12000/></ADIOS-Config>");
  ASSERT_EQ(group.variables.size(), 2u);
  EXPECT_EQ(to_string(group, group.variables[1].global_dimensions), "n");
  ASSERT_EQ(group.methods.size(), 1u);
  EXPECT_EQ(group.methods[0].base_path, "/tmp/a/");
  EXPECT_EQ(group.methods[0].parameters, "x=1");
  EXPECT_EQ(group.aggregate_bytes, 12000u);
}

TEST(Configuration, WhatIsRefusedKeepsItsWarnings) {
  std::vector<std::string> warnings;
  const auto variable =
      parse_config(around("<vra name='m' type='integer'/>\n<var name='x' type='real' dimensions='m'/>"), "run.xml",
                   1000000, &warnings);
  ASSERT_FALSE(variable);
  EXPECT_THAT(variable.error().error.what, HasSubstr("'m'"));
  EXPECT_THAT(warnings, ElementsAre(HasSubstr("run.xml:4:2: 'vra' is no element of a group")));
  const auto method =
      parse_config("<adios-config>\n<adios-group name='g'/>\n<method group='G' method='MPI'/></adios-config>",
                   "run.xml", 1000000, &warnings);
  ASSERT_FALSE(method);
  EXPECT_EQ(method.error().code, Code::no_method);
  EXPECT_THAT(warnings, testing::Contains(HasSubstr("run.xml:3:9: method MPI for group 'G', which is not defined")));
}

TEST(Configuration, ASecondRootIsAWarning) {
  const auto config = parsed(around("") + "\n<adios-config><adios-group name='h'/></adios-config>");
  ASSERT_TRUE(config);
  EXPECT_EQ(config->groups.size(), 1u);
  EXPECT_THAT(config->warnings, ElementsAre(HasSubstr("run.xml:9:2: 'adios-config' behind the end")));
}

TEST(Configuration, MethodsKnowWhereTheyStand) {
  const GroupDefinition group = group_of(
      "<adios-config><adios-group name=g/>\r\n<method group=g method=MPI>\r\n\r\n  a=1</method>\n"
      " <method group=g method='POSIX'/></adios-config>");
  ASSERT_EQ(group.methods.size(), 2u);
  EXPECT_EQ(to_string(group.methods[0].place), "run.xml:2:17");
  EXPECT_EQ(to_string(group.methods[0].parameters_place), "run.xml:4:3");
  EXPECT_EQ(group.methods[0].group, "g");
  EXPECT_EQ(to_string(group.methods[1].place), "run.xml:5:18");
}

TEST(Configuration, DefaultsAreThoseOfAdios) {
  const GroupDefinition group = group_of(
      "<adios-config><adios-group name='g'><var name='n' type='integer'/><attribute name='a' value=''/></adios-group>"
      "<method group='g' method='NULL'/></adios-config>");
  EXPECT_TRUE(group.fortran_order);
  EXPECT_EQ(group.statistics, Statistics::minmax);
  EXPECT_TRUE(group.variables[0].read);
  EXPECT_EQ(group.attributes[0].type, ValueType::string);
  EXPECT_EQ(group.aggregate_bytes, std::nullopt);
}

TEST(Configuration, BoundsWithinBoundsTakeTheirPlace) {
  const GroupDefinition group = group_of(
      around("<global-bounds dimensions='6' offsets='1'><global-bounds dimensions='8' offsets='2'>"
             "<var name='inner' type='real' dimensions='it,n'/></global-bounds>"
             "<var name='outer' type='real' dimensions='n,it'/><var name='scalar' type='real'/></global-bounds>"));
  ASSERT_EQ(group.variables.size(), 4u);
  EXPECT_EQ(to_string(group, group.variables[1].global_dimensions), "8");
  EXPECT_EQ(to_string(group, group.variables[1].dimensions), "it,n");
  EXPECT_EQ(to_string(group, group.variables[2].global_dimensions), "6");
  EXPECT_THAT(group.variables[3].global_dimensions, IsEmpty());
}

TEST(Configuration, OrderOfElementsDoesNotMatter) {
  const GroupDefinition group = group_of(
      "<adios-config><method group='g' method='A'/><analysis adios-group='g' var='n' break-points='0, 1.5,9'/>"
      "<adios-group name='g' stats='full'><var name='n' type='integer'/></adios-group><method group='g' method='B'/>"
      "</adios-config>");
  ASSERT_EQ(group.methods.size(), 2u);
  EXPECT_EQ(group.methods[1].name, "B");
  EXPECT_THAT(group.variables[0].histogram->breaks, ElementsAre(0, 1.5, 9));
}

TEST(Configuration, HistogramsBuffersAndAggregation) {
  const std::string group = "<var name='x' type='real' dimensions='n'/>";
  const auto config = parsed(around(group,
                                    "<analysis adios-group='g' var='x' min='-1' max='1' count='4'/>"
                                    "<buffer size-MB='3' free-memory-percentage='50' allocate-time='now'/>"
                                    "<time-aggregation group='g' buffer-size='77' sync-with-group='g'/>"));
  ASSERT_TRUE(config) << config.error().error.message();
  EXPECT_THAT(config->groups[0].variables[1].histogram->breaks, ElementsAre(-1, -0.5, 0, 0.5, 1));
  EXPECT_EQ(config->max_buffer_bytes, 500000u);
  EXPECT_EQ(config->groups[0].aggregate_bytes, 77u);
  EXPECT_EQ(config->groups[0].aggregate_with, "g");
  EXPECT_EQ(parsed(around(group, "<buffer size-MB='0'/>"))->max_buffer_bytes, std::nullopt);
  EXPECT_EQ(parsed(around(group, "<time-aggregation group='g' buffer-size=0/>"))->groups[0].aggregate_bytes,
            std::nullopt);
}

TEST(Configuration, MeshesBecomeAttributes) {
  const GroupDefinition group = group_of(
      "<adios-config host-language='C' schema-version='1.1'><adios-group name='g'>"
      "<var name='X' type='real' dimensions='4'/>"
      "<mesh name='m' type='rectilinear' time-varying='no'><nspace value='2'/><dimensions value='4,4'/>"
      "<coordinates-single-var value='X'/></mesh>"
      "<mesh name='t' type='unstructured'><points-multi-var value='X,X'/>"
      "<uniform-cells count='4' data='X' type='triangle'/></mesh>"
      "<var name='V' type='real' dimensions='4' mesh='m' center='point' hyperslab='1,2'/>"
      "</adios-group><method group='g' method='MPI'/></adios-config>");
  std::vector<std::string> names;
  for (const AttributeDefinition& attribute : group.attributes) names.push_back(attribute.full_name());
  EXPECT_THAT(
      names,
      ElementsAre("/adios_schema/version_major", "/adios_schema/version_minor", "/adios_schema/m/type",
                  "/adios_schema/m/time-varying", "/adios_schema/m/nspace", "/adios_schema/m/dimensions0",
                  "/adios_schema/m/dimensions1", "/adios_schema/m/dimensions-num", "/adios_schema/m/coords-single-var",
                  "/adios_schema/t/type", "/adios_schema/t/points-multi-var0", "/adios_schema/t/points-multi-var1",
                  "/adios_schema/t/points-multi-var-num", "/adios_schema/t/ncsets", "/adios_schema/t/ccount",
                  "/adios_schema/t/cdata", "/adios_schema/t/ctype", "V/adios_schema", "V/adios_schema/centering",
                  "V/adios_schema/min", "V/adios_schema/max"));
}

TEST(Configuration, WhatIsUnknownIsAWarningWithTheNearestName) {
  const auto config = parsed(
      around("<vra name='x' type='real'/><var name='y' type='real' dimensoins='3'/><mesh name='m' type='round'/>",
             "<methd group='g' method='MPI'/><method group='gg' method='MPI'/>"));
  ASSERT_TRUE(config) << config.error().error.message();
  EXPECT_THAT(config->warnings,
              ElementsAre("run.xml:4:2: 'vra' is no element of a group, and ignored (did you mean var?)",
                          "run.xml:4:54: var has no attribute 'dimensoins', which is ignored (did you mean dimensions "
                          "or dimension?)",
                          "run.xml:4:71: mesh 'm' of type 'round' is ignored (expected uniform, rectilinear, "
                          "structured or unstructured)",
                          "run.xml:7:2: 'methd' is no element of a configuration, and ignored (did you mean method?)",
                          "run.xml:7:40: method MPI for group 'gg', which is not defined, is ignored (did you mean "
                          "g?)"));
}

TEST(Configuration, ANameWithoutItsPathIsFoundIfItIsTheOnlyOne) {
  const auto config =
      parsed(around("<var name='nx' path='/aux' type='integer'/><var name='x' type='real' dimensions='nx'/>"));
  ASSERT_TRUE(config) << config.error().error.message();
  EXPECT_EQ(to_string(config->groups[0], config->groups[0].variables[2].dimensions), "/aux/nx");
  EXPECT_THAT(config->warnings, ElementsAre(HasSubstr("'nx' is taken for '/aux/nx'")));
  EXPECT_FALSE(
      parsed(around("<var name='nx' path='/a' type='integer'/><var name='nx' path='/b' type='integer'/>"
                    "<var name='x' type='real' dimensions='nx'/>")));
}

struct Wrong {
  std::string text;
  Code code;
  std::string where;  // of "run.xml"
  std::string words;
};

TEST(Configuration, WhatIsWrongIsToldWithItsPlace) {
  const std::string method = "<method group='g' method='MPI'/>";
  const std::string group = "<adios-group name='g'><var name='n' type='integer'/></adios-group>";
  const auto whole = [](const std::string& inside) { return "<adios-config>" + inside + "</adios-config>"; };
  const Wrong cases[] = {
      {"", Code::invalid_xml, "", "adios-config"},
      {"<foo/>", Code::invalid_xml, ":1:2", "adios-config"},
      {"<adios-config>\n  <var></adios-config>", Code::invalid_xml, ":2", "XML"},
      {"<adios-config host-language='Java'/>", Code::invalid_host_language, ":1:15", "Fortran or C"},
      {whole(method), Code::no_group, ":1:2", "adios-group"},
      {whole(group), Code::no_method, ":1:2", "method"},
      {whole(group + "<method group='h' method='MPI'/>"), Code::no_method, ":1:2", "the groups are g"},
      {whole(group + "<method group='g'/>"), Code::unknown_method, ":1", "'method'"},
      {whole(group + "\n<method group='g' method='MPI' base-path='/tmp'/>"), Code::invalid_method_choice, ":2:32",
       "'/'"},
      {whole("<adios-group/>" + method), Code::no_group, ":1:16", "'name'"},
      {around("", "<buffer/>"), Code::invalid_buffer_size, ":7:2", "size-MB"},
      {around("", "<buffer size-MB='-1'/>"), Code::invalid_buffer_size, ":7:9", "megabytes"},
      {around("", "<buffer free-memory-percentage='200'/>"), Code::invalid_buffer_size, ":7:9", "1 to 100"},
      {around("<var type='real'/>"), Code::invalid_xml, ":4:2", "'name'"},
      {around("<var name='x'/>"), Code::invalid_attribute_type, ":4:2", "'type'"},
      {around("<var name='x' type='doubel'/>"), Code::invalid_attribute_type, ":4:15", "did you mean double"},
      {around("<var name='x' type='real' dimensions='2,m'/>"), Code::invalid_dimension, ":4:27", "'m'"},
      {around("<global-bounds dimensions='m' offsets='0'><var name='x' type='real' dimensions='2'/></global-bounds>"),
       Code::invalid_global_dimension, ":4:16", "'m'"},
      {around("<global-bounds dimensions='n' offsets='m'><var name='x' type='real' dimensions='2'/></global-bounds>"),
       Code::invalid_offset, ":4:31", "'m'"},
      {around("<global-bounds offsets='m'/>"), Code::global_dimension_required, ":4:2", "dimensions"},
      {around("<global-bounds dimensions='m'/>"), Code::global_offset_required, ":4:2", "offsets"},
      {around(
           "<global-bounds dimensions='4,4' offsets='0,0'><var name='x' type='real' dimensions='2'/></global-bounds>"),
       Code::invalid_global_dimension, ":4:48", "1 dimensions and 2 global dimensions"},
      {around("<attribute name='a'/>"), Code::invalid_attribute_value, ":4:2", "'value' or 'var'"},
      {around("<attribute name='a' value='x' type='integer'/>"), Code::invalid_attribute_value, ":4:21", "'x'"},
      {around("<attribute name='a' var='m'/>"), Code::invalid_attribute_reference, ":4:21", "no variable 'm'"},
      {around("", "<analysis adios-group='g' var='m' break-points='1'/>"), Code::invalid_name, ":7:27", "'m'"},
      {around("", "<analysis adios-group='h' var='n' break-points='1'/>"), Code::invalid_group, ":7:11", "'h'"},
      {around("", "<analysis adios-group='g' var='n' break-points='2,1'/>"), Code::histogram, ":7:35", "increasing"},
      {around("", "<analysis adios-group='g' var='n' min='1' max='1' count='2'/>"), Code::histogram, ":7:35",
       "between"},
      {around("", "<analysis adios-group='g' var='n'/>"), Code::histogram, ":7:2", "'min'"},
      {around("", "<time-aggregation group='h' buffer-size='1'/>"), Code::invalid_group, ":7:19", "'h'"},
      {around("", "<time-aggregation group='g' buffer-size='x'/>"), Code::invalid_buffer_size, ":7:29", "'x'"},
      {around("", "<time-aggregation buffer-size='1'/>"), Code::no_group, ":7:2", "'group'"},
  };
  for (const Wrong& wrong : cases) {
    const auto config = parsed(wrong.text);
    ASSERT_FALSE(config) << wrong.text;
    EXPECT_EQ(config.error().code, wrong.code) << wrong.text << "\n" << config.error().error.message();
    EXPECT_THAT(config.error().error.message(), testing::StartsWith("run.xml" + wrong.where)) << wrong.text;
    EXPECT_THAT(config.error().error.message(), HasSubstr(wrong.words)) << wrong.text;
  }
}

TEST(Configuration, ColumnsAreThoseOfTheFileWithoutTheQuotesThatWereMissing) {
  const auto config = parsed(around("<var name=x type=real dimensions=2,m/>"));
  ASSERT_FALSE(config);
  EXPECT_THAT(config.error().error.message(), testing::StartsWith("run.xml:4:23:"));
}

TEST(Configuration, IsBounded) {
  std::string deep = "<adios-config>";
  for (int i = 0; i < 100; ++i) deep += "<global-bounds dimensions='1' offsets='0'>";
  const auto too_deep = parsed(deep);
  ASSERT_FALSE(too_deep);
  EXPECT_EQ(too_deep.error().code, Code::invalid_xml);
  EXPECT_THAT(too_deep.error().error.message(), HasSubstr("deep"));

  EXPECT_EQ(parsed(std::string(kMaxConfigBytes + 1, ' ')).error().code, Code::invalid_xml);
  const auto long_list = parsed(around("<var name='x' type='real' dimensions='" + std::string(5000, '1') + "'/>"));
  EXPECT_THAT(long_list.error().error.message(), HasSubstr("longer than 4096"));
  EXPECT_THAT(parsed(std::string_view("<adios-config>\0</adios-config>", 31)).error().error.message(),
              HasSubstr("NUL"));

  std::string many;
  for (int i = 0; i < 1000; ++i) many += fmt::format("<strange{}/>", i);
  const auto config = parsed(around(many));
  ASSERT_TRUE(config);
  EXPECT_EQ(config->warnings.size(), kMaxConfigWarnings + 1);
  EXPECT_EQ(config->warnings.back(), "run.xml: 900 more");
}

TEST(Configuration, NothingIsFetchedFromOutside) {
  const GroupDefinition group = group_of(
      "<!DOCTYPE adios-config [<!ENTITY x SYSTEM \"file:///etc/passwd\"><!ENTITY y \"&x;&x;\">]>"
      "<adios-config><adios-group name='g'><attribute name='a' value='&x;&y;'/></adios-group>"
      "<method group='g' method='MPI'/></adios-config>");
  ASSERT_EQ(group.attributes.size(), 1u);
  EXPECT_EQ(as_text(group.attributes[0].value), "&x;&y;");
}

TEST(Configuration, AFileThatIsNotThereHasItsNumber) {
  const auto config = read_config("/nonexistent/run.xml");
  ASSERT_FALSE(config);
  EXPECT_EQ(config.error().code, Code::missing_config);
  EXPECT_THAT(config.error().error.message(), HasSubstr("/nonexistent/run.xml"));
}

}  // namespace
}  // namespace forebay::io

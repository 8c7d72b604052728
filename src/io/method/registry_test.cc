#include "io/method/registry.h"

#include <gtest/gtest.h>

namespace forebay::io {
namespace {

TEST(Parameters, BothSeparatorsAndUnits) {
  const Parameters parameters(" Num_Aggregators = 2 ; stripe_size=64k;have_metadata_file=0;io_parameters=a=1,b=2;x");
  EXPECT_EQ(parameters.number("num_aggregators", 7), 2u);
  EXPECT_EQ(parameters.number("stripe_size", 7), 65536u);
  EXPECT_EQ(parameters.flag("have_metadata_file", true), false);
  EXPECT_EQ(parameters.text("io_parameters", ""), "a=1,b=2");
  EXPECT_EQ(parameters.flag("x", false), true);
  EXPECT_EQ(parameters.number("missing", 7), 7u);
  EXPECT_EQ(Parameters("a=1,b=2").number("b", 0), 2u);
  EXPECT_FALSE(Parameters("a=much").number("a", 0));
  EXPECT_FALSE(Parameters("a=much").flag("a", false));
}

TEST(Registry, FindsInAnyCaseAndNamesTheNearest) {
  MethodRegistry& registry = MethodRegistry::instance();
  EXPECT_TRUE(registry.find("null"));
  const auto unknown = registry.find("NUL");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, Code::unknown_method);
  EXPECT_TRUE(unknown.error().error.hint.starts_with("did you mean NULL")) << unknown.error().error.hint;
}

TEST(Registry, SaysWhatServesInThePlaceOfMethodsThatOnlyAdiosHas) {
  for (const char* name : {"DATASPACES", "Dimes", "flexpath"}) {
    const auto absent = MethodRegistry::instance().find(name);
    ASSERT_FALSE(absent);
    EXPECT_EQ(absent.error().code, Code::unknown_method);
    EXPECT_NE(absent.error().error.what.find("staging method of ADIOS, is not in Forebay"), std::string::npos);
    EXPECT_NE(absent.error().error.hint.find("FOREBAY"), std::string::npos);
  }
}

TEST(Registry, TellsOfParametersThatAMethodDoesNotKnow) {
  const auto made = MethodRegistry::instance().make({.name = "NULL", .parameters = "verbose=3;colour=1"});
  ASSERT_TRUE(made);
  ASSERT_EQ(made->warnings.size(), 1u);
  EXPECT_NE(made->warnings[0].find("\"colour\""), std::string::npos);
}

TEST(Registry, ParametersOfTheInterfaceAreKnownToAllMethods) {
  MethodRegistry& registry = MethodRegistry::instance();
  const auto right = registry.make({.name = "NULL", .parameters = "verbose=0;quiet;logfile=/tmp/log;abort_on_error=1"});
  ASSERT_TRUE(right);
  EXPECT_TRUE(right->warnings.empty()) << right->warnings[0];
  const auto wrong = registry.make({.name = "NULL", .parameters = "verbose=much;quiet=maybe;abort_on_eror=1"});
  ASSERT_TRUE(wrong);
  ASSERT_EQ(wrong->warnings.size(), 3u);
  EXPECT_NE(wrong->warnings[0].find("abort_on_error"), std::string::npos) << wrong->warnings[0];
  EXPECT_NE(wrong->warnings[1].find("quiet is \"maybe\""), std::string::npos) << wrong->warnings[1];
  EXPECT_NE(wrong->warnings[2].find("verbose is \"much\""), std::string::npos) << wrong->warnings[2];
}

TEST(Registry, TellsWhereInAConfigurationSomethingIsWrong) {
  MethodRegistry& registry = MethodRegistry::instance();
  MethodChoice choice{.name = "NULL",
                      .parameters = "verbose=3;\n  Colour=1; x=2",
                      .group = "g",
                      .place = {"run.xml", 7, 12},
                      .parameters_place = {"run.xml", 8, 3}};
  const auto made = registry.make(choice);
  ASSERT_TRUE(made);
  ASSERT_EQ(made->warnings.size(), 2u);
  EXPECT_TRUE(made->warnings[0].starts_with("run.xml:9:3: group 'g': method NULL ")) << made->warnings[0];
  EXPECT_TRUE(made->warnings[1].starts_with("run.xml:9:13: ")) << made->warnings[1];
  choice.name = "NUL";
  EXPECT_TRUE(registry.make(choice).error().error.message().starts_with("run.xml:7:12: group 'g': there is no method"));
  choice.name = "MPI";
  choice.parameters = "stripe_size=x";
  EXPECT_TRUE(registry.make(choice).error().error.message().starts_with("run.xml:8:3: group 'g': parameter stripe_"));
  choice = {.name = "NUL"};
  EXPECT_TRUE(registry.make(choice).error().error.message().starts_with("there is no method"));
}

TEST(Registry, TellsOfParametersThatTheMethodBehindVarMergeDoesNotKnow) {
  const auto made = MethodRegistry::instance().make(
      {.name = "VAR_MERGE", .parameters = "io_method=MPI;io_parameters=stripe_siz=4096,openers=2"});
  ASSERT_TRUE(made);
  ASSERT_EQ(made->warnings.size(), 1u);
  EXPECT_NE(made->warnings[0].find("\"stripe_siz\""), std::string::npos);
  EXPECT_NE(made->warnings[0].find("stripe_size"), std::string::npos);
}

}  // namespace
}  // namespace forebay::io

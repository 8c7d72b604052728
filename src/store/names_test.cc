#include "store/names.h"

#include <gtest/gtest.h>

#include "store/test_store.h"

namespace forebay::store {
namespace {

TEST(Names, OfAJobAreOneRule) {
  for (const char* name : {"dump_0040", "DD0010", "final", "A-1.2+3=4@5,6", "x+2", "latest2",
                           "wrfrst_d01_2005-08-28_12:00:00", "a b", "\xc3\xa9tat", "50%", "it's", "a*b"}) {
    EXPECT_TRUE(is_job_name(name)) << name;
    EXPECT_TRUE(check_job_name(name)) << name;
    EXPECT_TRUE(is_set_name(name)) << name;
  }
  const std::string longest(kMostJobName, 'x');
  for (const std::string& name :
       std::vector<std::string>{"", ".hidden", "..", "a/b", " a", "a ", "a\nb", "a\x1b[2J", "\xff",
                                "a\xe2\x80\xae"
                                "b",
                                "step:4", "latest", "dump.tmp", "dump.temp", "dump.part", "dump~", longest + "x"}) {
    EXPECT_FALSE(is_job_name(name)) << name;
    EXPECT_EQ(error(check_job_name(name)).kind, ErrorKind::invalid_argument) << name;
  }
  EXPECT_TRUE(is_job_name(longest));
  EXPECT_TRUE(is_set_name(stored_name(longest, 10'000))) << "the store has room for the number";
  EXPECT_NE(error(check_job_name("latest")).what.find("newest"), std::string::npos) << "it says why";
}

TEST(Names, OfUnfinishedFiles) {
  EXPECT_TRUE(is_temporary("d/.hidden"));
  EXPECT_TRUE(is_temporary("d/x.part"));
  EXPECT_FALSE(is_temporary(".d/seen"));
}

TEST(Names, TellTheStep) {
  EXPECT_EQ(step_of("dump_0040"), 40);
  EXPECT_EQ(step_of("run2_dump_0041_full"), 41);
  EXPECT_EQ(step_of("7"), 7);
  EXPECT_EQ(step_of("final"), std::nullopt);
  EXPECT_EQ(step_of("d99999999999999999999"), std::nullopt);
}

TEST(Names, AreStoredAndComeBack) {
  EXPECT_EQ(stored_name("s", 1), "s");
  EXPECT_EQ(stored_name("s", 2), "s+2");
  Manifest manifest;
  manifest.name = "x+2";
  manifest.application_name = "x+2";
  EXPECT_EQ(application_name(manifest), "x+2") << "its user called it so";
  manifest.application_name = "x";
  EXPECT_EQ(application_name(manifest), "x");
}

TEST(Names, OfEarlierVersionsAreReadAsThey) {
  const auto read = [](const std::string& name) {
    Manifest manifest;
    manifest.name = name;
    return application_name(manifest);
  };
  for (const uint64_t number : {1, 2, 10, 9999}) EXPECT_EQ(read(stored_name("a+b", number)), "a+b");
  for (const char* name : {"s+", "s+1", "s+02", "s+x", "+2", "s"}) EXPECT_EQ(read(name), name);
}

}  // namespace
}  // namespace forebay::store

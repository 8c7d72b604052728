#include "launch/scr/config.h"

#include <fstream>

#include <gmock/gmock.h>
#include <sys/stat.h>

#include "launch/test_launch.h"

namespace forebay::scr {
namespace {

using testing::HasSubstr;

class ScrConfig : public job::TempTest {
 protected:
  Environment environment() {
    return [this](const char* name) -> const char* {
      const auto found = variables.find(name);
      return found == variables.end() ? nullptr : found->second.c_str();
    };
  }
  void write(const std::string& name, const std::string& text) { std::ofstream(path(name)) << text; }
  static std::optional<std::string> ask(Config& config, const char* text) { return config.call(text).value(); }

  std::map<std::string, std::string> variables;
};

TEST_F(ScrConfig, CallsSetUnsetAndAsk) {
  Config config(environment());
  EXPECT_EQ(ask(config, "SCR_FLUSH"), std::nullopt) << "nobody has set it";
  ask(config, " SCR_FLUSH = 3 ");
  EXPECT_EQ(ask(config, "SCR_FLUSH"), "3");
  ask(config, "MINE=a=b=c");
  EXPECT_EQ(ask(config, "MINE"), "a=b=c");
  ask(config, "SCR_FLUSH=");
  EXPECT_EQ(ask(config, "SCR_FLUSH"), std::nullopt);
  EXPECT_EQ(config.number("SCR_FLUSH").value(), 10) << "the default";
  EXPECT_FALSE(config.call("")) << "no key";
  EXPECT_FALSE(config.call("=3"));
  EXPECT_FALSE(config.call("two words=3"));
}

TEST_F(ScrConfig, LinesHaveItems) {
  Config config(environment());
  ask(config, "CKPT=0 TYPE=XOR SET_SIZE=16");
  ask(config, "CKPT=1 INTERVAL=4 STORE=/a=b");
  EXPECT_EQ(ask(config, "CKPT=0 TYPE"), "XOR");
  EXPECT_EQ(ask(config, "CKPT=1 STORE"), "/a=b");
  EXPECT_EQ(ask(config, "CKPT=1 TYPE"), std::nullopt);
  ask(config, "CKPT=0 TYPE=RS");
  EXPECT_EQ(ask(config, "CKPT=0 TYPE"), "RS");
  EXPECT_EQ(ask(config, "CKPT=0 SET_SIZE"), "16");
  ask(config, "CKPT=0 TYPE=");
  EXPECT_EQ(ask(config, "CKPT=0 TYPE"), std::nullopt);
  ASSERT_EQ(config.lines("CKPT").size(), 2u);
  EXPECT_EQ(config.lines("CKPT")[1].items.at("INTERVAL"), "4");
  EXPECT_FALSE(config.call("CKPT=0 TYPE SET_SIZE=3")) << "sets and asks";
}

TEST_F(ScrConfig, TheEnvironmentGoesFirstThenTheUsersFileCallsAndTheSystem) {
  write(".scrconf",
        "SCR_FLUSH=2\nSCR_CACHE_BYPASS=0 # straight no more\nCKPT=0 TYPE=RS\nSCR_CACHE_BASE=$TOP/x${TOP}\n");
  write("system", "SCR_FLUSH=7\nSCR_DEBUG=1\nSCR_SET_SIZE=4\n");
  variables = {{"SCR_PREFIX", path("")}, {"TOP", "/t"}, {"SCR_SET_SIZE", "5"}};
  Config config(environment());
  ask(config, "SCR_FLUSH=9");
  ask(config, "SCR_DEBUG=2");
  ask(config, "CKPT=0 TYPE=XOR SET_SIZE=3");
  ASSERT_TRUE(config.read_files(path("system")));
  EXPECT_EQ(config.text("SCR_FLUSH"), "2");
  EXPECT_EQ(config.text("SCR_DEBUG"), "2");
  EXPECT_EQ(config.text("SCR_SET_SIZE"), "5");
  EXPECT_EQ(config.text("SCR_CACHE_BASE"), "/t/x/t");
  EXPECT_FALSE(config.flag("SCR_CACHE_BYPASS").value());
  EXPECT_EQ(config.lines("CKPT")[0].items, (std::map<std::string, std::string>{{"TYPE", "RS"}, {"SET_SIZE", "3"}}));

  Config other([](const char*) -> const char* { return nullptr; });
  other.take_flattened(config.flattened());
  for (const char* key : {"SCR_FLUSH", "SCR_DEBUG", "SCR_SET_SIZE", "SCR_CACHE_BASE", "SCR_RUNS"})
    EXPECT_EQ(other.get(key), config.get(key)) << key;
  EXPECT_EQ(other.lines("CKPT")[0].items, config.lines("CKPT")[0].items);
}

TEST_F(ScrConfig, FaultsNameFileLineAndKey) {
  write("mine", "# a comment\n\nSCR_FLUHS=2\nFOO=1\n");
  variables = {{"SCR_CONF_FILE", path("mine")}};
  Config config(environment());
  ASSERT_TRUE(config.read_files(path("there is none")));
  ASSERT_EQ(config.warnings().size(), 1u);
  EXPECT_THAT(config.warnings()[0], HasSubstr("mine:3: nobody knows the key SCR_FLUHS"));
  EXPECT_THAT(config.warnings()[0], HasSubstr("SCR_FLUSH"));

  write("mine", "SCR_FLUSH=2\nSCR_DEBUG\n");
  Config broken(environment());
  const auto read = broken.read_files("");
  ASSERT_FALSE(read);
  EXPECT_THAT(read.error().message(), HasSubstr("mine:2: 'SCR_DEBUG' is not of the form KEY=value"));
  variables = {{"SCR_FLUSH", "often"}};
  EXPECT_THAT(Config(environment()).number("SCR_FLUSH").error().message(), HasSubstr("SCR_FLUSH=often"));
}

TEST_F(ScrConfig, SaysWhereAWrongValueWasSet) {
  write("mine", "# a comment\nSCR_FLUSH=often\nCKPT=1 TYPE=ROX\n");
  variables = {{"SCR_CONF_FILE", path("mine")}, {"SCR_CACHE_SIZE", "2x"}};
  Config config(environment());
  ASSERT_TRUE(config.read_files(""));
  EXPECT_EQ(config.number("SCR_FLUSH").error().path, path("mine") + ":2");
  EXPECT_THAT(config.number("SCR_FLUSH").error().message(), HasSubstr("SCR_FLUSH=often"));
  EXPECT_EQ(config.number("SCR_CACHE_SIZE").error().path, "the environment");
  EXPECT_EQ(config.lines("CKPT").front().where, path("mine") + ":3");
}

TEST_F(ScrConfig, ProgramsAreNotNamedByOthers) {
  write("mine", "SCR_FLUSH=2\nFOREBAY_COMMAND=/tmp/forebay\n");
  variables = {{"SCR_CONF_FILE", path("mine")}};
  ASSERT_EQ(::chmod(path("mine").c_str(), 0646), 0);
  const auto read = Config(environment()).read_files("");
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().kind, ErrorKind::permission);
  EXPECT_THAT(read.error().message(), HasSubstr("mine:2: others can write this file: its FOREBAY_COMMAND is not run"));
  write("mine", "SCR_FLUSH=2\n");
  EXPECT_TRUE(Config(environment()).read_files("")) << "the rest of it runs nothing";

  write(".scrconf", "SCR_FLUSH=2\n");
  ASSERT_EQ(::chmod(path(".scrconf").c_str(), 0646), 0);
  variables = {{"SCR_PREFIX", path("")}};
  EXPECT_EQ(Config(environment()).read_files("").error().kind, ErrorKind::permission) << "nobody has named it";
  ASSERT_EQ(::chmod(path(".scrconf").c_str(), 0644), 0);
  EXPECT_TRUE(Config(environment()).read_files(""));

  variables = {{"SCR_CONF_FILE", path("mine")}};
  write("mine", "FOREBAY_COMMAND=/tmp/forebay\n");
  ASSERT_EQ(::chmod(path("mine").c_str(), 0644), 0);
  Config own(environment());
  ASSERT_TRUE(own.read_files(""));
  EXPECT_EQ(own.get("FOREBAY_COMMAND"), "/tmp/forebay");
}

TEST_F(ScrConfig, FailureGroupsOfANode) {
  write("mine", "GROUPS=n1 POWER=psu1 SWITCH=0\nGROUPS=n2 NODE=blade7\n");
  variables["SCR_CONF_FILE"] = path("mine");
  Config config(environment());
  ASSERT_TRUE(config.read_files(""));
  EXPECT_EQ(config.groups_of("n1"), "POWER=psu1,SWITCH=0");
  EXPECT_EQ(config.groups_of("n2"), "node=blade7");
  EXPECT_EQ(config.groups_of("n3"), "");
}

}  // namespace
}  // namespace forebay::scr

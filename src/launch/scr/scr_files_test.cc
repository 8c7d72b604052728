// The small files below PREFIX/.scr, names and places.
#include <fstream>

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launch/scr/flushing.h"
#include "launch/scr/halt.h"
#include "launch/scr/index.h"
#include "launch/scr/places.h"
#include "launch/scr/set_names.h"
#include "launch/test_launch.h"
#include "store/files.h"
#include "store/names.h"

namespace forebay::scr {
namespace {

using testing::HasSubstr;

class ScrFiles : public job::TempTest {};

TEST_F(ScrFiles, HaltConditionsAreReadAndDecide) {
  const std::string file = path("halt.json");
  EXPECT_EQ(read_halt(file).value(), Halt{});
  const Halt halt{.checkpoints = 2, .before = 1000, .after = 2000, .seconds = 30, .reason = "enough \"of\" it"};
  ASSERT_TRUE(write_halt(file, halt));
  EXPECT_EQ(read_halt(file).value(), halt);
  EXPECT_FALSE(parse_halt("{\"checkpoint\": 1}", "x")) << "a slip must not be ignored";
  EXPECT_FALSE(parse_halt("{\"checkpoints\": \"1\"}", "x"));
  EXPECT_FALSE(parse_halt("[]", "x"));
  EXPECT_FALSE(parse_halt("{", "x"));

  EXPECT_EQ(why_halt({}, 500, {}, 0), std::nullopt);
  EXPECT_EQ(why_halt({.reason = "now"}, 500, {}, 0), "now");
  EXPECT_EQ(why_halt({.checkpoints = 1}, 500, {}, 0), std::nullopt);
  EXPECT_TRUE(why_halt({.checkpoints = 0}, 500, {}, 0));
  EXPECT_FALSE(why_halt({.before = 1000}, 500, {}, 499));
  EXPECT_TRUE(why_halt({.before = 1000}, 500, {}, 500)) << "not to be under way then";
  EXPECT_FALSE(why_halt({.after = 501}, 500, {}, 0));
  EXPECT_TRUE(why_halt({.after = 500}, 500, {}, 0));
  EXPECT_FALSE(why_halt({}, 500, 600, 0)) << "nobody wants to be told";
  EXPECT_FALSE(why_halt({}, 500, 600, 99));
  EXPECT_TRUE(why_halt({}, 500, 600, 100));
  EXPECT_TRUE(why_halt({.seconds = 100}, 500, 600, 1)) << "the file's goes before the configuration's";
}

TEST_F(ScrFiles, TheIndexKeepsTheOrderOfWriting) {
  const std::string file = path("index.json");
  EXPECT_EQ(read_index(file).value(), Index{});
  Index index;
  index.add({.name = "ckpt.2", .id = 2, .step = 2, .ranks = 4});
  index.add({.name = "out/a",
             .id = 1,
             .step = 1,
             .is_checkpoint = false,
             .is_output = true,
             .place = SetPlace::prefix,
             .flushed = 77,
             .ranks = 4});
  index.current = "ckpt.2";
  ASSERT_TRUE(write_index(file, index));
  EXPECT_EQ(read_index(file).value(), index);
  EXPECT_EQ(index.entries[0].name, "out/a");
  index.add({.name = "ckpt.2", .id = 2, .step = 9});
  EXPECT_EQ(index.entries.size(), 2u) << "written anew";
  EXPECT_EQ(index.current, "ckpt.2");
  EXPECT_EQ(index.newest_step(), 9);
  for (int step = 10; step < 200; ++step) index.add({.name = std::to_string(step), .id = step, .step = step});
  EXPECT_EQ(index.entries.size(), kKeptCached + 1);
  EXPECT_TRUE(index.find("out/a")) << "what was flushed stays";
  EXPECT_FALSE(index.find("ckpt.2"));

  std::string text = print_index(index);
  text[text.size() / 2] ^= 1;
  EXPECT_FALSE(parse_index(text, "x")) << "a flipped bit";
}

TEST_F(ScrFiles, FilesOfASetInThePrefix) {
  const std::vector<PrefixFile> files{{"d/a", 3, ~uint64_t{0}, 0}, {"b", 0, 1, 7}};
  EXPECT_EQ(parse_files(print_files(files), "x").value(), files);
  EXPECT_FALSE(parse_files(print_files({{"../a", 3, 4, 0}}), "x")) << "outside of the prefix";
}

TEST(ScrSetNames, AreLegalAndReversible) {
  for (const char* name :
       {"ckpt.1", "timestep/3", "a b", "@", "latest", ".hidden", "x.tmp", "x~", "ü", "a@2Fb", "~", "a.part"}) {
    const auto set = set_of_name(name);
    ASSERT_TRUE(set) << name;
    EXPECT_TRUE(store::is_job_name(*set)) << *set;
    EXPECT_EQ(name_of_set(*set), name);
  }
  EXPECT_EQ(set_of_name("ckpt.12").value(), "ckpt.12");
  EXPECT_FALSE(set_of_name(""));
}

TEST(ScrSetNames, OfLongNamesTheHashTellsThemApart) {
  const std::string x(1022, 'x');
  for (const std::string& name :
       {x + "1", x + "2", std::string(200, '.'), std::string(79, 'y') + std::string(99, '/')}) {
    const auto set = set_of_name(name);
    ASSERT_TRUE(set) << name;
    EXPECT_TRUE(store::is_job_name(*set)) << *set;
    EXPECT_EQ(set_of_name(name_of_set(*set)).value(), *set) << name;
  }
  EXPECT_NE(set_of_name(x + "1").value(), set_of_name(x + "2").value());
  EXPECT_FALSE(set_of_name(x + "12")) << "has no room in SCR_MAX_FILENAME";
}

TEST(ScrHalt, AfterTheNextCheckpoint) {
  const Halt next{.checkpoints = 1, .reason = std::string(kHalted)};
  EXPECT_TRUE(waits_for_checkpoint(next));
  EXPECT_FALSE(why_halt(next, 100, {}, 0));
  const Halt written{.checkpoints = 0, .reason = std::string(kHalted)};
  EXPECT_FALSE(waits_for_checkpoint(written));
  EXPECT_EQ(why_halt(written, 100, {}, 0).value_or(""), kHalted);
}

TEST_F(ScrFiles, PlacesFollowFromThePrefixAndTheJob) {
  std::map<std::string, std::string> variables{{"SCR_PREFIX", path("")}, {"SCR_CACHE_BASE", "/ssd"}};
  const Environment environment = [&](const char* name) -> const char* {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  };
  const Config config(environment);
  const auto plain = places_of(config, environment).value();
  EXPECT_TRUE(plain.series.starts_with("scr-")) << plain.series;
  EXPECT_EQ(plain.stage, "/ssd/forebay-" + std::to_string(::geteuid()) + "/scr." + plain.series.substr(4));
  EXPECT_EQ(plain.store, plain.prefix + "/.scr/store");
  variables["SLURM_JOB_ID"] = "77";
  EXPECT_TRUE(places_of(config, environment)->stage.ends_with("/scr.77"));
  EXPECT_TRUE(places_of(config, environment)->rendezvous.ends_with("/.scr/jobs/77"));
  variables["FOREBAY_STAGE"] = "/mine";
  EXPECT_EQ(places_of(config, environment)->stage, "/mine");
  variables["SLURM_JOB_ID"] = "../x";
  EXPECT_FALSE(places_of(config, environment));

  ASSERT_TRUE(make_stage_directory(path("no/such/base/user/stage")));
  ASSERT_TRUE(make_stage_directory(path("user/stage")));
  ASSERT_TRUE(make_stage_directory(path("user/stage"))) << "again";
  ::chmod(path("user").c_str(), 0755);
  EXPECT_FALSE(make_stage_directory(path("user/stage"))) << "others could look into it";
}

TEST(ScrPlaces, TheStoreOfAllCachedSetsIsWhereTheCacheLies) {
  const auto config_of = [](std::initializer_list<const char*> calls) {
    Config config([](const char*) -> const char* { return nullptr; });
    for (const char* call : calls) EXPECT_TRUE(config.call(call));
    return config;
  };
  EXPECT_EQ(cache_base_of(config_of({})), "/dev/shm");
  EXPECT_EQ(cache_base_of(config_of({"CKPT=0 STORE=/ssd BYPASS=0", "CKPT=1 INTERVAL=9 STORE=/gpfs BYPASS=1"})), "/ssd");
  EXPECT_EQ(cache_base_of(config_of({"CKPT=0 STORE=/ssd BYPASS=0", "CKPT=1 STORE=/mem BYPASS=0"})), "/dev/shm");
  EXPECT_EQ(cache_base_of(config_of({"CKPT=0 STORE=/ssd BYPASS=0", "CKPT=1 BYPASS=0"})), "/dev/shm");
  EXPECT_EQ(cache_base_of(config_of({"CKPT=0 STORE=/ssd"})), "/dev/shm") << "by SCR_CACHE_BYPASS nothing is cached";
  EXPECT_EQ(cache_size_of(config_of({"CKPT=0 STORE=/ssd BYPASS=0", "STORE=/ssd COUNT=3"})).value(), 3);
  EXPECT_EQ(cache_size_of(config_of({"SCR_CACHE_SIZE=2", "STORE=/ssd COUNT=3"})).value(), 2);
  EXPECT_FALSE(cache_size_of(config_of({"STORE=/dev/shm COUNT=many"})));
}

TEST_F(ScrFiles, TheIndexKnowsWhatWasDeleted) {
  const std::string file = path("index.json");
  Index index;
  index.add({.name = "a", .step = 1});
  index.add({.name = "b", .step = 2});
  index.remove("b");
  index.remove("c");
  ASSERT_TRUE(write_index(file, index));
  EXPECT_EQ(read_index(file).value(), index);
  EXPECT_TRUE(index.is_deleted("b", 2));
  EXPECT_TRUE(index.is_deleted("c", 2)) << "nobody knows of a newer one";
  EXPECT_FALSE(index.is_deleted("a", 1));
  EXPECT_EQ(index.last_step(), 2) << "the next writing of b is another one";
  EXPECT_FALSE(index.is_deleted("b", 3));
}

// A set on its way to the prefix is listed by the next start where all of its ranks had noted their files.
class Flushing : public ScrFiles {
 protected:
  void SetUp() override {
    ScrFiles::SetUp();
    places_.sets = path("sets");
    places_.index = path("index.json");
    ASSERT_EQ(::mkdir(places_.sets.c_str(), 0700), 0);
    notes_ = flushing_path(places_.sets, "ckpt.2", "0123456789abcdef");
    index_.add(entry_);
    ASSERT_TRUE(begin_flushing(notes_, entry_));
    ASSERT_TRUE(note_flushed(notes_, 1, {{"b", 2, 22, 1}}));
  }
  SetPlace place_after() {
    EXPECT_TRUE(adopt_flushed(places_, index_));
    EXPECT_NE(::access(notes_.c_str(), F_OK), 0) << "nobody waits for it any more";
    const IndexEntry* entry = index_.find("ckpt.2");
    return entry != nullptr ? entry->place : SetPlace::cache;
  }

  Places places_;
  Index index_;
  const IndexEntry entry_{.name = "ckpt.2", .id = 2, .step = 2, .is_output = true, .ranks = 2};
  std::string notes_;
};

TEST_F(Flushing, ASetThatIsWholeIsListed) {
  ASSERT_TRUE(note_flushed(notes_, 0, {{"a", 1, 11, 0}}));
  EXPECT_EQ(place_after(), SetPlace::prefix);
  EXPECT_EQ(read_index(places_.index).value(), index_);
  const std::string list = files_path(places_.sets, "ckpt.2");
  EXPECT_EQ(parse_files(store::read_text(list, 1 << 20).value(), list).value(),
            (std::vector<PrefixFile>{{"a", 1, 11, 0}, {"b", 2, 22, 1}}));
}

TEST_F(Flushing, ASetThatLacksARankIsNot) { EXPECT_EQ(place_after(), SetPlace::cache); }

TEST_F(Flushing, ASetWithADamagedListIsNot) {
  ASSERT_TRUE(note_flushed(notes_, 0, {{"a", 1, 11, 0}}));
  std::ofstream(notes_ + "/1", std::ios::app) << "x";
  EXPECT_EQ(place_after(), SetPlace::cache);
}

TEST_F(Flushing, ASetThatWasDroppedOrWrittenAgainIsNot) {
  ASSERT_TRUE(note_flushed(notes_, 0, {{"a", 1, 11, 0}}));
  index_.find("ckpt.2")->step = 3;
  EXPECT_EQ(place_after(), SetPlace::cache);
  ASSERT_TRUE(begin_flushing(notes_, entry_));
  index_.drop("ckpt.2");
  EXPECT_EQ(place_after(), SetPlace::cache);
  EXPECT_TRUE(index_.entries.empty());
}

TEST_F(Flushing, WhatIsNotForebaysStays) {
  std::ofstream(notes_ + "/notes.txt") << "mine";
  ASSERT_TRUE(adopt_flushed(places_, index_));
  EXPECT_EQ(::access((notes_ + "/notes.txt").c_str(), F_OK), 0);
}

}  // namespace
}  // namespace forebay::scr

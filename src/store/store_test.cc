#include "store/store.h"

#include <filesystem>
#include <fstream>
#include <thread>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/files.h"
#include "store/test_store.h"

namespace forebay::store {
namespace {

namespace fs = std::filesystem;

class StoreTest : public TempTest {
 protected:
  std::string root() const { return path("store"); }
  Store writing() { return value(Store::open_for_writing(root())); }
};

using Names = std::vector<std::string>;

TEST_F(StoreTest, CommittedSetIsFoundWithAllThatItsManifestSays) {
  const Store store = writing();
  const Manifest put = commit_set(store, "run.0001", {.step = 7, .created_ns = 12345});
  const Store reading = value(Store::open(root()));
  const SetInfo info = value(reading.find("run.0001"));
  EXPECT_EQ(info.files.path(), root() + "/sets/run.0001");
  const Manifest got = value(info.manifest);
  EXPECT_EQ(serialise(got), serialise(put));
  EXPECT_EQ(got.step, 7);
  EXPECT_EQ(got.containers.size(), 2u);
  EXPECT_EQ(got.bytes(), put.containers[0].bytes + put.containers[1].bytes);
  EXPECT_EQ(names_in(root() + "/staging")->size(), 0u);
}

TEST_F(StoreTest, ACommitTakesTheNextPlaceOfItsSeries) {
  const Store store = writing();
  const auto commit = [&](const std::string& name, const std::string& series, int64_t step) {
    const auto staged = value(store.stage(name));
    Manifest manifest = write_containers(staged->containers(), name, {.step = step, .created_ns = -step});
    manifest.origin.series = series;
    check(staged->commit(manifest));
    return value(value(store.find(name)).manifest).ordinal;
  };
  commit_set(store, "old1", {.step = 90});
  commit_set(store, "old2", {.step = 80});
  EXPECT_EQ(commit("a", "default", 10), 3u) << "behind those of an earlier version";
  EXPECT_EQ(commit("b", "default", 1), 4u) << "neither steps nor clocks decide";
  EXPECT_EQ(commit("c", "other", 5), 1u);
  check(store.remove("a"));
  EXPECT_EQ(commit("a", "default", 10), 5u) << "it was written again";
  Names sets;
  for (const SetInfo& set : value(store.list()))
    if (set.manifest->origin.series == "default") sets.push_back(set.name);
  EXPECT_EQ(sets, (Names{"old1", "old2", "b", "a"}));
}

TEST_F(StoreTest, NothingIsVisibleBeforeCommitOrAfterAbandoning) {
  const Store store = writing();
  {
    const auto staged = value(store.stage("a"));
    write_containers(staged->containers(), "a");
    EXPECT_TRUE(value(store.list()).empty());
  }
  EXPECT_TRUE(value(store.list()).empty());
  EXPECT_EQ(names_in(root() + "/staging")->size(), 0u);
}

TEST_F(StoreTest, TakenNameIsRefusedAtStageAndAtCommit) {
  const Store store = writing();
  const auto late = value(store.stage("a"));
  const Manifest manifest = write_containers(late->containers(), "a");
  commit_set(store, "a", {.step = 1});
  EXPECT_EQ(error(store.stage("a")).kind, ErrorKind::exists);
  EXPECT_EQ(error(late->commit(manifest)).kind, ErrorKind::exists);
  EXPECT_EQ(value(value(store.find("a")).manifest).step, 1);
}

TEST_F(StoreTest, CommitRefusesAManifestThatDoesNotFit) {
  const Store store = writing();
  const auto commit = [&](auto change) {
    const auto staged = value(store.stage("a"));
    Manifest manifest = write_containers(staged->containers(), "a");
    change(manifest, staged->containers().path_of(""));
    return error(staged->commit(manifest)).kind;
  };
  EXPECT_EQ(commit([](Manifest& m, auto) { m.name = "b"; }), ErrorKind::invalid_argument);
  EXPECT_EQ(commit([](Manifest& m, auto) { m.containers[0].name = "../x"; }), ErrorKind::invalid_argument);
  EXPECT_EQ(commit([](Manifest& m, auto) { m.containers[1].name = m.containers[0].name; }),
            ErrorKind::invalid_argument);
  EXPECT_EQ(commit([](Manifest& m, auto) { m.containers[0].bytes += 1; }), ErrorKind::corrupt);
  EXPECT_EQ(commit([](Manifest&, const std::string& d) { fs::remove(d + "/g000000.fbc"); }), ErrorKind::not_found);
  EXPECT_TRUE(value(store.list()).empty());
  EXPECT_EQ(names_in(root() + "/staging")->size(), 0u);
}

TEST_F(StoreTest, MissingSetIsReportedWithTheNearestNames) {
  const Store store = writing();
  commit_set(store, "output_0001");
  commit_set(store, "output_0002");
  commit_set(store, "other");
  const Error near = error(store.find("ouput_0001"));
  EXPECT_EQ(near.kind, ErrorKind::not_found);
  EXPECT_EQ(near.hint, "did you mean output_0001 or output_0002?");
  EXPECT_EQ(error(store.find("../sets/other")).kind, ErrorKind::not_found);
  EXPECT_EQ(error(store.find("")).kind, ErrorKind::not_found);
  EXPECT_EQ(error(store.find("zzzzzzzzz")).hint, "`forebay ls STORE` lists the sets");
}

TEST_F(StoreTest, RemovedSetIsGoneWhileReadersKeepTheirFiles) {
  const Store store = writing();
  commit_set(store, "a");
  commit_set(store, "b");
  const auto open = value(FileSource::open(root() + "/sets/a/g000000.fbc"));
  ASSERT_TRUE(store.remove("a"));
  EXPECT_EQ(names(value(store.list())), Names{"b"});
  EXPECT_EQ(names_in(root() + "/staging")->size(), 0u);
  Bytes bytes(open->size());
  EXPECT_TRUE(open->read_at(0, bytes));
  EXPECT_EQ(error(store.remove("a")).kind, ErrorKind::not_found);
  EXPECT_EQ(error(store.remove("..")).kind, ErrorKind::not_found);
  commit_set(store, "a");  // the name is free again
}

TEST_F(StoreTest, RemovalFollowsNoLinks) {
  const Store store = writing();
  commit_set(store, "a");
  fs::create_directory(path("outside"));
  std::ofstream(path("outside/file")) << "keep";
  fs::create_directory_symlink(path("outside"), root() + "/sets/a/link.fbc");
  fs::create_directories(root() + "/sets/a/deep.fbc/deeper");
  ASSERT_TRUE(store.remove("a"));
  EXPECT_TRUE(fs::exists(path("outside/file")));
  EXPECT_EQ(names_in(root() + "/staging")->size(), 0u);
}

TEST_F(StoreTest, WhatIsNotOursInASetOrInThePlaceOfOneStays) {
  const Store store = writing();
  commit_set(store, "a");
  std::ofstream(root() + "/sets/a/notes.txt") << "mine";
  EXPECT_EQ(error(store.remove("a")).kind, ErrorKind::exists);
  EXPECT_TRUE(fs::exists(root() + "/sets/a/notes.txt"));
  EXPECT_TRUE(store.find("a")->manifest);
  std::ofstream(root() + "/sets/file") << "mine";
  EXPECT_EQ(error(store.remove("file")).kind, ErrorKind::exists);
  EXPECT_TRUE(fs::exists(root() + "/sets/file"));
  fs::remove(root() + "/sets/a/notes.txt");
  fs::remove(root() + "/sets/a/manifest");
  EXPECT_TRUE(store.remove("a")) << "a damaged set is one that may be removed";
}

TEST_F(StoreTest, UnreadableSetsAreListedWithTheirError) {
  const Store store = writing();
  for (const char* name : {"good", "cut", "empty", "moved"}) commit_set(store, name);
  fs::resize_file(root() + "/sets/cut/manifest", 100);
  fs::remove(root() + "/sets/empty/manifest");
  fs::rename(root() + "/sets/moved", root() + "/sets/elsewhere");
  std::ofstream(root() + "/sets/file") << "not a set";
  fs::create_directory(root() + "/sets/.hidden");
  const auto sets = value(store.list());
  EXPECT_EQ(names(sets), (Names{"cut", "elsewhere", "empty", "file", "good"}));
  for (const SetInfo& set : sets) EXPECT_EQ(set.manifest.has_value(), set.name == "good") << set.name;
  EXPECT_EQ(sets[0].manifest.error().kind, ErrorKind::corrupt);
  EXPECT_EQ(sets[0].manifest.error().path, root() + "/sets/cut/manifest");
  EXPECT_EQ(sets[1].manifest.error().kind, ErrorKind::corrupt);
  EXPECT_EQ(sets[2].manifest.error().kind, ErrorKind::corrupt);
}

TEST_F(StoreTest, OpeningRefusesWhatIsNoStore) {
  EXPECT_EQ(error(Store::open(root())).kind, ErrorKind::not_found);
  EXPECT_NE(error(Store::open(root())).hint, "");
  EXPECT_FALSE(fs::exists(root())) << "reading must not make a store";
  fs::create_directory(root());
  std::ofstream(root() + "/thesis.tex") << "text";
  EXPECT_EQ(error(Store::open_for_writing(root())).kind, ErrorKind::invalid_argument);
  EXPECT_EQ(names_in(root())->size(), 1u);
  EXPECT_EQ(error(Store::open_for_writing(path("no/such/parent"))).kind, ErrorKind::not_found);
}

TEST_F(StoreTest, IsNotWrittenWhereEverybodyCanWrite) {
  const mode_t before = ::umask(0);
  (void)writing();
  EXPECT_TRUE(Store::open_for_writing(root())) << "what it makes itself is not everybody's";
  ::umask(before);
  for (const char* directory : {"", "/sets", "/staging"}) {
    ASSERT_EQ(::chmod((root() + directory).c_str(), 01777), 0);
    const auto refused = error(Store::open_for_writing(root()));
    EXPECT_EQ(refused.kind, ErrorKind::permission) << directory;
    EXPECT_EQ(refused.path, root() + directory);
    EXPECT_TRUE(Store::open(root())) << "reading it is the user's choice";
    ASSERT_EQ(::chmod((root() + directory).c_str(), 0775), 0);
  }
}

TEST_F(StoreTest, WhatAKilledMakerLeftBecomesAStore) {
  fs::create_directories(root() + "/sets");
  writing();
  fs::remove(root() + "/forebay-store");
  writing();
  commit_set(writing(), "a");
  fs::remove(root() + "/forebay-store");
  EXPECT_EQ(error(Store::open_for_writing(root())).kind, ErrorKind::invalid_argument);
}

TEST_F(StoreTest, EveryFlippedBitOfTheStoreFileIsNoticed) {
  writing();
  const std::string file = root() + "/forebay-store";
  const std::string good = value(read_text(file, 1 << 20));
  for (size_t bit = 0; bit < 8 * good.size(); ++bit) {
    std::string bad = good;
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << (bit % 8)));
    std::ofstream(file, std::ios::binary) << bad;
    ASSERT_EQ(error(Store::open(root())).kind, ErrorKind::corrupt) << "bit " << bit;
    ASSERT_EQ(error(Store::open_for_writing(root())).kind, ErrorKind::corrupt) << "bit " << bit;
  }
}

TEST_F(StoreTest, NewerStoreIsRefusedWithWhatToDo) {
  writing();
  std::ofstream(root() + "/forebay-store") << sealed("forebay-store", "{\"version\": 2}");
  const Error newer = error(Store::open_for_writing(root()));
  EXPECT_EQ(newer.kind, ErrorKind::unsupported);
  EXPECT_NE(newer.hint, "");
}

TEST_F(StoreTest, StagingOfADeadProcessIsCleanedAndALivingOnesIsNot) {
  const Store store = writing();
  const auto mine = value(store.stage("mine"));
  write_containers(mine->containers(), "mine");
  const pid_t child = ::fork();
  if (child == 0) {
    const auto theirs = store.stage("theirs");
    write_containers((*theirs)->containers(), "theirs");
    ::_exit(0);  // no destructors: as if killed
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(names_in(root() + "/staging")->size(), 4u);
  writing();
  EXPECT_EQ(names_in(root() + "/staging")->size(), 2u);
  EXPECT_TRUE(fs::exists(mine->containers().path_of("g000000.fbc")));
}

TEST_F(StoreTest, CleaningRemovesNothingWithoutALockFile) {
  const Store store = writing();
  fs::create_directory(root() + "/staging/someone");
  writing();
  EXPECT_TRUE(fs::exists(root() + "/staging/someone"));
}

}  // namespace
}  // namespace forebay::store

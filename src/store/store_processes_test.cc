// Several processes on one store.
#include <chrono>
#include <functional>
#include <thread>

#include <signal.h>
#include <sys/wait.h>

#include "store/test_store.h"

namespace forebay::store {
namespace {

class ProcessesTest : public TempTest {
 protected:
  std::string root() const { return path("store"); }

  // Runs `work` in a child, which exits with what it returns, without destructors of this process.
  static pid_t spawn(const std::function<int()>& work) {
    const pid_t child = ::fork();
    if (child == 0) {
      int code = 99;
      try {
        code = work();
      } catch (const std::exception& thrown) {
        std::fprintf(stderr, "%s\n", thrown.what());
      }
      ::_exit(code);
    }
    return child;
  }

  static int exit_code(pid_t child) {
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
};

TEST_F(ProcessesTest, WritersOfDifferentSetsDoNotDisturbEachOther) {
  constexpr int kWriters = 6, kSets = 5;
  std::vector<pid_t> children;
  for (int writer = 0; writer < kWriters; ++writer)
    children.push_back(spawn([&] {
      for (int i = 0; i < kSets; ++i)  // each opens, and so cleans, anew; the first ones make the store together
        commit_set(value(Store::open_for_writing(root())), "w" + std::to_string(writer) + "." + std::to_string(i));
      return 0;
    }));
  for (const pid_t child : children) EXPECT_EQ(exit_code(child), 0);
  const auto sets = value(value(Store::open(root())).list());
  EXPECT_EQ(sets.size(), static_cast<size_t>(kWriters * kSets));
  for (const SetInfo& set : sets) EXPECT_TRUE(set.manifest) << set.name;
  EXPECT_TRUE(names_in(root() + "/staging")->empty());
}

TEST_F(ProcessesTest, ManyMakeTheStoreTogether) {
  for (int round = 0; round < 100; ++round) {
    const std::string store_path = path("store" + std::to_string(round));
    std::vector<pid_t> children;
    for (int maker = 0; maker < 6; ++maker)
      children.push_back(spawn([&] {
        const auto store = Store::open_for_writing(store_path);
        if (!store) std::fprintf(stderr, "%s\n", store.error().message().c_str());
        return store ? 0 : 1;
      }));
    for (const pid_t child : children) EXPECT_EQ(exit_code(child), 0);
  }
}

TEST_F(ProcessesTest, OneOfManyWinsAName) {
  value(Store::open_for_writing(root()));
  for (int round = 0; round < 10; ++round) {
    const std::string name = "round" + std::to_string(round);
    std::vector<pid_t> children;
    for (int writer = 0; writer < 4; ++writer)
      children.push_back(spawn([&] {
        const Store store = value(Store::open(root()));
        auto staged = store.stage(name);
        if (!staged) return staged.error().kind == ErrorKind::exists ? 1 : 2;
        const Manifest manifest = write_containers((*staged)->containers(), name, {.step = writer});
        const auto committed = (*staged)->commit(manifest);
        const bool lost = !committed && committed.error().kind == ErrorKind::exists;
        staged->reset();
        return committed ? 0 : lost ? 1 : 2;
      }));
    int won = 0, winner = -1;
    for (int writer = 0; writer < 4; ++writer) {
      const int code = exit_code(children[static_cast<size_t>(writer)]);
      EXPECT_LE(code, 1);
      if (code == 0) ++won, winner = writer;
    }
    EXPECT_EQ(won, 1);
    EXPECT_EQ(value(value(value(Store::open(root())).find(name)).manifest).step, winner);
  }
  EXPECT_TRUE(names_in(root() + "/staging")->empty());
}

TEST_F(ProcessesTest, ReadersSeeWholeSetsWhileTheyComeAndGo) {
  const Store store = value(Store::open_for_writing(root()));
  commit_set(store, "fixed");
  const pid_t writer = spawn([&] {
    for (int i = 0; i < 60; ++i) {
      commit_set(store, "moving");
      check(store.remove("moving"));
    }
    return 0;
  });
  int status = 0, rounds = 0;
  while (::waitpid(writer, &status, WNOHANG) == 0) {
    ++rounds;
    const auto sets = value(store.list());
    ASSERT_TRUE(sets.size() == 1 || sets.size() == 2);
    for (const SetInfo& set : sets) ASSERT_TRUE(set.manifest) << set.manifest.error().message();
  }
  EXPECT_EQ(status, 0);
  EXPECT_GT(rounds, 0);
}

TEST_F(ProcessesTest, KilledWritersLeaveWholeSetsAndWhatTheNextOneCleans) {
  value(Store::open_for_writing(root()));
  for (int round = 0; round < 25; ++round) {
    const pid_t writer = spawn([&] {
      const Store store = value(Store::open_for_writing(root()));
      for (int i = 0;; ++i) {
        const std::string name = "r" + std::to_string(round) + "." + std::to_string(i);
        commit_set(store, name);
        if (i % 2 != 0) check(store.remove(name));
      }
      return 0;
    });
    std::this_thread::sleep_for(std::chrono::microseconds(500 + 700 * round));
    ::kill(writer, SIGKILL);
    exit_code(writer);
    for (const SetInfo& set : value(value(Store::open(root())).list())) ASSERT_TRUE(set.manifest) << set.name;
  }
  value(Store::open_for_writing(root()));
  EXPECT_TRUE(names_in(root() + "/staging")->empty());
}

TEST_F(ProcessesTest, NoSetIsCommittedWithoutAParentThatIsRemovedMeanwhile) {
  int committed = 0, removed = 0;
  for (int round = 0; round < 60; ++round) {
    const Store store = value(Store::open_for_writing(root()));
    const Manifest parent = commit_set(store, "parent", {{}, round});
    const ParentEntry entry{.name = "parent", .created_ns = round};
    const pid_t writer = spawn([&] {
      const auto staged = value(store.stage("new"));
      if (!staged->announce({&entry, 1})) return 1;
      Manifest manifest = write_containers(staged->containers(), "new");
      manifest.parents = {entry};
      manifest.since_full = 1;
      return staged->commit(manifest) ? 0 : 1;
    });
    const pid_t remover = spawn([&] {
      ::usleep(static_cast<useconds_t>(20 * round));
      return store.remove("parent") ? 0 : 1;
    });
    const bool is_new = exit_code(writer) == 0, is_removed = exit_code(remover) == 0;
    EXPECT_EQ(store.find("new").has_value(), is_new);
    EXPECT_EQ(store.find("parent").has_value(), !is_removed);
    EXPECT_FALSE(is_new && is_removed) << "round " << round;
    committed += is_new;
    removed += is_removed;
    if (is_new) check(store.remove("new"));
    if (!is_removed) check(store.remove("parent"));
  }
  EXPECT_GT(committed, 0);
  EXPECT_GT(committed + removed, 30);
}

// A remover that dies between taking sets out of sight and looking again loses none that others need.
TEST_F(ProcessesTest, WhatADeadRemoverTookComesBackIfASetNeedsIt) {
  const Store store = value(Store::open_for_writing(root()));
  const auto commit = [&](const std::string& name, int64_t created_ns, const std::string& parent) {
    const auto staged = value(store.stage(name));
    Manifest manifest = write_containers(staged->containers(), name, {{}, created_ns});
    if (!parent.empty()) manifest.parents = {{.name = parent, .created_ns = created_ns - 1}};
    manifest.since_full = parent.empty() ? 0 : 1;
    check(staged->commit(manifest));
  };
  const std::vector<std::string> chain = {"a", "b", "c"};
  commit("a", 1, "");
  commit("b", 2, "a");
  commit("c", 3, "b");
  commit("other", 9, "");
  commit("child", 10, "other");
  const auto take = [&](std::vector<std::string> taken) {
    const pid_t remover = spawn([&] {
      for (const std::string& name : taken) (void)value(store.backend()->withdraw(name)).release();
      return 0;
    });
    ASSERT_EQ(exit_code(remover), 0);
  };
  take({"b", "a", "child", "other"});  // nobody needs the last two
  EXPECT_EQ(names(value(store.list())), std::vector<std::string>{"c"});
  value(Store::open_for_writing(root()));
  EXPECT_EQ(names(value(store.list())), chain);
  EXPECT_TRUE(names_in(root() + "/staging")->empty());
  for (const SetInfo& set : value(store.list())) EXPECT_EQ(value(set.files.names()).size(), 3u) << set.name;
  take({"c", "b", "a"});
  value(Store::open_for_writing(root()));
  EXPECT_TRUE(value(store.list()).empty());
}

}  // namespace
}  // namespace forebay::store

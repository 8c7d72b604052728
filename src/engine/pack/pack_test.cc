#include "engine/pack/pack.h"

#include <barrier>
#include <thread>

#include <gtest/gtest.h>

#include "engine/test_sets.h"

namespace forebay::engine {
namespace {

class PackTest : public SetTest {
 protected:
  Result<PackReport> pack_tree(PackOptions pack_options) {
    SoloTeam team;
    return pack(pack_options, team);
  }
};

TEST_F(PackTest, FilesThatComeOrGoDuringThePackStopIt) {
  for (const bool comes : {true, false}) {
    write_ranks(2, 64, 64);
    write(tree() + "/extra", "x");
    PackOptions pack_options = options();
    pack_options.name = comes ? "comes" : "goes";
    bool touched = false;
    pack_options.resources.progress = [&](const Progress&) {
      if (touched) return;
      touched = true;
      if (comes) {
        write(tree() + "/late", "y");
      } else {
        std::filesystem::remove(tree() + "/extra");
      }
    };
    const auto report = pack_tree(pack_options);
    ASSERT_TRUE(touched);
    ASSERT_FALSE(report.has_value());
    EXPECT_EQ(report.error().kind, ErrorKind::changed) << report.error().message();
    EXPECT_FALSE(std::filesystem::exists(set_path(pack_options.name)));
    std::filesystem::remove(tree() + "/late");
  }
}

TEST_F(PackTest, RefusesAStoreInsideItsSource) {
  write_ranks(1, 8, 8);
  PackOptions pack_options = options();
  pack_options.store = tree() + "/store";
  EXPECT_EQ(pack_tree(pack_options).error().kind, ErrorKind::invalid_argument);
  EXPECT_FALSE(std::filesystem::exists(pack_options.store));
  pack_options.store = tree() + "-store";
  EXPECT_TRUE(pack_tree(pack_options).has_value());
}

TEST_F(PackTest, TheNumberOfThreadsDoesNotChangeTheResult) {
  write_ranks(5, 64, 64);
  std::vector<std::string> contents;
  for (const unsigned threads : {1u, 2u, 7u}) {
    PackOptions pack_options = options();
    pack_options.name = "threads" + std::to_string(threads);
    pack_options.resources.threads = threads;
    ASSERT_TRUE(pack_tree(pack_options).has_value());
    contents.push_back(read_text(container_path(pack_options.name, 0)));
  }
  EXPECT_FALSE(contents[0].empty());
  EXPECT_EQ(contents[0], contents[1]);
  EXPECT_EQ(contents[0], contents[2]);
}

TEST_F(PackTest, TheNameOfADotIsTheDirectorys) {
  write_ranks(1, 8, 8);
  PackOptions pack_options = options();
  pack_options.name.clear();
  pack_options.sources = {tree() + "/."};
  const auto report = pack_tree(pack_options);
  ASSERT_TRUE(report.has_value()) << report.error().message();
  EXPECT_EQ(report->name, "tree");
}

// The processes of a team as threads.
class Threads {
 public:
  explicit Threads(int count) : barrier_(count), texts_(static_cast<size_t>(count)) {}

  class Member final : public Team {
   public:
    Member(Threads& all, int rank) : all_(all), rank_(rank) {}
    int rank() const override { return rank_; }
    int size() const override { return static_cast<int>(all_.texts_.size()); }
    std::string broadcast(std::string text) override { return exchange(text).front(); }
    std::vector<std::string> gather(const std::string& text) override {
      auto all = exchange(text);
      return rank_ == 0 ? all : std::vector<std::string>();
    }

   private:
    std::vector<std::string> exchange(const std::string& text) {
      all_.texts_[static_cast<size_t>(rank_)] = text;
      all_.barrier_.arrive_and_wait();
      auto all = all_.texts_;
      all_.barrier_.arrive_and_wait();
      return all;
    }

    Threads& all_;
    const int rank_;
  };

 private:
  std::barrier<> barrier_;
  std::vector<std::string> texts_;
};

TEST_F(PackTest, OneProcessScansAndTellsTheOthers) {
  write_ranks(6, 40, 50);
  std::filesystem::create_symlink("notes.txt", tree() + "/link");
  PackOptions first = options();
  first.group_size = 2;
  PackOptions other = first;
  other.sources = {path("nowhere")};  // so that looking for itself would fail
  Threads threads(2);
  Result<PackReport> reports[2];
  {
    std::jthread second([&] {
      Threads::Member team(threads, 1);
      reports[1] = pack(other, team);
    });
    Threads::Member team(threads, 0);
    reports[0] = pack(first, team);
  }
  for (const auto& report : reports) ASSERT_TRUE(report) << report.error().message();
  EXPECT_EQ(reports[0]->containers, 3u);
  EXPECT_EQ(reports[1]->files, 8u);
  ASSERT_TRUE(restore_to("back"));
  EXPECT_EQ(expect_subset("back"), 8u) << "six ranks, notes, and what the link leads to";
}

}  // namespace
}  // namespace forebay::engine

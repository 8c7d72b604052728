#include "engine/pack/tree.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <sys/stat.h>

namespace forebay::engine {
namespace {

using Names = std::vector<std::string>;
using Ranks = std::vector<uint32_t>;

TEST(AssignRanks, ReadsTheNumberThatDiffers) {
  EXPECT_EQ(assign_ranks(Names{"DD0010.cpu0000", "DD0010.cpu0001", "DD0010.cpu0002"}).of_name, (Ranks{0, 1, 2}));
  EXPECT_EQ(assign_ranks(Names{"rank10.h5", "rank2.h5", "rank1.h5"}).of_name, (Ranks{2, 1, 0}))
      << "by value, not by spelling";
  EXPECT_EQ(assign_ranks(Names{"rank0/state_7.bin", "rank1/state_7.bin"}).of_name, (Ranks{0, 1}));
}

TEST(AssignRanks, GivesLogsAndParametersToRankZero) {
  EXPECT_EQ(assign_ranks(Names{"DD0010", "DD0010.cpu0000", "DD0010.cpu0001", "DD0010.hierarchy"}).of_name,
            (Ranks{0, 0, 1, 0}));
}

TEST(AssignRanks, PutsSeveralFilesOfOneRankTogether) {
  EXPECT_EQ(assign_ranks(Names{"grid.0003", "grid.0004", "part.0003", "part.0004"}).of_name, (Ranks{0, 1, 0, 1}));
}

TEST(AssignRanks, WithoutNumbersEachNameIsARank) {
  EXPECT_EQ(assign_ranks(Names{"a", "b", "c"}).of_name, (Ranks{0, 1, 2}));
  EXPECT_EQ(assign_ranks(Names{"only7"}).of_name, (Ranks{0}));
  EXPECT_EQ(assign_ranks(Names{}).of_name, Ranks{});
  EXPECT_FALSE(assign_ranks(Names{"a", "b7"}).are_numbered);
  EXPECT_TRUE(assign_ranks(Names{"a", "b7", "b8"}).are_numbered);
}

SourceTree tree_of(uint64_t files, uint64_t bytes_each, bool are_numbered, uint64_t files_per_rank = 1) {
  SourceTree tree;
  tree.files.resize(files);
  tree.ranks = files / files_per_rank;
  tree.bytes = files * bytes_each;
  tree.are_numbered = are_numbered;
  return tree;
}

TEST(DefaultGroupSize, IsLargerWhereRanksAreSmall) {
  EXPECT_EQ(default_group_size(tree_of(4096, 1 << 20, true)), 64u) << "64 MiB a group";
  EXPECT_EQ(default_group_size(tree_of(4096, 64 << 10, true)), 128u) << "8 MiB a group";
  EXPECT_EQ(default_group_size(tree_of(4096, 1 << 20, false)), 256u) << "256 MiB a group";
  EXPECT_EQ(default_group_size(tree_of(100'000, 400, true)), 16384u) << "as many files as a group may have";
  EXPECT_EQ(default_group_size(tree_of(100'000, 400, false)), 16384u);
  EXPECT_EQ(default_group_size(tree_of(100'000, 400, true, 4)), 4096u) << "four files a rank";
}

TEST(DefaultGroupSize, IsNoLargerThanTheRanksNeed) {
  EXPECT_EQ(default_group_size(tree_of(0, 0, false)), 64u);
  EXPECT_EQ(default_group_size(tree_of(64, 0, true)), 64u);
  EXPECT_EQ(default_group_size(tree_of(65, 0, true)), 128u);
  EXPECT_EQ(default_group_size(tree_of(50'000, 10, true, 50'000)), 64u) << "one rank of many files";
}

class TreeTest : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/forebay_tree_XXXXXX";
    root_ = mkdtemp(name);
  }
  void TearDown() override { std::filesystem::remove_all(root_); }
  void write(const std::string& name, const std::string& content) {
    std::filesystem::create_directories(std::filesystem::path(root_ + "/" + name).parent_path());
    std::ofstream(root_ + "/" + name) << content;
  }
  static Names names(const SourceTree& tree) {
    Names names;
    for (const SourceFile& file : tree.files) names.push_back(file.row.name);
    std::ranges::sort(names);
    return names;
  }
  std::string root_;
};

TEST_F(TreeTest, FindsFilesDirectoriesAndLinks) {
  write("a/rank0.bin", "xx");
  write("a/rank1.bin", "yyy");
  write("notes\n.txt", "");
  std::filesystem::create_directory(root_ + "/empty");
  std::filesystem::create_symlink("/etc", root_ + "/link");
  const auto tree = scan_tree(std::vector{root_});
  ASSERT_TRUE(tree.has_value()) << tree.error().message();
  EXPECT_EQ(tree->bytes, 5u);
  EXPECT_EQ(tree->ranks, 2u);
  ASSERT_EQ(tree->files.size(), 6u);
  EXPECT_EQ(tree->files.back().row.name, "a/rank1.bin");
  for (const SourceFile& file : tree->files)
    if (file.row.name == "link") {
      EXPECT_EQ(file.row.link_target, "/etc");
    }
}

TEST_F(TreeTest, SeveralRootsKeepTheirNames) {
  write("node0/rank0.bin", "x");
  write("node1/rank1.bin", "y");
  const auto tree = scan_tree(std::vector{root_ + "/node0", root_ + "/node1/"});
  ASSERT_TRUE(tree.has_value());
  EXPECT_EQ(tree->files.back().row.name, "node1/rank1.bin");
  EXPECT_EQ(scan_tree(std::vector{root_ + "/node0", root_ + "/node0"}).error().kind, ErrorKind::exists);
}

TEST_F(TreeTest, SkipsFifosOrRefusesThem) {
  EXPECT_EQ(scan_tree(std::vector{root_ + "/none"}).error().kind, ErrorKind::not_found);
  write("sub/rank0", "x");
  const std::string fifo = root_ + "/sub/fifo";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  const auto tree = scan_tree(std::vector{root_});
  ASSERT_TRUE(tree) << tree.error().message();
  EXPECT_EQ(tree->skipped, Names{fifo + " is a FIFO"});
  EXPECT_EQ(names(*tree), (Names{"sub", "sub/rank0"}));
  const auto strict = scan_tree(std::vector{root_}, {.include = {}, .exclude = {}, .strict = true});
  EXPECT_EQ(strict.error().kind, ErrorKind::unsupported);
  EXPECT_EQ(strict.error().path, fifo);
  EXPECT_EQ(scan_tree(std::vector{fifo}).error().kind, ErrorKind::unsupported) << "it was asked for by name";
  EXPECT_TRUE(scan_tree(std::vector{root_}, {.include = {}, .exclude = {"*fifo"}, .strict = true}));
}

TEST_F(TreeTest, PatternsTakeAndLeaveOut) {
  for (const char* name : {"a/core.1", "a/rank0", "a/b/rank1", "logs/old/x", "logs/y", "top"}) write(name, "x");
  std::filesystem::create_directory(root_ + "/empty");
  const auto taken = [&](Names include, Names exclude) {
    return names(*scan_tree(std::vector{root_}, {std::move(include), std::move(exclude), false}));
  };
  EXPECT_EQ(taken({}, {"*core*", "logs"}), (Names{"a", "a/b", "a/b/rank1", "a/rank0", "empty", "top"}));
  EXPECT_EQ(taken({"*rank*"}, {}), (Names{"a", "a/b", "a/b/rank1", "a/rank0"})) << "with the directories on the way";
  EXPECT_EQ(taken({"logs", "empty"}, {}), (Names{"empty", "logs", "logs/old", "logs/old/x", "logs/y"}));
  EXPECT_EQ(taken({"logs"}, {"logs/old"}), (Names{"logs", "logs/y"}));
  EXPECT_EQ(taken({"none"}, {}), Names{});
}

TEST_F(TreeTest, RankGroupsAreRangesOfFiles) {
  for (int rank = 0; rank < 10; ++rank) write("c.cpu" + std::to_string(1000 + rank), "x");
  write("parameters", "p");
  const auto tree = scan_tree(std::vector{root_});
  const auto groups = rank_groups(*tree, 4);
  ASSERT_EQ(groups.size(), 3u);
  EXPECT_EQ(groups[0].last - groups[0].first, 5u) << "four ranks and the parameters";
  EXPECT_EQ(groups[2].last - groups[2].first, 2u);
  EXPECT_EQ(groups[2].last, tree->files.size());
}

TEST_F(TreeTest, ManyAtATimeAreFoundInOrder) {
  Names expected;
  for (int directory = 0; directory < 40; ++directory) {
    const std::string below = "d" + std::to_string(100 + directory);
    expected.push_back(below);
    for (int file = 0; file < (directory == 7 ? 300 : 3); ++file) {
      expected.push_back(below + "/f" + std::to_string(1000 + file));
      write(expected.back(), "x");
    }
  }
  const auto tree = scan_tree(std::vector{root_});
  ASSERT_TRUE(tree) << tree.error().message();
  EXPECT_EQ(names(*tree), expected);
  for (size_t i = 1; i < tree->files.size(); ++i) {
    const FileRow &before = tree->files[i - 1].row, &row = tree->files[i].row;
    EXPECT_TRUE(before.rank < row.rank || (before.rank == row.rank && before.name < row.name)) << row.name;
  }
}

TEST_F(TreeTest, OtherProcessesAreTold) {
  for (int rank = 0; rank < 20; ++rank) write("dump." + std::to_string(rank), std::string(10, 'x'));
  std::filesystem::create_symlink("dump.3", root_ + "/link");
  const auto tree = scan_tree(std::vector{root_});
  ASSERT_TRUE(tree) << tree.error().message();
  const SourceTree told = tree_from_text(to_text(*tree));
  EXPECT_EQ(to_text(told), to_text(*tree));
  EXPECT_EQ(told.ranks, 20u);
  EXPECT_EQ(told.bytes, 200u);
  ASSERT_EQ(told.files.size(), 21u);
  EXPECT_EQ(told.files[3].path, tree->files[3].path);
  EXPECT_EQ(told.files[3].row.mtime_ns, tree->files[3].row.mtime_ns);

  EXPECT_TRUE(check_shared(told.files));
  EXPECT_TRUE(check_shared({}));
  write("dump.0", "another length");
  EXPECT_EQ(check_shared(std::span(told.files).first(1)).error().kind, ErrorKind::invalid_argument);
  std::filesystem::remove(root_ + "/dump.0");
  EXPECT_EQ(check_shared(std::span(told.files).first(1)).error().path, root_ + "/dump.0");
}

}  // namespace
}  // namespace forebay::engine

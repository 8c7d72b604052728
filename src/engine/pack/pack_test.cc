#include "engine/pack/pack.h"

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

}  // namespace
}  // namespace forebay::engine

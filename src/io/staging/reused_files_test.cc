#include "io/staging/reused_files.h"

#include <filesystem>
#include <fstream>
#include <random>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"

namespace forebay::io {
namespace {
namespace fs = std::filesystem;

class ReusedFilesTest : public testing::Test {
 protected:
  ReusedFilesTest() {
    // Memory where it is to be had, since there pages are kept; elsewhere the calls are the same.
    std::string pattern =
        (fs::is_directory("/dev/shm") ? std::string("/dev/shm/") : testing::TempDir()) + "forebay-XXXXXX";
    root_ = ::mkdtemp(pattern.data());
  }
  ~ReusedFilesTest() override { fs::remove_all(root_); }

  std::string at(const std::string& name) const { return root_ + "/" + name; }

  static ino_t inode(const std::string& path) {
    struct stat status{};
    return stat(path.c_str(), &status) == 0 ? status.st_ino : 0;
  }

  Bytes contents(const std::string& name) const {
    std::ifstream in(at(name), std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    const auto bytes = as_bytes(text);
    return {bytes.begin(), bytes.end()};
  }

  std::string root_;
};

TEST_F(ReusedFilesTest, AFileIsUsedAgainWhenItsOtherNameIsGone) {
  ReusedFiles files(at("memory"), "rank");
  ino_t first = 0;
  {
    const auto one = files.take(at("one"));
    ASSERT_TRUE(one) << one.error().message();
    first = inode(at("one"));
  }
  ASSERT_TRUE(files.take(at("two")));
  EXPECT_NE(inode(at("two")), first);  // that one waits still
  unlink(at("one").c_str());
  ASSERT_TRUE(files.take(at("three")));
  EXPECT_EQ(inode(at("three")), first);
  EXPECT_FALSE(files.take(at("three")));  // is there
}

TEST_F(ReusedFilesTest, AFileThatIsBeingWrittenIsNotUsedBySomebodyElse) {
  ReusedFiles files(at("memory"), "rank");
  const auto one = files.take(at("one"));
  ASSERT_TRUE(one);
  unlink(at("one").c_str());
  const auto two = files.take(at("two"));
  ASSERT_TRUE(two);
  EXPECT_NE((*one)->fd(), (*two)->fd());
}

TEST_F(ReusedFilesTest, HasTheBytesThatWereWrittenLast) {
  ReusedFiles files(at("memory"), "rank");
  std::mt19937_64 random(7);
  for (int round = 0; round < 40; ++round) {
    const uint64_t size = random() % 300'000;
    Bytes expected(size);
    for (auto& byte : expected) byte = static_cast<std::byte>(random());
    {
      const auto file = files.take(at("set"));
      ASSERT_TRUE(file);
      // Pieces of any size, the later half first, as payloads come before their headers.
      std::vector<uint64_t> cuts = {0, size / 2, size};
      for (const size_t part : {size_t{1}, size_t{0}}) {
        const auto all = std::span<const std::byte>(expected).subspan(cuts[part], cuts[part + 1] - cuts[part]);
        const uint64_t cut = all.empty() ? 0 : random() % all.size();
        const std::vector<std::span<const std::byte>> pieces = {all.first(cut), all.subspan(cut)};
        ASSERT_TRUE((*file)->write(pieces, cuts[part], at("set")));
      }
      ASSERT_TRUE((*file)->cut_off(size, at("set")));
    }
    ASSERT_TRUE(contents("set") == expected) << "round " << round;
    unlink(at("set").c_str());
  }
  // One file was enough for all of them.
  EXPECT_EQ(std::distance(fs::directory_iterator(at("memory")), fs::directory_iterator()), 1);
}

TEST_F(ReusedFilesTest, KeepsOneFreeFileBesideTheOneThatIsTaken) {
  ReusedFiles files(at("memory"), "rank");
  for (const char* name : {"a", "b", "c", "d"}) ASSERT_TRUE(files.take(at(name)));
  for (const char* name : {"a", "b", "c", "d"}) unlink(at(name).c_str());
  ASSERT_TRUE(files.take(at("e")));
  EXPECT_EQ(std::distance(fs::directory_iterator(at("memory")), fs::directory_iterator()), 2);
}

TEST_F(ReusedFilesTest, LeavesNothingBehindButWhatWaits) {
  {
    ReusedFiles files(at("memory"), "rank");
    ASSERT_TRUE(files.take(at("one")));
    ASSERT_TRUE(files.take(at("two")));
    unlink(at("two").c_str());
  }
  EXPECT_FALSE(fs::exists(at("memory")));
  EXPECT_TRUE(fs::exists(at("one")));
}

TEST_F(ReusedFilesTest, FailsWhereItCannotBe) {
  std::ofstream(at("memory")) << "a file";
  ReusedFiles files(at("memory"), "rank");
  EXPECT_FALSE(files.take(at("one")));
}

}  // namespace
}  // namespace forebay::io

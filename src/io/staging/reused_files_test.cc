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

  // A file that is written as a whole.
  void finish(ReusedFiles& files, const std::string& name, uint64_t size = 10) const {
    const auto file = files.take(at(name));
    ASSERT_TRUE(file) << file.error().message();
    const Bytes bytes(size, std::byte{1});
    const std::vector<std::span<const std::byte>> pieces = {bytes};
    ASSERT_TRUE((*file)->write(pieces, 0, name));
    ASSERT_TRUE((*file)->finish(size, name));
  }

  ptrdiff_t kept() const { return std::distance(fs::directory_iterator(at("memory")), fs::directory_iterator()); }

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
  finish(files, "one");
  const ino_t first = inode(at("one"));
  finish(files, "two");
  EXPECT_NE(inode(at("two")), first);  // that one waits still
  unlink(at("one").c_str());
  finish(files, "three");
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
      ASSERT_TRUE((*file)->finish(size, at("set")));
    }
    ASSERT_TRUE(contents("set") == expected) << "round " << round;
    unlink(at("set").c_str());
  }
  // One file was enough for all of them.
  EXPECT_EQ(kept(), 1);
}

// What a writer left that found no room may have holes, whose pages a full memory does not have.
TEST_F(ReusedFilesTest, OnlyAWholeFileIsMapped) {
  const auto is_mapped = [&] {
    std::ifstream maps("/proc/self/maps");
    const std::string text{std::istreambuf_iterator<char>(maps), {}};
    return text.find(at("memory/rank.")) != std::string::npos;
  };
  ReusedFiles files(at("memory"), "rank");
  const Bytes bytes(100'000, std::byte{7});
  const std::vector<std::span<const std::byte>> pieces = {bytes};
  const auto use = [&](uint64_t offset, bool is_finished) {
    const auto file = files.take(at("set"));
    ASSERT_TRUE(file);
    ASSERT_TRUE((*file)->write(pieces, offset, at("set")));
    if (is_finished) {
      ASSERT_TRUE((*file)->finish(offset + bytes.size(), at("set")));
    }
    unlink(at("set").c_str());
  };
  use(1 << 20, false);
  use(0, true);
  EXPECT_FALSE(is_mapped());
  use(0, true);
  EXPECT_TRUE(is_mapped());
}

TEST_F(ReusedFilesTest, KeepsOneFreeFileBesideTheOneThatIsTaken) {
  ReusedFiles files(at("memory"), "rank");
  for (const char* name : {"a", "b", "c", "d"}) finish(files, name);
  for (const char* name : {"a", "b", "c", "d"}) unlink(at(name).c_str());
  finish(files, "e");
  EXPECT_EQ(kept(), 2);
}

TEST_F(ReusedFilesTest, TakesTheLargestFreeFile) {
  ReusedFiles files(at("memory"), "rank");
  for (const uint64_t size : {1000u, 3000u, 2000u}) finish(files, std::to_string(size), size);
  const ino_t largest = inode(at("3000"));
  for (const char* name : {"1000", "3000", "2000"}) unlink(at(name).c_str());
  finish(files, "next");
  EXPECT_EQ(inode(at("next")), largest);
}

// What could not be written is in the way of what comes next.
TEST_F(ReusedFilesTest, AFileThatWasNotFinishedIsNotKept) {
  ReusedFiles files(at("memory"), "rank");
  {
    const auto file = files.take(at("failed"));
    ASSERT_TRUE(file);
    const Bytes bytes(100'000);
    const std::vector<std::span<const std::byte>> pieces = {bytes};
    ASSERT_TRUE((*file)->write(pieces, 0, "failed"));
    (*file)->give_up();
    EXPECT_EQ(fs::file_size(at("failed")), 0u);
  }
  unlink(at("failed").c_str());
  finish(files, "next");
  EXPECT_EQ(kept(), 1);
}

TEST_F(ReusedFilesTest, AFileWhoseKeptNameIsGoneIsForgotten) {
  ReusedFiles files(at("memory"), "rank");
  finish(files, "one");
  fs::remove_all(at("memory"));  // as the next owner of the place does
  finish(files, "two");
  EXPECT_NE(inode(at("two")), inode(at("one")));
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

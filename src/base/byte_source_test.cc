#include "base/byte_source.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"

namespace forebay {
namespace {

namespace fs = std::filesystem;

class FileSourceTest : public testing::Test {
 protected:
  FileSourceTest() {
    std::string pattern = testing::TempDir() + "/forebay-base-XXXXXX";
    if (const char* made = ::mkdtemp(pattern.data())) directory_ = made;
    std::ofstream(file()) << "0123456789";
  }
  ~FileSourceTest() override { fs::remove_all(directory_); }

  std::string path(const std::string& name) const { return directory_ + "/" + name; }
  std::string file() const { return path("file"); }

  static ErrorKind open_error(const std::string& path) {
    const auto source = FileSource::open(path);
    return source ? ErrorKind::internal : source.error().kind;
  }
  static std::string read(const ByteSource& source, uint64_t offset, size_t size) {
    Bytes bytes(size);
    const auto done = source.read_at(offset, bytes);
    return done ? std::string(as_text(bytes)) : to_string(done.error().kind);
  }

 private:
  std::string directory_;
};

TEST_F(FileSourceTest, ReadsRanges) {
  const auto source = FileSource::open(file()).value();
  EXPECT_EQ(source->size(), 10u);
  EXPECT_EQ(source->name(), file());
  EXPECT_EQ(read(*source, 0, 10), "0123456789");
  EXPECT_EQ(read(*source, 3, 4), "3456");
  EXPECT_EQ(read(*source, 10, 0), "");
  EXPECT_TRUE(source->check_unchanged());
}

TEST_F(FileSourceTest, RangesPastTheEndAreInvalid) {
  const auto source = FileSource::open(file()).value();
  EXPECT_EQ(read(*source, 9, 2), "invalid_argument");
  EXPECT_EQ(read(*source, 11, 0), "invalid_argument");
  EXPECT_EQ(read(*source, UINT64_MAX, 2), "invalid_argument");
}

TEST_F(FileSourceTest, OnlyRegularFilesCanBeOpenedAndNothingHangs) {
  ASSERT_EQ(::mkfifo(path("fifo").c_str(), 0600), 0);
  EXPECT_EQ(open_error(path("fifo")), ErrorKind::invalid_argument);
  EXPECT_EQ(open_error(path("")), ErrorKind::invalid_argument);
  EXPECT_EQ(open_error("/dev/zero"), ErrorKind::invalid_argument);
  EXPECT_EQ(open_error(path("none")), ErrorKind::not_found);
  EXPECT_EQ(open_error(file() + "/below"), ErrorKind::not_found);
  EXPECT_EQ(FileSource::open(path("none")).error().path, path("none"));
  if (::geteuid() == 0) return;  // root may read everything
  fs::permissions(file(), fs::perms::none);
  EXPECT_EQ(open_error(file()), ErrorKind::permission);
}

TEST_F(FileSourceTest, FileThatShrinksWhileReadIsAnErrorAtTheByte) {
  const auto source = FileSource::open(file()).value();
  fs::resize_file(file(), 4);
  Bytes bytes(6);
  const auto done = source->read_at(2, bytes);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().kind, ErrorKind::changed);
  EXPECT_EQ(done.error().path, file());
  EXPECT_EQ(done.error().offset, 4u);
  EXPECT_FALSE(source->check_unchanged());
}

TEST_F(FileSourceTest, EveryChangeIsNoticed) {
  const auto check_after = [&](const auto& change) {
    std::ofstream(file()) << "0123456789";
    const auto source = FileSource::open(file()).value();
    EXPECT_TRUE(source->check_unchanged());
    change();
    const auto result = source->check_unchanged();
    return result ? "unchanged" : to_string(result.error().kind);
  };
  EXPECT_STREQ(check_after([&] { std::ofstream(file(), std::ios::app) << "x"; }), "changed");
  EXPECT_STREQ(check_after([&] {
                 const timespec times[2] = {{1, 0}, {1, 1}};
                 ::utimensat(AT_FDCWD, file().c_str(), times, 0);
               }),
               "changed");
  EXPECT_STREQ(check_after([&] { fs::remove(file()); }), "changed");
  EXPECT_STREQ(check_after([&] {
                 fs::copy_file(file(), path("copy"));
                 struct stat info{};
                 ::stat(file().c_str(), &info);
                 const timespec times[2] = {info.st_atim, info.st_mtim};
                 ::utimensat(AT_FDCWD, path("copy").c_str(), times, 0);
                 fs::rename(path("copy"), file());  // same size and time, another file
               }),
               "changed");
  EXPECT_STREQ(check_after([&] { fs::last_write_time(path("."), fs::file_time_type::clock::now()); }), "unchanged");
}

TEST_F(FileSourceTest, ManyThreadsReadAtOnce) {
  std::string content;
  for (int i = 0; i < 50'000; ++i) content += static_cast<char>(i * 7);
  std::ofstream(file(), std::ios::binary) << content;
  const auto source = FileSource::open(file()).value();
  std::vector<std::thread> threads;
  for (size_t t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (size_t at = t * 100; at + 1000 < content.size(); at += 1777)
        EXPECT_EQ(read(*source, at, 1000), content.substr(at, 1000));
    });
  for (auto& thread : threads) thread.join();
}

TEST(MemorySource, ReadsRangesAndRefusesOthers) {
  const MemorySource source(as_bytes("abcdef"), "name");
  Bytes bytes(3);
  EXPECT_EQ(source.name(), "name");
  EXPECT_TRUE(source.read_at(3, bytes));
  EXPECT_EQ(as_text(bytes), "def");
  EXPECT_EQ(source.read_at(4, bytes).error().kind, ErrorKind::invalid_argument);
  EXPECT_EQ(source.read_at(UINT64_MAX, bytes).error().kind, ErrorKind::invalid_argument);
  EXPECT_TRUE(MemorySource({}).read_at(0, {}));
}

}  // namespace
}  // namespace forebay

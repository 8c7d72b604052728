#include "mpiio/window.h"

#include <cstdio>
#include <random>

#include <gtest/gtest.h>
#include <unistd.h>

namespace forebay::lock::mpiio {
namespace {

const BeforeCall kAnyCall = [] { return Result<void>(); };

class WindowTest : public testing::Test {
 protected:
  void SetUp() override {
    file_ = std::tmpfile();
    ASSERT_NE(file_, nullptr);
  }
  void TearDown() override { std::fclose(file_); }

  int fd() const { return fileno(file_); }

  Bytes content() const {
    Bytes all(static_cast<size_t>(::lseek(fd(), 0, SEEK_END)));
    EXPECT_EQ(::pread(fd(), all.data(), all.size(), 0), static_cast<ssize_t>(all.size()));
    return all;
  }

  std::FILE* file_ = nullptr;
};

TEST_F(WindowTest, WritesWhatWasPutAndKeepsTheRest) {
  std::mt19937_64 random(3);
  for (int trial = 0; trial < 200; ++trial) {
    Bytes model(300 + random() % 100);
    for (auto& byte : model) byte = static_cast<std::byte>(random());
    ASSERT_EQ(::ftruncate(fd(), 0), 0);
    ASSERT_EQ(::pwrite(fd(), model.data(), model.size(), 0), static_cast<ssize_t>(model.size()));

    const Extent place{100, 500};
    Window window(place);
    for (int sender = 0; sender < 3; ++sender) {
      std::vector<Segment> pieces;
      for (uint64_t at = place.first + random() % 60; at < place.end - 20; at += 1 + random() % 80) {
        const uint64_t length = 1 + random() % 20;
        pieces.push_back({static_cast<int64_t>(at), length});
        at += length;
      }
      Bytes bytes(total_length(pieces));
      for (auto& byte : bytes) byte = static_cast<std::byte>(random());
      ASSERT_TRUE(window.put(pieces, bytes));
      size_t next = 0;
      for (const Segment& piece : pieces) {
        const auto end = static_cast<size_t>(piece.offset) + piece.length;
        if (model.size() < end) model.resize(end);
        for (size_t i = 0; i < piece.length; ++i) model[static_cast<size_t>(piece.offset) + i] = bytes[next++];
      }
    }
    ASSERT_TRUE(window.write(fd(), kAnyCall));
    ASSERT_EQ(content(), model) << "trial " << trial;
  }
}

TEST_F(WindowTest, GivesPiecesAndZerosBeyondTheEnd) {
  ASSERT_EQ(::pwrite(fd(), "abcdefghij", 10, 0), 10);
  Window window({2, 20});
  const std::vector<Segment> pieces{{3, 2}, {8, 4}};
  ASSERT_TRUE(window.expect(pieces));
  ASSERT_TRUE(window.read(fd(), kAnyCall));
  EXPECT_EQ(as_text(window.get(pieces)), std::string_view("deij\0\0", 6));
}

TEST_F(WindowTest, RefusesPiecesOutside) {
  Window window({10, 20});
  for (const Segment piece : {Segment{9, 2}, Segment{19, 2}, Segment{-1, 1}, Segment{10, UINT64_MAX}})
    EXPECT_EQ(window.expect(std::vector{piece}).error().kind, ErrorKind::internal);
  EXPECT_EQ(window.put(std::vector{Segment{10, 4}}, Bytes(3)).error().kind, ErrorKind::internal);
}

TEST_F(WindowTest, StopsWhenNotAllowed) {
  Window window({0, 10});
  ASSERT_TRUE(window.put(std::vector{Segment{0, 4}}, Bytes(4)));
  const BeforeCall denied = [] { return Result<void>(fail(ErrorKind::timeout, "over")); };
  EXPECT_EQ(window.write(fd(), denied).error().kind, ErrorKind::timeout);
  EXPECT_TRUE(content().empty());
}

}  // namespace
}  // namespace forebay::lock::mpiio

#include "job/stage/counted_sources.h"

#include <array>
#include <filesystem>

#include <gtest/gtest.h>

#include "job/test_job.h"
#include "store/files.h"

namespace forebay::job {
namespace {

// A file as it is.
class OneFile final : public engine::Sources {
 public:
  explicit OneFile(std::string path) : path_(std::move(path)) {}
  Result<std::shared_ptr<ByteSource>> get(size_t) override {
    FOREBAY_TRY(std::shared_ptr<ByteSource> source, FileSource::open(path_));
    return source;
  }
  Result<void> read(std::span<const engine::SourcePiece> pieces, std::span<std::byte> out) override {
    FOREBAY_TRY(const auto source, get(0));
    return source->read_at(pieces[0].offset, out);
  }
  Result<void> check_unchanged() override { return {}; }

 private:
  std::string path_;
};

class CountedSourcesTest : public TempTest {
 protected:
  void SetUp() override {
    std::filesystem::create_directory(path("set"));
    check(store::write_text(path("set"), "file", std::string(100, 'x')));
  }

  OneFile file_{path("set/file")};
  int moved_ = 0;
};

// One layout may take longer than all patience: what is read of it shows that it goes on.
TEST_F(CountedSourcesTest, EachReadOfOneFileCounts) {
  CountedSources counted(file_, [this] { ++moved_; });
  const auto source = value(counted.get(0));
  EXPECT_EQ(moved_, 1);
  EXPECT_EQ(source->size(), 100u);
  std::array<std::byte, 10> out{};
  check(source->read_at(0, out));
  check(source->read_at(90, out));
  EXPECT_EQ(moved_, 3);
  EXPECT_EQ(out[9], std::byte{'x'});
  const std::array<engine::SourcePiece, 1> piece{{{.file = 0, .offset = 5, .length = 10}}};
  check(counted.read(piece, out));
  EXPECT_EQ(moved_, 4);
}

TEST_F(CountedSourcesTest, WhatCannotBeReadIsNoProgress) {
  CountedSources counted(file_, [this] { ++moved_; });
  const auto source = value(counted.get(0));
  std::filesystem::resize_file(path("set/file"), 1);
  std::array<std::byte, 10> out{};
  EXPECT_FALSE(source->read_at(50, out));
  EXPECT_EQ(moved_, 1);
}

}  // namespace
}  // namespace forebay::job

// Files in memory as sources and as a target, in the place of another node.
#pragma once

#include <atomic>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "engine/pack/tree.h"
#include "engine/restore/target.h"
#include "engine/set/sources.h"
#include "engine/test_sets.h"

namespace forebay::engine {

// The content of a tree's files when it was made; counts what it is asked for.
class MemorySources final : public Sources {
 public:
  explicit MemorySources(std::span<const SourceFile> files) : files_(files) {
    for (const SourceFile& file : files)
      contents_.push_back(file.row.kind == FileKind::regular ? read_text(file.path) : std::string());
  }

  Result<std::shared_ptr<ByteSource>> get(size_t index) override {
    ++gets;
    return std::make_shared<MemorySource>(as_bytes(contents_[index]), files_[index].path);
  }

  Result<void> read(std::span<const SourcePiece> pieces, std::span<std::byte> out) override {
    if (before_read) FOREBAY_CHECK(before_read(++reads));
    const SourcePiece* last = nullptr;
    EXPECT_FALSE(pieces.empty());
    EXPECT_LE(pieces.size(), kMaxPiecesPerRead);
    for (const SourcePiece& piece : pieces) {
      EXPECT_GT(piece.length, 0u);
      EXPECT_FALSE(last && last->file == piece.file && last->offset + last->length == piece.offset);
      last = &piece;
      const auto bytes = as_bytes(contents_.at(piece.file)).subspan(piece.offset, piece.length);
      std::memcpy(out.data(), bytes.data(), bytes.size());
      out = out.subspan(bytes.size());
    }
    EXPECT_TRUE(out.empty());
    return {};
  }

  Result<void> check_unchanged() override {
    ++checks;
    return {};
  }

  std::atomic<int> gets = 0, reads = 0, checks = 0;
  std::function<Result<void>(int read)> before_read = [](int) { return Result<void>(); };

 private:
  std::span<const SourceFile> files_;
  std::vector<std::string> contents_;
};

// Keeps what was committed.
class MemoryTarget final : public Target {
 public:
  struct Entry {
    FileRow row;
    std::string content;
  };

  Result<std::unique_ptr<TargetFile>> create_file(const FileRow& file) override {
    ++created;
    return std::make_unique<File>(*this, file);
  }
  Result<void> make_directory(const FileRow& directory) override { return add(directory, {}); }
  Result<void> make_symlink(const FileRow& link) override { return add(link, {}); }
  Result<void> finish() override {
    finished = true;
    return {};
  }

  std::map<std::string, Entry> entries;
  std::atomic<int> created = 0;
  bool finished = false;
  std::function<Result<void>()> before_write = [] { return Result<void>(); };

 private:
  class File final : public TargetFile {
   public:
    File(MemoryTarget& target, const FileRow& row) : target_(target), row_(row), content_(row.size, '\0') {}

    Result<void> write_at(uint64_t offset, std::span<const std::byte> bytes) override {
      FOREBAY_CHECK(target_.before_write());
      EXPECT_LE(offset + bytes.size(), content_.size());
      std::memcpy(content_.data() + offset, bytes.data(), bytes.size());
      return {};
    }
    Result<void> commit() override { return target_.add(row_, content_); }

   private:
    MemoryTarget& target_;
    const FileRow row_;
    std::string content_;
  };

  Result<void> add(const FileRow& row, const std::string& content) {
    const std::lock_guard lock(mutex_);
    EXPECT_TRUE(entries.try_emplace(row.name, Entry{row, content}).second);
    return {};
  }

  std::mutex mutex_;
};

}  // namespace forebay::engine

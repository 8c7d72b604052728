// A file of this machine that is written front to back.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/byte_sink.h"
#include "base/fd.h"

namespace forebay {

// Durable after finish() (fsync), but for its name, which is durable when its directory is.
class FileSink final : public ByteSink {
 public:
  // Creates the file, which must not exist. exists, no_space, permission or io otherwise.
  static Result<std::unique_ptr<FileSink>> create(std::string path);

  const std::string& name() const override { return path_; }
  uint64_t size() const override { return size_; }
  Result<void> append(std::span<const std::span<const std::byte>> parts) override;
  Result<void> finish() override;

 private:
  FileSink(std::string path, Fd fd) : path_(std::move(path)), fd_(std::move(fd)) {}
  void start_writeback();

  const std::string path_;
  Fd fd_;
  uint64_t size_ = 0, sent_ = 0;
};

}  // namespace forebay

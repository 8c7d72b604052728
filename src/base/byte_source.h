// Where bytes come from: a file, a memory block, later an agent's memory over the fabric.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"

struct stat;

namespace forebay {

// Random access to a fixed number of bytes. All members are thread-safe.
class ByteSource {
 public:
  virtual ~ByteSource() = default;

  // What to call it in messages: a path.
  virtual const std::string& name() const = 0;

  virtual uint64_t size() const = 0;  // bytes

  // Fills `out` with the bytes at [offset, offset + out.size()). io if the system fails; changed if the source has
  // become shorter; invalid_argument if the range passes size(). On error the content of `out` is unspecified.
  virtual Result<void> read_at(uint64_t offset, std::span<std::byte> out) const = 0;
};

// A regular file, read with pread. Keeps the file open; never maps it, so that a file that shrinks is an error, not a
// signal.
class FileSource final : public ByteSource {
 public:
  // not_found, permission or io if it cannot be opened; invalid_argument if it is not a regular file.
  static Result<std::unique_ptr<FileSource>> open(std::string path);
  ~FileSource() override;
  FileSource(const FileSource&) = delete;
  FileSource& operator=(const FileSource&) = delete;

  const std::string& name() const override { return path_; }
  uint64_t size() const override { return identity_.size; }
  Result<void> read_at(uint64_t offset, std::span<std::byte> out) const override;

  // What tells one state of one file from another.
  struct Identity {
    uint64_t device = 0, inode = 0, size = 0;
    int64_t mtime_s = 0;
    uint32_t mtime_ns = 0;
    int64_t ctime_ns = 0;  // of the inode's last change: nobody can set it back
    bool operator==(const Identity&) const = default;
  };
  static Identity identity_of(const struct stat& info);
  const Identity& identity() const { return identity_; }  // when it was opened

  int fd() const { return fd_; }  // for calls that take one, such as sendfile(); stays this object's

  // changed if the file's identity is no longer what it was when it was opened, or if the path now names another file
  // or none.
  Result<void> check_unchanged() const;

  // Lets the next reads ask the file system, as far as the kernel heeds the hint and the file was synced.
  void forget_cached() const;

 private:
  FileSource() = default;
  std::string path_;
  int fd_ = -1;
  Identity identity_;
};

// Bytes in memory, which must outlive the source.
class MemorySource final : public ByteSource {
 public:
  explicit MemorySource(std::span<const std::byte> bytes, std::string name = "memory")
      : bytes_(bytes), name_(std::move(name)) {}
  const std::string& name() const override { return name_; }
  uint64_t size() const override { return bytes_.size(); }
  Result<void> read_at(uint64_t offset, std::span<std::byte> out) const override;

 private:
  std::span<const std::byte> bytes_;
  std::string name_;
};

}  // namespace forebay

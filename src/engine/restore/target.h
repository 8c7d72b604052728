// Where restored files go: a directory of this machine (directory_target.h), or other nodes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "base/catalogue.h"
#include "base/error.h"

namespace forebay::engine {

// A file being restored. It has no name in the target until commit(); if it is destroyed before, nothing of it remains.
class TargetFile {
 public:
  virtual ~TargetFile() = default;

  // Writes at [offset, offset + bytes.size()), which must lie inside the file, each byte at most once; what is never
  // written reads as zero. Thread-safe. Called once for each piece of a frame, however small: an implementation to
  // which calls are dear collects them.
  virtual Result<void> write_at(uint64_t offset, std::span<const std::byte> bytes) = 0;

  // All bytes were written and verified: makes them durable and gives the file its mode, time and name. To be called
  // once; several files' at once.
  virtual Result<void> commit() = 0;
};

// What is restored is told as the container has it. Names are as is_safe_name() wants them: invalid_argument otherwise.
// The directories on the way to a name are made as needed. exists if a name is taken and the target does not replace
// files. Thread-safe; it outlives its files.
class Target {
 public:
  virtual ~Target() = default;

  // Whether nothing is in the way of an entry, which is not made yet: exists otherwise. Targets that cannot be in
  // anybody's way say yes.
  virtual Result<void> check(const FileRow&) { return {}; }

  // TargetFile::commit() of all these files of the target, which may share the waiting for the disk.
  virtual Result<void> commit(std::span<TargetFile* const> files);

  // Begins a regular file of `file.size` bytes, all zero.
  virtual Result<std::unique_ptr<TargetFile>> create_file(const FileRow& file) = 0;

  // Makes a directory, or takes the one that is there; finish() gives it its mode and time.
  virtual Result<void> make_directory(const FileRow& directory) = 0;

  // Makes a symbolic link, of which only the time is kept.
  virtual Result<void> make_symlink(const FileRow& link) = 0;

  // When all is in place: gives directories their modes and times, and makes all names durable.
  virtual Result<void> finish() = 0;
};

}  // namespace forebay::engine

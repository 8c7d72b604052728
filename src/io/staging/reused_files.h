// Memory that process groups of one rank are staged in, used again when what lay in it was packed. A file in memory
// that has its pages already, and is mapped, takes bytes as fast as they can be copied: several times as fast as a new
// one, whose pages have to be found first.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/fd.h"

namespace forebay::io {

// A file that may have been used before: what is in it means nothing until it is written anew. Not thread-safe.
class ReusedFile {
 public:
  explicit ReusedFile(Fd fd) : fd_(std::move(fd)) {}
  ~ReusedFile();
  ReusedFile(const ReusedFile&) = delete;
  ReusedFile& operator=(const ReusedFile&) = delete;

  int fd() const { return fd_.get(); }

  // Writes the pieces, one directly behind another, at `offset`. no_space, io; `path` is for the error.
  Result<void> write(std::span<const std::span<const std::byte>> pieces, uint64_t offset, const std::string& path);

  // The file is whole: all of its first `bytes` were written, and what lies behind them goes. Only a file that was
  // whole is written to in memory the next time, since pages that are not there cannot be had from a memory that is
  // full.
  Result<void> finish(uint64_t bytes, const std::string& path);

  // A file that was not finished gives back its memory.
  void give_up();

 private:
  friend class ReusedFiles;
  void begin();

  Fd fd_;
  std::string name_;                              // by which it is kept
  std::byte* mapped_ = nullptr;                   // the first usable_ bytes or more
  uint64_t mapped_bytes_ = 0, usable_bytes_ = 0;  // of the file
  bool is_whole_ = false;
};

// The files of one rank, each with a name in `directory` for as long as it is kept and another one while it is in use:
// whoever has read it removes that one. Thread-safe.
class ReusedFiles {
 public:
  // Whether files in `directory` are memory.
  static bool is_memory(const std::string& directory);

  // `directory` is made when a file is first needed, and `name` is this rank's alone.
  ReusedFiles(std::string directory, std::string name);
  ~ReusedFiles();  // removes the names in `directory`, and it, if it was the last one's

  // A file with the name `path`, which must not exist, in a directory of the same file system: the largest one whose
  // other name is gone, or a new one. Of those that are free, one more is kept for later, but none of this process
  // where more than half of the file system is in use. Errors of the system.
  Result<std::shared_ptr<ReusedFile>> take(const std::string& path);

 private:
  Result<std::shared_ptr<ReusedFile>> make();
  void forget_free(size_t most);

  const std::string directory_, name_;
  std::mutex mutex_;  // guards what follows
  std::vector<std::shared_ptr<ReusedFile>> files_;
  uint64_t made_ = 0;
};

}  // namespace forebay::io

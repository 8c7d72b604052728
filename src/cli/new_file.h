// Files that a verb writes outside of stores.
#pragma once

#include <span>
#include <string>

#include "base/bytes.h"
#include "base/error.h"
#include "base/fd.h"

namespace forebay::cli {

// A file that is written under a temporary name beside its own, so that there is the whole file or none: without
// commit(), nothing is left of it. Movable, not copyable.
class NewFile {
 public:
  static Result<NewFile> create(std::string path);
  NewFile(NewFile&& other) noexcept = default;
  NewFile& operator=(NewFile&& other) = delete;
  ~NewFile();

  // Appends. Errors are those of the system.
  Result<void> write(std::span<const std::byte> bytes);

  // Gives the file its name. exists if there is such a file and not `overwrite`. No call may follow.
  Result<void> commit(bool overwrite);

 private:
  NewFile(std::string path, std::string temporary, Fd fd)
      : path_(std::move(path)), temporary_(std::move(temporary)), fd_(std::move(fd)) {}

  std::string path_, temporary_;
  Fd fd_;
  uint64_t size_ = 0;
};

}  // namespace forebay::cli

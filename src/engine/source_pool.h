// The open source files of one rank group.
#pragma once

#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "base/byte_source.h"
#include "engine/tree.h"

namespace forebay::engine {

// Opens files when they are needed and keeps a bounded number of them open. Every file must stay as it was when the
// tree was scanned. Thread-safe.
class SourcePool {
 public:
  explicit SourcePool(std::span<const SourceFile> files) : files_(files), slots_(files.size()) {}

  // The file number `index`, which must be a regular one. changed if it is not what the scan saw or what an earlier
  // get() opened; else as FileSource::open().
  Result<std::shared_ptr<FileSource>> get(size_t index);

  // changed, naming the file, if any file that was opened is no longer what it was.
  Result<void> check_unchanged();

 private:
  struct Slot {
    std::shared_ptr<FileSource> source;
    std::optional<FileSource::Identity> identity;  // when it was first opened
  };

  Result<std::shared_ptr<FileSource>> open(size_t index) const;

  std::span<const SourceFile> files_;
  std::mutex mutex_;
  std::vector<Slot> slots_;
  std::list<size_t> open_;  // most recently opened last
};

}  // namespace forebay::engine

// The source files of one rank group, as files of this machine.
#pragma once

#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "base/byte_source.h"
#include "engine/pack/tree.h"
#include "engine/set/sources.h"

namespace forebay::engine {

// Opens files when they are needed and keeps a bounded number of them open, and fewer where the process may not have so
// many descriptors. Every file must stay as it was when the tree was scanned. Thread-safe.
class SourcePool final : public Sources {
 public:
  explicit SourcePool(std::span<const SourceFile> files);

  // changed if the file is not what the scan saw or what was opened of it before; else as FileSource::open().
  Result<std::shared_ptr<ByteSource>> get(size_t index) override;
  Result<void> read(std::span<const SourcePiece> pieces, std::span<std::byte> out) override;
  Result<void> check_unchanged() override;

  // Closes what is open, for others who need descriptors; it is opened again when it is needed.
  void close_all();

 private:
  struct Slot {
    std::shared_ptr<FileSource> source;
    std::optional<FileSource::Identity> identity;  // when it was first opened
  };

  Result<std::shared_ptr<FileSource>> open(size_t index);
  Result<std::shared_ptr<FileSource>> open_checked(size_t index) const;
  bool close_oldest();

  const std::span<const SourceFile> files_;
  const size_t most_open_;
  std::mutex mutex_;
  std::vector<Slot> slots_;
  std::list<size_t> open_;  // most recently opened last
};

}  // namespace forebay::engine

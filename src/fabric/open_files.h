// Files that are read again and again, kept open, a bounded number of them.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>

#include "base/lru.h"
#include "fabric/remote.h"

namespace forebay::fabric {

// Thread-safe.
class OpenFiles {
 public:
  explicit OpenFiles(size_t most) : most_(most) {}

  // changed, naming the file, if it is not `file` any more.
  Result<std::shared_ptr<FileSource>> open(uint64_t exposure, uint32_t number, const ExposedFile& file);

  void forget(uint64_t exposure);

 private:
  using Key = std::pair<uint64_t, uint32_t>;
  std::shared_ptr<FileSource> find(const Key& key);
  void keep(const Key& key, std::shared_ptr<FileSource> file);

  const size_t most_;
  std::mutex mutex_;
  Lru<Key, std::shared_ptr<FileSource>> open_;
};

}  // namespace forebay::fabric

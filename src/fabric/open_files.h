// Files that are read again and again, kept open, a bounded number of them.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

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
  using Entry = std::pair<Key, std::shared_ptr<FileSource>>;
  std::shared_ptr<FileSource> find(const Key& key);
  void keep(const Key& key, std::shared_ptr<FileSource> file);

  const size_t most_;
  std::mutex mutex_;
  std::list<Entry> entries_;  // the one used last is first
  std::map<Key, std::list<Entry>::iterator> places_;
};

}  // namespace forebay::fabric

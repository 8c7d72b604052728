// Decoding what will be read next, while what was asked for is on its way: files are mostly read from begin to end, in
// requests that are smaller than what is decoded at once.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "mount/mounted_store.h"

namespace forebay::mount {

// A range of a file.
struct Stretch {
  uint64_t begin = 0, end = 0;
};

// The reads of one open file so far. Pure; not thread-safe.
class Sequence {
 public:
  // A read of `size` bytes at `begin` of a file of `file_bytes`. What is worth decoding now, if anything: reads that
  // follow each other, be it not quite in order, for the kernel sends several at once, are expected to go on.
  std::optional<Stretch> note(uint64_t begin, uint64_t size, uint64_t file_bytes);

 private:
  uint64_t next_ = 0;   // where the next read begins if it follows the last one
  uint64_t ahead_ = 0;  // what was named already ends here
  unsigned row_ = 0;    // how many reads followed each other
};

// Thread-safe.
class ReadAhead {
 public:
  // Decodes with so many threads.
  explicit ReadAhead(unsigned threads);
  ~ReadAhead();

  // Soon. Dropped if there is much to do already; what fails is told to whoever reads it.
  void fetch(const std::shared_ptr<const MountedSet>& set, const Tree::Node& node, const Stretch& stretch);

 private:
  struct Work {
    std::shared_ptr<const MountedSet> set;
    const Tree::Node* node = nullptr;
    Stretch stretch;
  };
  void run(const std::stop_token& stop);

  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<Work> waiting_;
  std::vector<std::jthread> threads_;
};

}  // namespace forebay::mount

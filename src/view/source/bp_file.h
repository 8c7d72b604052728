// A BP file of ADIOS 1.x with its subfiles, as it was when it was opened.
#pragma once

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/buffer.h"
#include "base/lru.h"
#include "bp/index.h"

namespace forebay::view {

// Thread-safe.
class BpFile {
 public:
  // Indices of up to 1/32 of `memory_bytes`. Errors of read_index().
  static Result<std::shared_ptr<const BpFile>> open(const std::string& path, uint64_t memory_bytes, unsigned threads);

  const std::string& path() const { return path_; }
  const bp::Index& index() const { return index_; }  // entries of variables by time
  unsigned threads() const { return threads_; }

  // The file that has the data of an entry: this one or a subfile, which is opened. not_found, corrupt, io, ...
  Result<std::shared_ptr<const ByteSource>> source_of(const bp::Entry& entry) const;

  // The process group that an entry lies in. Errors of source_of(); corrupt if there is none.
  Result<bp::ProcessGroup> group_of(const bp::Entry& entry) const;

  // The `raw_bytes` bytes of a block that a transform has changed, in this machine's byte order. Blocks that were
  // decoded lately are kept; who asks for one waits while others are decoded that fill the memory. Errors of
  // source_of() and of bp::undo_transform(); limit if it is too large for the memory.
  struct Decoded {
    std::shared_ptr<const Buffer> bytes;
    bool was_kept = false;
  };
  Result<Decoded> decoded(const bp::Entry& entry, uint64_t raw_bytes) const;

  // Whether the dimensions of a group's variables are in Fortran's order, as the file's first process group says, and
  // whether one of them is time, as the first one of that name says.
  struct Conventions {
    bool fortran_order = false, has_time = false;
  };
  Conventions conventions_of(const std::string& group) const;

 private:
  using Groups = std::vector<bp::ProcessGroup>;  // by offset
  Result<std::shared_ptr<const Buffer>> decode(const bp::Entry& entry, uint64_t raw_bytes) const;
  BpFile(std::string path, uint64_t memory_bytes, unsigned threads)
      : path_(std::move(path)), memory_bytes_(memory_bytes), threads_(threads) {}

  const std::string path_;
  const uint64_t memory_bytes_;
  const unsigned threads_;
  std::shared_ptr<const ByteSource> source_;
  bp::Index index_;
  Groups groups_;
  std::map<std::string, Conventions> conventions_;
  mutable std::mutex mutex_;
  mutable std::map<uint32_t, std::shared_ptr<const ByteSource>> subfiles_;  // that are open, a few
  mutable std::map<uint32_t, std::shared_ptr<const Groups>> subfile_groups_;
  mutable std::mutex blocks_mutex_;
  mutable std::condition_variable decoded_one_;
  mutable Lru<const bp::Entry*, std::shared_ptr<const Buffer>> kept_;  // by their bytes
  mutable std::set<const bp::Entry*> in_work_;
  mutable uint64_t decoding_bytes_ = 0;
};

}  // namespace forebay::view

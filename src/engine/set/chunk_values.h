// The values of variables whose chunks lie as an application's filters left them, or are not all there.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <tuple>

#include "base/lru.h"
#include "engine/set/box_layout.h"
#include "engine/set/set.h"
#include "engine/set/shared_reader.h"
#include "format/hdf5_values.h"

namespace forebay::engine {

// Thread-safe. Of a file that any such variable is read of, it reads what HDF5 says of its chunks; a chunk is inflated
// when a value in it is wanted. Both are kept for a while.
class ChunkValues {
 public:
  // What is read of a file of the set: its bytes from `begin` on.
  using ReadFile =
      std::function<Result<FrameCost>(size_t container, uint32_t file, uint64_t begin, std::span<std::byte> out)>;

  // `read` gives the bytes of a file; `read_skeleton` may give zeros in the place of variables. Both are called from up
  // to `threads` threads at a time, if there are more than one. `memory_bytes` pays for chunks that are inflated, or
  // kept, and for their places.
  ChunkValues(const OpenSet& set, ReadFile read, ReadFile read_skeleton, uint64_t memory_bytes, unsigned threads);

  // Whether the extents of the variable are anything but all of its values.
  static bool are_needed_for(const VariableRow& variable) { return variable.filtered || variable.partial; }

  // A box of a variable for which they are needed, and what takes its bytes: put(at, bytes), where `at` counts bytes in
  // the packed box. It is called from several threads; where two calls overlap, which are of one thread, the later one
  // counts.
  struct BoxRead {
    size_t container = 0;
    uint32_t file = 0, variable = 0;
    Box box;
    std::function<void(uint64_t at, std::span<const std::byte> bytes)> put;
  };

  // Reads boxes: each chunk that any of them needs once. `failed` is called, by one thread at a time, for each box of
  // which something cannot be had: corrupt, unsupported (a filter that is not known), limit (a chunk does not fit into
  // the memory), invalid_argument (no box of the variable), io.
  FrameCost read(std::span<const BoxRead> boxes, const std::function<void(size_t box, const Error&)>& failed) const;

 private:
  using FilePlace = std::pair<size_t, uint32_t>;                        // container and file
  using VariablePlace = std::tuple<size_t, uint32_t, uint32_t>;         // container, file, and variable
  using ChunkPlace = std::tuple<size_t, uint32_t, uint32_t, uint64_t>;  // and the number of its chunk
  using Dataset = std::shared_ptr<const format::StoredDataset>;

  // What was used lately, by its bytes.
  template <class Key, class Value>
  using Recent = Lru<Key, std::shared_ptr<const Value>>;

  struct Wanted;  // a chunk, and the boxes that have a part of it

  Result<std::shared_ptr<const format::DatasetHeaders>> headers(const FilePlace& place) const;
  Result<Dataset> dataset(const VariablePlace& place) const;
  Result<Dataset> plan(const BoxRead& box) const;
  Result<std::shared_ptr<const Bytes>> chunk(const Wanted& wanted, FrameCost& cost) const;
  Result<void> check_size(const Wanted& wanted) const;

  const OpenSet& set_;
  const ReadFile read_, read_skeleton_;
  const uint64_t memory_bytes_;
  const unsigned threads_;

  mutable std::mutex mutex_;
  mutable Recent<FilePlace, format::DatasetHeaders> headers_;
  mutable Recent<VariablePlace, format::StoredDataset> datasets_;
  mutable Recent<ChunkPlace, Bytes> chunks_;
};

}  // namespace forebay::engine

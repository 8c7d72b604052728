// How the values of HDF5's datasets follow from the chunks that are stored of them.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/byte_source.h"
#include "base/layout.h"
#include "format/hdf5_filter.h"

namespace forebay::format {

struct StoredChunk {
  uint64_t cell = 0;  // its number in the grid of chunks, in C order
  Extent extent;      // in the file, which may not have it
  uint32_t mask = 0;  // of the filters that it did not go through
};

// A dataset with whatever turns chunks into values. Chunks at the far edge are whole; elements whose chunk is not there
// are `fill`.
struct StoredDataset {
  Shape shape, chunk;  // elements; of a dataset without chunks, of which nothing is stored, both are its shape
  uint64_t element_bytes = 0;
  Bytes fill;  // one element
  std::vector<hdf5::Filter> filters;
  std::vector<StoredChunk> chunks;  // in order of their cells

  uint64_t chunk_bytes() const { return element_count(chunk) * element_bytes; }  // which can be counted
  uint64_t memory_bytes() const;
};

// Where the datasets of a file are described. A value, found once, with which they are read one by one.
class DatasetHeaders {
 public:
  // Errors as of a format reader; `source` may have zeros in the place of values.
  static Result<DatasetHeaders> find(const ByteSource& source);

  // The dataset that Hdf5Reader calls by that path. not_found if there is none; unsupported if what elements are that
  // were never written is not known; corrupt, limit, io.
  Result<StoredDataset> read(const ByteSource& source, std::string_view path) const;

  uint64_t memory_bytes() const { return memory_bytes_; }

 private:
  std::unordered_map<std::string, uint64_t> addresses_;
  uint64_t memory_bytes_ = 0;
};

}  // namespace forebay::format

#include "format/hdf5_values.h"

#include <algorithm>

#include <fmt/format.h>

#include "format/hdf5_chunk.h"
#include "format/hdf5_walk.h"

namespace forebay::format {

using namespace hdf5;

uint64_t StoredDataset::memory_bytes() const {
  uint64_t bytes = sizeof *this + chunks.capacity() * sizeof(StoredChunk) + fill.size();
  for (const Filter& filter : filters) bytes += sizeof filter + filter.name.size() + 4 * filter.values.size();
  return bytes;
}

Result<DatasetHeaders> DatasetHeaders::find(const ByteSource& source) {
  constexpr uint64_t kNode = 80;
  FOREBAY_TRY(File file, File::open(source));
  DatasetHeaders headers;
  FOREBAY_CHECK(walk_objects(file, Read::structure, [&](const Object& object, const std::string& path) -> Result<void> {
    if (!object.is_dataset() || path.empty()) return {};
    if (headers.addresses_.size() >= kMaxVariablesPerFile)
      return fail(ErrorKind::limit, "HDF5: the file has too many datasets", source.name());
    if (headers.addresses_.emplace(path, object.address).second) headers.memory_bytes_ += kNode + path.size();
    return {};
  }));
  return headers;
}

namespace {

// One element of what was never written. What has larger elements than a DataType can say is rows of bytes.
Result<Bytes> fill_of(const Object& object, uint64_t element_bytes, const ByteSource& source) {
  if (object.fill_value && object.fill_value->empty()) return Bytes(element_bytes);
  if (object.fill_value && object.fill_value->size() == element_bytes) return *object.fill_value;
  return fail(ErrorKind::unsupported, "what its elements are that were never written is not known", source.name(),
              object.address);
}

// Returns whether all of them are there.
Result<bool> add_chunks(File& file, const Object& object, StoredDataset& dataset) {
  const auto grid = ChunkGrid::make(*object.space, object.storage->chunk);
  uint64_t bytes = 0;
  if (!grid || object.storage->element_size != object.type->size ||
      __builtin_mul_overflow(element_count(object.storage->chunk), object.type->size, &bytes))
    return file.corrupt("chunks that do not suit their dataset", object.address);
  FOREBAY_TRY(const std::vector<Chunk> chunks, read_chunks(file, object, *grid));
  dataset.chunk = object.storage->chunk;
  dataset.chunks.reserve(chunks.size());
  for (const Chunk& chunk : chunks) {
    uint32_t mask = chunk.mask;
    if (object.storage->edges_unfiltered && grid->is_cut(chunk.cell)) mask = UINT32_MAX;
    dataset.chunks.push_back({chunk.cell, chunk.extent, mask});
  }
  return chunks.size() == grid->cells();
}

}  // namespace

Result<StoredDataset> DatasetHeaders::read(const ByteSource& source, std::string_view path) const {
  const auto known = addresses_.find(std::string(path));
  if (known == addresses_.end())
    return fail(ErrorKind::not_found, fmt::format("there is no dataset '{}'", path), source.name());
  FOREBAY_TRY(File file, File::open(source));
  FOREBAY_TRY(Object object, read_object(file, known->second));
  if (object.shared_type) {
    FOREBAY_TRY(const Object named, read_object(file, *object.shared_type));
    object.type = named.type;
  }
  if (!object.is_dataset() || !object.type) return file.corrupt("no dataset where there was one", known->second);
  StoredDataset dataset{.shape = object.space->shape, .chunk = object.space->shape, .element_bytes = object.type->size};
  dataset.filters = object.filters;
  bool is_all_there = false;
  dataset.fill.resize(object.type->size);
  if (object.storage->kind == StorageKind::chunked) {
    FOREBAY_TRY(is_all_there, add_chunks(file, object, dataset));
  } else if (object.storage->address != kUndefined) {
    return file.unsupported("a dataset that is stored as it is", known->second);
  }
  if (!is_all_there) {
    FOREBAY_TRY(dataset.fill, fill_of(object, object.type->size, source));
  }
  if (object.type->size > UINT16_MAX) {
    if (std::ranges::any_of(dataset.fill, [](std::byte byte) { return byte != std::byte{}; }))
      return file.unsupported("a fill value that large", known->second);
    dataset.shape.push_back(object.type->size);
    dataset.chunk.push_back(object.type->size);
    dataset.fill = Bytes(1);
    dataset.element_bytes = 1;
  }
  return dataset;
}

}  // namespace forebay::format

#include "format/hdf5_reader.h"

#include "format/hdf5_attribute.h"
#include "format/hdf5_chunk.h"
#include "format/hdf5_walk.h"
#include "format/meaning.h"

namespace forebay::format {
namespace {

using namespace hdf5;

class DatasetWalk {
 public:
  explicit DatasetWalk(File& file) : file_(file) {}

  Result<std::vector<Variable>> run() {
    FOREBAY_CHECK(walk_objects(file_, Read::attributes, [this](const Object& object, const std::string& path) {
      if (path.empty()) return visit_root(object);
      return object.is_dataset() ? visit_dataset(object, path) : Result<void>();
    }));
    return std::move(variables_);
  }

 private:
  Result<void> visit_root(const Object& object);
  Result<void> visit_dataset(Object object, const std::string& path);
  Result<std::string> find_meaning(const Object& object, const std::string& path, const DataType& type);
  Result<void> find_type(Object& object);
  Result<void> find_extents(const Object& object, Variable& variable);

  File& file_;
  std::vector<Variable> variables_;
  uint64_t extents_ = 0;
  bool is_netcdf_ = false;
};

// Follows a committed datatype.
Result<void> DatasetWalk::find_type(Object& object) {
  if (!object.shared_type) return {};
  FOREBAY_TRY(Object named, read_object(file_, *object.shared_type));
  object.type = named.type;
  return {};
}

Result<void> DatasetWalk::find_extents(const Object& object, Variable& variable) {
  const Storage& storage = *object.storage;
  if (storage.kind == StorageKind::chunked) {
    const auto grid = ChunkGrid::make(*object.space, storage.chunk);
    if (!grid || storage.element_size != object.type->size) return {};
    FOREBAY_TRY(const std::vector<Chunk> chunks, read_chunks(file_, object, *grid));
    for (const Chunk& chunk : chunks) variable.extents.push_back(chunk.extent);
    variable.block = storage.chunk;
    variable.filtered = !object.filters.empty();
    variable.partial = variable.extents.size() < grid->cells();
  } else if (storage.address != kUndefined) {
    uint64_t bytes = element_count(variable.shape);
    if (__builtin_mul_overflow(bytes, object.type->size, &bytes)) return {};
    if (storage.kind == StorageKind::compact && storage.size != bytes) return {};
    variable.extents = {{.offset = file_.base() + storage.address, .length = bytes}};
  }
  return {};
}

bool concerns_one(const Error& error) {
  return error.kind == ErrorKind::corrupt || error.kind == ErrorKind::unsupported;
}

Result<void> DatasetWalk::visit_root(const Object& object) {
  const auto found = read_object_attributes(file_, object, "/", [](std::string_view name) {
    return name == "_NCProperties";  // of netCDF-4
  });
  if (!found && !concerns_one(found.error())) return std::unexpected(found.error());
  is_netcdf_ = found && is_netcdf("hdf5", *found);
  return {};
}

// Empty if attributes cannot be understood.
Result<std::string> DatasetWalk::find_meaning(const Object& object, const std::string& path, const DataType& type) {
  const auto found = read_object_attributes(file_, object, path, says_what_values_mean);
  if (found) return meaning_text(*found, path, type, is_netcdf_);
  if (concerns_one(found.error())) return std::string();
  return std::unexpected(found.error());
}

Result<void> DatasetWalk::visit_dataset(Object object, const std::string& path) {
  FOREBAY_CHECK(find_type(object));
  if (!object.type) return {};
  Variable variable{.path = path, .type = object.type->type, .shape = object.space->shape, .block = {}, .extents = {}};
  FOREBAY_CHECK(find_extents(object, variable));
  if (variable.extents.empty() || variable.extents.front().length == 0) return {};
  FOREBAY_TRY(variable.meaning, find_meaning(object, path, variable.type));
  if (object.type->size > UINT16_MAX) {  // elements larger than a DataType can say become rows of bytes
    variable.shape.push_back(object.type->size);
    if (!variable.block.empty()) variable.block.push_back(object.type->size);
  }
  extents_ += variable.extents.size();
  if (variables_.size() >= kMaxVariablesPerFile || extents_ > kMaxExtentsPerFile)
    return fail(ErrorKind::limit, "HDF5: the file has too many datasets or chunks", file_.source().name());
  variables_.push_back(std::move(variable));
  return {};
}

}  // namespace

Result<bool> Hdf5Reader::matches(std::span<const std::byte>, const ByteSource& source) const {
  FOREBAY_TRY(const uint64_t found, find_signature(source));
  return found != kUndefined;
}

Result<Layout> Hdf5Reader::read(const ByteSource& source) const {
  FOREBAY_TRY(File file, File::open(source));
  FOREBAY_TRY(std::vector<Variable> variables, DatasetWalk(file).run());
  return Layout{.format = "hdf5", .variables = std::move(variables)};
}

}  // namespace forebay::format

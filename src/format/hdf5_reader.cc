#include "format/hdf5_reader.h"

#include <unordered_set>

#include "format/hdf5_chunk.h"
#include "format/hdf5_group.h"

namespace forebay::format {
namespace {

using namespace hdf5;

// Whether the error concerns one object, which is then left out, and not the source or the allowance of work.
bool is_local(const Error& error) { return error.kind == ErrorKind::corrupt || error.kind == ErrorKind::unsupported; }

// Visits every object once, by its address, so that circles of hard links end. Soft and external links are not
// followed.
class FileWalk {
 public:
  explicit FileWalk(File& file) : file_(file) {}
  Result<std::vector<Variable>> run();

 private:
  struct Pending {
    uint64_t address;
    std::string path;
  };

  Result<void> visit(Pending place);
  Result<void> visit_group(Object object, const std::string& path);
  Result<void> visit_dataset(Object object, std::string path);
  Result<void> find_type(Object& object);
  Result<void> find_extents(const Object& object, Variable& variable);

  File& file_;
  std::vector<Pending> pending_;
  std::unordered_set<uint64_t> visited_;
  std::vector<Variable> variables_;
  uint64_t extents_ = 0;
};

Result<std::vector<Variable>> FileWalk::run() {
  FOREBAY_TRY(Object root, read_object(file_, file_.root()));
  visited_.insert(file_.root());
  FOREBAY_CHECK(visit_group(std::move(root), ""));
  while (!pending_.empty()) {
    Pending next = std::move(pending_.back());
    pending_.pop_back();
    if (!visited_.insert(next.address).second) continue;
    const Result<void> visited = visit(std::move(next));
    if (!visited && !is_local(visited.error())) return std::unexpected(visited.error());
  }
  return std::move(variables_);
}

Result<void> FileWalk::visit(Pending place) {
  FOREBAY_TRY(Object object, read_object(file_, place.address));
  if (object.storage && object.space) return visit_dataset(std::move(object), std::move(place.path));
  return visit_group(std::move(object), place.path);
}

Result<void> FileWalk::visit_group(Object object, const std::string& path) {
  FOREBAY_TRY(const std::vector<Link> links, list_links(file_, std::move(object)));
  for (auto link = links.rbegin(); link != links.rend(); ++link) {  // the last is visited first
    if (path.size() + 1 + link->name.size() > kMaxPathBytes || visited_.contains(link->address)) continue;
    FOREBAY_CHECK(file_.pay(path.size()));
    pending_.push_back({.address = link->address, .path = path + "/" + link->name});
  }
  return {};
}

// Follows a committed datatype.
Result<void> FileWalk::find_type(Object& object) {
  if (!object.shared_type) return {};
  FOREBAY_TRY(Object named, read_object(file_, *object.shared_type));
  object.type = named.type;
  return {};
}

Result<void> FileWalk::find_extents(const Object& object, Variable& variable) {
  const Storage& storage = *object.storage;
  if (storage.kind == StorageKind::chunked) {
    const auto grid = ChunkGrid::make(*object.space, storage.chunk);
    if (!grid || storage.element_size != object.type->size) return {};
    FOREBAY_TRY(variable.extents, read_chunks(file_, object, *grid));
    variable.block = storage.chunk;
    variable.filtered = object.filtered;
    variable.partial = variable.extents.size() < grid->cells();
  } else if (storage.address != kUndefined) {
    uint64_t bytes = element_count(variable.shape);
    if (__builtin_mul_overflow(bytes, object.type->size, &bytes)) return {};
    if (storage.kind == StorageKind::compact && storage.size != bytes) return {};
    variable.extents = {{.offset = file_.base() + storage.address, .length = bytes}};
  }
  return {};
}

Result<void> FileWalk::visit_dataset(Object object, std::string path) {
  FOREBAY_CHECK(find_type(object));
  if (!object.type) return {};
  Variable variable{
      .path = std::move(path), .type = object.type->type, .shape = object.space->shape, .block = {}, .extents = {}};
  FOREBAY_CHECK(find_extents(object, variable));
  if (variable.extents.empty() || variable.extents.front().length == 0) return {};
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
  FOREBAY_TRY(std::vector<Variable> variables, FileWalk(file).run());
  return Layout{.format = "hdf5", .variables = std::move(variables)};
}

}  // namespace forebay::format

#include "format/hdf5_attribute.h"

#include <map>
#include <set>

#include "format/attribute_list.h"
#include "format/hdf5_btree2.h"
#include "format/hdf5_heap.h"
#include "format/hdf5_walk.h"

namespace forebay::format {
namespace {

using namespace hdf5;

uint64_t padded(uint64_t bytes, bool is_padded) { return is_padded ? divide_up(bytes, 8) * 8 : bytes; }

class AttributeReader {
 public:
  AttributeReader(File& file, const AttributeLimits& limits, bool (*wanted)(std::string_view) = nullptr)
      : file_(file), limits_(limits), wanted_(wanted), list_(limits) {}

  Result<FileAttributes> read() {
    FOREBAY_CHECK(walk_objects(file_, Read::attributes, [this](const Object& object, const std::string& path) {
      return visit(object, path.empty() ? "/" : path);
    }));
    name_dimensions();
    return list_.take();
  }

  Result<FileAttributes> read_of(const Object& object, const std::string& path) {
    FOREBAY_CHECK(visit(object, path));
    return list_.take();
  }

 private:
  Result<void> visit(const Object& object, const std::string& path);
  Result<void> read_dense(const Object& object, const std::string& path);
  Result<void> decode(Cursor message, const std::string& path);
  Result<std::optional<ElementType>> type_of(Cursor message, bool is_shared);
  Result<bool> take_value(const ElementType& type, Cursor message, FileAttribute& attribute);
  Result<std::string_view> in_heap(Cursor& reference, uint32_t& length);
  Result<std::string_view> text_in_heap(Cursor& reference);
  Result<void> take_scales(Cursor values, const Shape& shape, const std::string& path);
  void name_dimensions();
  Result<const Bytes*> collection(uint64_t address);

  static constexpr size_t kMostCollections = 16;
  File& file_;
  AttributeLimits limits_;
  bool (*wanted_)(std::string_view);  // null: all are
  AttributeList list_;
  std::map<uint64_t, Bytes> collections_;  // of the global heap, by address

  // Dimension scales, as H5DS has them: the objects' paths by their addresses; of the variables that have scales these,
  // by their addresses; and of those that are one how many dimensions they have.
  std::map<uint64_t, std::string> paths_;
  std::map<std::string, std::vector<uint64_t>> scales_;
  std::map<std::string, size_t> ranks_;
  std::set<std::string> are_scales_;
};

// One damaged attribute does not take the others with it.
Result<void> AttributeReader::visit(const Object& object, const std::string& path) {
  if (object.is_dataset() && paths_.size() < limits_.most) {
    paths_.emplace(object.address, path);
    ranks_.emplace(path, object.space->shape.size());
  }
  for (const Bytes& message : object.attributes) FOREBAY_CHECK(decode(Cursor(message), path));
  if (object.attribute_heap == kUndefined) return {};
  const Result<void> read = read_dense(object, path);
  if (!read && read.error().kind == ErrorKind::limit) return read;
  if (!read) list_.leave_out();
  return {};
}

// Section III.A.2: records of the index of names, type 8, begin with the heap's ID and flags.
Result<void> AttributeReader::read_dense(const Object& object, const std::string& path) {
  constexpr uint8_t kByName = 8, kByOrder = 9, kShared = 2;
  constexpr size_t kHeapId = 8;
  FOREBAY_TRY(FractalHeap heap, FractalHeap::open(file_, object.attribute_heap));
  Bytes buffer;
  return visit_records(file_, object.attribute_index, kByName, kByOrder, [&](Cursor record, size_t) -> Result<void> {
    const Cursor id(record.bytes(kHeapId));
    const uint8_t flags = record.u8();
    if (!record.ok() || (flags & kShared) != 0) {
      list_.leave_out();
      return {};
    }
    const Result<Cursor> message = heap.object(id, buffer);
    if (message) return decode(*message, path);
    if (message.error().kind != ErrorKind::unsupported) return std::unexpected(message.error());
    list_.leave_out();
    return {};
  });
}

// Section IV.A.2.m.
Result<void> AttributeReader::decode(Cursor message, const std::string& path) {
  enum : uint8_t { kSharedType = 1, kSharedSpace = 2 };
  const uint8_t version = message.u8(), flags = message.u8();
  const uint16_t name_bytes = message.u16(), type_bytes = message.u16(), space_bytes = message.u16();
  if (version == 3) message.skip(1);
  const bool is_padded = version == 1;
  const std::string_view name = message.text(padded(name_bytes, is_padded)).substr(0, name_bytes);
  if (wanted_ != nullptr && !wanted_(name.substr(0, name.find('\0')))) return {};
  const Cursor type_message(message.bytes(padded(type_bytes, is_padded)));
  const Cursor space_message(message.bytes(padded(space_bytes, is_padded)));
  const auto space = decode_dataspace(file_, space_message);
  if (!message.ok() || version < 1 || version > 3 || !space || (version > 1 && (flags & kSharedSpace) != 0)) {
    list_.leave_out();
    return {};
  }
  if (name.substr(0, name.find('\0')) == "DIMENSION_LIST") FOREBAY_CHECK(take_scales(message, space->shape, path));
  FOREBAY_TRY(const auto type, type_of(type_message, version > 1 && (flags & kSharedType) != 0));
  FileAttribute attribute{.object = path,
                          .name = std::string(name.substr(0, name.find('\0'))),
                          .type = kBytes,
                          .is_text = false,
                          .shape = space->shape,
                          .value = {}};
  if (!type) {
    list_.leave_out();
    return {};
  }
  FOREBAY_TRY(const bool is_taken, take_value(*type, message, attribute));
  constexpr std::string_view kScale{"DIMENSION_SCALE\0", 16};
  if (is_taken && attribute.name == "CLASS" && as_text(attribute.value) == kScale && ranks_.contains(path))
    are_scales_.insert(path);
  is_taken ? list_.add(std::move(attribute)) : list_.leave_out();
  return {};
}

// Nothing if the type cannot be understood.
Result<std::optional<ElementType>> AttributeReader::type_of(Cursor message, bool is_shared) {
  if (!is_shared) return decode_datatype(message);
  const auto address = decode_shared(file_, message);
  if (!address) return std::nullopt;
  const Result<Object> named = read_object(file_, *address);
  if (named) return named->type;
  if (named.error().kind == ErrorKind::corrupt || named.error().kind == ErrorKind::unsupported) return std::nullopt;
  return std::unexpected(named.error());
}

// False if the value cannot be understood or kept.
Result<bool> AttributeReader::take_value(const ElementType& type, Cursor message, FileAttribute& attribute) {
  uint64_t bytes = element_count(attribute.shape);
  if (__builtin_mul_overflow(bytes, type.size, &bytes) || bytes > message.remaining() || !list_.has_room(bytes))
    return false;
  Cursor values(message.bytes(bytes));
  if (type.content == Content::elsewhere || type.type.size != type.size) return false;
  if (type.content == Content::plain) {
    const auto raw = values.bytes(bytes);
    attribute.value.assign(raw.begin(), raw.end());
    attribute.type = make_native(type.type, attribute.value);
    return true;
  }
  attribute.is_text = true;
  while (values.remaining() > 0) {
    std::string_view text;
    if (type.content == Content::text_in_heap) {
      FOREBAY_TRY(text, text_in_heap(values));
    } else {
      text = values.text(type.size);
      text = text.substr(0, text.find('\0'));
      if (type.content == Content::text_with_spaces) text = text.substr(0, text.find_last_not_of(' ') + 1);
    }
    if (!values.ok() || text.size() > limits_.most_bytes_each || attribute.value.size() > limits_.most_bytes_each)
      return false;
    append_text(text, attribute.value);
  }
  return true;
}

// Each dimension's list of references to scales: of it the first one.
Result<void> AttributeReader::take_scales(Cursor values, const Shape& shape, const std::string& path) {
  if (shape.size() != 1 || shape[0] > kMaxDims || scales_.size() >= limits_.most) return {};
  std::vector<uint64_t> scales;
  for (uint64_t d = 0; d < shape[0]; ++d) {
    uint32_t length = 0;
    FOREBAY_TRY(const std::string_view references, in_heap(values, length));
    Cursor first(as_bytes(references));
    const uint64_t address = file_.address(first);
    scales.push_back(length > 0 && first.ok() ? address : kUndefined);
    if (!values.ok()) return {};
  }
  scales_.emplace(path, std::move(scales));
  return {};
}

// A scale of one dimension is its own. Names are those of scales, in whichever group; a dimension without one has none.
void AttributeReader::name_dimensions() {
  for (const auto& [address, path] : paths_) {
    std::vector<std::string> names;
    if (const auto found = scales_.find(path); found != scales_.end()) {
      for (const uint64_t scale : found->second) {
        const auto named = paths_.find(scale);
        names.push_back(named == paths_.end() ? "" : named->second.substr(named->second.rfind('/') + 1));
      }
    } else if (ranks_[path] == 1 && are_scales_.contains(path)) {
      names.push_back(path.substr(path.rfind('/') + 1));
    }
    if (names.size() == ranks_[path] && !names.empty()) list_.set_dimensions(path, std::move(names));
  }
}

// Section III.E. An empty text has no place.
Result<std::string_view> AttributeReader::text_in_heap(Cursor& reference) {
  uint32_t length = 0;
  FOREBAY_TRY(const std::string_view content, in_heap(reference, length));
  return content.substr(0, length);
}

// What a reference of a variable length leads to, all of it, and how many elements it says that this has.
Result<std::string_view> AttributeReader::in_heap(Cursor& reference, uint32_t& length) {
  length = reference.u32();
  const uint64_t address = file_.address(reference);
  const uint32_t wanted = reference.u32();
  if (!reference.ok() || length == 0 || address == 0 || address == kUndefined) return std::string_view();
  const Result<const Bytes*> bytes = collection(address);
  if (!bytes) {
    if (bytes.error().kind == ErrorKind::limit) return std::unexpected(bytes.error());
    reference.skip(UINT64_MAX);  // not understood
    return std::string_view();
  }
  Cursor objects(**bytes);
  while (objects.remaining() >= 8 + file_.length_size()) {
    const uint16_t index = objects.u16();
    objects.skip(6);
    const uint64_t size = file_.length(objects);
    if (index == 0) break;  // what is left is free
    const std::string_view content = objects.text(size);
    objects.skip(padded(size, true) - size);
    if (index == wanted && content.size() == size) return content;
  }
  reference.skip(UINT64_MAX);
  return std::string_view();
}

// The objects of a collection of the global heap.
Result<const Bytes*> AttributeReader::collection(uint64_t address) {
  constexpr uint64_t kMostBytes = 64 << 20;
  const auto found = collections_.find(address);
  if (found != collections_.end()) return &found->second;
  const uint64_t head = 8 + file_.length_size();
  Bytes buffer;
  FOREBAY_TRY(Cursor cursor, file_.read(address, head, buffer));
  if (!cursor.expect("GCOL") || cursor.u8() != 1) return file_.corrupt("a damaged global heap", address);
  cursor.skip(3);
  const uint64_t size = file_.length(cursor);
  if (size < head || size > kMostBytes) return file_.corrupt("a global heap of an impossible size", address);
  Bytes objects;
  FOREBAY_CHECK(file_.read(address + head, size - head, objects));
  if (collections_.size() >= kMostCollections) collections_.clear();
  return &(collections_[address] = std::move(objects));
}

}  // namespace

Result<FileAttributes> read_hdf5_attributes(const ByteSource& source, const AttributeLimits& limits) {
  FOREBAY_TRY(File file, File::open(source));
  return AttributeReader(file, limits).read();
}

Result<FileAttributes> read_object_attributes(hdf5::File& file, const hdf5::Object& object, const std::string& path,
                                              bool (*wanted)(std::string_view name)) {
  return AttributeReader(file, {}, wanted).read_of(object, path);
}

}  // namespace forebay::format

// A filter of HDF5: each chunk is an array by itself (codec/array), so that what a chunk is stands in it, and a chunk
// of another filter, or of another shape, is found to be one.
#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include <H5PLextern.h>
#include <fmt/format.h>

#include "codec/array/array.h"

namespace forebay {
namespace {

constexpr H5Z_filter_t kFilter = codec::kHdf5Filter;

// The parameters of a dataset's filter, each an unsigned integer of 32 bits. The user gives the first one, or none;
// what follows describes a chunk, and is filled in when the dataset is made.
enum Parameter : size_t { kProfile, kType, kSize, kDimensions };
constexpr const char* kProfiles[] = {"fast", "balanced", "max"};
constexpr unsigned kDefaultProfile = 1;
constexpr size_t kMostParameters = kDimensions + codec::kMostArrayDimensions;
constexpr unsigned kBigEndian = 256, kIsFirst = 512;  // in kType, beside the kind; the first of the dataset's filters

void complain(const std::string& what) {
  H5Epush2(H5E_DEFAULT, __FILE__, __func__, __LINE__, H5E_ERR_CLS, H5E_PLINE, H5E_CANTFILTER, "forebay: %s",
           what.c_str());
}

// Of a type that stands for integers, as an enumeration does, the integers.
DataType element_of(hid_t type, size_t size) {
  const H5T_class_t kind = H5Tget_class(type);
  const ByteOrder order = H5Tget_order(type) == H5T_ORDER_BE && size > 1 ? ByteOrder::big : ByteOrder::little;
  const bool has_numbers_size = size == 1 || size == 2 || size == 4 || size == 8;
  DataType element{Kind::opaque, ByteOrder::little, static_cast<uint16_t>(size)};
  if (!has_numbers_size) return element;
  if (kind == H5T_FLOAT && size > 1) element = {Kind::floating, order, static_cast<uint16_t>(size)};
  if (kind == H5T_INTEGER)
    element = {H5Tget_sign(type) == H5T_SGN_NONE ? Kind::unsigned_int : Kind::signed_int, order,
               static_cast<uint16_t>(size)};
  if (kind == H5T_ENUM || kind == H5T_BITFIELD) element = {Kind::unsigned_int, order, static_cast<uint16_t>(size)};
  return element;
}

// A chunk's elements; of types that are larger than an element may be, bytes.
std::optional<codec::ArrayShape> chunk_of(hid_t properties, hid_t type) {
  hsize_t dims[H5S_MAX_RANK];
  const int rank = H5Pget_chunk(properties, H5S_MAX_RANK, dims);
  const size_t size = H5Tget_size(type);
  if (rank < 0 || size == 0) return std::nullopt;
  codec::ArrayShape chunk{.type = size <= UINT16_MAX ? element_of(type, size) : kBytes, .dims = {dims, dims + rank}};
  if (size > UINT16_MAX) chunk.dims.push_back(size);
  while (chunk.dims.size() > codec::kMostArrayDimensions) {  // the outermost are folded
    chunk.dims[1] *= chunk.dims[0];
    chunk.dims.erase(chunk.dims.begin());
  }
  return chunk;
}

bool is_first_filter(hid_t properties) {
  unsigned flags = 0, config = 0;
  size_t count = 0;
  return H5Pget_filter2(properties, 0, &flags, &count, nullptr, 0, nullptr, &config) == kFilter;
}

herr_t set_local(hid_t properties, hid_t type, hid_t /*space*/) {
  unsigned flags = 0, filter_config = 0, given[kMostParameters] = {kDefaultProfile};
  size_t count = kMostParameters;
  if (H5Pget_filter_by_id2(properties, kFilter, &flags, &count, given, 0, nullptr, &filter_config) < 0) return -1;
  const unsigned profile = count > 0 ? given[0] : kDefaultProfile;
  if (profile >= std::size(kProfiles)) {
    complain(fmt::format("the profile is {}, where 0 is fast, 1 balanced and 2 max", profile));
    return -1;
  }
  const auto chunk = chunk_of(properties, type);
  if (!chunk || !chunk->bytes()) {
    complain(chunk ? chunk->bytes().error().message() : "the dataset has no chunks");
    return -1;
  }
  std::vector<unsigned> parameters{profile,
                                   static_cast<unsigned>(chunk->type.kind) |
                                       (chunk->type.order == ByteOrder::big ? kBigEndian : 0) |
                                       (is_first_filter(properties) ? kIsFirst : 0),
                                   chunk->type.size};
  for (const uint64_t dim : chunk->dims) parameters.push_back(static_cast<unsigned>(dim));
  return H5Pmodify_filter(properties, kFilter, flags, parameters.size(), parameters.data());
}

// What the parameters, which are hostile, say of a chunk.
Result<codec::ArrayShape> described(std::span<const unsigned> parameters) {
  const auto malformed = [] { return fail(ErrorKind::corrupt, "the filter's parameters describe no chunk"); };
  if (parameters.size() < kDimensions || parameters.size() > kMostParameters || parameters[kProfile] > 2)
    return malformed();
  const unsigned kind = parameters[kType] & ~(kBigEndian | kIsFirst);
  if (kind > static_cast<unsigned>(Kind::floating) || parameters[kSize] > UINT16_MAX) return malformed();
  codec::ArrayShape chunk{
      {static_cast<Kind>(kind), (parameters[kType] & kBigEndian) != 0 ? ByteOrder::big : ByteOrder::little,
       static_cast<uint16_t>(parameters[kSize])},
      {parameters.begin() + kDimensions, parameters.end()}};
  if (!chunk.bytes()) return malformed();
  return chunk;
}

// Memory that HDF5 frees.
class Chunk {
 public:
  explicit Chunk(size_t size) : memory_(H5allocate_memory(std::max<size_t>(size, 1), false)), size_(size) {
    if (memory_ == nullptr) throw std::bad_alloc();
  }
  ~Chunk() {
    if (memory_ != nullptr) H5free_memory(memory_);
  }
  Chunk(const Chunk&) = delete;
  Chunk& operator=(const Chunk&) = delete;

  std::span<std::byte> span() { return {static_cast<std::byte*>(memory_), size_}; }

  // Takes the place of what HDF5 has.
  size_t replace(size_t* buffer_size, void** buffer) && {
    H5free_memory(*buffer);
    *buffer = std::exchange(memory_, nullptr);
    *buffer_size = size_;
    return size_;
  }

 private:
  void* memory_;
  size_t size_;
};

// What the filter is given and gives: a chunk, or where other filters come before it, what they made of one.
bool may_be(const codec::ArrayShape& shape, const codec::ArrayShape& chunk, std::span<const unsigned> parameters) {
  if (shape == chunk) return true;
  return (parameters[kType] & kIsFirst) == 0 && shape.type == kBytes && shape.dims.size() == 1;
}

Result<Bytes> encoded(std::span<const unsigned> parameters, std::span<const std::byte> raw) {
  FOREBAY_TRY(codec::ArrayShape shape, described(parameters));
  FOREBAY_TRY(const auto profile, codec::Profile::parse(kProfiles[parameters[kProfile]]));
  FOREBAY_TRY(const uint64_t bytes, shape.bytes());
  if (bytes != raw.size()) shape = {kBytes, {raw.size()}};
  return codec::encode_array(profile, shape, raw);
}

// HDF5 takes a chunk for as large as it should be: one of another size must not reach it.
Result<uint64_t> decoded_bytes(std::span<const unsigned> parameters, std::span<const std::byte> encoded) {
  FOREBAY_TRY(const codec::ArrayShape chunk, described(parameters));
  FOREBAY_TRY(const codec::ArrayShape shape, codec::describe_array(encoded));
  if (!may_be(shape, chunk, parameters)) return fail(ErrorKind::corrupt, "a chunk of another shape or type");
  return shape.bytes();
}

Result<size_t> filtered(bool decodes, std::span<const unsigned> parameters, std::span<const std::byte> chunk,
                        size_t* buffer_size, void** buffer) {
  if (!decodes) {
    FOREBAY_TRY(const Bytes made, encoded(parameters, chunk));
    Chunk out(made.size());
    std::ranges::copy(made, out.span().begin());
    return std::move(out).replace(buffer_size, buffer);
  }
  FOREBAY_TRY(const uint64_t bytes, decoded_bytes(parameters, chunk));
  Chunk out(bytes);
  FOREBAY_CHECK(codec::decode_array(chunk, out.span()));
  return std::move(out).replace(buffer_size, buffer);
}

size_t filter(unsigned flags, size_t count, const unsigned* parameters, size_t bytes, size_t* buffer_size,
              void** buffer) {
  try {
    const auto size = filtered((flags & H5Z_FLAG_REVERSE) != 0, {parameters, count},
                               {static_cast<const std::byte*>(*buffer), bytes}, buffer_size, buffer);
    if (size) return *size;
    complain(size.error().message());
  } catch (const std::bad_alloc&) {
    complain("no memory left for a chunk");
  } catch (...) {
    complain("a defect of Forebay");
  }
  return 0;
}

constexpr H5Z_class2_t kClass = {H5Z_CLASS_T_VERS, kFilter, 1, 1, "forebay", nullptr, set_local, filter};

}  // namespace
}  // namespace forebay

extern "C" __attribute__((visibility("default"))) H5PL_type_t H5PLget_plugin_type(void) { return H5PL_TYPE_FILTER; }
extern "C" __attribute__((visibility("default"))) const void* H5PLget_plugin_info(void) { return &forebay::kClass; }

#include "format/hdf5_message.h"

#include "base/layout.h"

namespace forebay::format::hdf5 {

// Section IV.A.2.b.
std::optional<Dataspace> decode_dataspace(const File& file, Cursor message) {
  const uint8_t version = message.u8(), rank = message.u8(), flags = message.u8();
  if (version != 1 && version != 2) return {};
  const uint8_t kind = message.u8();  // reserved in version 1
  constexpr uint8_t kNull = 2;
  if (version == 2 && kind == kNull) return {};
  if (version == 1) message.skip(4);
  if (rank > kMaxDims) return {};
  Dataspace space;
  for (int i = 0; i < rank; ++i) space.shape.push_back(file.length(message));
  space.maximum = space.shape;
  constexpr uint8_t kHasMaximum = 1;
  if ((flags & kHasMaximum) != 0) {
    const uint64_t all_ones = UINT64_MAX >> (64 - 8 * file.length_size());
    for (uint64_t& dim : space.maximum) {
      dim = file.length(message);
      if (dim == all_ones) dim = kUnlimited;
    }
  }
  if (!message.ok()) return {};
  return space;
}

namespace {

// The layouts of IEEE 754's binary16, binary32 and binary64.
struct FloatLayout {
  uint32_t size;
  uint8_t sign, exponent_at, exponent_bits, mantissa_at, mantissa_bits;
  uint32_t bias;
  bool operator==(const FloatLayout&) const = default;
};
constexpr FloatLayout kIeee[] = {{2, 15, 10, 5, 0, 10, 15}, {4, 31, 23, 8, 0, 23, 127}, {8, 63, 52, 11, 0, 52, 1023}};

bool is_full_width(Cursor& properties, uint32_t size) {
  const uint16_t bit_offset = properties.u16(), precision = properties.u16();
  return properties.ok() && bit_offset == 0 && precision == 8 * size;
}

DataType integer_type(uint32_t bits, uint32_t size, Cursor properties) {
  DataType type{.kind = (bits & 8) != 0 ? Kind::signed_int : Kind::unsigned_int,
                .order = (bits & 1) != 0 && size > 1 ? ByteOrder::big : ByteOrder::little,
                .size = static_cast<uint16_t>(size)};
  return size <= 8 && is_full_width(properties, size) && type.is_valid() ? type : kBytes;
}

DataType floating_type(uint32_t bits, uint32_t size, Cursor properties) {
  constexpr uint32_t kVax = 1 << 6, kNormalisation = 3 << 4, kImpliedOne = 2 << 4;
  if (!is_full_width(properties, size) || (bits & kVax) != 0 || (bits & kNormalisation) != kImpliedOne) return kBytes;
  FloatLayout layout{.size = size,
                     .sign = static_cast<uint8_t>(bits >> 8),
                     .exponent_at = properties.u8(),
                     .exponent_bits = properties.u8(),
                     .mantissa_at = properties.u8(),
                     .mantissa_bits = properties.u8(),
                     .bias = properties.u32()};
  if (!properties.ok() || std::ranges::find(kIeee, layout) == std::end(kIeee)) return kBytes;
  return {.kind = Kind::floating,
          .order = (bits & 1) != 0 ? ByteOrder::big : ByteOrder::little,
          .size = static_cast<uint16_t>(size)};
}

}  // namespace

// Section IV.A.2.d. Whatever is not a plain number is opaque with its size; an enumeration is its base type.
std::optional<ElementType> decode_datatype(Cursor message) {
  enum : uint8_t {
    kFixedPoint = 0,
    kFloatingPoint = 1,
    kString = 3,
    kReference = 7,
    kEnumeration = 8,
    kVariableLength = 9
  };
  constexpr uint32_t kLowBits = 15, kWithSpaces = 2, kOfText = 1;
  uint8_t kind = message.u8() & 15;
  auto bits = static_cast<uint32_t>(message.number(3));
  const uint32_t size = message.u32();
  if (!message.ok() || size == 0) return {};
  if (kind == kEnumeration) {
    kind = message.u8() & 15;
    bits = static_cast<uint32_t>(message.number(3));
    if (message.u32() != size || kind != kFixedPoint) return {};
  }
  ElementType element{.type = kBytes, .size = size};
  if (kind == kFixedPoint) element.type = integer_type(bits, size, message);
  if (kind == kFloatingPoint) element.type = floating_type(bits, size, message);
  if (kind == kString) element.content = (bits & kLowBits) == kWithSpaces ? Content::text_with_spaces : Content::text;
  if (kind == kReference) element.content = Content::elsewhere;
  if (kind == kVariableLength)
    element.content = (bits & kLowBits) == kOfText ? Content::text_in_heap : Content::elsewhere;
  if (!element.type.is_number() && size <= UINT16_MAX) element.type.size = static_cast<uint16_t>(size);
  return element;
}

namespace {

enum : uint8_t { kCompactClass = 0, kContiguousClass = 1, kChunkedClass = 2 };

// Versions 1 and 2: dimensions of four bytes, which for chunks end with the element's size.
Storage decode_old_layout(const File& file, Cursor& message) {
  Storage storage;
  const uint8_t rank = message.u8(), kind = message.u8();
  message.skip(5);
  if (kind != kCompactClass) storage.address = file.address(message);
  Shape dims;
  for (int i = 0; i < rank; ++i) dims.push_back(message.u32());
  if (kind == kContiguousClass) storage.kind = StorageKind::contiguous;
  if (kind == kCompactClass) {
    storage.kind = StorageKind::compact;
    storage.size = message.u32();
    storage.address = message.position();
  }
  if (kind == kChunkedClass && !dims.empty()) {
    storage.kind = StorageKind::chunked;
    storage.element_size = dims.back();
    dims.pop_back();
    storage.chunk = std::move(dims);
  }
  return storage;
}

void decode_chunks_v3(const File& file, Cursor& message, Storage& storage) {
  const uint8_t rank = message.u8();
  storage.address = file.address(message);
  for (int i = 1; i < rank; ++i) storage.chunk.push_back(message.u32());
  storage.element_size = message.u32();
  storage.kind = StorageKind::chunked;
}

void decode_chunks_v4(const File& file, Cursor& message, Storage& storage) {
  enum : uint8_t { kEdgesUnfiltered = 1, kSingleWithFilter = 2 };
  const uint8_t flags = message.u8(), rank = message.u8(), dim_size = message.u8();
  if (rank == 0 || dim_size > 8) return;
  for (int i = 1; i < rank; ++i) storage.chunk.push_back(message.number(dim_size));
  storage.element_size = message.number(dim_size);
  storage.edges_unfiltered = (flags & kEdgesUnfiltered) != 0;
  const uint8_t index = message.u8();
  storage.index = static_cast<ChunkIndex>(index);
  switch (storage.index) {
    case ChunkIndex::single:
      if ((flags & kSingleWithFilter) != 0) {
        storage.size = file.length(message);
        storage.filter_mask = message.u32();
      }
      break;
    case ChunkIndex::implicit:
      break;
    case ChunkIndex::fixed_array:
      message.skip(1);
      break;
    case ChunkIndex::extensible_array:
      message.skip(5);
      break;
    case ChunkIndex::btree2:
      message.skip(6);
      break;
    default:
      return;
  }
  storage.address = file.address(message);
  storage.kind = StorageKind::chunked;
}

}  // namespace

// Section IV.A.2.i.
std::optional<Storage> decode_layout(const File& file, Cursor message) {
  const uint8_t version = message.u8();
  Storage storage;
  if (version == 1 || version == 2) {
    storage = decode_old_layout(file, message);
  } else if (version == 3 || version == 4) {
    const uint8_t kind = message.u8();
    if (kind == kCompactClass) {
      storage.kind = StorageKind::compact;
      storage.size = message.u16();
      storage.address = message.position();
    } else if (kind == kContiguousClass) {
      storage.kind = StorageKind::contiguous;
      storage.address = file.address(message);
    } else if (kind == kChunkedClass) {
      version == 3 ? decode_chunks_v3(file, message, storage) : decode_chunks_v4(file, message, storage);
    }
  }
  if (!message.ok() || storage.kind == StorageKind::elsewhere) return {};
  return storage;
}

namespace {

std::optional<Bytes> sized_value(Cursor message) {
  const auto value = message.bytes(message.u32());
  if (!message.ok()) return {};
  return Bytes(value.begin(), value.end());
}

}  // namespace

// Section IV.A.2.e.
std::optional<Bytes> decode_old_fill_value(Cursor message) { return sized_value(message); }

// Section IV.A.2.f.
std::optional<Bytes> decode_fill_value(Cursor message) {
  enum : uint8_t { kHasValue = 32 };
  const uint8_t version = message.u8();
  bool has_value = true;
  if (version == 1 || version == 2) {
    message.skip(2);
    has_value = message.u8() != 0;
  } else if (version == 3) {
    has_value = (message.u8() & kHasValue) != 0;
  } else {
    return {};
  }
  if (!message.ok()) return {};
  return has_value ? sized_value(message) : Bytes();
}

// Section IV.A.2.g.
std::optional<Link> decode_link(const File& file, Cursor message) {
  enum : uint8_t { kNameSize = 3, kHasOrder = 4, kHasType = 8, kHasCharset = 16 };
  if (message.u8() != 1) return {};
  const uint8_t flags = message.u8();
  const bool hard = (flags & kHasType) == 0 || message.u8() == 0;
  if ((flags & kHasOrder) != 0) message.skip(8);
  if ((flags & kHasCharset) != 0) message.skip(1);
  Link link;
  link.name = message.text(message.number(size_t{1} << (flags & kNameSize)));
  if (hard) link.address = file.address(message);
  if (!message.ok()) return {};
  return link;
}

// Section IV.A.2, shared messages. Messages in a shared message heap are not followed.
std::optional<uint64_t> decode_shared(const File& file, Cursor message) {
  constexpr uint8_t kInHeap = 1;
  const uint8_t version = message.u8(), kind = message.u8();
  if (version == 1) message.skip(6 + file.length_size());
  if (version < 1 || version > 3 || (version == 3 && kind == kInHeap)) return {};
  const uint64_t address = file.address(message);
  if (!message.ok() || address == kUndefined) return {};
  return address;
}

}  // namespace forebay::format::hdf5

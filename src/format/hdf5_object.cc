#include "format/hdf5_object.h"

namespace forebay::format::hdf5 {
namespace {

enum class MessageType : uint16_t {
  dataspace = 0x01,
  link_info = 0x02,
  datatype = 0x03,
  old_fill_value = 0x04,
  fill_value = 0x05,
  link = 0x06,
  external_files = 0x07,
  layout = 0x08,
  filters = 0x0B,
  attribute = 0x0C,
  continuation = 0x10,
  symbol_table = 0x11,
  attribute_info = 0x15,
};

struct Block {
  uint64_t address, length;
};

// Takes in the messages of one object header, block after block.
class HeaderReader {
 public:
  HeaderReader(File& file, Read what) : file_(file), what_(what) {}
  Result<Object> read(uint64_t address);

 private:
  Result<void> read_v1(uint64_t address);
  Result<void> read_v2(uint64_t address);
  Result<void> read_continuations();
  void take_messages(Cursor cursor, uint64_t address);
  void take(MessageType type, Cursor body, uint64_t address);
  void take_shared(MessageType type, Cursor body);
  void take_fill_value(MessageType type, Cursor body);
  void take_filters(Cursor body);
  void take_layout(Cursor body, uint64_t address);
  void take_link_info(Cursor body);
  void take_attribute_info(Cursor body);

  File& file_;
  Read what_;
  Object object_;
  bool is_elsewhere_ = false;    // the data, or how they are stored
  bool has_fill_value_ = false;  // in the newer message, which counts if there are both
  uint8_t version_ = 1;
  size_t message_head_ = 8;  // bytes before a message's body
  std::vector<Block> continuations_;
};

constexpr std::string_view kHeaderSignature = "OHDR", kBlockSignature = "OCHK";

Result<Object> HeaderReader::read(uint64_t address) {
  Bytes buffer;
  FOREBAY_TRY(Cursor cursor, file_.read(address, kHeaderSignature.size(), buffer));
  FOREBAY_CHECK(cursor.expect(kHeaderSignature) ? read_v2(address) : read_v1(address));
  FOREBAY_CHECK(read_continuations());
  if (is_elsewhere_) object_.storage.reset();
  object_.address = address;
  return std::move(object_);
}

// Section IV.A.1.a.
Result<void> HeaderReader::read_v1(uint64_t address) {
  constexpr uint64_t kPrefix = 16;
  Bytes buffer;
  FOREBAY_TRY(Cursor prefix, file_.read(address, kPrefix, buffer));
  if (prefix.u8() != 1) return file_.unsupported("an object header of unknown version", address);
  prefix.skip(7);
  const uint32_t size = prefix.u32();
  FOREBAY_TRY(const Cursor messages, file_.read(address + kPrefix, size, buffer));
  take_messages(messages, address + kPrefix);
  return {};
}

// Section IV.A.1.b.
Result<void> HeaderReader::read_v2(uint64_t address) {
  enum : uint8_t { kChunkSize = 3, kHasCreationOrder = 4, kHasAttributeLimits = 16, kHasTimes = 32 };
  Bytes buffer;
  FOREBAY_TRY(Cursor prefix, file_.read(address, 6, buffer));
  prefix.skip(kHeaderSignature.size());
  if (prefix.u8() != 2) return file_.unsupported("an object header of unknown version", address);
  version_ = 2;
  const uint8_t flags = prefix.u8();
  message_head_ = (flags & kHasCreationOrder) != 0 ? 6 : 4;
  const uint64_t at = address + 6 + ((flags & kHasTimes) != 0 ? 16 : 0) + ((flags & kHasAttributeLimits) != 0 ? 4 : 0);
  const size_t size_bytes = size_t{1} << (flags & kChunkSize);
  FOREBAY_TRY(Cursor size, file_.read(at, size_bytes, buffer));
  FOREBAY_TRY(const Cursor messages, file_.read(at + size_bytes, size.number(size_bytes), buffer));
  take_messages(messages, at + size_bytes);
  return {};
}

Result<void> HeaderReader::read_continuations() {
  constexpr size_t kMaxBlocks = 1 << 16;  // breaks circles; writers need a block per few messages at worst
  constexpr uint64_t kChecksum = 4;
  Bytes buffer;
  for (size_t i = 0; i < continuations_.size(); ++i) {
    if (i >= kMaxBlocks) return file_.corrupt("an object header without end", continuations_[i].address);
    auto [address, length] = continuations_[i];
    FOREBAY_TRY(Cursor block, file_.read(address, length, buffer));
    if (version_ == 2) {
      if (!block.expect(kBlockSignature) || block.remaining() < kChecksum)
        return file_.corrupt("a damaged object header continuation", address);
      address += kBlockSignature.size();
      block = Cursor(block.bytes(block.remaining() - kChecksum));
    }
    take_messages(block, address);
  }
  return {};
}

// The messages that `cursor`, which starts at `address`, holds. A rest too short for a message is a gap.
void HeaderReader::take_messages(Cursor cursor, uint64_t address) {
  constexpr uint8_t kShared = 2;
  while (cursor.remaining() >= message_head_) {
    const auto type = static_cast<MessageType>(version_ == 1 ? cursor.u16() : cursor.u8());
    const uint16_t size = cursor.u16();
    const uint8_t flags = cursor.u8();
    cursor.skip(message_head_ - (version_ == 1 ? 5 : 4));
    const uint64_t body_at = address + cursor.position();
    const Cursor body(cursor.bytes(size));
    if (!cursor.ok()) return;
    if ((flags & kShared) == 0)
      take(type, body, body_at);
    else
      take_shared(type, body);
  }
}

void HeaderReader::take(MessageType type, Cursor body, uint64_t address) {
  switch (type) {
    case MessageType::dataspace:
      object_.space = decode_dataspace(file_, body);
      break;
    case MessageType::datatype:
      object_.type = decode_datatype(body);
      break;
    case MessageType::layout:
      take_layout(body, address);
      break;
    case MessageType::external_files:
      is_elsewhere_ = true;
      break;
    case MessageType::filters:
      take_filters(body);
      break;
    case MessageType::old_fill_value:
    case MessageType::fill_value:
      take_fill_value(type, body);
      break;
    case MessageType::link_info:
      take_link_info(body);
      break;
    case MessageType::link:
      if (auto link = decode_link(file_, body)) object_.links.push_back(std::move(*link));
      break;
    case MessageType::symbol_table:
      object_.symbol_tree = file_.address(body);
      object_.symbol_heap = file_.address(body);
      if (!body.ok()) object_.symbol_tree = kUndefined;
      break;
    case MessageType::continuation: {
      const uint64_t at = file_.address(body), length = file_.length(body);
      if (body.ok()) continuations_.push_back({at, length});
      break;
    }
    case MessageType::attribute:
      if (what_ == Read::attributes) {
        const auto bytes = body.bytes(body.remaining());
        object_.attributes.emplace_back(bytes.begin(), bytes.end());
      }
      break;
    case MessageType::attribute_info:
      take_attribute_info(body);
      break;
    default:
      break;
  }
}

// Of what lies in another header, or in the heap of shared messages, datatypes alone are looked up.
void HeaderReader::take_shared(MessageType type, Cursor body) {
  if (type == MessageType::datatype) object_.shared_type = decode_shared(file_, body);
  if (type == MessageType::filters) is_elsewhere_ = true;
  if (type == MessageType::fill_value) {
    has_fill_value_ = true;
    object_.fill_value.reset();
  }
}

// The newer message counts if there are both.
void HeaderReader::take_fill_value(MessageType type, Cursor body) {
  if (type == MessageType::old_fill_value && has_fill_value_) return;
  has_fill_value_ = has_fill_value_ || type == MessageType::fill_value;
  object_.fill_value = type == MessageType::fill_value ? decode_fill_value(body) : decode_old_fill_value(body);
}

// Chunks that are packed in a way that is not known are not taken for plain ones.
void HeaderReader::take_filters(Cursor body) {
  if (auto filters = decode_filters(body))
    object_.filters = *std::move(filters);
  else
    is_elsewhere_ = true;
}

void HeaderReader::take_layout(Cursor body, uint64_t address) {
  object_.storage = decode_layout(file_, body);
  if (object_.storage && object_.storage->kind == StorageKind::compact) object_.storage->address += address;
}

// Section IV.A.2.c.
void HeaderReader::take_link_info(Cursor body) {
  constexpr uint8_t kTracksOrder = 1;
  body.skip(1);
  if ((body.u8() & kTracksOrder) != 0) body.skip(8);
  object_.link_heap = file_.address(body);
  object_.link_index = file_.address(body);
  if (!body.ok()) object_.link_heap = kUndefined;
}

// Section IV.A.2.v.
void HeaderReader::take_attribute_info(Cursor body) {
  constexpr uint8_t kTracksOrder = 1;
  body.skip(1);
  if ((body.u8() & kTracksOrder) != 0) body.skip(2);
  object_.attribute_heap = file_.address(body);
  object_.attribute_index = file_.address(body);
  if (!body.ok()) object_.attribute_heap = kUndefined;
}

}  // namespace

Result<Object> read_object(File& file, uint64_t address, Read what) { return HeaderReader(file, what).read(address); }

}  // namespace forebay::format::hdf5

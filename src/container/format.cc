#include "container/format.h"

#include <cstring>

#include <fmt/format.h>

#include "base/checksum.h"

namespace forebay::container {

namespace {

// Writes fields one after another.
class Cursor {
 public:
  explicit Cursor(std::byte* at) : at_(at) {}
  template <std::integral T>
  void put(T value) {
    store_le(at_, value);
    at_ += sizeof value;
  }
  void put(std::span<const std::byte> bytes) {
    if (!bytes.empty()) std::memcpy(at_, bytes.data(), bytes.size());
    at_ += bytes.size();
  }
  void put(const Marker& marker) { put(std::as_bytes(std::span(marker))); }

 private:
  std::byte* at_;
};

bool starts_with(std::span<const std::byte> bytes, const Marker& marker) {
  return std::memcmp(bytes.data(), marker.data(), marker.size()) == 0;
}

std::unexpected<Error> newer(const std::string& what) {
  return fail(ErrorKind::unsupported, what, {}, {}, "use a newer forebay");
}

constexpr uint8_t kHeaderVersion = 1;

}  // namespace

uint64_t RecordHeader::record_bytes() const {
  uint64_t total = kRecordHeaderBytes + uint64_t{meta_bytes};
  return __builtin_add_overflow(total, payload_bytes, &total) ? UINT64_MAX : total;
}

std::array<std::byte, kFileHeaderBytes> encode_file_header() {
  std::array<std::byte, kFileHeaderBytes> bytes;
  Cursor out(bytes.data());
  out.put(kFileMagic);
  out.put(kFormatVersion);
  out.put(~kFormatVersion);
  return bytes;
}

std::array<std::byte, kRecordHeaderBytes> encode(const RecordHeader& header) {
  std::array<std::byte, kRecordHeaderBytes> bytes;
  Cursor out(bytes.data());
  out.put(kRecordMarker);
  out.put(header.id);
  out.put(static_cast<uint16_t>(header.type));
  out.put(header.flags);
  out.put(kHeaderVersion);
  out.put(header.meta_bytes);
  out.put(header.payload_bytes);
  out.put(header.meta_hash);
  out.put(header.payload_hash);
  out.put(hash64(std::span(bytes).first<kRecordHeaderBytes - 8>()));
  return bytes;
}

RecordFront encode_front(RecordType type, uint64_t id, std::span<const std::byte> meta, uint64_t payload_bytes,
                         uint64_t payload_hash) {
  const bool is_required = type != RecordType::padding && type != RecordType::cubes;
  const auto header = encode(RecordHeader{.id = id,
                                          .type = type,
                                          .flags = is_required ? kRequired : uint8_t{0},
                                          .meta_bytes = static_cast<uint32_t>(meta.size()),
                                          .payload_bytes = payload_bytes,
                                          .meta_hash = hash64(meta),
                                          .payload_hash = payload_hash});
  RecordFront front{.bytes = Bytes(header.begin(), header.end()), .hash = header_hash(header)};
  front.bytes.insert(front.bytes.end(), meta.begin(), meta.end());
  return front;
}

std::array<std::byte, kTrailerBytes> encode(const Trailer& trailer) {
  std::array<std::byte, kTrailerBytes> bytes;
  Cursor out(bytes.data());
  out.put(kTrailerMagic);
  out.put(trailer.container_id);
  out.put(trailer.last.offset);
  out.put(trailer.last.bytes);
  out.put(trailer.last.hash);
  out.put(trailer.file_bytes);
  out.put(trailer.version);
  out.put(trailer.features);
  out.put(hash64(std::span(bytes).first<kTrailerBytes - 8>()));
  return bytes;
}

Bytes encode(const FrameMeta& meta) {
  Bytes bytes(kFrameMetaFixedBytes + 4 * meta.references.size() + meta.recipe.size() + meta.chain.size());
  Cursor out(bytes.data());
  out.put(meta.number);
  out.put(static_cast<uint32_t>(meta.references.size()));
  out.put(meta.raw_bytes);
  out.put(meta.raw_hash);
  out.put(static_cast<uint32_t>(meta.recipe.size()));
  out.put(static_cast<uint32_t>(meta.chain.size()));
  for (const uint32_t reference : meta.references) out.put(reference);
  out.put(meta.recipe);
  out.put(as_bytes(meta.chain));
  return bytes;
}

Result<void> check_file_header(std::span<const std::byte, kFileHeaderBytes> bytes) {
  if (!starts_with(bytes, kFileMagic)) return fail(ErrorKind::corrupt, "this is not the beginning of a container");
  const auto version = load_le<uint32_t>(bytes.data() + 8);
  if (version != ~load_le<uint32_t>(bytes.data() + 12))
    return fail(ErrorKind::corrupt, "the container's version number is damaged");
  if (version != kFormatVersion)
    return newer(
        fmt::format("the container has format version {}, and this build reads version {}", version, kFormatVersion));
  return {};
}

Result<RecordHeader> parse_record_header(std::span<const std::byte, kRecordHeaderBytes> bytes) {
  if (!starts_with(bytes, kRecordMarker)) return fail(ErrorKind::corrupt, "no record begins here");
  if (hash64(bytes.first<kRecordHeaderBytes - 8>()) != header_hash(bytes))
    return fail(ErrorKind::corrupt, "the record's header does not match its checksum");
  const std::byte* at = bytes.data();
  if (load_le<uint8_t>(at + 19) != kHeaderVersion)
    return newer(fmt::format("a record has header version {}, and this build reads version {}",
                             load_le<uint8_t>(at + 19), kHeaderVersion));
  return RecordHeader{.id = load_le<uint64_t>(at + 8),
                      .type = static_cast<RecordType>(load_le<uint16_t>(at + 16)),
                      .flags = load_le<uint8_t>(at + 18),
                      .meta_bytes = load_le<uint32_t>(at + 20),
                      .payload_bytes = load_le<uint64_t>(at + 24),
                      .meta_hash = load_le<uint64_t>(at + 32),
                      .payload_hash = load_le<uint64_t>(at + 40)};
}

uint64_t header_hash(std::span<const std::byte, kRecordHeaderBytes> bytes) {
  return load_le<uint64_t>(bytes.data() + kRecordHeaderBytes - 8);
}

Result<Trailer> parse_trailer(std::span<const std::byte, kTrailerBytes> bytes) {
  const std::byte* at = bytes.data();
  if (!starts_with(bytes, kTrailerMagic)) return fail(ErrorKind::corrupt, "the container does not end with a trailer");
  if (hash64(bytes.first<kTrailerBytes - 8>()) != load_le<uint64_t>(at + kTrailerBytes - 8))
    return fail(ErrorKind::corrupt, "the trailer does not match its checksum");
  const Trailer trailer{.container_id = load_le<uint64_t>(at + 8),
                        .last = {load_le<uint64_t>(at + 16), load_le<uint64_t>(at + 24), load_le<uint64_t>(at + 32)},
                        .file_bytes = load_le<uint64_t>(at + 40),
                        .version = load_le<uint32_t>(at + 48),
                        .features = load_le<uint32_t>(at + 52)};
  if (trailer.version != kFormatVersion)
    return fail(ErrorKind::corrupt, "the trailer's version is not the file header's");
  if ((trailer.features & ~kKnownFeatures) != 0)
    return newer(fmt::format("the container needs features (mask {:#x}) that this build does not have",
                             trailer.features & ~kKnownFeatures));
  return trailer;
}

Result<FrameMeta> parse_frame_meta(std::span<const std::byte> bytes) {
  const auto bad = [](const char* what) { return fail(ErrorKind::corrupt, what); };
  if (bytes.size() < kFrameMetaFixedBytes) return bad("the frame's description is too short");
  const std::byte* at = bytes.data();
  const auto references = load_le<uint32_t>(at + 4), recipe = load_le<uint32_t>(at + 24),
             chain = load_le<uint32_t>(at + 28);
  if (references > kMaxReferences || recipe > kMaxRecipeBytes || chain > kMaxChainBytes ||
      bytes.size() != size_t{kFrameMetaFixedBytes} + 4 * size_t{references} + recipe + chain)
    return bad("the lengths in the frame's description do not add up");
  FrameMeta meta{.number = load_le<uint32_t>(at),
                 .raw_bytes = load_le<uint64_t>(at + 8),
                 .raw_hash = load_le<uint64_t>(at + 16),
                 .references = {},
                 .recipe = bytes.subspan(kFrameMetaFixedBytes + 4 * references, recipe),
                 .chain = as_text(bytes.last(chain))};
  for (uint32_t i = 0; i < references; ++i)
    meta.references.push_back(load_le<uint32_t>(at + kFrameMetaFixedBytes + 4 * i));
  return meta;
}

}  // namespace forebay::container

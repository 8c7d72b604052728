// The container's bytes outside of the index: file header, record headers, frame meta, trailer (docs/format.md). Pure.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/error.h"
#include "container/record_place.h"

namespace forebay::container {

inline constexpr uint32_t kFormatVersion = 1;

using Marker = std::array<uint8_t, 8>;
inline constexpr Marker kFileMagic = {0x8f, 'F', 'o', 'r', 'e', 'b', '\r', '\n'};
inline constexpr Marker kRecordMarker = {0xf5, 0x46, 0x42, 0xd3, 0x1a, 0x9e, 0x72, 0x0b};
inline constexpr Marker kTrailerMagic = {0x8f, 'F', 'b', 'T', 'a', 'i', 'l', '\n'};

inline constexpr size_t kFileHeaderBytes = 16;
inline constexpr size_t kRecordHeaderBytes = 56;
inline constexpr size_t kTrailerBytes = 64;

inline constexpr uint32_t kMaxRecipeBytes = 64 << 10;
inline constexpr uint32_t kMaxChainBytes = 1024;
inline constexpr uint32_t kMaxReferences = 1024;
inline constexpr uint32_t kFrameMetaFixedBytes = 32;
inline constexpr uint32_t kMaxFrameMetaBytes =
    kFrameMetaFixedBytes + kMaxRecipeBytes + kMaxChainBytes + 4 * kMaxReferences;
inline constexpr uint32_t kIndexMetaBytes = 16;

// 5 was another list, in containers that no build reads.
enum class RecordType : uint16_t { head = 1, frame = 2, index = 3, padding = 4, groups = 6, cubes = 7 };

// A reader that does not know a record's type skips the record, unless it is required.
inline constexpr uint8_t kRequired = 1;

// The bits of Trailer::features: what a reader must know to read the container. Bit 0 went with record type 5.
inline constexpr uint32_t kGrows = 2;  // several parts: the last record is a list of them
inline constexpr uint32_t kKnownFeatures = kGrows;

struct RecordHeader {
  uint64_t id = 0;  // hash64 of the payload of the part's head: tells its records from those of other parts, and of
                    // other containers that lie, unencoded, in a payload
  RecordType type = RecordType::padding;
  uint8_t flags = 0;
  uint32_t meta_bytes = 0;
  uint64_t payload_bytes = 0;
  uint64_t meta_hash = 0;
  uint64_t payload_hash = 0;

  // Of the whole record; UINT64_MAX if it does not fit.
  uint64_t record_bytes() const;
};

struct Trailer {
  uint64_t container_id = 0;  // the id of the first part
  RecordPlace last;           // the index or, with kGrows, a list
  uint64_t file_bytes = 0;    // of the container, trailer included
  uint32_t version = kFormatVersion;
  uint32_t features = 0;

  bool grows() const { return (features & kGrows) != 0; }

  // Whether this can be the trailer at `offset`: it ends the container there, and the last record lies in front of it.
  bool fits(uint64_t offset) const {
    return file_bytes == offset + kTrailerBytes && last.offset < offset && last.bytes == offset - last.offset;
  }
};

// The meta of a frame record.
struct FrameMeta {
  uint32_t number = 0;
  uint64_t raw_bytes = 0;
  uint64_t raw_hash = 0;
  std::vector<uint32_t> references;
  std::span<const std::byte> recipe;
  std::string_view chain;
};

// A record, but its payload, which follows the front directly.
struct RecordFront {
  Bytes bytes;        // the header and the meta
  uint64_t hash = 0;  // that ends the header
};

// With checksums and flags. Readers may skip what is padding or has cubes only.
RecordFront encode_front(RecordType type, uint64_t id, std::span<const std::byte> meta, uint64_t payload_bytes,
                         uint64_t payload_hash);

std::array<std::byte, kFileHeaderBytes> encode_file_header();
std::array<std::byte, kRecordHeaderBytes> encode(const RecordHeader& header);
std::array<std::byte, kTrailerBytes> encode(const Trailer& trailer);
Bytes encode(const FrameMeta& meta);

// corrupt if `bytes` are no container's; unsupported, naming the version, if they are a newer one's.
Result<void> check_file_header(std::span<const std::byte, kFileHeaderBytes> bytes);

// corrupt if marker, version or hash do not match.
Result<RecordHeader> parse_record_header(std::span<const std::byte, kRecordHeaderBytes> bytes);

// The hash that ends an encoded record header.
uint64_t header_hash(std::span<const std::byte, kRecordHeaderBytes> bytes);

// corrupt, or unsupported if it names features that this build does not know.
Result<Trailer> parse_trailer(std::span<const std::byte, kTrailerBytes> bytes);

// The result points into `bytes`. corrupt if the lengths do not add up.
Result<FrameMeta> parse_frame_meta(std::span<const std::byte> bytes);

}  // namespace forebay::container

// What every member of a protection group knows of an encoding: enough to check every byte of every member, to repair
// what is lost or damaged, and to give lost files their names again (decision 0037).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "redundancy/geometry.h"
#include "redundancy/scheme.h"

namespace forebay::redundancy {

struct RecordedFile {
  std::string name;  // relative to the set's directory, as is_safe_name() of base/catalogue.h
  uint8_t kind = 0;  // FileKind of base/catalogue.h; regular ones are the part, in the order of the record
  uint64_t size = 0;
  uint32_t mode = 0, mtime_ns = 0;
  int64_t mtime_s = 0, rank = -1;
  std::string link_target;
  bool operator==(const RecordedFile&) const = default;
};

// One member's own part of the record.
struct MemberRecord {
  std::string host, node;       // that held it
  std::vector<uint32_t> ranks;  // that had completed the set there, ascending
  std::vector<RecordedFile> files;
  // Of ranks, ascending: the bytes of their marker files, if there are any.
  std::vector<std::pair<uint32_t, std::string>> markers;
  // CRC-64/XZ of the pieces that there are: of the part, data chunk by data chunk, then of the parity file.
  std::vector<uint64_t> data_sums, parity_sums;
  bool operator==(const MemberRecord&) const = default;
};

struct Record {
  uint64_t id = 0;     // of the encoding
  uint64_t write = 0;  // of the writing of the set; 0: not told
  std::string set;
  std::optional<int64_t> step;
  uint32_t ranks = 0;  // of the whole job
  Scheme scheme = Scheme::none;
  uint32_t group = 0, groups = 1, position = 0, losses = 0;
  uint64_t chunk = 0;
  std::vector<MemberRecord> members;
  bool operator==(const Record&) const = default;
};

inline constexpr uint64_t kMaxRecordBytes = 256u << 20;

// Compact, with a checksum over all of it. A member's own part alone (what members tell each other) and the whole.
std::string encode_record(const Record& record);
// corrupt, also if it contradicts itself (see check_record()), or unsupported (another version). `path` is for
// messages. What it holds is bounded by the size of `text`, which is at most kMaxRecordBytes.
Result<Record> decode_record(std::string_view text, const std::string& path);
std::string encode_member(const MemberRecord& member);
// Names, modes and times are checked, and that markers and ranks are in order; sums are not: see check_member().
// corrupt or unsupported, naming who it is from.
Result<MemberRecord> decode_member(std::string_view text, const std::string& from);

// Bytes of the part: of its regular files together. Nothing if that is more than a part can have.
std::optional<uint64_t> part_bytes(const MemberRecord& member);

// What decode_record() and decode_member() check, for records that were put together from those of all members: corrupt
// if names lead elsewhere or twice to the same place, ranks are not ascending or are nobody's, sums do not fit the
// sizes, or the chunk is not Geometry's. `parity`: whether its parity sums are there already.
Result<void> check_record(const Record& record, const std::string& path);
Result<void> check_names(const MemberRecord& member, const std::string& path);
Result<void> check_member(const Geometry& geometry, unsigned position, const MemberRecord& member, bool parity,
                          const std::string& path);
// Of a record that was checked.
Result<Geometry> geometry_of(const Record& record);

// Index into data_sums or parity_sums of a piece; nothing where the range is empty.
std::optional<size_t> sum_index(const Geometry& geometry, unsigned row, unsigned member, uint64_t piece);

}  // namespace forebay::redundancy

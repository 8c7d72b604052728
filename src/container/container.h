// A container: one file of frames and an index (docs/format.md). Payloads are opaque here.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/byte_source.h"
#include "base/bytes.h"
#include "base/directory.h"
#include "base/error.h"
#include "base/plan_spec.h"
#include "container/characteristics.h"

namespace forebay::container {

// One frame as the index knows it. The frame's number is its place in the plan's order.
struct FrameEntry {
  uint64_t record_offset = 0;   // of the frame's record in the container file
  uint64_t raw_bytes = 0;
  uint64_t encoded_bytes = 0;   // of the payload
  uint64_t raw_hash = 0;        // hash64 of the decoded bytes
  uint64_t encoded_hash = 0;    // hash64 of the payload
  uint32_t chain = 0;           // index into Index::chains
  std::vector<uint32_t> references;  // frames of the same container that this one was predicted from
};

// What a container says of itself: everything but the payloads. It stands alone: a copy can be queried without the data.
struct Index {
  Directory directory;
  PlanSpec plan;
  std::vector<std::string> chains;        // the distinct codec chains in use, as text
  std::vector<FrameEntry> frames;
  std::vector<uint64_t> file_crcs;        // per Directory file: CRC-64/XZ of the whole file; empty if lost in a recovery
  std::vector<Characteristics> characteristics;  // per Directory variable; empty if lost in a recovery
};

// A frame to be appended.
struct FrameRecord {
  uint32_t number = 0;
  uint64_t raw_bytes = 0, raw_hash = 0;
  std::span<const std::byte> recipe;   // how to decode the payload; at most 4096 bytes
  std::string chain;                   // the same for humans, for the index
  std::vector<uint32_t> references;
  std::span<const std::byte> payload;
};

// Writes one container, front to back: head (directory and plan), frames in any order, index, trailer. Not thread-safe.
class Writer {
 public:
  // Creates `path`, which must not exist, and writes the head. exists, no_space, permission or io otherwise.
  static Result<std::unique_ptr<Writer>> create(std::string path, const Directory& directory, const PlanSpec& plan);
  virtual ~Writer() = default;

  // Appends one frame. Each number from 0 on must be given exactly once before finish().
  virtual Result<void> append(const FrameRecord& frame) = 0;

  // Writes index and trailer, makes everything durable (fsync) and closes the file. No call may follow.
  virtual Result<void> finish(std::vector<uint64_t> file_crcs, std::vector<Characteristics> characteristics) = 0;

  virtual uint64_t bytes_written() const = 0;
};

// One frame's payload, verified against the index.
struct FramePayload {
  Bytes recipe;
  Bytes payload;
};

// Reads one container. Thread-safe after open().
class Reader {
 public:
  // Reads and verifies trailer and index. The bytes are hostile: memory stays proportional to the source's size, and at
  // most `max_index_bytes` are allocated for the index (limit otherwise). corrupt names the offset and tells whether
  // `repair` may help; unsupported names the version that is needed.
  static Result<std::unique_ptr<Reader>> open(std::unique_ptr<ByteSource> source, uint64_t max_index_bytes);

  const Index& index() const { return index_; }
  const ByteSource& source() const { return *source_; }

  // Reads frame `number` and checks record header, recipe and payload. corrupt with file, offset and frame number.
  Result<FramePayload> read(uint32_t number) const;

  // The size of what read(number) returns, in bytes, from the index: at least recipe + payload.
  uint64_t read_bytes(uint32_t number) const;

 private:
  std::unique_ptr<ByteSource> source_;
  Index index_;
};

// What a scan of a damaged container found.
struct Recovered {
  Index index;                          // frames that were not found have record_offset 0 and encoded_bytes 0
  std::vector<uint32_t> lost_frames;    // numbers of the frames that the plan has and the file has not, whole
  std::vector<std::string> remarks;     // what was damaged, in words, with offsets
};

// Rebuilds an index from the records of a container whose index or trailer is damaged. Frames count as found only if
// header and payload pass their checksums. `frame_raw_bytes` tells the raw sizes of the frames that a directory's plan
// has (the merge room knows; containers do not). corrupt if no copy of the directory is left.
Result<Recovered> recover(const ByteSource& source, uint64_t max_index_bytes,
                          const std::function<Result<std::vector<uint64_t>>(const Directory&, const PlanSpec&)>& frame_raw_bytes);

}  // namespace forebay::container

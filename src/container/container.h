// A container: one file of frames and an index (docs/format.md). Payloads are opaque here.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/byte_sink.h"
#include "base/byte_source.h"
#include "base/bytes.h"
#include "base/catalogue.h"
#include "base/error.h"
#include "base/error_bound.h"
#include "base/plan_spec.h"
#include "container/characteristics.h"
#include "container/cubes.h"
#include "container/record_place.h"

namespace forebay::container {

// One frame as the index knows it. The frame's number is its place in the plan's order.
struct FrameEntry {
  uint64_t record_offset = 0;  // of the frame's record in the container file
  uint64_t raw_bytes = 0;
  uint64_t encoded_bytes = 0;        // of the payload
  uint64_t raw_hash = 0;             // hash64 of the decoded bytes
  uint64_t encoded_hash = 0;         // hash64 of the payload
  uint32_t chain = 0;                // index into Index::chains
  std::vector<uint32_t> references;  // frames of the same part that this one was predicted from
  std::optional<LossyNote> lossy;    // of a frame whose raw bytes are not those of the source, but near them

  // Whether the frame was lost when the container was rebuilt: there is no record of it.
  bool is_lost() const { return record_offset == 0; }
};

// When in a simulation something was written, as far as it says so.
struct Moment {
  std::optional<uint64_t> step;
  std::optional<double> time;  // finite

  bool operator==(const Moment&) const = default;
  bool is_valid() const { return !time || std::isfinite(*time); }
};

// Which part of a container an index is of.
struct PartFacts {
  uint64_t number = 0;        // its place among the parts; in a container that grows, any number but 0
  uint64_t container_id = 0;  // of the container; 0 in its first part
  Moment moment;
  Bytes description;  // of a process group, as src/io/file has it; empty for others

  bool operator==(const PartFacts&) const = default;
};

// What a container, or a part of one, says of itself: everything but the payloads. It stands alone: a copy can be
// queried without the data.
struct Index {
  Catalogue catalogue;
  PlanSpec plan;
  std::vector<std::string> chains;  // the distinct codec chains in use, as text
  std::vector<FrameEntry> frames;
  std::vector<uint64_t> file_crcs;  // per Catalogue file: CRC-64/XZ of the whole file; empty if lost in a recovery
  std::vector<Characteristics> characteristics;  // per Catalogue variable; empty if lost in a recovery
  std::optional<RecordPlace> cubes;              // of the record of cubes, if there is one
  PartFacts part;

  // The bytes of memory that this holds, roughly.
  uint64_t memory_bytes() const;
};

// A frame to be appended.
struct FrameRecord {
  uint32_t number = 0;
  uint64_t raw_bytes = 0, raw_hash = 0;
  std::span<const std::byte> recipe;  // how to decode the payload; at most 65536 bytes
  std::string chain;                  // the same for humans, for the index
  std::vector<uint32_t> references;
  std::span<const std::byte> payload;
  std::optional<LossyNote> lossy;
};

// Writes one container with one part, front to back: a head (catalogue and plan), frames in any order, an index and a
// trailer. (Containers that grow: src/io/file.) The same calls write the same bytes. Not thread-safe. After an error
// every further call fails with that error. A writer that is destroyed before finish() leaves an unfinished file
// behind, of which recover() can use what is there.
class Writer {
 public:
  // Begins a container in `sink`, which has taken nothing yet. Errors of the sink; invalid_argument if `catalogue`
  // is not valid() or `moment` not is_valid(), limit if it is too large for an index.
  static Result<std::unique_ptr<Writer>> create(std::unique_ptr<ByteSink> sink, const Catalogue& catalogue,
                                                const PlanSpec& plan, const Moment& moment = {});
  ~Writer();
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  // Appends one frame. Each number from 0 on must be given exactly once before finish(), here or to skip().
  // invalid_argument for a number that was given before, or a recipe, chain or list of references beyond the limits of
  // format.h.
  Result<void> append(const FrameRecord& frame);

  // Records that the frame is lost: the container will have no record of it (see FrameEntry::is_lost).
  Result<void> skip(uint32_t number, uint64_t raw_bytes);

  // Appends the cubes of the variables, at most once; `catalogue` is the container's. Nothing if there are none.
  // invalid_argument if they are not as encode_cubes() takes them.
  Result<void> append_cubes(const Catalogue& catalogue, std::span<const VariableCubes> cubes);

  // Writes the index and the trailer, and finishes the sink: everything is durable. No call may follow.
  // invalid_argument if a frame is missing, or the lists are neither empty nor one entry per file and per variable.
  Result<void> finish(std::vector<uint64_t> file_crcs, std::vector<Characteristics> characteristics);

  // The size of the container so far.
  uint64_t bytes_written() const;

 private:
  struct State;
  explicit Writer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// One frame's payload, verified against the index.
struct FramePayload {
  Bytes recipe;
  Bytes payload;
};

// How one frame is encoded, and where its payload lies in the container.
struct FrameHead {
  Bytes recipe;
  uint64_t payload_offset = 0, payload_bytes = 0;
};

// read_frame() without the payload: what is read of that later is for the caller to check. Errors likewise.
Result<FrameHead> read_frame_head(const ByteSource& source, const Index& index, uint32_t number);

// Reads frame `number` of `index` from its container. Checks record header, recipe and payload against the index:
// corrupt with file, offset and frame number, also if the frame is lost. Thread-safe.
Result<FramePayload> read_frame(const ByteSource& source, const Index& index, uint32_t number);

// Where a part of a container lies.
struct PartEntry {
  uint64_t offset = 0;  // of its head
  RecordPlace index;    // with which it ends
};

// Whether the first or the last bytes are those of a container. What has neither is another kind of file, or one of
// which both were damaged. False if they cannot be read.
bool looks_like_container(const ByteSource& source);

// Reads one part of a container. Thread-safe after open().
class Reader {
 public:
  // Opens a container with one part: reads and verifies trailer and index. The bytes are hostile: beside them, at most
  // `max_index_bytes` are allocated for the index (limit otherwise). corrupt names the offset and tells whether
  // `repair` may help; unsupported names the version that is needed, or is of a container that grows.
  static Result<std::unique_ptr<Reader>> open(std::shared_ptr<const ByteSource> source, uint64_t max_index_bytes);

  // Opens the part at `entry`: whether it is the one that is meant is for the caller to see. As open().
  static Result<std::unique_ptr<Reader>> open_part(std::shared_ptr<const ByteSource> source, const PartEntry& entry,
                                                   uint64_t max_index_bytes);

  const Index& index() const { return index_; }
  const ByteSource& source() const { return *source_; }

  // What the records say of the part: the hash of its catalogue and plan. That of the first part is the container's id.
  uint64_t id() const { return id_; }

  // read_frame() of this part.
  Result<FramePayload> read(uint32_t number) const { return read_frame(*source_, index_, number); }

  // read_frame_head() of this part.
  Result<FrameHead> read_head(uint32_t number) const { return read_frame_head(*source_, index_, number); }

  // The cubes of the variables with a similarity key, rising; none if the part has none of them. Reads the record of
  // cubes. corrupt with its offset; limit if this takes more than `max_bytes`.
  Result<std::vector<VariableCubes>> read_cubes(uint32_t key, uint64_t max_bytes) const;

  // The size of what read(number) returns, in bytes, from the index: at least recipe + payload.
  uint64_t read_bytes(uint32_t number) const;

  // Walks from record to record of the part and checks what open() and read() do not look at: the head, that records
  // follow each other without a gap, that each frame lies where the index says, and records of other types. Together
  // with reading every frame this covers every byte of the part. Stops at the first damage: corrupt with its offset.
  Result<void> verify_structure() const;

 private:
  Reader() = default;
  std::shared_ptr<const ByteSource> source_;
  Index index_;
  uint64_t id_ = 0, offset_ = 0, index_offset_ = 0;
};

// What a scan found of a part.
struct RecoveredPart {
  Index index;                        // frames that were not found are lost (FrameEntry::is_lost)
  bool has_index = false;             // false: the head was found only, and what it has not is empty
  std::vector<uint32_t> lost_frames;  // numbers of the frames that the plan has and the file has not, whole
  std::optional<PartEntry> entry;     // if its head and its index are both whole
};

// What a scan of a damaged container with one part found.
struct Recovered {
  RecoveredPart part;
  std::vector<std::string> remarks;  // what was damaged, in words, with offsets; the first hundred
};

// Tells the raw sizes of the frames that a catalogue's plan has (the merge room knows; containers do not).
using FrameSizes = std::function<Result<std::vector<uint64_t>>(const Catalogue&, const PlanSpec&)>;

// Tells what a frame's recipe says of its loss (the codec room knows).
using LossyOfRecipe = std::function<std::optional<LossyNote>(std::span<const std::byte> recipe)>;

struct RecoveryRules {
  uint64_t max_index_bytes = 0;  // of memory
  FrameSizes frame_sizes;
  LossyOfRecipe lossy_of_recipe;
};

// Rebuilds the index of a container with one part from its records, whatever is damaged. Frames count as found only if
// header, recipe and payload pass their checksums and the raw size is the plan's. corrupt if no copy of the catalogue
// is left; limit if the index, or the list of its records, takes too much memory; unsupported for a container that
// grows. Takes time proportional to the source's size.
Result<Recovered> recover(const ByteSource& source, const RecoveryRules& rules);

// The same of all parts from `begin` on of a container that grows, each given to `take` in the order in which they lie,
// which returns how many bytes of the memory it keeps. Returns remarks as Recovered has them. Errors also of `take`.
using TakePart = std::function<Result<uint64_t>(RecoveredPart part)>;
Result<std::vector<std::string>> recover_parts(const ByteSource& source, uint64_t container_id, uint64_t begin,
                                               const RecoveryRules& rules, const TakePart& take);

// Writes what was recovered from `source` to a new container: payloads verbatim, lost frames skipped. Errors as
// Writer's and read_frame()'s.
Result<void> rewrite(const ByteSource& source, const Recovered& recovered, std::unique_ptr<ByteSink> sink);

}  // namespace forebay::container

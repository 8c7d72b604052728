// A part that is being written, in a container of its own or in one that grows: its records, as they come. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/bytes.h"
#include "base/error.h"
#include "container/container.h"
#include "container/effort.h"
#include "container/format.h"
#include "container/index_codec.h"

namespace forebay::container {

// The error of a call with what is not allowed.
inline std::unexpected<Error> misuse(std::string what) { return fail(ErrorKind::invalid_argument, std::move(what)); }

class PartDraft {
 public:
  // `catalogue` and the part's moment are valid. limit if they are too large for an index.
  static Result<PartDraft> make(const Catalogue& catalogue, const PlanSpec& plan, const PartFacts& part,
                                Effort effort = Effort::thorough);

  // The head: its payload, whose hash is the part's id, and what is in front of it.
  const Bytes& head() const { return head_; }
  uint64_t id() const { return id_; }
  RecordFront head_front() const { return encode_front(RecordType::head, id_, {}, head_.size(), id_); }

  // Enters a frame whose record will lie at `offset`, and whose payload, of which nothing is looked at here, has this
  // size and hash; returns what is in front of the payload. Errors as of Writer::append().
  Result<RecordFront> append(const FrameRecord& frame, uint64_t payload_bytes, uint64_t payload_hash, uint64_t offset);

  // Enters a lost one.
  Result<void> skip(uint32_t number, uint64_t raw_bytes);

  // Where the record of cubes lies.
  void place_cubes(const RecordPlace& place) { index_.cubes = place; }
  bool has_cubes() const { return index_.cubes.has_value(); }

  struct IndexRecord {
    RecordFront front;
    Bytes payload;
  };

  // With the offset at which the index will lie, by the reckoning of the frames' offsets, the part may be moved
  // (encode_contents()). Errors as of Writer::finish(). No call may follow.
  Result<IndexRecord> finish(std::vector<uint64_t> file_crcs, std::vector<Characteristics> characteristics,
                             std::optional<uint64_t> offset = {});

 private:
  PartDraft() = default;
  Result<void> claim(uint32_t number);
  uint32_t intern_chain(const std::string& chain);
  Result<void> check_complete() const;

  Effort effort_ = Effort::thorough;
  Bytes head_;
  uint64_t id_ = 0;
  std::vector<VariableFacts> facts_;
  size_t file_count_ = 0;
  Index index_;  // but the catalogue and the plan
  std::vector<bool> given_;
  std::unordered_map<std::string, uint32_t> chain_numbers_;
};

}  // namespace forebay::container

// A part that is being written: what its index will say. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/bytes.h"
#include "base/error.h"
#include "container/container.h"
#include "container/format.h"
#include "container/index_codec.h"

namespace forebay::container {

// The error of a call with what is not allowed.
inline std::unexpected<Error> misuse(std::string what) { return fail(ErrorKind::invalid_argument, std::move(what)); }

class PartDraft {
 public:
  // invalid_argument and limit as of Writer::create().
  static Result<PartDraft> make(const Catalogue& catalogue, const PlanSpec& plan, const PartFacts& part);

  // The payload of the head, and its hash.
  const Bytes& head() const { return head_; }
  uint64_t id() const { return id_; }
  const Moment& moment() const { return index_.part.moment; }

  // Enters a frame whose record will lie at `offset`. Errors as of Writer::append().
  Result<const FrameEntry*> append(const FrameRecord& frame, uint64_t offset);

  // Enters a lost one.
  Result<void> skip(uint32_t number, uint64_t raw_bytes);

  // An index record, but its header.
  struct IndexRecord {
    std::array<std::byte, kIndexMetaBytes> meta;
    Bytes payload;
  };

  // Where the record of cubes lies.
  void place_cubes(const RecordPlace& place) { index_.cubes = place; }
  bool has_cubes() const { return index_.cubes.has_value(); }

  // Errors as of Writer::end_part(). No call may follow.
  Result<IndexRecord> finish(std::vector<uint64_t> file_crcs, std::vector<Characteristics> characteristics);

 private:
  PartDraft() = default;
  Result<void> claim(uint32_t number);
  uint32_t intern_chain(const std::string& chain);
  Result<void> check_complete() const;

  Bytes head_;
  uint64_t id_ = 0;
  std::vector<VariableFacts> facts_;
  size_t file_count_ = 0;
  Index index_;  // but the catalogue and the plan
  std::vector<bool> given_;
  std::unordered_map<std::string, uint32_t> chain_numbers_;
};

}  // namespace forebay::container

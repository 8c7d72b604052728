// The index as bytes: two FlatBuffers, one of the catalogue and the plan, one of all that is known at the end only
// (docs/format.md, "Index"). Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/catalogue.h"
#include "base/error.h"
#include "base/memory_budget.h"
#include "base/plan_spec.h"
#include "container/container.h"
#include "container/effort.h"

namespace forebay::container {

// The bits of variable_flags.
inline constexpr uint8_t kFiltered = 1, kPartial = 2;

// What the coding of characteristics needs to know of a variable.
struct VariableFacts {
  uint64_t elements = 0;  // numbers that are stored, as far as the catalogue tells; 0 if it does not
  uint32_t key = 0;
  DataType type;
};

std::vector<VariableFacts> facts_of(const Catalogue& catalogue);

// limit if the catalogue is too large for a FlatBuffer. `catalogue` must be valid.
Result<Bytes> encode_catalogue(const Catalogue& catalogue, const PlanSpec& plan, const PartFacts& part = {},
                               Effort effort = Effort::thorough);

// The inverse, into index.catalogue, index.plan and index.part. `bytes`, aligned to 8, are hostile: corrupt if
// malformed or not valid(); limit where `budget` ends. What the result holds is leased in `kept`.
Result<void> decode_catalogue(std::span<const std::byte> bytes, MemoryBudget& budget, std::vector<Lease>& kept,
                              Index& index);

// Everything else of an index; `facts` as facts_of() its catalogue. With `index_offset`, the offset that the index
// record has by the reckoning of the frames' offsets, the part may be moved: its frames are found from there.
Result<Bytes> encode_contents(const Index& index, std::span<const VariableFacts> facts,
                              std::optional<uint64_t> index_offset = {}, Effort effort = Effort::thorough);

// The inverse, into the rest of `index`, whose catalogue is there already, for an index record at `index_offset`. As
// decode_catalogue().
Result<void> decode_contents(std::span<const std::byte> bytes, uint64_t index_offset, MemoryBudget& budget,
                             std::vector<Lease>& kept, Index& index);

// The meta of an index record, whose payload is both FlatBuffers, each padded to a multiple of 8.
struct IndexMeta {
  uint64_t catalogue_bytes = 0, contents_bytes = 0;
};

// The whole payload of an index record at `offset`, decoded under a budget of `max_bytes`, its own bytes included.
// corrupt if it would pass unfolding_limit().
Result<Index> decode_index(const IndexMeta& meta, std::span<const std::byte> payload, uint64_t max_bytes,
                           uint64_t offset = 0);

// The payload of a head record likewise: an index with a catalogue and a plan only.
Result<Index> decode_head(std::span<const std::byte> payload, uint64_t max_bytes);

}  // namespace forebay::container

// Frames whose parts can be decoded alone, so that a box or a cell does not cost a whole frame (docs/codecs.md,
// "entries"). Each entry is encoded like a frame of its own, with a recipe and a checksum.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "codec/chain.h"
#include "codec/entries/entry_cuts.h"
#include "codec/recipe.h"

namespace forebay::codec {

// What a frame's recipe says of its entries.
struct EntryTable {
  // Of an entry in the payload.
  struct Place {
    uint64_t offset = 0, size = 0;
    uint64_t raw_hash = 0;  // hash64 of its raw bytes
  };

  uint64_t most_bytes = 0;    // raw, of an entry: what the frame was cut by
  Chain chain;                // without parameters: the stages of an entry are some of these
  std::vector<Place> places;  // one after another in the payload, from its begin to its end

  uint64_t payload_bytes() const { return places.empty() ? 0 : places.back().offset + places.back().size; }
};

// Whether a recipe is that of a frame with entries.
bool has_entries(std::span<const Step> steps);
bool has_entries(std::span<const std::byte> recipe);

// The table in such a recipe, which is hostile: corrupt, or if a codec of its chain is not there, unsupported.
Result<EntryTable> read_entry_table(std::span<const Step> steps);
Result<EntryTable> read_entry_table(std::span<const std::byte> recipe);

// The entries that a table is about. corrupt if those of `shape` are others in number.
Result<std::vector<EntryCut>> cut_entries(const EntryTable& table, const FrameShape& shape);

// Encodes every entry of `raw`, cut by `most_bytes` (a power of two from 4 KiB to 64 MiB), through `chain`. A frame
// that is one entry is encoded as a whole, and so is one whose table is too long for a recipe; as encode() otherwise.
Encoded encode_entries(const Chain& chain, uint64_t most_bytes, const FrameShape& shape, std::span<const std::byte> raw,
                       References references = {});

// Undoes entry `number`, whose part of the payload `encoded` is, and checks the raw bytes: fills all of `raw`, of
// cut.bytes(). `references` are, of each reference of the frame, the bytes at the same place. corrupt, or unsupported.
Result<void> decode_entry(const EntryTable& table, size_t number, const EntryCut& cut,
                          std::span<const std::byte> encoded, std::span<std::byte> raw, References references = {});

// The first stage of the codec `id` that a frame, or any of its entries, went through, with its parameters; none, too,
// if recipe or payload are malformed.
std::optional<Stage> find_stage(std::span<const std::byte> recipe, std::span<const std::byte> payload, uint16_t id);

// decode() of a frame with entries, whose recipe's stages are `steps`.
Result<void> decode_entries(std::span<const Step> steps, const FrameShape& shape, std::span<const std::byte> payload,
                            std::span<std::byte> raw, References references);

}  // namespace forebay::codec

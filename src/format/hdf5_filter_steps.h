// The single filters that can be undone, for hdf5_filter.cc alone.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "base/bytes.h"

namespace forebay::format::hdf5 {

// Each makes of `stored` what it was before the filter with these parameters; nothing if that is not possible, or has
// more than `most` bytes.
using FilterValues = std::span<const uint32_t>;
using FilterBytes = std::span<const std::byte>;
using UndoFilter = std::optional<Bytes>(FilterValues values, FilterBytes stored, uint64_t most);

// hdf5_filter_bytes.cc: a byte shuffle, a checksum, h5py's LZF.
UndoFilter undo_shuffle, undo_fletcher32, undo_lzf;

// hdf5_filter_bits.cc: numbers with fewer bits than their type has, and bits put together by their weight. Filter 32008
// compresses what it has shuffled with LZ4 or zstd, block by block.
UndoFilter undo_nbit, undo_scale_offset, undo_bitshuffle;
bool can_undo_bitshuffle(FilterValues values);  // whether this build has what it compresses with

// hdf5_filter_library.cc: compression by libraries.
UndoFilter undo_deflate, undo_zstd, undo_lz4, undo_bzip2, undo_szip, undo_blosc;

// Whether a block, as LZ4 and zstd write it, was unpacked to exactly all of `raw`.
bool unpack_lz4_block(FilterBytes stored, std::span<std::byte> raw);
bool unpack_zstd_block(FilterBytes stored, std::span<std::byte> raw);

}  // namespace forebay::format::hdf5

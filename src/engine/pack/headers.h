// Headers, as the paper calls them (mcrEngine section 3.2): the layouts of some files, read on the node where the files
// lie, sent as bytes, and put together for a whole rank group by whoever packs it.
#pragma once

#include <cstdint>
#include <span>

#include "base/bytes.h"
#include "engine/pack/read_group.h"
#include "engine/pack/read_layouts.h"
#include "engine/pack/tree.h"
#include "engine/set/sources.h"
#include "format/reader.h"
#include "merge/similarity.h"

namespace forebay::engine {

// Layouts whose variables are all under one key: classifying them is for whoever merges.
struct Headers : Layouts {};

// Reads the layouts of `files`, as read_layouts() does.
Result<Headers> read_headers(std::span<const SourceFile> files, Sources& sources, const format::FormatOptions& format,
                             uint64_t memory_bytes, unsigned threads);

// As bytes: the length of the catalogue (8 bytes, little-endian); the catalogue, as a container's head has it
// (docs/format.md), padded to a multiple of 8; and for each remark the number of its file, the length of its text (4
// bytes each), and the text, of which what is beyond 1 KiB is left out. limit if the catalogue is too large for that.
Result<Bytes> encode_headers(const Headers& headers);

// The inverse. `bytes` are hostile: corrupt if they are not the encoding of a valid catalogue; limit if more than
// `max_bytes` would be allocated.
Result<Headers> decode_headers(std::span<const std::byte> bytes, uint64_t max_bytes);

// What read_group() would make of `files`, from headers that cover all regular ones among them; files that the headers
// have beyond those do not matter. The headers are hostile, too. changed, naming the file, if one is missing or has
// another size or time than in `files`; corrupt if a file is there twice, or has an impossible layout; limit as
// read_layouts().
Result<GroupCatalogue> merge_headers(std::span<const Headers> headers, std::span<const SourceFile> files,
                                     const merge::Similarity& similarity, uint64_t memory_bytes, unsigned threads);

}  // namespace forebay::engine

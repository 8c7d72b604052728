// Headers, as the paper calls them (mcrEngine section 3.2): the layouts of some files, read on the node where the files
// lie, sent as bytes, and put together for a whole rank group by whoever packs it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/directory.h"
#include "engine/read_group.h"
#include "engine/sources.h"
#include "engine/tree.h"
#include "format/reader.h"
#include "merge/similarity.h"

namespace forebay::engine {

struct Headers {
  Directory directory;               // the files, and their variables, all under one key: keys are for the packer
  std::vector<std::string> remarks;  // one per file, of the format readers; empty where they had nothing to say
};

// Reads the layouts of `files`, several at a time. A description NAME.forebay.toml (docs/raw-binary.md) must be among
// them for NAME to be read with it. limit if they do not fit into `memory_bytes`; else errors as of the sources.
Result<Headers> read_headers(std::span<const SourceFile> files, Sources& sources, const format::FormatOptions& format,
                             uint64_t memory_bytes, unsigned threads);

// As bytes, compactly. Remarks longer than 1 KiB are cut. limit if they are too many for one message.
Result<Bytes> encode_headers(const Headers& headers);

// The inverse. `bytes` are hostile: corrupt if they are not what encode_headers() makes of a valid directory; limit if
// more than `max_bytes` would be allocated.
Result<Headers> decode_headers(std::span<const std::byte> bytes, uint64_t max_bytes);

// What read_group() would have made of `files`, from headers that cover all regular files among them; files that
// `headers` have beyond those do not matter. changed, naming the file, if one is missing or has another size or time
// than in `files`; corrupt if two headers have one file, or a layout is impossible; limit as read_group().
Result<GroupDirectory> merge_headers(std::span<const Headers> headers, std::span<const SourceFile> files,
                                     const merge::Similarity& similarity, uint64_t memory_bytes);

}  // namespace forebay::engine

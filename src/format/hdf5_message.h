// The header messages that say where a dataset's bytes lie and what links a group has.
#pragma once

#include <optional>
#include <string>

#include "base/datatype.h"
#include "base/shape.h"
#include "format/hdf5_file.h"

namespace forebay::format::hdf5 {

inline constexpr uint64_t kUnlimited = UINT64_MAX;  // a maximum size of all ones

struct Dataspace {
  Shape shape;
  Shape maximum;  // of the rank of `shape`; kUnlimited where there is no maximum
};

// What elements are: values as they lie there, texts of one size, padded with zeros or with spaces, texts in the global
// heap, or references to something else.
enum class Content { plain, text, text_with_spaces, text_in_heap, elsewhere };

struct ElementType {
  DataType type;      // kBytes if `size` is more than a DataType can say
  uint64_t size = 0;  // bytes
  Content content = Content::plain;
};

enum class StorageKind { elsewhere, compact, contiguous, chunked };
enum class ChunkIndex { btree1 = 0, single = 1, implicit = 2, fixed_array = 3, extensible_array = 4, btree2 = 5 };

struct Storage {
  StorageKind kind = StorageKind::elsewhere;
  uint64_t address = kUndefined;  // of the data, or of the chunk index; compact: within the message
  uint64_t size = 0;              // compact: of the data. Single chunk with filters: of the chunk as it is stored.
  ChunkIndex index = ChunkIndex::btree1;
  uint32_t filter_mask = 0;       // of a single chunk with filters
  bool edges_unfiltered = false;  // chunks that reach over the edge went through no filter
  Shape chunk;                    // elements
  uint64_t element_size = 0;      // as the chunk's shape has it
};

struct Link {
  std::string name;
  uint64_t address = kUndefined;  // of the object header; kUndefined if the link is not a hard one
};

// Each decodes one message; nothing if the message is malformed, or of a version or kind that is not known.
std::optional<Dataspace> decode_dataspace(const File& file, Cursor message);
std::optional<ElementType> decode_datatype(Cursor message);
std::optional<Storage> decode_layout(const File& file, Cursor message);
std::optional<Bytes> decode_fill_value(Cursor message);      // one element; empty: zeros
std::optional<Bytes> decode_old_fill_value(Cursor message);  // likewise
std::optional<Link> decode_link(const File& file, Cursor message);

// The address of the object header that has the real message, from the body of a shared message.
std::optional<uint64_t> decode_shared(const File& file, Cursor message);

}  // namespace forebay::format::hdf5

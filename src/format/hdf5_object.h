// Object headers: what a dataset or a group says about itself.
#pragma once

#include <optional>
#include <vector>

#include "format/hdf5_filter.h"
#include "format/hdf5_message.h"

namespace forebay::format::hdf5 {

// What of an object is of interest: attributes only to those who ask for them.
enum class Read { structure, attributes };

struct Object {
  std::optional<Dataspace> space;
  std::optional<ElementType> type;
  std::optional<uint64_t> shared_type;  // the address of the committed datatype, if the type is one
  std::optional<Storage> storage;       // of compact storage, `address` is the file's
  std::vector<Filter> filters;          // that chunks go through, in this order
  std::optional<Bytes> fill_value =
      Bytes();  // of elements that were never written: one element, or empty for zeros; nothing if it is not known

  uint64_t symbol_tree = kUndefined, symbol_heap = kUndefined;  // of an old-style group
  uint64_t link_heap = kUndefined, link_index = kUndefined;     // of a group with dense links
  std::vector<Link> links;                                      // of a group with compact links

  std::vector<Bytes> attributes;                                       // messages of attributes in the header
  uint64_t attribute_heap = kUndefined, attribute_index = kUndefined;  // of dense attributes

  uint64_t address = kUndefined;  // of the object header

  bool is_dataset() const { return storage && space; }
};

// Reads the object header at `address` with its continuation blocks. Messages that cannot be understood are left out.
Result<Object> read_object(File& file, uint64_t address, Read what = Read::structure);

}  // namespace forebay::format::hdf5

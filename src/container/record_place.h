// Where a record lies, as another one or the trailer says.
#pragma once

#include <cstdint>

namespace forebay::container {

struct RecordPlace {
  uint64_t offset = 0;
  uint64_t bytes = 0;  // all of it; 0: there is none
  uint64_t hash = 0;   // that ends its header

  bool is_there() const { return bytes != 0; }
  uint64_t end() const { return offset + bytes; }
};

}  // namespace forebay::container

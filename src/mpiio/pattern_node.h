// The nodes of patterns. Private to this room.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/error.h"

namespace forebay::lock::mpiio {

struct Node;

using NodePtr = std::shared_ptr<const Node>;

// A part of a sequence: `node`, or if there is none plain bytes, up to the next item's data.
struct Item {
  int64_t displacement = 0;
  uint64_t data_before = 0;
  const Node* node = nullptr;
};

struct Node : std::enable_shared_from_this<Node> {
  enum class Kind : uint8_t { run, loop, sequence };

  Kind kind = Kind::run;
  uint32_t depth = 1;  // of this tree, in nodes
  uint64_t size = 0;   // never 0
  uint64_t segments = 0;
  int64_t first = 0, end = 0;  // from the node's origin

  // run: `count` pieces of `length` bytes; loop: `count` times `child`; `stride` apart.
  uint64_t length = 0;
  uint64_t count = 1;
  int64_t stride = 0;
  NodePtr child;

  // sequence: two parts at least, and one more item that holds only the size.
  std::vector<Item> items;
  std::vector<NodePtr> owned;  // the nodes of the items

  uint64_t bytes_of(size_t item) const { return items[item + 1].data_before - items[item].data_before; }
  // Of the item that holds this byte of data.
  size_t item_at(uint64_t data) const;
};

Result<NodePtr> make_run(uint64_t length, uint64_t count, int64_t stride);

// `part` `count` times (not 0), as simply as it can be said.
Result<NodePtr> repeat(uint64_t count, int64_t stride, const NodePtr& part);

// For sums and products of a few offsets and counts, which cannot overflow it.
__extension__ typedef __int128 Wide;

// Sums and products that wrap around: of offsets that were checked before, or are not used.
inline int64_t plus(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
inline int64_t times(uint64_t a, int64_t b) { return static_cast<int64_t>(a * static_cast<uint64_t>(b)); }

// Repetitions first, ..., last of a pattern hold the bytes of data from `begin` to before `end`, counted from the
// first.
struct Repetitions {
  uint64_t first = 0, last = 0;
  uint64_t begin = 0, end = 0;
};

inline Repetitions repetitions(uint64_t size, uint64_t data_begin, uint64_t data_end) {
  uint64_t first = data_begin / size, last = (data_end - 1) / size;
  return {first, last, data_begin - first * size, data_end - first * size};
}

}  // namespace forebay::lock::mpiio

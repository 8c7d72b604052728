#include "mpiio/pattern_node.h"

#include <algorithm>

#include "mpiio/pattern.h"

namespace forebay::lock::mpiio {

static std::unexpected<Error> pattern_too_large() {
  return fail(ErrorKind::limit, "a datatype has sizes or offsets beyond 63 bits");
}

// Sets what follows from `count` repetitions, `stride` apart, of a part of this size and these bounds.
static Result<void> set_bounds(Node& node, uint64_t part_size, int64_t part_first, int64_t part_end) {
  int64_t last = 0, size = 0;
  if (node.count > uint64_t{INT64_MAX} || __builtin_mul_overflow(node.count - 1, node.stride, &last) ||
      __builtin_mul_overflow(node.count, part_size, &size) ||
      __builtin_add_overflow(part_first, std::min<int64_t>(last, 0), &node.first) ||
      __builtin_add_overflow(part_end, std::max<int64_t>(last, 0), &node.end))
    return pattern_too_large();
  node.size = static_cast<uint64_t>(size);
  return {};
}

size_t Node::item_at(uint64_t data) const {
  auto after = std::ranges::upper_bound(items, data, {}, &Item::data_before);
  return static_cast<size_t>(after - items.begin()) - 1;
}

Result<NodePtr> make_run(uint64_t length, uint64_t count, int64_t stride) {
  if (length > uint64_t{INT64_MAX}) return pattern_too_large();
  auto node = std::make_shared<Node>();
  node->length = length;
  node->count = node->segments = count;
  node->stride = stride;
  FOREBAY_CHECK(set_bounds(*node, length, 0, static_cast<int64_t>(length)));
  return node;
}

static Result<NodePtr> make_loop(uint64_t count, int64_t stride, const NodePtr& child) {
  if (child->depth >= Pattern::kMaxDepth) return fail(ErrorKind::limit, "a datatype is nested too deeply");
  auto node = std::make_shared<Node>();
  node->kind = Node::Kind::loop;
  node->depth = child->depth + 1;
  node->count = count;
  node->stride = stride;
  node->child = child;
  FOREBAY_CHECK(set_bounds(*node, child->size, child->first, child->end));
  node->segments = count * child->segments;  // there are not more segments than bytes
  return node;
}

// Whether repetitions of the node, `stride` apart, go on with its own stride.
static bool continues(const Node& node, int64_t stride) {
  int64_t span = 0;
  return !__builtin_mul_overflow(node.count, node.stride, &span) && span == stride;
}

Result<NodePtr> repeat(uint64_t count, int64_t stride, const NodePtr& part) {
  if (count == 1) return part;
  if (part->kind == Node::Kind::run && part->count == 1) {
    uint64_t length = 0;
    if (stride < 0 || static_cast<uint64_t>(stride) != part->length) return make_run(part->length, count, stride);
    if (__builtin_mul_overflow(count, part->length, &length)) return pattern_too_large();
    return make_run(length, 1, 0);
  }
  if (part->kind != Node::Kind::sequence && continues(*part, stride)) {
    uint64_t all = 0;
    if (__builtin_mul_overflow(count, part->count, &all)) return pattern_too_large();
    return part->kind == Node::Kind::run ? make_run(part->length, all, part->stride)
                                         : make_loop(all, part->stride, part->child);
  }
  return make_loop(count, stride, part);
}

int64_t offset_of(const Pattern& pattern, uint64_t data) {
  const Node* node = pattern.root().get();
  int64_t offset = pattern.shift();
  while (node && node->kind != Node::Kind::run) {
    if (node->kind == Node::Kind::loop) {
      uint64_t index = data / node->child->size;
      offset = plus(offset, times(index, node->stride));
      data -= index * node->child->size;
      node = node->child.get();
    } else {
      const Item& item = node->items[node->item_at(data)];
      offset = plus(offset, item.displacement);
      data -= item.data_before;
      node = item.node;
    }
  }
  if (!node) return plus(offset, static_cast<int64_t>(data));
  return plus(plus(offset, times(data / node->length, node->stride)), static_cast<int64_t>(data % node->length));
}

}  // namespace forebay::lock::mpiio

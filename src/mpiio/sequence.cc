// Sequences, and the loops that hide in them.
#include <algorithm>

#include "mpiio/pattern.h"
#include "mpiio/pattern_node.h"

namespace forebay::lock::mpiio {

using Group = Sequence::Group;

// Fewer parts than these are not worth a node of their own.
static constexpr uint64_t kSmallGroup = 4;

static bool same(const Node* a, const Node* b) {
  for (; a != b; a = a->child.get(), b = b->child.get()) {
    if (!a || !b || a->kind != b->kind || a->kind == Node::Kind::sequence) return false;
    if (a->length != b->length || a->count != b->count || a->stride != b->stride) return false;
  }
  return true;
}

static bool same_part(const Group& a, const Group& b) { return a.length == b.length && same(a.node, b.node); }

static bool same_group(const Group& a, const Group& b) {
  return a.count == b.count && a.stride == b.stride && same_part(a, b);
}

static bool empty(const Group& group) { return group.length == 0 && !group.node; }

// Whether something at `displacement` goes on with the group; if the group has one part so far, tells its stride.
static bool follows(const Group& group, int64_t displacement, int64_t& stride) {
  if (group.count == 1) return !__builtin_sub_overflow(displacement, group.displacement, &stride);
  int64_t span = 0;
  stride = group.stride;
  return !__builtin_sub_overflow(displacement, group.displacement, &span) &&
         static_cast<Wide>(group.count) * group.stride == span;
}

Result<void> Sequence::add(int64_t displacement, const Pattern& part) {
  if (!part.node_) return {};
  const Node& node = *part.node_;
  int64_t shifted = 0, ignored = 0;
  if (__builtin_add_overflow(displacement, part.shift_, &shifted) ||
      __builtin_add_overflow(shifted, node.first, &ignored) || __builtin_add_overflow(shifted, node.end, &ignored))
    return fail(ErrorKind::limit, "a datatype has offsets beyond 63 bits");
  if (node.kind == Node::Kind::run && node.count == 1) return add_bytes(shifted, node.length);
  push_last();
  last_ = {.displacement = shifted, .node = part.node_.get()};
  last_node_ = part.node_;
  return {};
}

Result<void> Sequence::add_bytes(int64_t displacement, uint64_t length) {
  int64_t end = 0;
  if (__builtin_add_overflow(displacement, length, &end))
    return fail(ErrorKind::limit, "a datatype has offsets beyond 63 bits");
  if (length == 0) return {};
  if (last_.length > 0 && last_.displacement + static_cast<int64_t>(last_.length) == displacement) {
    last_.length += length;
    return {};
  }
  push_last();
  last_ = {.displacement = displacement, .length = length};
  return {};
}

void Sequence::push_last() {
  if (empty(last_)) return;
  int64_t stride = 0;
  if (!groups_.empty() && same_part(groups_.back(), last_) && follows(groups_.back(), last_.displacement, stride)) {
    groups_.back().stride = stride;
    ++groups_.back().count;
    return;
  }
  groups_.push_back(last_);
  if (last_.node && (owned_.empty() || owned_.back() != last_node_)) owned_.push_back(last_node_);
}

// The node of a group, which is kept in `owned`.
static Result<const Node*> node_of(const Group& group, std::vector<NodePtr>& owned) {
  if (group.node && group.count == 1) return group.node;
  // Nodes are only shared, never changed: this pointer shares what `owned` keeps.
  NodePtr part = group.node ? group.node->shared_from_this() : nullptr;
  FOREBAY_TRY(NodePtr node,
              part ? repeat(group.count, group.stride, part) : make_run(group.length, group.count, group.stride));
  owned.push_back(node);
  return node.get();
}

// Makes loops of equal groups at equal distances. False if there were none.
static Result<bool> collapse(std::vector<Group>& groups, std::vector<NodePtr>& owned) {
  size_t kept = 0, i = 0;
  bool changed = false;
  const Node* node = nullptr;  // the last that was made, which is likely to serve again
  while (i < groups.size()) {
    Group loop{.displacement = groups[i].displacement};
    size_t next = i + 1;
    for (int64_t stride = 0; groups[i].count > 1 && next < groups.size() && same_group(groups[i], groups[next]) &&
                             follows(loop, groups[next].displacement, stride);
         ++next) {
      loop.stride = stride;
      ++loop.count;
    }
    if (loop.count > 1) {
      FOREBAY_TRY(loop.node, node_of(groups[i], owned));
      if (node && node != loop.node && same(node, loop.node)) {
        loop.node = node;
        owned.pop_back();
      }
      node = loop.node;
      groups[kept++] = loop;
      changed = true;
    } else {
      groups[kept++] = groups[i];
    }
    i = next;
  }
  groups.resize(kept);
  return changed;
}

// Appends to the items of `node`, whose size and bounds grow accordingly. Offsets were checked by `add`.
static Result<void> append(Node& node, int64_t displacement, const Node* part, uint64_t length) {
  node.items.push_back({displacement, node.size, part});
  int64_t size = 0;
  if (__builtin_add_overflow(static_cast<int64_t>(node.size), part ? part->size : length, &size))
    return fail(ErrorKind::limit, "a datatype has more than 2^63 bytes");
  node.size = static_cast<uint64_t>(size);
  node.segments += part ? part->segments : 1;
  node.first = std::min(node.first, displacement + (part ? part->first : 0));
  node.end = std::max(node.end, displacement + (part ? part->end : static_cast<int64_t>(length)));
  return {};
}

static Result<void> append(Node& node, const Group& group, std::vector<NodePtr>& owned) {
  bool small = group.count < kSmallGroup;
  const Node* part = group.node;
  if (!small) {
    FOREBAY_TRY(part, node_of(group, owned));
  }
  if (part && part->depth >= node.depth) node.depth = part->depth + 1;
  if (node.depth > Pattern::kMaxDepth) return fail(ErrorKind::limit, "a datatype is nested too deeply");
  for (uint64_t i = 0; i < (small ? group.count : 1); ++i)
    FOREBAY_CHECK(append(node, plus(group.displacement, times(i, group.stride)), part, group.length));
  return {};
}

static Result<NodePtr> make_sequence(const std::vector<Group>& groups, std::vector<NodePtr> owned) {
  auto node = std::make_shared<Node>();
  node->kind = Node::Kind::sequence;
  node->first = INT64_MAX;
  node->end = INT64_MIN;
  size_t count = 1;
  for (const Group& group : groups) count += group.count < kSmallGroup ? group.count : 1;
  node->items.reserve(count);
  for (const Group& group : groups) FOREBAY_CHECK(append(*node, group, owned));
  node->items.push_back({0, node->size, nullptr});
  node->owned = std::move(owned);
  return node;
}

Result<Pattern> Sequence::finish(int64_t lower_bound, int64_t extent) {
  push_last();
  Sequence made = std::exchange(*this, {});
  Pattern pattern = Pattern().resized(lower_bound, extent);
  if (made.groups_.empty()) return pattern;
  for (bool changed = true; changed;) {
    FOREBAY_TRY(changed, collapse(made.groups_, made.owned_));
  }
  if (made.groups_.size() == 1) {
    pattern.shift_ = made.groups_[0].displacement;
    FOREBAY_TRY(const Node* node, node_of(made.groups_[0], made.owned_));
    pattern.node_ = node->shared_from_this();
  } else {
    FOREBAY_TRY(pattern.node_, make_sequence(made.groups_, std::move(made.owned_)));
  }
  return pattern;
}

}  // namespace forebay::lock::mpiio

#include "mpiio/pattern.h"
#include "mpiio/pattern_node.h"

namespace forebay::lock::mpiio {

Cursor::Cursor(const Pattern& pattern, int64_t origin, uint64_t data_begin, uint64_t data_end) {
  if (!pattern.root() || data_begin >= data_end) return;
  Repetitions part = repetitions(pattern.size(), data_begin, data_end);
  auto top = repeat(part.last - part.first + 1, pattern.extent(), pattern.root());
  if (!top) return;
  top_ = *std::move(top);
  left_ = data_end - data_begin;
  stack_.reserve(top_->depth);
  int64_t base = plus(plus(origin, pattern.shift()), times(part.first, pattern.extent()));
  seek(top_.get(), base, part.begin);
}

void Cursor::seek(const Node* node, int64_t base, uint64_t data) {
  while (node->kind != Node::Kind::run) {
    if (node->kind == Node::Kind::loop) {
      uint64_t index = data / node->child->size;
      base = plus(base, times(index, node->stride));
      data -= index * node->child->size;
      stack_.push_back({node, base, index});
      node = node->child.get();
      continue;
    }
    size_t index = node->item_at(data);
    stack_.push_back({node, base, index});
    base = plus(base, node->items[index].displacement);
    data -= node->items[index].data_before;
    if (!node->items[index].node) {
      take({plus(base, static_cast<int64_t>(data)), node->bytes_of(index) - data, 1, 0});
      return;
    }
    node = node->items[index].node;
  }
  uint64_t index = data / node->length, skip = data % node->length;
  base = plus(base, times(index, node->stride));
  if (skip == 0) {
    take({base, node->length, node->count - index, node->stride});
    return;
  }
  pending_ = {plus(base, node->stride), node->length, node->count - index - 1, node->stride};
  take({plus(base, static_cast<int64_t>(skip)), node->length - skip, 1, 0});
}

// Makes `run` the next, as far as it lies before the end of the data.
void Cursor::take(const Run& run) {
  run_ = run;
  uint64_t bytes = run.length * run.count;
  if (bytes <= left_) {
    left_ -= bytes;
    return;
  }
  run_.count = left_ / run.length;
  left_ -= run_.count * run.length;
  Run tail{plus(run.offset, times(run_.count, run.stride)), left_, left_ > 0, 0};
  if (run_.count > 0) {
    pending_ = tail;
  } else {
    run_ = tail;
    left_ = 0;
  }
}

// Descends to the first run of a node.
void Cursor::enter(const Node* node, int64_t base) {
  while (node->kind != Node::Kind::run) {
    stack_.push_back({node, base, 0});
    if (node->kind == Node::Kind::loop) {
      node = node->child.get();
      continue;
    }
    base = plus(base, node->items[0].displacement);
    if (!node->items[0].node) {
      take({base, node->bytes_of(0), 1, 0});
      return;
    }
    node = node->items[0].node;
  }
  take({base, node->length, node->count, node->stride});
}

bool Cursor::load() {
  if (left_ == 0) return false;
  if (pending_.count > 0) {
    take(std::exchange(pending_, {}));
    return true;
  }
  while (!stack_.empty()) {
    Frame& frame = stack_.back();
    const Node& node = *frame.node;
    ++frame.index;
    if (node.kind == Node::Kind::loop && frame.index < node.count) {
      frame.base = plus(frame.base, node.stride);
      enter(node.child.get(), frame.base);
      return true;
    }
    if (node.kind == Node::Kind::sequence && frame.index + 1 < node.items.size()) {
      const Item& item = node.items[frame.index];
      int64_t base = plus(frame.base, item.displacement);
      if (item.node)
        enter(item.node, base);
      else
        take({base, node.bytes_of(frame.index), 1, 0});
      return true;
    }
    stack_.pop_back();
  }
  return false;
}

}  // namespace forebay::lock::mpiio

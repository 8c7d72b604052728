#include "engine/set/box_layout.h"

#include <algorithm>

#include <fmt/format.h>

namespace forebay::engine {
namespace {

uint64_t divide_up(uint64_t value, uint64_t unit) { return value / unit + (value % unit != 0); }

Result<void> check(const Shape& shape, const Box& box) {
  const auto bad = [](std::string what) { return fail(ErrorKind::invalid_argument, std::move(what)); };
  if (box.begin.size() != shape.size() || box.count.size() != shape.size())
    return bad(fmt::format("the box has {} dimensions, and the array has {}", box.begin.size(), shape.size()));
  for (size_t i = 0; i < shape.size(); ++i) {
    if (box.count[i] == 0) return bad(fmt::format("the box is empty in dimension {}", i));
    if (box.begin[i] > shape[i] || box.count[i] > shape[i] - box.begin[i])
      return bad(fmt::format("the box has {} elements from index {} on in dimension {}, where the array has {}",
                             box.count[i], box.begin[i], i, shape[i]));
  }
  return {};
}

// Makes `at` the first point from itself on, in C order, that lies in [begin, end). False if there is none.
bool move_into(Shape& at, const Shape& begin, const Shape& end) {
  const auto restart_from = [&](size_t i) {
    for (; i < at.size(); ++i) at[i] = begin[i];
  };
  for (size_t i = 0; i < at.size(); ++i) {
    if (at[i] < begin[i]) {
      restart_from(i);
      return true;
    }
    if (at[i] < end[i]) continue;
    size_t before = i;
    while (before > 0 && at[before - 1] + 1 >= end[before - 1]) --before;
    if (before == 0) return false;
    at[before - 1] += 1;
    restart_from(before);
    return true;
  }
  return true;
}

// The bytes from one element to the next in each dimension of an array of bytes.
Shape strides_of(const Shape& shape) {
  Shape strides(shape.size(), 1);
  for (size_t i = shape.size() - 1; i > 0; --i) strides[i - 1] = strides[i] * shape[i];
  return strides;
}

}  // namespace

Box whole_box(const Shape& shape) { return {.begin = Shape(shape.size(), 0), .count = shape}; }

uint64_t block_count(const Shape& shape, const Shape& block) {
  uint64_t count = 1;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 0 || block[i] == 0) return 0;
    if (count != UINT64_MAX && __builtin_mul_overflow(count, divide_up(shape[i], block[i]), &count)) count = UINT64_MAX;
  }
  return count;
}

Result<BoxLayout> BoxLayout::make(const Shape& shape, const Shape& block, uint64_t element_bytes, const Box& box) {
  FOREBAY_CHECK(check(shape, box));
  BoxLayout layout;
  const bool fits = !__builtin_mul_overflow(element_count(block), element_bytes, &layout.block_bytes_) &&
                    !__builtin_mul_overflow(layout.block_bytes_, block_count(shape, block), &layout.stored_bytes_);
  if (!fits) return fail(ErrorKind::limit, "the array is too large");
  if (layout.stored_bytes_ == 0) return fail(ErrorKind::invalid_argument, "the blocks of the array are empty");
  layout.bytes_ = element_count(box.count) * element_bytes;  // no more than what is stored

  layout.shape_ = shape;
  layout.block_ = block;
  layout.box_ = box;
  const auto add_dimension = [](Shape& dimensions, uint64_t value) { dimensions.push_back(value); };
  add_dimension(layout.shape_, element_bytes);
  add_dimension(layout.block_, element_bytes);
  add_dimension(layout.box_.begin, 0);
  add_dimension(layout.box_.count, element_bytes);
  layout.merge_whole_dimensions();

  const size_t rank = layout.shape_.size();
  for (size_t i = 0; i < rank; ++i) {
    const uint64_t begin = layout.box_.begin[i], end = begin + layout.box_.count[i];
    layout.grid_.push_back(divide_up(layout.shape_[i], layout.block_[i]));
    layout.first_block_.push_back(begin / layout.block_[i]);
    layout.end_block_.push_back(divide_up(end, layout.block_[i]));
  }
  layout.block_strides_ = strides_of(layout.block_);
  layout.target_strides_ = strides_of(layout.box_.count);
  return layout;
}

void BoxLayout::merge_whole_dimensions() {
  while (shape_.size() > 1) {
    const uint64_t last = shape_.back();
    if (box_.count.back() != last || block_.back() != last) return;
    for (Shape* dimensions : {&shape_, &block_, &box_.begin, &box_.count}) {
      dimensions->pop_back();
      dimensions->back() *= last;
    }
  }
}

// A place among the stored bytes that belongs to the box.
class BoxLayout::Cursor {
 public:
  // At the first such place from `stored` on, if there is one.
  Cursor(const BoxLayout& layout, uint64_t stored) : layout_(layout), block_(rank()), at_(rank()) {
    if (stored >= layout_.stored_bytes_) return;
    uint64_t number = stored / layout_.block_bytes_, within = stored % layout_.block_bytes_;
    for (size_t i = rank(); i-- > 0;) {
      block_[i] = number % layout_.grid_[i];
      number /= layout_.grid_[i];
      at_[i] = within % layout_.block_[i];
      within /= layout_.block_[i];
    }
    const Shape asked = block_;
    valid_ = move_into(block_, layout_.first_block_, layout_.end_block_);
    if (!valid_) return;
    enter_block();
    if (block_ != asked)
      at_ = begin_;
    else if (!move_into(at_, begin_, end_))
      next_block();
    if (valid_) locate();
  }

  bool is_valid() const { return valid_; }
  uint64_t stored() const { return stored_; }
  uint64_t target() const { return target_; }
  uint64_t run() const { return end_.back() - at_.back(); }  // the bytes that follow without a break

  // To the next run.
  void advance() {
    size_t i = rank() - 1;
    at_[i] = begin_[i];
    while (i > 0 && at_[i - 1] + 1 >= end_[i - 1]) {
      --i;
      at_[i] = begin_[i];
    }
    if (i > 0)
      at_[i - 1] += 1;
    else
      next_block();
    if (valid_) locate();
  }

 private:
  size_t rank() const { return layout_.shape_.size(); }

  // Sets the part of the block that belongs to the box.
  void enter_block() {
    begin_.resize(rank());
    end_.resize(rank());
    for (size_t i = 0; i < rank(); ++i) {
      const uint64_t origin = block_[i] * layout_.block_[i];
      const uint64_t box_begin = layout_.box_.begin[i], box_end = box_begin + layout_.box_.count[i];
      begin_[i] = box_begin > origin ? box_begin - origin : 0;
      end_[i] = std::min(box_end - origin, layout_.block_[i]);
    }
  }

  void next_block() {
    block_.back() += 1;
    valid_ = move_into(block_, layout_.first_block_, layout_.end_block_);
    if (!valid_) return;
    enter_block();
    at_ = begin_;
  }

  void locate() {
    uint64_t number = 0;
    stored_ = target_ = 0;
    for (size_t i = 0; i < rank(); ++i) {
      number = number * layout_.grid_[i] + block_[i];
      stored_ += at_[i] * layout_.block_strides_[i];
      target_ += (block_[i] * layout_.block_[i] + at_[i] - layout_.box_.begin[i]) * layout_.target_strides_[i];
    }
    stored_ += number * layout_.block_bytes_;
  }

  const BoxLayout& layout_;
  bool valid_ = false;
  Shape block_;        // its place in the grid
  Shape begin_, end_;  // of the box in the block
  Shape at_;           // in the block
  uint64_t stored_ = 0, target_ = 0;
};

std::optional<uint64_t> BoxLayout::next(uint64_t stored) const {
  const Cursor cursor(*this, stored);
  return cursor.is_valid() ? std::optional(cursor.stored()) : std::nullopt;
}

void BoxLayout::for_each_run(uint64_t begin, uint64_t end, const Visit& visit) const {
  for (Cursor cursor(*this, begin); cursor.is_valid() && cursor.stored() < end; cursor.advance())
    visit(cursor.stored(), cursor.target(), std::min(cursor.run(), end - cursor.stored()));
}

Slabs::Slabs(Box box, const Shape& block, uint64_t element_bytes, uint64_t most_bytes)
    : box_(std::move(box)), block_(block), at_(box_.begin) {
  uint64_t below = element_bytes;  // the bytes of one index in the dimension `cut_`
  for (cut_ = box_.count.size(); cut_ > 0; --cut_) {
    const uint64_t most = std::max<uint64_t>(most_bytes / below, 1);
    stretch_ = std::min(most, box_.count[cut_ - 1]);
    if (stretch_ < box_.count[cut_ - 1]) break;
    below *= box_.count[cut_ - 1];
  }
}

std::optional<Box> Slabs::next() {
  if (done_) return std::nullopt;
  Box slab = box_;
  if (cut_ == 0) {
    done_ = true;
    return slab;
  }
  const size_t cut = cut_ - 1;
  for (size_t i = 0; i < cut; ++i) {
    slab.begin[i] = at_[i];
    slab.count[i] = 1;
  }
  const uint64_t box_end = box_.begin[cut] + box_.count[cut];
  uint64_t end = std::min(at_[cut] + stretch_, box_end);
  const uint64_t block_end = end / block_[cut] * block_[cut];
  if (end < box_end && block_end > at_[cut]) end = block_end;
  slab.begin[cut] = at_[cut];
  slab.count[cut] = end - at_[cut];

  at_[cut] = end;
  Shape ends = box_.begin;
  for (size_t i = 0; i < ends.size(); ++i) ends[i] += box_.count[i];
  done_ = !move_into(at_, box_.begin, ends);
  return slab;
}

}  // namespace forebay::engine

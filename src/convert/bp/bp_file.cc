#include "convert/bp/bp_file.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "bp/encoder.h"
#include "convert/target/array_file.h"
#include "store/files.h"

namespace forebay::convert {
namespace {

bool is_array(const BpBlock& block) { return !block.dimensions.empty(); }

uint64_t attribute_bytes(const BpGroup& group) {
  uint64_t bytes = 0;
  for (const BpAttribute& each : group.attributes)
    bytes += bp::encode_attribute(each.head, each.count, each.value, each.reference).bytes.size();
  return bytes;
}

}  // namespace

// Of the same length before and after its values were seen.
Bytes BpFile::head_of(size_t block) const {
  const BpBlock& made = step_->blocks[block];
  if (!is_array(made)) return bp::encode_block_head(made.head, {}, 0, {}, made.bytes);
  bp::Encoder characteristics;
  bp::encode_dimensions(made.dimensions, characteristics);
  slots_[block].observer.encode(characteristics);
  constexpr uint8_t kCount = 3;  // dimensions, bitmap, statistics
  return bp::encode_block_head(made.head, made.dimensions, kCount, characteristics.bytes(), made.bytes);
}

Result<void> BpFile::begin_step(const BpStep& step, const Plan& plan) {
  step_ = &step;
  plan_ = &plan;
  const uint64_t before = end_;
  slots_.clear();
  group_begins_.clear();
  for (const BpBlock& block : step.blocks)
    slots_.push_back({.observer = bp::Observer(block.head.type, statistics_), .value = {}});
  for (const BpGroup& group : step.groups) {
    group_begins_.push_back(end_);
    end_ += bp::encode_group_head(group.head, 0, 0, 0).size();
    for (const size_t block : group.blocks) {
      slots_[block].entry = end_;
      slots_[block].payload = end_ + head_of(block).size();
      end_ = slots_[block].payload + step.blocks[block].bytes;
      if (!is_array(step.blocks[block])) slots_[block].value.resize(step.blocks[block].bytes);
    }
    end_ += bp::encode_attributes_head(0, 0).size() + attribute_bytes(group);
  }
  return reserve(target_.fd(), before, end_, target_.path());
}

Result<void> BpFile::write(const Piece& piece) {
  Slot& slot = slots_[piece.dataset];
  slot.observer.add(piece.values);
  if (!is_array(step_->blocks[piece.dataset])) slot.value.assign(piece.values.begin(), piece.values.end());
  return write_box(target_.fd(), slot.payload, plan_->datasets[piece.dataset], piece, target_.path());
}

Result<void> BpFile::write_at(uint64_t offset, std::span<const std::byte> bytes) {
  return store::write_all(target_.fd(), offset, bytes, target_.path());
}

Result<void> BpFile::end_group(const BpGroup& group, uint64_t begin) {
  uint64_t at = begin + bp::encode_group_head(group.head, 0, 0, 0).size();
  const uint64_t first = at;
  for (const size_t block : group.blocks) {
    FOREBAY_CHECK(write_at(at, head_of(block)));
    at = slots_[block].payload + step_->blocks[block].bytes;
  }
  const uint64_t variable_bytes = at - first;
  const Bytes attributes =
      bp::encode_attributes_head(static_cast<uint32_t>(group.attributes.size()), attribute_bytes(group));
  FOREBAY_CHECK(write_at(at, attributes));
  at += attributes.size();
  for (const BpAttribute& each : group.attributes) {
    const auto [bytes, value_at] = bp::encode_attribute(each.head, each.count, each.value, each.reference);
    FOREBAY_CHECK(write_at(at, bytes));
    index_.add_attribute(each.head, {.offset = at, .payload = at + value_at}, each.count, each.value, each.reference);
    at += bytes.size();
  }
  FOREBAY_CHECK(write_at(begin, bp::encode_group_head(group.head, at - begin,
                                                      static_cast<uint32_t>(group.blocks.size()), variable_bytes)));
  bp::ProcessGroup head = group.head;
  head.offset = begin;
  index_.add_group(head);
  return {};
}

// Those of a variable come in the order of the file: by rank.
void BpFile::index_blocks() {
  for (const BpGroup& group : step_->groups)
    for (const size_t block : group.blocks) index_block(block);
}

void BpFile::index_block(size_t block) {
  const BpBlock& made = step_->blocks[block];
  const Slot& slot = slots_[block];
  const bp::Written at{.offset = slot.entry, .payload = slot.payload, .time = step_->groups.front().head.time};
  if (!is_array(made)) {
    index_.add_value(made.head, at, slot.value);
    return;
  }
  bp::Encoder statistics;
  slot.observer.encode(statistics);
  index_.add_array(made.head, at, made.dimensions, statistics.bytes());
}

Result<void> BpFile::end_step() {
  for (size_t i = 0; i < step_->groups.size(); ++i) FOREBAY_CHECK(end_group(step_->groups[i], group_begins_[i]));
  index_blocks();
  if (index_.bytes() <= most_index_bytes_) return {};
  return fail(
      ErrorKind::limit,
      fmt::format("the indices of the file pass {} bytes at step {}", most_index_bytes_, plan_->steps[0].number),
      target_.path(), {}, "convert fewer steps or arrays to a file, or allow more with --memory");
}

Result<void> BpFile::commit(bool overwrite) {
  FOREBAY_CHECK(write_at(end_, index_.finish(end_)));
  return target_.commit(overwrite);
}

}  // namespace forebay::convert

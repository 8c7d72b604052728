#include "format/hdf5_btree2.h"

#include <bit>
#include <vector>

namespace forebay::format::hdf5 {
namespace {

struct Child {
  uint64_t address = 0, records = 0;
};

// Section III.A.2.
class TreeWalk {
 public:
  TreeWalk(File& file, const RecordVisitor& visitor) : file_(file), visitor_(visitor) {}
  Result<void> run(uint64_t address, uint8_t type, uint8_t other_type);

 private:
  Result<void> measure_nodes(uint16_t depth, uint64_t address);
  Result<void> visit_node(Child node, size_t depth);

  File& file_;
  const RecordVisitor& visitor_;
  uint64_t node_size_ = 0;
  size_t record_size_ = 0;
  size_t count_size_ = 0;            // bytes of a child's number of records
  std::vector<size_t> total_sizes_;  // bytes of the number of records in a whole subtree, by its depth
};

constexpr size_t kNodePrefix = 6, kNodeChecksum = 4;

// The width of the counts in a node follows from how many records fit below it. A subtree's total in a leaf's parent is
// left out, since it is the leaf's count.
Result<void> TreeWalk::measure_nodes(uint16_t depth, uint64_t address) {
  if (record_size_ == 0 || node_size_ < kNodePrefix + kNodeChecksum + record_size_)
    return file_.corrupt("a B-tree with impossible node size", address);
  uint64_t total = (node_size_ - kNodePrefix - kNodeChecksum) / record_size_;
  count_size_ = bytes_for(total);
  total_sizes_ = {0};
  for (uint16_t level = 1; level <= depth; ++level) {
    const uint64_t pointer = file_.offset_size() + count_size_ + total_sizes_.back();
    if (node_size_ < kNodePrefix + kNodeChecksum + pointer)
      return file_.corrupt("a B-tree with impossible node size", address);
    const uint64_t records = (node_size_ - kNodePrefix - kNodeChecksum - pointer) / (record_size_ + pointer);
    if (__builtin_mul_overflow(records + 1, total, &total) || __builtin_add_overflow(total, records, &total))
      return file_.corrupt("a B-tree of impossible depth", address);
    total_sizes_.push_back(bytes_for(total));
  }
  return {};
}

Result<void> TreeWalk::run(uint64_t address, uint8_t type, uint8_t other_type) {
  constexpr uint16_t kMaxDepth = 32;
  Bytes buffer;
  FOREBAY_TRY(Cursor header, file_.read(address, 18 + file_.offset_size(), buffer));
  if (!header.expect("BTHD") || header.u8() != 0) return file_.corrupt("no B-tree where there should be one", address);
  const uint8_t found = header.u8();
  if (found != type && found != other_type) return file_.unsupported("a B-tree of unexpected type", address);
  node_size_ = header.u32();
  record_size_ = header.u16();
  const uint16_t depth = header.u16();
  header.skip(2);
  const Child root{.address = file_.address(header), .records = header.u16()};
  if (root.address == kUndefined || root.records == 0) return {};
  if (depth > kMaxDepth) return file_.corrupt("a B-tree of impossible depth", address);
  FOREBAY_CHECK(measure_nodes(depth, address));
  return visit_node(root, depth);
}

Result<void> TreeWalk::visit_node(Child node, size_t depth) {
  const uint64_t pointer = depth == 0 ? 0 : file_.offset_size() + count_size_ + total_sizes_[depth - 1];
  const uint64_t length = kNodePrefix + node.records * record_size_ + (depth == 0 ? 0 : (node.records + 1) * pointer);
  if (node.records > node_size_ || length > node_size_) return file_.corrupt("an overfull B-tree node", node.address);
  Bytes buffer;
  FOREBAY_TRY(Cursor cursor, file_.read(node.address, length, buffer));
  if (!cursor.expect(depth == 0 ? "BTLF" : "BTIN")) return file_.corrupt("a damaged B-tree node", node.address);
  cursor.skip(2);
  const auto records = cursor.bytes(node.records * record_size_);
  for (uint64_t i = 0; i <= node.records; ++i) {
    if (depth > 0) {
      const Child child{.address = file_.address(cursor), .records = cursor.number(count_size_)};
      cursor.skip(total_sizes_[depth - 1]);
      FOREBAY_CHECK(visit_node(child, depth - 1));
    }
    if (i < node.records)
      FOREBAY_CHECK(visitor_(Cursor(records.subspan(i * record_size_, record_size_)), record_size_));
  }
  return {};
}

}  // namespace

Result<void> visit_records(File& file, uint64_t address, uint8_t type, uint8_t other_type,
                           const RecordVisitor& visitor) {
  if (address == kUndefined) return {};
  return TreeWalk(file, visitor).run(address, type, other_type);
}

}  // namespace forebay::format::hdf5

#include "format/hdf5_group.h"

#include <algorithm>
#include <tuple>

#include "format/hdf5_btree2.h"
#include "format/hdf5_heap.h"

namespace forebay::format::hdf5 {
namespace {

// Old-style groups: a B-tree of symbol table nodes, with names in a local heap.
class SymbolTable {
 public:
  SymbolTable(File& file, std::vector<Link>& links) : file_(file), links_(links) {}
  Result<void> read(uint64_t tree, uint64_t heap);

 private:
  Result<void> read_names(uint64_t heap);
  Result<void> read_tree(uint64_t address, int parent_level);
  Result<void> read_node(uint64_t address);

  File& file_;
  std::vector<Link>& links_;
  Bytes names_;
};

Result<void> SymbolTable::read(uint64_t tree, uint64_t heap) {
  constexpr int kAboveAll = 256;
  FOREBAY_CHECK(read_names(heap));
  return read_tree(tree, kAboveAll);
}

// Section III.D.
Result<void> SymbolTable::read_names(uint64_t heap) {
  Bytes buffer;
  FOREBAY_TRY(Cursor cursor, file_.read(heap, 8 + 2 * file_.length_size() + file_.offset_size(), buffer));
  if (!cursor.expect("HEAP")) return file_.corrupt("no local heap where there should be one", heap);
  cursor.skip(4);
  const uint64_t size = file_.length(cursor);
  cursor.skip(file_.length_size());
  FOREBAY_CHECK(file_.read(file_.address(cursor), size, names_));
  return {};
}

// Section III.A.1. Levels fall by one at each step down, which bounds the depth.
Result<void> SymbolTable::read_tree(uint64_t address, int parent_level) {
  const uint64_t prefix = 8 + 2 * file_.offset_size();
  Bytes buffer;
  FOREBAY_TRY(Cursor cursor, file_.read(address, prefix, buffer));
  if (!cursor.expect("TREE") || cursor.u8() != 0)
    return file_.corrupt("no group index where there should be one", address);
  const int level = cursor.u8();
  const uint16_t entries = cursor.u16();
  if (level >= parent_level || (parent_level < 256 && level != parent_level - 1))
    return file_.corrupt("a group index with a wrong level", address);
  FOREBAY_TRY(cursor, file_.read(address + prefix, entries * (file_.length_size() + file_.offset_size()), buffer));
  for (int i = 0; i < entries; ++i) {
    cursor.skip(file_.length_size());
    const uint64_t child = file_.address(cursor);
    FOREBAY_CHECK(level == 0 ? read_node(child) : read_tree(child, level));
  }
  return {};
}

// Section III.B and C. Soft links have an undefined address.
Result<void> SymbolTable::read_node(uint64_t address) {
  constexpr uint64_t kPrefix = 8, kScratch = 24;
  Bytes buffer;
  FOREBAY_TRY(Cursor cursor, file_.read(address, kPrefix, buffer));
  if (!cursor.expect("SNOD")) return file_.corrupt("a damaged symbol table node", address);
  cursor.skip(2);
  const uint16_t symbols = cursor.u16();
  FOREBAY_TRY(cursor, file_.read(address + kPrefix, symbols * (2 * file_.offset_size() + kScratch), buffer));
  const std::string_view names = as_text(names_);
  for (int i = 0; i < symbols; ++i) {
    const uint64_t name_at = file_.address(cursor), object = file_.address(cursor);
    cursor.skip(kScratch);
    if (object == kUndefined || name_at >= names.size()) continue;
    const std::string_view name = names.substr(name_at, names.find('\0', name_at) - name_at);
    FOREBAY_CHECK(file_.pay(name.size()));
    links_.push_back({.name = std::string(name), .address = object});
  }
  return {};
}

// Groups with many links: link messages in a fractal heap, found through the index of their names.
Result<void> read_dense_links(File& file, const Object& group, std::vector<Link>& links) {
  constexpr uint8_t kByName = 5;
  constexpr size_t kHash = 4;
  FOREBAY_TRY(FractalHeap heap, FractalHeap::open(file, group.link_heap));
  Bytes buffer;
  return visit_records(file, group.link_index, kByName, kByName, [&](Cursor record, size_t) -> Result<void> {
    record.skip(kHash);
    const Result<Cursor> message = heap.object(record, buffer);
    if (!message)
      return message.error().kind == ErrorKind::unsupported ? Result<void>{} : std::unexpected(message.error());
    if (auto link = decode_link(file, *message)) links.push_back(std::move(*link));
    return {};
  });
}

}  // namespace

Result<std::vector<Link>> list_links(File& file, Object object) {
  std::vector<Link> links = std::move(object.links);
  if (object.symbol_tree != kUndefined)
    FOREBAY_CHECK(SymbolTable(file, links).read(object.symbol_tree, object.symbol_heap));
  if (object.link_heap != kUndefined) FOREBAY_CHECK(read_dense_links(file, object, links));
  std::erase_if(links, [](const Link& link) { return link.address == kUndefined || link.name.empty(); });
  std::ranges::sort(links, {}, [](const Link& link) { return std::tie(link.address, link.name); });
  return links;
}

}  // namespace forebay::format::hdf5

// The array indexes of chunks: fixed arrays (no dimension is unlimited) and extensible arrays (one is).
#include <bit>

#include "format/hdf5_chunk.h"

namespace forebay::format::hdf5 {
namespace {

constexpr size_t kArrayChecksum = 4;

// Bit 0 is the highest bit of the first byte.
bool bit_at(std::span<const std::byte> bits, uint64_t index) {
  return (std::to_integer<unsigned>(bits[index / 8]) >> (7 - index % 8) & 1) != 0;
}

// An index must store plain or filtered elements as the dataset says, of the size that follows.
bool is_element(const File& file, const ChunkList& chunks, uint8_t client, size_t size) {
  const size_t plain = file.offset_size();
  if (client != (chunks.filtered() ? 1 : 0)) return false;
  return chunks.filtered() ? size > plain + 4 && size <= plain + 4 + 8 : size == plain;
}

// `count` elements that lie at `address`, the first having index `first`.
Result<void> read_elements(File& file, uint64_t address, uint64_t count, size_t element_size, uint64_t first,
                           ChunkList& chunks) {
  uint64_t length = 0;
  if (__builtin_mul_overflow(count, element_size, &length)) return file.corrupt("an index of impossible size", address);
  Bytes buffer;
  FOREBAY_TRY(Cursor elements, file.read(address, length, buffer));
  for (uint64_t i = 0; i < count; ++i) FOREBAY_CHECK(add_element(file, elements, element_size, first + i, chunks));
  return {};
}

// Elements in pages of `page_elements`, each page with a checksum, from `address`; pages whose bit (from `first_bit`)
// is not set were never written.
struct Pages {
  uint64_t address, count, page_elements;
  std::span<const std::byte> written;
  uint64_t first_bit;
};

Result<void> read_pages(File& file, const Pages& pages, size_t element_size, uint64_t first, ChunkList& chunks) {
  for (uint64_t page = 0, done = 0; done < pages.count; ++page, done += pages.page_elements) {
    if (!bit_at(pages.written, pages.first_bit + page)) continue;
    const uint64_t at = pages.address + page * (pages.page_elements * element_size + kArrayChecksum);
    const uint64_t count = std::min(pages.page_elements, pages.count - done);
    FOREBAY_CHECK(read_elements(file, at, count, element_size, first + done, chunks));
  }
  return {};
}

}  // namespace

// Section VII.D.
Result<void> read_fixed_array(File& file, uint64_t address, ChunkList& chunks) {
  Bytes buffer;
  FOREBAY_TRY(Cursor header, file.read(address, 8 + file.length_size() + file.offset_size(), buffer));
  if (!header.expect("FAHD") || header.u8() != 0)
    return file.corrupt("no fixed array where there should be one", address);
  const uint8_t client = header.u8(), element_size = header.u8(), page_bits = header.u8();
  const uint64_t count = file.length(header), block = file.address(header);
  if (block == kUndefined) return {};
  if (!is_element(file, chunks, client, element_size) || page_bits > 32 || count > file.source().size())
    return file.corrupt("an impossible fixed array", address);
  const uint64_t page_elements = uint64_t{1} << page_bits, prefix = 6 + file.offset_size();
  if (count <= page_elements) return read_elements(file, block + prefix, count, element_size, 0, chunks);
  const uint64_t bitmap_bytes = divide_up(divide_up(count, page_elements), 8);
  FOREBAY_CHECK(file.read(block + prefix, bitmap_bytes, buffer));
  const Pages pages{.address = block + prefix + bitmap_bytes + kArrayChecksum,
                    .count = count,
                    .page_elements = page_elements,
                    .written = buffer,
                    .first_bit = 0};
  return read_pages(file, pages, element_size, 0, chunks);
}

namespace {

// Section VII.E. The elements behind the first few are in data blocks; the data blocks make up super blocks: super
// block number s has 2^(s/2) data blocks of 2^((s+1)/2) times the smallest size. The data blocks of the first super
// blocks are named by the index block itself, those of the others by the super blocks.
class ExtensibleArray {
 public:
  ExtensibleArray(File& file, ChunkList& chunks) : file_(file), chunks_(chunks) {}
  Result<void> read(uint64_t address);

 private:
  Result<void> read_header(uint64_t address);
  Result<void> read_index_block();
  Result<void> read_super_block(uint64_t address, uint64_t super);
  Result<void> read_data_block(uint64_t address, uint64_t elements);
  uint64_t data_blocks(uint64_t super) const { return uint64_t{1} << (super / 2); }
  uint64_t block_elements(uint64_t super) const { return min_elements_ << ((super + 1) / 2); }

  File& file_;
  ChunkList& chunks_;
  size_t element_size_ = 0, offset_bytes_ = 0;  // of an element, and of the field that says where a block begins
  uint64_t index_elements_ = 0, min_elements_ = 0, min_pointers_ = 0, page_elements_ = 0, super_blocks_ = 0;
  uint64_t used_ = 0;  // elements up to the last that was ever set
  uint64_t index_block_ = kUndefined;
  uint64_t next_ = 0;  // the index of the next element
};

Result<void> ExtensibleArray::read_header(uint64_t address) {
  Bytes buffer;
  FOREBAY_TRY(Cursor header, file_.read(address, 12 + 6 * file_.length_size() + file_.offset_size(), buffer));
  if (!header.expect("EAHD") || header.u8() != 0)
    return file_.corrupt("no extensible array where there should be one", address);
  const uint8_t client = header.u8();
  element_size_ = header.u8();
  const uint8_t max_bits = header.u8();
  index_elements_ = header.u8();
  min_elements_ = header.u8();
  min_pointers_ = header.u8();
  const uint8_t page_bits = header.u8();
  header.skip(4 * file_.length_size());
  used_ = file_.length(header);
  header.skip(file_.length_size());
  index_block_ = file_.address(header);
  const bool sane = is_element(file_, chunks_, client, element_size_) && max_bits <= 64 && page_bits <= 32 &&
                    std::has_single_bit(min_elements_) && std::has_single_bit(min_pointers_) &&
                    max_bits >= std::bit_width(min_elements_);
  if (!sane) return file_.corrupt("an impossible extensible array", address);
  offset_bytes_ = (max_bits + 7u) / 8;
  page_elements_ = uint64_t{1} << page_bits;
  super_blocks_ = 1 + max_bits - (static_cast<uint64_t>(std::bit_width(min_elements_)) - 1);
  return {};
}

Result<void> ExtensibleArray::read(uint64_t address) {
  FOREBAY_CHECK(read_header(address));
  return index_block_ == kUndefined ? Result<void>{} : read_index_block();
}

Result<void> ExtensibleArray::read_index_block() {
  const uint64_t direct_supers =
      std::min<uint64_t>(super_blocks_, 2 * (static_cast<uint64_t>(std::bit_width(min_pointers_)) - 1));
  const uint64_t direct_blocks = 2 * (min_pointers_ - 1), prefix = 6 + file_.offset_size();
  const uint64_t pointers = direct_blocks + super_blocks_ - direct_supers;
  Bytes buffer;
  FOREBAY_TRY(
      Cursor cursor,
      file_.read(index_block_, prefix + index_elements_ * element_size_ + pointers * file_.offset_size(), buffer));
  if (!cursor.expect("EAIB")) return file_.corrupt("a damaged index block", index_block_);
  cursor.skip(prefix - 4);
  for (; next_ < index_elements_; ++next_) FOREBAY_CHECK(add_element(file_, cursor, element_size_, next_, chunks_));
  for (uint64_t super = 0; super < super_blocks_ && next_ < used_; ++super) {
    if (super >= direct_supers) {
      FOREBAY_CHECK(read_super_block(file_.address(cursor), super));
      continue;
    }
    for (uint64_t i = 0; i < data_blocks(super); ++i)
      FOREBAY_CHECK(read_data_block(file_.address(cursor), block_elements(super)));
  }
  return {};
}

Result<void> ExtensibleArray::read_super_block(uint64_t address, uint64_t super) {
  const uint64_t blocks = data_blocks(super), elements = block_elements(super), begin = next_;
  const uint64_t prefix = 6 + file_.offset_size() + offset_bytes_;
  const bool paged = elements > page_elements_;
  const uint64_t pages = paged ? elements / page_elements_ : 0, bitmap_bytes = divide_up(pages, 8);
  if (blocks > file_.source().size() || elements > UINT64_MAX / blocks / 2)
    return file_.corrupt("an impossible super block", address);
  next_ = begin + blocks * elements;
  if (address == kUndefined) return {};
  Bytes buffer;
  FOREBAY_TRY(Cursor cursor, file_.read(address, prefix + blocks * (bitmap_bytes + file_.offset_size()), buffer));
  if (!cursor.expect("EASB")) return file_.corrupt("a damaged super block", address);
  cursor.skip(prefix - 4);
  // Whole bytes per data block are reserved, but the bits of all of them follow each other without gaps.
  const auto bitmaps = cursor.bytes(blocks * bitmap_bytes);
  for (uint64_t i = 0; i < blocks && begin + i * elements < used_; ++i) {
    const uint64_t block = file_.address(cursor), first = begin + i * elements;
    if (block == kUndefined) continue;
    if (!paged) {
      FOREBAY_CHECK(read_elements(file_, block + prefix, elements, element_size_, first, chunks_));
      continue;
    }
    const Pages written{.address = block + prefix + kArrayChecksum,
                        .count = elements,
                        .page_elements = page_elements_,
                        .written = bitmaps,
                        .first_bit = i * pages};
    FOREBAY_CHECK(read_pages(file_, written, element_size_, first, chunks_));
  }
  return {};
}

// A data block that the index block names: these are too small to have pages.
Result<void> ExtensibleArray::read_data_block(uint64_t address, uint64_t elements) {
  const uint64_t first = next_, prefix = 6 + file_.offset_size() + offset_bytes_;
  next_ += elements;
  if (address == kUndefined || first >= used_) return {};
  if (elements > page_elements_) return file_.unsupported("pages in a data block of the index block", address);
  return read_elements(file_, address + prefix, elements, element_size_, first, chunks_);
}

}  // namespace

Result<void> read_extensible_array(File& file, uint64_t address, ChunkList& chunks) {
  return ExtensibleArray(file, chunks).read(address);
}

}  // namespace forebay::format::hdf5

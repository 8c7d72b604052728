#include "format/hdf5_file.h"

#include <algorithm>

namespace forebay::format::hdf5 {
namespace {

constexpr std::string_view kSignature = "\x89HDF\r\n\x1a\n";

// What reading costs beside its bytes, in bytes of allowance.
constexpr uint64_t kReadCost = 64, kMissCost = 512;

bool has_size(uint8_t size) { return size == 2 || size == 4 || size == 8; }

}  // namespace

Result<uint64_t> find_signature(const ByteSource& source) {
  std::array<std::byte, 8> found;
  for (uint64_t at = 0; at < source.size() && source.size() - at >= found.size(); at = at == 0 ? 512 : 2 * at) {
    FOREBAY_CHECK(source.read_at(at, found));
    if (as_text(found) == kSignature) return at;
  }
  return kUndefined;
}

File::File(const ByteSource& source)
    : source_(&source), allowance_(std::min<uint64_t>(source.size(), 256 << 20) * 8 + (1 << 20)) {}

Result<File> File::open(const ByteSource& source) {
  File file(source);
  FOREBAY_TRY(file.base_, find_signature(source));
  if (file.base_ == kUndefined) return fail(ErrorKind::corrupt, "no HDF5 signature", source.name());
  FOREBAY_CHECK(file.read_superblock());
  return file;
}

// Section II. The stored base address is ignored: the library, too, takes the superblock's own place for it.
Result<void> File::read_superblock() {
  Bytes buffer;
  const uint64_t there = source_->size() - base_;
  FOREBAY_TRY(Cursor cursor, read(0, std::min<uint64_t>(there, 128), buffer));
  cursor.skip(kSignature.size());
  const uint8_t version = cursor.u8();
  if (version > 3) return unsupported("a superblock of unknown version", 0);
  if (version < 2) cursor.skip(4);
  const uint8_t offset_size = cursor.u8(), length_size = cursor.u8();
  if (!has_size(offset_size) || !has_size(length_size)) return unsupported("addresses of unusual size", 0);
  offset_size_ = offset_size;
  length_size_ = length_size;
  if (version < 2) {
    cursor.skip(9 + (version == 1 ? 4 : 0));
    cursor.skip(4 * offset_size_ + offset_size_);  // four addresses, then the root's name in its symbol table entry
  } else {
    cursor.skip(1 + 3 * offset_size_);
  }
  root_ = address(cursor);
  if (!cursor.ok() || root_ == kUndefined) return corrupt("a superblock without a root group", 0);
  return {};
}

Result<void> File::copy_from_page(uint64_t offset, std::span<std::byte> out) {
  const uint64_t number = offset / kPageBytes, begin = number * kPageBytes;
  Page& page = pages_[number % pages_.size()];
  if (page.number != number) {
    FOREBAY_CHECK(pay(kMissCost));
    page.number = kUndefined;
    page.bytes.resize(std::min(kPageBytes, source_->size() - begin));
    FOREBAY_CHECK(source_->read_at(begin, page.bytes));
    page.number = number;
  }
  std::copy_n(page.bytes.begin() + static_cast<ptrdiff_t>(offset - begin), out.size(), out.begin());
  return {};
}

Result<Cursor> File::read(uint64_t address, uint64_t length, Bytes& buffer) {
  const uint64_t there = source_->size() - base_;
  if (address > there || length > there - address) return corrupt("a structure that lies outside the file", address);
  FOREBAY_CHECK(pay(length + kReadCost));
  buffer.resize(length);
  uint64_t offset = base_ + address;
  if (length > kPageBytes) {
    FOREBAY_CHECK(source_->read_at(offset, buffer));
  } else {
    for (std::span<std::byte> rest = buffer; !rest.empty();) {
      const uint64_t part = std::min<uint64_t>(rest.size(), kPageBytes - offset % kPageBytes);
      FOREBAY_CHECK(copy_from_page(offset, rest.first(part)));
      rest = rest.subspan(part);
      offset += part;
    }
  }
  return Cursor(buffer);
}

uint64_t File::address(Cursor& cursor) const {
  const uint64_t value = cursor.number(offset_size_);
  return value == (kUndefined >> (64 - 8 * offset_size_)) ? kUndefined : value;
}

Result<void> File::pay(uint64_t bytes) {
  if (bytes > allowance_)
    return fail(ErrorKind::limit, "the HDF5 structures take more work than the file's size allows", source_->name());
  allowance_ -= bytes;
  return {};
}

std::unexpected<Error> File::corrupt(const char* what, uint64_t address) const {
  return fail(ErrorKind::corrupt, std::string("HDF5: ") + what, source_->name(), base_ + address);
}

std::unexpected<Error> File::unsupported(const char* what, uint64_t address) const {
  return fail(ErrorKind::unsupported, std::string("HDF5: ") + what, source_->name(), base_ + address);
}

}  // namespace forebay::format::hdf5

// The bytes of an HDF5 file as its own structures address them. (All hdf5_*.cc follow the "HDF5 File Format
// Specification Version 3.0", whose section numbers they name.)
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "base/byte_source.h"
#include "base/bytes.h"
#include "base/cursor.h"

namespace forebay::format::hdf5 {

inline constexpr uint64_t kUndefined = UINT64_MAX;  // an address of all ones: nothing there

inline uint64_t log2_floor(uint64_t value) { return static_cast<uint64_t>(std::bit_width(value)) - 1; }

// How many bytes hold a number up to `limit`.
inline size_t bytes_for(uint64_t limit) { return log2_floor(limit | 1) / 8 + 1; }

inline uint64_t divide_up(uint64_t value, uint64_t by) { return value / by + (value % by != 0 ? 1 : 0); }

// The offset of the format signature: 0, or 512, 1024, ... behind a user block. kUndefined if there is none.
// Fails only with an error of the source.
Result<uint64_t> find_signature(const ByteSource& source);

// A bounds-checked view of the metadata, through a small cache of pages. All addresses count from the superblock.
// Checksums of metadata are not verified: a structure misread because of a flipped bit costs compression, never bytes,
// and the copies that Forebay stores have their own checksums.
// Every byte read is paid for from a fixed allowance in proportion to the file's size, so that structures which share
// bytes or refer to each other in circles end in an error (limit) after bounded time.
class File {
 public:
  // Reads the superblock. corrupt or unsupported if it cannot be understood.
  static Result<File> open(const ByteSource& source);

  const ByteSource& source() const { return *source_; }
  uint64_t root() const { return root_; }  // the address of the root group's object header
  uint64_t base() const { return base_; }  // file offset = base() + address
  size_t offset_size() const { return offset_size_; }
  size_t length_size() const { return length_size_; }

  // Copies the bytes at [address, address + length) to `buffer` and returns a cursor over them, good until `buffer`
  // changes. corrupt if they are not all in the file; limit if the allowance is used up.
  Result<Cursor> read(uint64_t address, uint64_t length, Bytes& buffer);

  // The next address or length that `cursor` holds.
  uint64_t address(Cursor& cursor) const;
  uint64_t length(Cursor& cursor) const { return cursor.number(length_size_); }

  // Pays for `bytes` of work or memory from the allowance: limit if it is used up.
  Result<void> pay(uint64_t bytes);

  std::unexpected<Error> corrupt(const char* what, uint64_t address) const;
  std::unexpected<Error> unsupported(const char* what, uint64_t address) const;

 private:
  static constexpr uint64_t kPageBytes = 4096;
  struct Page {
    uint64_t number = kUndefined;
    Bytes bytes;
  };

  explicit File(const ByteSource& source);
  Result<void> read_superblock();
  Result<void> copy_from_page(uint64_t offset, std::span<std::byte> out);

  const ByteSource* source_;
  uint64_t base_ = 0, root_ = 0, allowance_;
  size_t offset_size_ = 8, length_size_ = 8;
  std::array<Page, 64> pages_;  // page n is kept in place n % 64
};

}  // namespace forebay::format::hdf5

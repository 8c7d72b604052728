// Which bytes of a protection group belong together, and who holds them (decision 0037, "Layout of a group"; the rows
// are those of SCR's sets, the work is shared by row leaders). Pure.
//
// A member's *part* is a run of `size` bytes, its files one after another. It is cut into n - m *data chunks* of
// `chunk` bytes, the last ones shorter or empty: what is missing counts as zeros, which are neither stored nor sent.
// The group has n *rows*. Each row has one chunk of each member: data chunks of n - m members, and m *parity chunks*.
// Parity p of row r is held by member (r + p) mod n; data chunk k of member i is in row (i + 1 + k) mod n. A chunk is
// cut into *pieces* of kPieceBytes, the last one shorter: what is coded, sent, checked and repaired at once.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/error.h"

namespace forebay::redundancy {

inline constexpr uint64_t kPieceBytes = 256 << 10;
inline constexpr unsigned kMostMembers = 255;

// Where a member has its chunk of a row.
struct ChunkPlace {
  bool is_parity = false;
  unsigned index = 0;  // of the data chunk in the member's part, or of the parity in its row (0 .. m-1)
};

class Geometry {
 public:
  // `sizes`: of the members' parts, in bytes. invalid_argument unless 0 < losses < sizes.size() <= kMostMembers;
  // limit if a part or a parity file would not fit into 63 bits.
  static Result<Geometry> make(std::vector<uint64_t> sizes, unsigned losses);
  // As a record says it; corrupt if `chunk` is not what make() finds.
  static Result<Geometry> check(std::vector<uint64_t> sizes, unsigned losses, uint64_t chunk);

  unsigned members() const { return static_cast<unsigned>(sizes_.size()); }
  unsigned losses() const { return losses_; }
  unsigned data_chunks() const { return members() - losses_; }                  // of each member, and of each row
  uint64_t chunk() const { return chunk_; }                                     // bytes; 0 if all parts are empty
  uint64_t pieces() const { return (chunk_ + kPieceBytes - 1) / kPieceBytes; }  // of a chunk
  uint64_t size(unsigned member) const { return sizes_[member]; }
  uint64_t parity_bytes() const { return chunk_ * losses_; }  // of a member's parity file: parity p at p * chunk()

  ChunkPlace place(unsigned row, unsigned member) const;
  unsigned parity_holder(unsigned row, unsigned parity) const;
  // The column of a data chunk in the coding matrix of its row: 0 .. data_chunks() - 1.
  unsigned column(unsigned row, unsigned member) const;

  // Bytes [offset, offset + length) of the member's part, or of its parity file, that piece `piece` of its chunk of the
  // row has; shorter than the piece, or empty, where the part ends.
  struct Range {
    bool is_parity = false;
    uint64_t offset = 0, length = 0;
  };
  Range range(unsigned row, unsigned member, uint64_t piece) const;
  // Pieces of the row that the member has, the first ones of its chunk: what follows is zeros.
  uint64_t pieces_of(unsigned row, unsigned member) const;
  uint64_t data_pieces(unsigned member) const;                   // of its part
  uint64_t parity_pieces() const { return losses_ * pieces(); }  // of a member's parity file
  uint64_t piece_bytes(uint64_t piece) const;                    // with its zeros

 private:
  Geometry(std::vector<uint64_t> sizes, unsigned losses, uint64_t chunk);
  std::vector<uint64_t> sizes_;
  unsigned losses_ = 0;
  uint64_t chunk_ = 0;
};

}  // namespace forebay::redundancy

// Where the bytes of a rank group's files come from: files of this machine (source_pool.h), or of other nodes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/byte_source.h"
#include "base/error.h"

namespace forebay::engine {

// A byte range of one file of the group.
struct SourcePiece {
  uint32_t file = 0;  // its index in the group
  uint64_t offset = 0, length = 0;

  bool operator==(const SourcePiece&) const = default;
};

// The most pieces that one read() is asked for.
inline constexpr size_t kMaxPiecesPerRead = 16 << 10;

// The files of one rank group, numbered in group order. What is read of a file is of one state of it, the one that the
// group was planned for: changed, naming the file, once it is another. Thread-safe.
class Sources {
 public:
  virtual ~Sources() = default;

  // Random access to file `index`, which must be a regular one: for its layout.
  virtual Result<std::shared_ptr<ByteSource>> get(size_t index) = 0;

  // Fills `out` with the bytes of `pieces`, one piece after another; their lengths add up to out.size(). Pieces are not
  // empty, lie inside regular files, and no two that follow each other are adjacent in one file. One call for each
  // frame (of very many pieces: for each kMaxPiecesPerRead), so that what is far away can be asked for at once. On
  // error the content of `out` is unspecified.
  virtual Result<void> read(std::span<const SourcePiece> pieces, std::span<std::byte> out) = 0;

  // Called when everything has been read: changed, naming the file, if any that was used is no longer what it was.
  virtual Result<void> check_unchanged() = 0;
};

// Turns stretches of files, one after another, into as few calls of Sources::read() as can be.
class PieceReader {
 public:
  // What is read fills `out` from its beginning.
  PieceReader(Sources& sources, std::span<std::byte> out) : sources_(sources), out_(out) {}

  // The next stretch. Errors as of the sources.
  Result<void> add(uint32_t file, uint64_t offset, uint64_t length);

  // Reads what is not read yet.
  Result<void> finish();

 private:
  Sources& sources_;
  std::span<std::byte> out_;  // what is left to fill
  std::vector<SourcePiece> pieces_;
  uint64_t bytes_ = 0;  // of the pieces
};

}  // namespace forebay::engine

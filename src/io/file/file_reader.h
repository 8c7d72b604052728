// Reads files that grow: what is in them, and the values of blocks.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/byte_source.h"
#include "base/bytes.h"
#include "base/error.h"
#include "io/file/listing.h"
#include "io/group/process_group.h"

namespace forebay::io {

// One process group, as its own index has it.
class StoredPart {
 public:
  // Blocks and attributes; no block has bytes or hashes.
  const ProcessGroup& group() const;

  // Bytes of the values of a block, and as how many they are stored.
  uint64_t bytes(size_t block) const;
  uint64_t stored_bytes(size_t block) const;

  // Fills `out`, of bytes(block) bytes, with the values of a block, checked. corrupt with file and offset. Thread-safe.
  Result<void> read(size_t block, std::span<std::byte> out) const;

  // A range of them: decodes and checks only the frames that have some of it.
  Result<void> read(size_t block, uint64_t begin, std::span<std::byte> out) const;

  // Decodes and checks those frames of a block that `is_wanted` asks for by the range of the block's bytes in them, one
  // after another, and hands each to `take` with where it begins. How many there were. corrupt. Thread-safe.
  using IsWanted = std::function<bool(uint64_t begin, uint64_t end)>;
  using Take = std::function<void(uint64_t begin, std::span<const std::byte> bytes)>;
  Result<uint64_t> for_each_frame(size_t block, const IsWanted& is_wanted, const Take& take) const;

 private:
  friend class FileReader;
  struct Content;
  StoredPart() = default;
  std::shared_ptr<const Content> content_;
};

class FileReader {
 public:
  // Opens the file at `path` as it is now. A file that is being added to, or was left unfinished, is read up to its
  // last complete step. The bytes are hostile: at most `max_bytes` are allocated for what is listed. not_found,
  // permission, io; corrupt; unsupported for a container that does not grow (is_growing() tells).
  static Result<std::unique_ptr<FileReader>> open(const std::string& path, uint64_t max_bytes);

  // The same of bytes from elsewhere; `open_other` opens the files that the listing names, whose names are relative and
  // safe.
  using OpenOther = std::function<Result<std::shared_ptr<const ByteSource>>(const std::string& name)>;
  static Result<std::unique_ptr<FileReader>> open(std::shared_ptr<const ByteSource> source, OpenOther open_other,
                                                  uint64_t max_bytes);

  const Listing& listing() const { return listing_; }
  uint64_t steps() const { return steps_; }
  bool is_torn() const { return is_torn_; }  // whether something unfinished lies behind the last step

  // Reads the index of a process group: listing().parts[part]. Thread-safe.
  Result<StoredPart> open_part(size_t part) const;

 private:
  FileReader() = default;
  std::shared_ptr<const ByteSource> source_;
  OpenOther open_other_;
  Listing listing_;
  uint64_t steps_ = 0, max_bytes_ = 0, container_id_ = 0;
  bool is_torn_ = false;
};

// Whether a file begins as a container and has, at its end or further in front, a trailer of one that grows. Cheap for
// files that are whole.
Result<bool> is_growing(const ByteSource& source);

}  // namespace forebay::io

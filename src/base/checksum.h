// Checksums, from libraries (xxHash, ISA-L), and the one operation that no library offers: joining CRCs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace forebay {

// XXH3-64 with seed 0. Guards frames, records and manifests.
uint64_t hash64(std::span<const std::byte> bytes);

// hash64() of bytes that come in pieces. Not thread-safe.
class Hasher64 {
 public:
  Hasher64();
  ~Hasher64();
  Hasher64(const Hasher64&) = delete;
  Hasher64& operator=(const Hasher64&) = delete;

  void add(std::span<const std::byte> bytes);
  uint64_t value() const;  // of all that was added

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// XXH3-128 with seed 0, as 32 lower-case hexadecimal digits (as `xxhsum -H2` prints it).
std::string hash128_hex(std::span<const std::byte> bytes);

// CRC-64/XZ of `bytes`. Guards whole files: their pieces pass in merge order, not in file order, and a CRC is the
// checksum that can be assembled from its pieces.
uint64_t crc64(std::span<const std::byte> bytes);

// Assembles the CRC-64/XZ of a file of `file_size` bytes from pieces that arrive in any order, each exactly once.
class FileCrc {
 public:
  explicit FileCrc(uint64_t file_size = 0) : size_(file_size) {}

  // The bytes at [offset, offset + bytes.size()), which must lie inside the file.
  void add(uint64_t offset, std::span<const std::byte> bytes);

  // Takes in what another FileCrc of the same file (another thread's) has seen.
  void merge(const FileCrc& other);

  uint64_t bytes_seen() const { return seen_; }

  // The file's CRC. Meaningful once bytes_seen() == file_size.
  uint64_t value() const;

 private:
  uint64_t size_ = 0, seen_ = 0, sum_ = 0;
};

// The CRC of a file of `file_size` bytes, of which FileCrcs elsewhere have seen all, each byte once: from what value()
// of each of them is. One that has seen nothing changes nothing.
uint64_t joined_crc(uint64_t file_size, std::span<const uint64_t> values);

}  // namespace forebay

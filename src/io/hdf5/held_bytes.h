// Bytes for places of a file that are not in it yet. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace forebay::hdf5 {

// Of each place the latest bytes. What is held takes memory, and a little for each piece.
class HeldBytes {
 public:
  // Bytes for the places from `offset` on; those that were held for them are gone.
  void put(uint64_t offset, std::span<const std::byte> bytes);

  // Puts what is held for the places from `offset` on over `bytes`, and leaves the others.
  void overlay(uint64_t offset, std::span<std::byte> bytes) const;

  // Drops what is held for places from `size` on.
  void cut(uint64_t size);

  // By offset; no two pieces have a place in common, and none is empty.
  const std::map<uint64_t, std::vector<std::byte>>& pieces() const { return pieces_; }

 private:
  void split(uint64_t offset);  // no piece goes across the offset then

  std::map<uint64_t, std::vector<std::byte>> pieces_;
};

}  // namespace forebay::hdf5

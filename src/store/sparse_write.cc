#include "store/sparse_write.h"

#include <algorithm>
#include <cstring>

#include "store/files.h"

namespace forebay::store {

bool is_zero(std::span<const std::byte> bytes) {
  // Every byte equals its successor and the first is zero: lets memcmp do the work.
  return bytes.empty() ||
         (bytes[0] == std::byte{0} && std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0);
}

Result<void> write_sparse(int fd, uint64_t offset, std::span<const std::byte> bytes, const std::string& path) {
  size_t pending = 0;  // the start of what was neither written nor left out
  for (size_t at = 0; at < bytes.size();) {
    const size_t length = std::min<size_t>(kHoleBytes - (offset + at) % kHoleBytes, bytes.size() - at);
    if (length == kHoleBytes && is_zero(bytes.subspan(at, length))) {
      FOREBAY_CHECK(write_all(fd, offset + pending, bytes.subspan(pending, at - pending), path));
      pending = at + length;
    }
    at += length;
  }
  return write_all(fd, offset + pending, bytes.subspan(pending), path);
}

}  // namespace forebay::store

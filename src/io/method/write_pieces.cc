#include "io/method/write_pieces.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <vector>

#include <sys/uio.h>

namespace forebay::io {

Result<void> write_pieces(int fd, std::span<const std::span<const std::byte>> pieces, uint64_t offset,
                          const std::string& path) {
  std::vector<iovec> vectors;
  vectors.reserve(pieces.size());
  for (const auto& piece : pieces)
    if (!piece.empty()) vectors.push_back({const_cast<std::byte*>(piece.data()), piece.size()});
  size_t at = 0;
  while (at < vectors.size()) {
    const size_t count = std::min<size_t>(vectors.size() - at, IOV_MAX);
    const ssize_t written = pwritev(fd, &vectors[at], static_cast<int>(count), static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return fail_errno(errno, "write", path);
    offset += static_cast<uint64_t>(written);
    auto left = static_cast<size_t>(written);
    while (at < vectors.size() && left >= vectors[at].iov_len) left -= vectors[at++].iov_len;
    if (left > 0) {
      vectors[at].iov_base = static_cast<std::byte*>(vectors[at].iov_base) + left;
      vectors[at].iov_len -= left;
    }
  }
  return {};
}

}  // namespace forebay::io

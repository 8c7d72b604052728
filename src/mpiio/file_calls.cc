#include "mpiio/file_calls.h"

#include <cerrno>

#include <unistd.h>

namespace forebay::lock::mpiio {

// Drops `moved` bytes from the front.
static void advance(std::span<iovec>& pieces, uint64_t moved) {
  while (!pieces.empty() && moved >= pieces.front().iov_len) {
    moved -= pieces.front().iov_len;
    pieces = pieces.subspan(1);
  }
  if (moved == 0) return;
  pieces.front().iov_base = static_cast<std::byte*>(pieces.front().iov_base) + moved;
  pieces.front().iov_len -= moved;
}

// The bytes that one call moved; interrupted calls are made again.
template <class Call>
static Result<uint64_t> move(const char* name, const BeforeCall& before_call, const Call& call) {
  for (;;) {
    FOREBAY_CHECK(before_call());
    ssize_t moved = call();
    if (moved >= 0) return static_cast<uint64_t>(moved);
    if (errno != EINTR) return fail_errno(errno, name, {});
  }
}

Result<void> write_pieces(int fd, std::span<iovec> pieces, int64_t offset, const BeforeCall& before_call) {
  if (offset < 0) return fail(ErrorKind::invalid_argument, "a byte would lie before the start of the file");
  while (!pieces.empty()) {
    FOREBAY_TRY(uint64_t moved, move("pwritev", before_call, [&] {
                  return pieces.size() == 1 ? pwrite(fd, pieces[0].iov_base, pieces[0].iov_len, offset)
                                            : pwritev(fd, pieces.data(), static_cast<int>(pieces.size()), offset);
                }));
    if (moved == 0) return fail(ErrorKind::io, "the system writes no bytes");
    advance(pieces, moved);
    offset += static_cast<int64_t>(moved);
  }
  return {};
}

Result<uint64_t> read_pieces(int fd, std::span<iovec> pieces, int64_t offset, const BeforeCall& before_call) {
  if (offset < 0) return fail(ErrorKind::invalid_argument, "a byte would lie before the start of the file");
  uint64_t total = 0;
  while (!pieces.empty()) {
    FOREBAY_TRY(uint64_t moved, move("preadv", before_call, [&] {
                  return pieces.size() == 1 ? pread(fd, pieces[0].iov_base, pieces[0].iov_len, offset)
                                            : preadv(fd, pieces.data(), static_cast<int>(pieces.size()), offset);
                }));
    if (moved == 0) break;
    advance(pieces, moved);
    offset += static_cast<int64_t>(moved);
    total += moved;
  }
  return total;
}

}  // namespace forebay::lock::mpiio

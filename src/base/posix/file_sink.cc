#include "base/posix/file_sink.h"

#include <algorithm>
#include <array>
#include <cerrno>

#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

namespace forebay {

Result<std::unique_ptr<FileSink>> FileSink::create(std::string path) {
  Fd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (!fd) return fail_errno(errno, "create", path);
  return std::unique_ptr<FileSink>(new FileSink(std::move(path), std::move(fd)));
}

Result<void> FileSink::append(std::span<const std::span<const std::byte>> parts) {
  constexpr size_t kAtOnce = 8;
  size_t taken = 0;  // of the first of the parts that are left
  while (true) {
    while (!parts.empty() && taken == parts.front().size()) parts = parts.subspan(1), taken = 0;
    if (parts.empty()) return {};
    std::array<iovec, kAtOnce> vectors;
    const size_t count = std::min(parts.size(), kAtOnce);
    for (size_t i = 0; i < count; ++i) {
      const auto part = parts[i].subspan(i == 0 ? taken : 0);
      vectors[i] = {const_cast<std::byte*>(part.data()), part.size()};
    }
    const ssize_t written = ::writev(fd_.get(), vectors.data(), static_cast<int>(count));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return fail_errno(errno, "write", path_);
    size_ += static_cast<size_t>(written);
    for (auto left = static_cast<size_t>(written); left > 0;) {
      const size_t of_part = std::min(left, parts.front().size() - taken);
      taken += of_part;
      left -= of_part;
      if (taken == parts.front().size()) parts = parts.subspan(1), taken = 0;
    }
    start_writeback();
  }
}

// Sends what was written on its way to the disk, so that fsync() at the end has little left to wait for. It is only a
// hint: a failure shows at fsync().
void FileSink::start_writeback() {
  constexpr uint64_t kBatch = 8 << 20;
  if (size_ - sent_ < kBatch) return;
  (void)::sync_file_range(fd_.get(), static_cast<off_t>(sent_), static_cast<off_t>(size_ - sent_),
                          SYNC_FILE_RANGE_WRITE);
  sent_ = size_;
}

Result<void> FileSink::finish() {
  if (::fsync(fd_.get()) != 0) return fail_errno(errno, "fsync", path_);
  if (::close(fd_.release()) != 0) return fail_errno(errno, "close", path_);
  return {};
}

}  // namespace forebay

#include "io/staging/reused_files.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

namespace forebay::io {
namespace {

constexpr size_t kKept = 1;  // free files beside the one that is taken

uint64_t size_of(int fd) {
  struct stat status{};
  return fstat(fd, &status) == 0 ? static_cast<uint64_t>(status.st_size) : 0;
}

bool is_free(int fd) {
  struct stat status{};
  return fstat(fd, &status) == 0 && status.st_nlink == 1;
}

}  // namespace

ReusedFile::~ReusedFile() {
  if (mapped_ != nullptr) munmap(mapped_, mapped_bytes_);
}

// What the file has. Pages that are there already need no more memory, so that writing to them cannot fail.
void ReusedFile::map() {
  usable_bytes_ = size_of(fd_.get());
  if (mapped_bytes_ >= usable_bytes_) return;
  if (mapped_ != nullptr) munmap(std::exchange(mapped_, nullptr), std::exchange(mapped_bytes_, 0));
  void* const memory = mmap(nullptr, usable_bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, fd_.get(), 0);
  if (memory == MAP_FAILED) {
    usable_bytes_ = 0;
    return;
  }
  mapped_ = static_cast<std::byte*>(memory);
  mapped_bytes_ = usable_bytes_;
#ifdef MADV_POPULATE_WRITE
  madvise(mapped_, mapped_bytes_, MADV_POPULATE_WRITE);  // all at once; kernels that do not know it do it one by one
#endif
}

Result<void> ReusedFile::write(std::span<const std::span<const std::byte>> pieces, uint64_t offset,
                               const std::string& path) {
  for (std::span<const std::byte> piece : pieces) {
    const uint64_t within = std::min<uint64_t>(piece.size(), usable_bytes_ - std::min(usable_bytes_, offset));
    if (within > 0) std::memcpy(mapped_ + offset, piece.data(), within);
    offset += within;
    piece = piece.subspan(within);
    while (!piece.empty()) {
      const ssize_t written = pwrite(fd_.get(), piece.data(), piece.size(), static_cast<off_t>(offset));
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return fail_errno(errno, "write", path);
      offset += static_cast<uint64_t>(written);
      piece = piece.subspan(static_cast<size_t>(written));
    }
  }
  return {};
}

Result<void> ReusedFile::cut_off(uint64_t bytes, const std::string& path) {
  usable_bytes_ = std::min(usable_bytes_, bytes);
  if (bytes < size_of(fd_.get()) && ftruncate(fd_.get(), static_cast<off_t>(bytes)) != 0)
    return fail_errno(errno, "truncate", path);
  return {};
}

bool ReusedFiles::is_memory(const std::string& directory) {
  struct statfs status{};
  return statfs(directory.c_str(), &status) == 0 && status.f_type == TMPFS_MAGIC;
}

ReusedFiles::~ReusedFiles() {
  for (const auto& file : files_) unlink(file->name_.c_str());
  if (!files_.empty()) rmdir(directory_.c_str());
}

Result<std::shared_ptr<ReusedFile>> ReusedFiles::take(const std::string& path) {
  const std::lock_guard lock(mutex_);
  std::shared_ptr<ReusedFile> taken;
  size_t kept = 0;
  std::erase_if(files_, [&](const std::shared_ptr<ReusedFile>& file) {
    if (file.use_count() > 1 || !is_free(file->fd())) return false;
    if (!taken) {
      taken = file;
      return false;
    }
    if (kept++ < kKept) return false;
    unlink(file->name_.c_str());
    return true;
  });
  if (taken) {
    taken->map();
  } else {
    FOREBAY_TRY(taken, make());
    files_.push_back(taken);
  }
  if (link(taken->name_.c_str(), path.c_str()) != 0) return fail_errno(errno, "link", path);
  return taken;
}

Result<std::shared_ptr<ReusedFile>> ReusedFiles::make() {
  if (mkdir(directory_.c_str(), 0700) != 0 && errno != EEXIST) return fail_errno(errno, "mkdir", directory_);
  const std::string name = fmt::format("{}/{}.{}", directory_, name_, made_++);
  Fd fd(::open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!fd) return fail_errno(errno, "create", name);
  auto file = std::make_shared<ReusedFile>(std::move(fd));
  file->name_ = name;
  return file;
}

}  // namespace forebay::io

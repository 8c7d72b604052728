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

// Whether `name` is the only one that the file has.
bool is_only_name(int fd, const std::string& name) {
  struct stat opened{}, named{};
  return fstat(fd, &opened) == 0 && opened.st_nlink == 1 && lstat(name.c_str(), &named) == 0 &&
         named.st_ino == opened.st_ino && named.st_dev == opened.st_dev;
}

bool is_half_full(const std::string& directory) {
  struct statfs status{};
  return statfs(directory.c_str(), &status) == 0 && status.f_bavail < status.f_blocks / 2;
}

// All of this process.
struct Registry {
  std::mutex mutex;
  std::vector<ReusedFiles*> all;
};

Registry& registry() {
  static Registry the;
  return the;
}

}  // namespace

ReusedFile::~ReusedFile() {
  if (mapped_ != nullptr) munmap(mapped_, mapped_bytes_);
}

// What a whole file has is written to in memory: its pages are there, so that this cannot fail.
void ReusedFile::begin() {
  usable_bytes_ = std::exchange(is_whole_, false) ? size_of(fd_.get()) : 0;
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
  // All at once; kernels that do not know it do it one by one.
  if (madvise(mapped_, mapped_bytes_, MADV_POPULATE_WRITE) != 0 && errno != EINVAL) usable_bytes_ = 0;
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

Result<void> ReusedFile::finish(uint64_t bytes, const std::string& path) {
  usable_bytes_ = std::min(usable_bytes_, bytes);
  if (bytes < size_of(fd_.get()) && ftruncate(fd_.get(), static_cast<off_t>(bytes)) != 0)
    return fail_errno(errno, "truncate", path);
  is_whole_ = true;
  return {};
}

void ReusedFile::give_up() {
  if (!is_whole_) (void)!ftruncate(fd_.get(), 0);
}

bool ReusedFiles::is_memory(const std::string& directory) {
  struct statfs status{};
  return statfs(directory.c_str(), &status) == 0 && status.f_type == TMPFS_MAGIC;
}

ReusedFiles::ReusedFiles(std::string directory, std::string name)
    : directory_(std::move(directory)), name_(std::move(name)) {
  const std::lock_guard lock(registry().mutex);
  registry().all.push_back(this);
}

ReusedFiles::~ReusedFiles() {
  {
    const std::lock_guard lock(registry().mutex);
    std::erase(registry().all, this);
  }
  for (const auto& file : files_) unlink(file->name_.c_str());
  if (!files_.empty()) rmdir(directory_.c_str());
}

Result<std::shared_ptr<ReusedFile>> ReusedFiles::take(const std::string& path) {
  std::shared_ptr<ReusedFile> taken;
  {
    const std::lock_guard lock(mutex_);
    uint64_t largest = 0;
    for (const auto& file : files_) {
      const bool is_free = file.use_count() == 1 && file->is_whole_ && is_only_name(file->fd(), file->name_);
      if (!is_free || size_of(file->fd()) < largest) continue;
      largest = size_of(file->fd());
      taken = file;
    }
  }
  if (is_half_full(path.substr(0, path.rfind('/') + 1))) {
    const std::lock_guard lock(registry().mutex);
    for (ReusedFiles* const files : registry().all) files->forget_free(0);
  } else {
    forget_free(kKept);
  }
  const std::lock_guard lock(mutex_);
  if (taken) {
    taken->begin();
  } else {
    FOREBAY_TRY(taken, make());
    files_.push_back(taken);
  }
  if (link(taken->name_.c_str(), path.c_str()) != 0) return fail_errno(errno, "link", path);
  return taken;
}

// Those that nobody holds: at most so many that are whole stay.
void ReusedFiles::forget_free(size_t most) {
  const std::lock_guard lock(mutex_);
  size_t kept = 0;
  std::erase_if(files_, [&](const std::shared_ptr<ReusedFile>& file) {
    if (file.use_count() > 1 || !is_only_name(file->fd(), file->name_)) return false;
    if (file->is_whole_ && kept < most) {
      ++kept;
      return false;
    }
    unlink(file->name_.c_str());
    return true;
  });
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

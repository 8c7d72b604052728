#include "engine/pack/source_pool.h"

#include <algorithm>

#include <sys/resource.h>

namespace forebay::engine {

// A quarter of what the process may have: others need descriptors, too.
static size_t descriptors_for_sources() {
  constexpr rlim_t kMost = 256;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return kMost;
  return static_cast<size_t>(std::clamp<rlim_t>(limit.rlim_cur / 4, 1, kMost));
}

SourcePool::SourcePool(std::span<const SourceFile> files)
    : files_(files), most_open_(descriptors_for_sources()), slots_(files.size()) {}

Result<std::shared_ptr<FileSource>> SourcePool::open_checked(size_t index) const {
  auto opened = FileSource::open(files_[index].path);
  if (!opened && opened.error().kind == ErrorKind::not_found)
    return fail(ErrorKind::changed, "the file vanished before it was read", files_[index].path, {},
                "let the writer finish, then run again");
  if (!opened) return std::unexpected(std::move(opened).error());
  std::shared_ptr<FileSource> source = *std::move(opened);
  const FileRow& row = files_[index].row;
  const FileSource::Identity& identity = source->identity();
  const bool as_scanned =
      identity.size == row.size && identity.mtime_s == row.mtime_s && identity.mtime_ns == row.mtime_ns;
  if (!as_scanned || slots_[index].identity.value_or(identity) != identity)
    return fail(ErrorKind::changed, "the file changed before it was read", files_[index].path, {},
                "let the writer finish, then run again");
  return source;
}

// Whether there was one to close.
bool SourcePool::close_oldest() {
  if (open_.empty()) return false;
  slots_[open_.front()].source.reset();
  open_.pop_front();
  return true;
}

// Where no descriptor is left, with one of ours instead.
Result<std::shared_ptr<FileSource>> SourcePool::open(size_t index) {
  auto source = open_checked(index);
  while (!source && source.error().kind == ErrorKind::limit && close_oldest()) source = open_checked(index);
  return source;
}

void SourcePool::close_all() {
  const std::lock_guard lock(mutex_);
  while (close_oldest()) {
  }
}

Result<std::shared_ptr<ByteSource>> SourcePool::get(size_t index) {
  const std::lock_guard lock(mutex_);
  Slot& slot = slots_[index];
  if (slot.source) return slot.source;
  FOREBAY_TRY(slot.source, open(index));
  slot.identity = slot.source->identity();
  open_.push_back(index);
  if (open_.size() > most_open_) close_oldest();
  return slot.source;
}

Result<void> SourcePool::read(std::span<const SourcePiece> pieces, std::span<std::byte> out) {
  std::shared_ptr<ByteSource> source;
  uint32_t opened = 0;
  size_t at = 0;
  for (const SourcePiece& piece : pieces) {
    if (!source || opened != piece.file) {
      FOREBAY_TRY(source, get(piece.file));
      opened = piece.file;
    }
    FOREBAY_CHECK(source->read_at(piece.offset, out.subspan(at, piece.length)));
    at += piece.length;
  }
  return {};
}

Result<void> SourcePool::check_unchanged() {
  const std::lock_guard lock(mutex_);
  for (size_t index = 0; index < slots_.size(); ++index) {
    const Slot& slot = slots_[index];
    if (slot.source) {
      FOREBAY_CHECK(slot.source->check_unchanged());
    } else if (slot.identity) {
      FOREBAY_CHECK(open(index));
    }
  }
  return {};
}

}  // namespace forebay::engine

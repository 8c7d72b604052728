#include "engine/pack/source_pool.h"

namespace forebay::engine {

Result<std::shared_ptr<FileSource>> SourcePool::open(size_t index) const {
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

Result<std::shared_ptr<ByteSource>> SourcePool::get(size_t index) {
  constexpr size_t kMaxOpen = 256;
  const std::lock_guard lock(mutex_);
  Slot& slot = slots_[index];
  if (slot.source) return slot.source;
  FOREBAY_TRY(slot.source, open(index));
  slot.identity = slot.source->identity();
  open_.push_back(index);
  if (open_.size() > kMaxOpen) {
    slots_[open_.front()].source.reset();
    open_.pop_front();
  }
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

#include "view/source/bp_file.h"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "bp/transform.h"

namespace forebay::view {
namespace {

constexpr uint64_t kIndexShare = 2 * bp::kMemoryFactor;  // the other half is for what steps make of them
constexpr size_t kMostOpenSubfiles = 64;
constexpr uint64_t kBlocksShare =
    4;  // of the memory: for blocks that are decoded at a time, and for those that are kept

void sort_groups(std::vector<bp::ProcessGroup>& groups) { std::ranges::sort(groups, {}, &bp::ProcessGroup::offset); }

}  // namespace

Result<std::shared_ptr<const BpFile>> BpFile::open(const std::string& path, uint64_t memory_bytes, unsigned threads) {
  FOREBAY_TRY(std::shared_ptr<const ByteSource> source, FileSource::open(path));
  const std::shared_ptr<BpFile> file(new BpFile(path, memory_bytes, threads));
  FOREBAY_TRY(file->index_, bp::read_index(*source, memory_bytes / kIndexShare));
  file->source_ = std::move(source);
  for (const bp::ProcessGroup& group : file->index_.groups)
    file->conventions_.try_emplace(group.group,
                                   Conventions{file->index_.groups.front().fortran_order, !group.time_name.empty()});
  for (bp::Variable& variable : file->index_.variables)
    std::ranges::stable_sort(variable.entries, {}, &bp::Entry::time);
  file->groups_ = file->index_.groups;
  sort_groups(file->groups_);
  return file;
}

Result<std::shared_ptr<const ByteSource>> BpFile::source_of(const bp::Entry& entry) const {
  if (!index_.footer.has_subfiles) return source_;
  const std::lock_guard lock(mutex_);
  if (const auto known = subfiles_.find(entry.file); known != subfiles_.end()) return known->second;
  if (entry.file == bp::kThisFile)
    return fail(ErrorKind::corrupt, "a block lies in none of the file's subfiles", path_, entry.offset);
  FOREBAY_TRY(std::shared_ptr<const ByteSource> opened, FileSource::open(bp::subfile_path(path_, entry.file)));
  if (!subfile_groups_.contains(entry.file)) {
    FOREBAY_TRY(auto index, bp::read_index(*opened, memory_bytes_ / kIndexShare));
    sort_groups(index.groups);
    subfile_groups_[entry.file] = std::make_shared<const Groups>(std::move(index.groups));
  }
  if (subfiles_.size() >= kMostOpenSubfiles) subfiles_.clear();
  subfiles_[entry.file] = opened;
  return opened;
}

Result<bp::ProcessGroup> BpFile::group_of(const bp::Entry& entry) const {
  std::shared_ptr<const Groups> groups(std::shared_ptr<void>(), &groups_);
  if (index_.footer.has_subfiles) {
    FOREBAY_CHECK(source_of(entry));
    const std::lock_guard lock(mutex_);
    groups = subfile_groups_.at(entry.file);
  }
  const auto behind = std::ranges::upper_bound(*groups, entry.offset, {}, &bp::ProcessGroup::offset);
  if (behind == groups->begin())
    return fail(ErrorKind::corrupt, "a block lies in none of the file's process groups", path_, entry.offset);
  return *std::prev(behind);
}

Result<std::shared_ptr<const Buffer>> BpFile::decode(const bp::Entry& entry, uint64_t raw_bytes) const {
  FOREBAY_TRY(const auto source, source_of(entry));
  if (entry.payload > source->size() || entry.stored_bytes > source->size() - entry.payload)
    return fail(ErrorKind::corrupt, "its data would pass the end of the file", source->name(), entry.payload);
  Buffer stored(entry.stored_bytes);
  FOREBAY_CHECK(source->read_at(entry.payload, stored.span()));
  const auto raw = std::make_shared<Buffer>(raw_bytes);
  FOREBAY_CHECK(bp::undo_transform(entry, index_.footer.big_endian, stored, raw->span(), source->name()));
  if (index_.footer.big_endian != (std::endian::native == std::endian::big)) bp::swap_elements(entry.type, raw->span());
  return raw;
}

Result<BpFile::Decoded> BpFile::decoded(const bp::Entry& entry, uint64_t raw_bytes) const {
  const uint64_t most = memory_bytes_ / kBlocksShare;
  if (raw_bytes > most || entry.stored_bytes > most - raw_bytes)
    return fail(
        ErrorKind::limit,
        fmt::format("its {} bytes, stored in {}, are too many to decode at once", raw_bytes, entry.stored_bytes), path_,
        entry.payload, "give a larger memory budget");
  const uint64_t needed = raw_bytes + entry.stored_bytes;
  std::unique_lock lock(blocks_mutex_);
  // Who wants what somebody decodes waits for it.
  decoded_one_.wait(
      lock, [&] { return kept_.contains(&entry) || (!in_work_.contains(&entry) && decoding_bytes_ + needed <= most); });
  if (const auto* const known = kept_.find(&entry)) return Decoded{*known, true};
  in_work_.insert(&entry);
  decoding_bytes_ += needed;
  lock.unlock();
  auto bytes = decode(entry, raw_bytes);
  lock.lock();
  decoding_bytes_ -= needed;
  in_work_.erase(&entry);
  decoded_one_.notify_all();
  FOREBAY_CHECK(bytes);
  kept_.add(&entry, *bytes, raw_bytes);
  kept_.trim(most);
  return Decoded{*bytes, false};
}

BpFile::Conventions BpFile::conventions_of(const std::string& group) const {
  const auto found = conventions_.find(group);
  return found == conventions_.end() ? Conventions{} : found->second;
}

}  // namespace forebay::view

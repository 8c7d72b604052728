#include "engine/set/frame_cache.h"

#include <algorithm>
#include <span>

#include <fmt/format.h>

namespace forebay::engine {

uint64_t FrameCache::new_source() {
  const std::lock_guard lock(mutex_);
  return ++sources_;
}

uint64_t FrameCache::Kept::entry_bytes() const {
  uint64_t bytes = 0;
  if (parts->count() > 1)
    for (const auto& part : raw) bytes += part ? part->size() : 0;
  return bytes;
}

// False: there was none.
bool FrameCache::drop(const std::optional<Kept>& kept) {
  if (kept) entry_bytes_ -= kept->entry_bytes();
  return kept.has_value();
}

// Lets go of the least recently used frames until `bytes` fit, or no more than `most_left` are left.
void FrameCache::make_room(uint64_t bytes, size_t most_left) {
  while (kept_.size() > most_left && kept_.cost() + bytes > memory_bytes_) drop(kept_.take_oldest());
}

// Of frames with entries the one that was used longest ago goes first, but not `user`.
void FrameCache::make_room_for_entries(uint64_t bytes, const Kept& user) {
  const auto may_go = [&](const Kept& one) { return one.parts->count() > 1 && &one != &user; };
  while (entry_bytes_ + bytes > most_entry_bytes_ && drop(kept_.take_oldest(may_go))) {
  }
}

void FrameCache::lend(uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  memory_bytes_ = all_bytes_ - std::min(bytes, all_bytes_);
  make_room(decoding_);
  changed_.notify_all();
}

void FrameCache::forget(uint64_t source) {
  const std::lock_guard lock(mutex_);
  for (const Kept& kept : kept_.take_range({source, 0}, {source, UINT32_MAX})) drop(kept);
}

void FrameCache::forget(uint64_t source, uint32_t number) {
  const std::lock_guard lock(mutex_);
  drop(kept_.take({source, number}));
}

uint64_t FrameCache::kept_bytes() {
  const std::lock_guard lock(mutex_);
  return kept_.cost();
}

// The frame's place, made if it is not there; null if there is no room for it.
FrameCache::Kept* FrameCache::place(const Key& key, const Parts& parts) {
  if (Kept* const known = kept_.find(key)) return known;
  const uint64_t bytes = parts->memory_bytes();
  make_room(decoding_ + bytes);
  if (kept_.cost() + decoding_ + bytes > memory_bytes_) return nullptr;
  return &kept_.add(key, {parts, std::vector<std::shared_ptr<const Buffer>>(parts->count())}, bytes);
}

// Keeps what was decoded, as far as there is room.
void FrameCache::keep(const Key& key, const Parts& parts, const Run& run, const Frame& frame) {
  Kept* const kept = place(key, parts);
  for (size_t part = run.first; kept != nullptr && part < run.first + run.count; ++part) {
    if (!frame.raw[part] || kept->raw[part]) continue;
    const uint64_t bytes = frame.raw[part]->size();
    if (parts->count() > 1) make_room_for_entries(bytes, *kept);
    make_room(decoding_ + bytes, 1);  // the newest one is `kept`
    if (kept_.cost() + decoding_ + bytes > memory_bytes_) return;
    kept->raw[part] = frame.raw[part];
    kept_.add_cost(key, bytes);
    if (parts->count() > 1) entry_bytes_ += bytes;
  }
}

Result<FrameCache::Parts> FrameCache::parts(const Address& frame) {
  const Key key{frame.source, frame.number};
  {
    const std::lock_guard lock(mutex_);
    if (const Kept* const known = kept_.find(key)) return known->parts;
  }
  FOREBAY_TRY(FrameParts found, find_parts(frame.container, frame.number));
  const auto parts = std::make_shared<const FrameParts>(std::move(found));
  const std::lock_guard lock(mutex_);
  place(key, parts);
  return parts;
}

// Takes what is kept of the wanted parts that `frame` does not have; returns those that are still missing.
std::vector<FrameCache::Run> FrameCache::take_known(const Key& key, const std::vector<bool>& wanted, Frame& frame) {
  const Kept* const known = kept_.find(key);
  std::vector<Run> missing;
  for (size_t part = 0; part < wanted.size(); ++part) {
    if (!wanted[part] || frame.raw[part] || frame.failed.contains(part)) continue;
    if (known) frame.raw[part] = known->raw[part];
    if (frame.raw[part]) continue;
    if (missing.empty() || missing.back().first + missing.back().count != part) missing.push_back({part, 0});
    ++missing.back().count;
  }
  return missing;
}

// One after another if they cannot be had together: some may be whole.
void FrameCache::decode(const Address& address, const FrameParts& parts, const Run& run, Frame& frame) {
  const auto read_reference = [&](uint32_t number, uint64_t begin, uint64_t bytes) {
    return range(Address{address.source, address.container, number}, begin, bytes);
  };
  auto raw = read_parts(address.container, address.number, parts, run.first, run.count, read_reference);
  if (!raw && run.count > 1) {
    for (size_t i = 0; i < run.count; ++i) decode(address, parts, {run.first + i, 1}, frame);
    return;
  }
  frame.read_bytes += stored_bytes(address.container, address.number, parts, run.first, run.count);
  if (!raw) {
    frame.failed.emplace(run.first, std::move(raw).error());
    return;
  }
  for (size_t i = 0; i < run.count; ++i) {
    frame.decoded_bytes += (*raw)[i].size();
    frame.raw[run.first + i] = std::make_shared<const Buffer>(std::move((*raw)[i]));
  }
}

// Does not wait for parts that others decode: these may wait for memory that the caller's frame was given.
Result<std::shared_ptr<const Buffer>> FrameCache::range(const Address& address, uint64_t begin, uint64_t bytes) {
  if (bytes == 0) return std::make_shared<const Buffer>();
  FOREBAY_TRY(const Parts parts, this->parts(address));
  const size_t first = parts->at(begin), last = parts->at(begin + bytes - 1);
  std::vector<bool> wanted(parts->count());
  for (size_t part = first; part <= last; ++part) wanted[part] = true;
  const Key key{address.source, address.number};
  Frame frame;
  frame.raw.resize(parts->count());
  std::unique_lock lock(mutex_);
  for (const Run& run : take_known(key, wanted, frame)) {
    lock.unlock();
    decode(address, *parts, run, frame);
    lock.lock();
    keep(key, parts, run, frame);
  }
  lock.unlock();
  if (!frame.failed.empty()) return std::unexpected(frame.failed.begin()->second);
  if (begin == parts->begin_of(first) && frame.raw[first]->size() == bytes) return frame.raw[first];
  const auto range = std::make_shared<Buffer>(bytes);
  parts->copy(begin, bytes, [&](size_t part) { return frame.raw[part]->span(); }, range->span());
  return range;
}

// Of the missing parts those that nobody decodes, which are the caller's now to decode and to release.
std::vector<FrameCache::Run> FrameCache::claim(const Key& key, const std::vector<Run>& missing) {
  std::vector<Run> claimed;
  for (const Run& run : missing)
    for (size_t part = run.first; part < run.first + run.count; ++part) {
      if (!in_work_.insert({key, part}).second) continue;
      if (claimed.empty() || claimed.back().first + claimed.back().count != part) claimed.push_back({part, 0});
      ++claimed.back().count;
    }
  return claimed;
}

void FrameCache::release(const Key& key, const Run& run) {
  for (size_t part = run.first; part < run.first + run.count; ++part) in_work_.erase({key, part});
  changed_.notify_all();
}

Result<FrameCache::Frame> FrameCache::get(const Address& address, const Parts& parts, const std::vector<bool>& wanted) {
  const Key key{address.source, address.number};
  Frame frame;
  frame.raw.resize(parts->count());
  std::unique_lock lock(mutex_);
  while (true) {
    const std::vector<Run> missing = take_known(key, wanted, frame);
    if (missing.empty()) return frame;
    std::vector<Run> mine = claim(key, missing);
    if (mine.empty()) changed_.wait(lock);
    for (size_t i = 0; i < mine.size(); ++i) {
      // What does not fit together is decoded in halves.
      while (mine[i].count > 1 &&
             parts_memory(address.container, address.number, *parts, mine[i].first, mine[i].count) > memory_bytes_) {
        const Run whole = mine[i];
        mine[i].count = whole.count / 2;
        mine.insert(mine.begin() + static_cast<ptrdiff_t>(i) + 1,
                    {whole.first + mine[i].count, whole.count - mine[i].count});
      }
      const Run run = mine[i];
      const uint64_t needed =
          std::max<uint64_t>(1, parts_memory(address.container, address.number, *parts, run.first, run.count));
      changed_.wait(lock,
                    [&] { return needed > memory_bytes_ || decoding_ == 0 || decoding_ + needed <= memory_bytes_; });
      if (needed > memory_bytes_) {
        for (const Run& left : std::span(mine).subspan(i)) release(key, left);
        return fail(
            ErrorKind::limit,
            fmt::format("frame {} needs {} bytes of memory, and {} are there", address.number, needed, memory_bytes_),
            address.container.path, {}, "give a larger memory budget");
      }
      decoding_ += needed;
      make_room(decoding_);
      lock.unlock();
      decode(address, *parts, run, frame);
      lock.lock();
      decoding_ -= needed;
      keep(key, parts, run, frame);
      release(key, run);
    }
  }
}

}  // namespace forebay::engine

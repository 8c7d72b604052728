#include "mount/read_ahead.h"

#include <algorithm>

namespace forebay::mount {
namespace {

constexpr uint64_t kAhead = uint64_t{2} << 20;       // bytes that are decoded before they are asked for
constexpr uint64_t kStretch = uint64_t{512} << 10;   // bytes that one thread takes at once
constexpr uint64_t kDisorder = uint64_t{512} << 10;  // reads may be so far from where they were expected
constexpr unsigned kRow = 2;                         // so many in a row are no accident
constexpr size_t kMostWaiting = 64;

}  // namespace

std::optional<Stretch> Sequence::note(uint64_t begin, uint64_t size, uint64_t file_bytes) {
  const uint64_t end = begin + std::min(size, UINT64_MAX - begin);
  const bool follows = begin + kDisorder >= next_ && begin <= next_ + kDisorder;
  if (!follows) {
    *this = {};
    next_ = end;
    return {};
  }
  next_ = std::max(next_, end);
  if (++row_ < kRow) return {};
  const uint64_t from = std::max(ahead_, next_);
  const uint64_t to = std::min(file_bytes, next_ + std::min(kAhead, UINT64_MAX - next_));
  if (from >= to || (to - from < kStretch && to < file_bytes)) return {};
  ahead_ = to;
  return Stretch{from, to};
}

ReadAhead::ReadAhead(unsigned threads) {
  for (unsigned i = 0; i < std::max(1u, threads); ++i)
    threads_.emplace_back([this](const std::stop_token& stop) { run(stop); });
}

ReadAhead::~ReadAhead() {
  for (std::jthread& thread : threads_) thread.request_stop();
}

void ReadAhead::fetch(const std::shared_ptr<const MountedSet>& set, const Tree::Node& node, const Stretch& stretch) {
  const std::lock_guard lock(mutex_);
  for (uint64_t begin = stretch.begin; begin < stretch.end && waiting_.size() < kMostWaiting; begin += kStretch)
    waiting_.push_back({set, &node, {begin, std::min(begin + kStretch, stretch.end)}});
  changed_.notify_all();
}

void ReadAhead::run(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (changed_.wait(lock, stop, [this] { return !waiting_.empty(); }) && !stop.stop_requested()) {
    const Work work = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    work.set->fetch(*work.node, work.stretch.begin, work.stretch.end - work.stretch.begin);
    lock.lock();
  }
}

}  // namespace forebay::mount

#include "engine/set/each_container.h"

#include <algorithm>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>

#include "engine/pipeline.h"
#include "engine/set/decoded_frames.h"
#include "engine/set/name_ranges.h"
#include "engine/set/parent_frames.h"

namespace forebay::engine {

ContainerOpener::ContainerOpener(const store::SetInfo& set, uint64_t memory_bytes)
    : set_(set), memory_bytes_(memory_bytes), parents_(make_parent_frames(set, memory_bytes_)) {}

Result<OpenContainer> ContainerOpener::open(size_t number, uint64_t memory_bytes) const {
  FOREBAY_TRY(OpenContainer opened, open_listed(set_.files, set_.manifest->containers[number], memory_bytes, parents_));
  share_decoded_frames({&opened, 1}, memory_bytes - std::min(memory_bytes, memory_of(opened)));
  return opened;
}

uint64_t standing_memory(const OpenContainer& container) {
  return memory_of(container) + (container.decoded ? container.decoded->memory_bytes() : 0);
}

namespace {

// Of the memory, what containers that are opened ahead may take.
constexpr uint64_t kAheadShare = 4;

uint64_t largest_frame(const OpenContainer& container) {
  uint64_t largest = 0;
  for (const merge::Frame& frame : container.plan->frames()) largest = std::max(largest, frame.raw_bytes);
  return largest;
}

class Walk {
 public:
  Walk(const store::SetInfo& set, std::span<const size_t> numbers, const Resources& resources,
       const VisitContainer& visit)
      : numbers_(numbers),
        threads_(std::max(1u, resources.threads)),
        visit_(visit),
        opener_(set, resources.memory_bytes),
        memory_bytes_(opener_.memory_bytes()),
        is_ahead_(numbers.size() > 1) {}

  Result<void> run() {
    if (numbers_.size() == 1) return visit(0);
    const Pipeline<size_t>::Stages stages{.cost = [](size_t) { return 1; },
                                          .fetch = [&](size_t i) -> Result<size_t> {
                                            open_ahead(i);
                                            return i;
                                          },
                                          .work = [](size_t&) -> Result<void> { return {}; },
                                          .put = [&](size_t& i) { return visit(i); }};
    return Pipeline<size_t>::run(numbers_.size(), threads_ + 1, {.fetch = threads_, .work = 1}, stages);
  }

 private:
  // Counts a thread as opening for as long as it lives.
  class Opening {
   public:
    explicit Opening(Walk& walk) : walk_(walk) { ++walk_.opening_; }
    ~Opening() {
      const std::lock_guard lock(walk_.mutex_);
      --walk_.opening_;
      walk_.changed_.notify_all();
    }

   private:
    Walk& walk_;
  };

  void open_ahead(size_t i) {
    std::unique_lock lock(mutex_);
    if (!is_ahead_) return;
    const Opening opening(*this);
    const uint64_t share = memory_bytes_ / kAheadShare / threads_;
    lock.unlock();
    auto opened = opener_.open(numbers_[i], share);
    const bool fits = opened ? standing_memory(*opened) <= share : opened.error().kind != ErrorKind::limit;
    lock.lock();
    if (is_ahead_ && fits) ready_.emplace(i, std::move(opened));
    lock.unlock();  // what does not stay ends before `opening` does
  }

  // From here on one container is open at a time.
  void end_ahead() {
    std::unique_lock lock(mutex_);
    is_ahead_ = false;
    changed_.wait(lock, [&] { return opening_ == 0; });
    ready_.clear();
  }

  std::optional<Result<OpenContainer>> take(size_t i) {
    const std::lock_guard lock(mutex_);
    const auto found = ready_.find(i);
    if (found == ready_.end()) return {};
    return std::move(ready_.extract(found).mapped());
  }

  Result<OpenContainer> open(size_t i) {
    if (auto ready = take(i)) return *std::move(ready);
    // It was too large for its share, or there was none.
    if (is_ahead_) end_ahead();
    return opener_.open(numbers_[i], memory_bytes_);
  }

  // What a container leaves for its frames, of which many should be in flight.
  uint64_t memory_beside(const OpenContainer& container) {
    constexpr uint64_t kFrames = 16;
    const uint64_t standing = standing_memory(container);
    if (is_ahead_ && standing + kFrames * largest_frame(container) > memory_bytes_ - memory_bytes_ / kAheadShare)
      end_ahead();
    const uint64_t mine = is_ahead_ ? memory_bytes_ - memory_bytes_ / kAheadShare : memory_bytes_;
    return mine - std::min(mine, standing);
  }

  Result<void> visit(size_t i) {
    auto opened = open(i);
    const std::string path = opened ? opened->path : opened.error().path;
    const uint64_t left = opened ? memory_beside(*opened) : 0;
    FOREBAY_TRY(const uint64_t kept, visit_(numbers_[i], std::move(opened), left));
    const std::lock_guard lock(mutex_);
    if (kept > memory_bytes_)
      return fail(ErrorKind::limit, "what is to be kept of the set's files takes more than the memory budget", path, {},
                  "raise --memory");
    memory_bytes_ -= kept;
    return {};
  }

  const std::span<const size_t> numbers_;
  const unsigned threads_;
  const VisitContainer& visit_;
  const ContainerOpener opener_;

  std::mutex mutex_;
  std::condition_variable changed_;
  uint64_t memory_bytes_;  // for all but what was kept; the thread of run() alone changes it, and the next one
  bool is_ahead_;
  unsigned opening_ = 0;
  std::map<size_t, Result<OpenContainer>> ready_;
};

template <class May>
std::vector<size_t> containers_that(const store::Manifest& manifest, const May& may) {
  std::vector<size_t> numbers;
  for (size_t number = 0; number < manifest.containers.size(); ++number)
    if (may(manifest.containers[number])) numbers.push_back(number);
  return numbers;
}

}  // namespace

Result<void> for_each_container(const store::SetInfo& set, std::span<const size_t> numbers, const Resources& resources,
                                const VisitContainer& visit) {
  FOREBAY_CHECK(set.manifest);
  return Walk(set, numbers, resources, visit).run();
}

std::vector<size_t> all_containers(const store::Manifest& manifest) {
  return containers_that(manifest, [](const store::ContainerEntry&) { return true; });
}

std::vector<size_t> containers_with_names(const store::Manifest& manifest, const std::vector<std::string>& globs) {
  return containers_that(manifest, [&](const store::ContainerEntry& entry) { return may_match(globs, entry.names); });
}

std::vector<size_t> containers_of_rank(const store::Manifest& manifest, uint32_t rank) {
  return containers_that(manifest, [&](const store::ContainerEntry& entry) {
    return !entry.ranks || (entry.ranks->first <= rank && rank <= entry.ranks->last);
  });
}

}  // namespace forebay::engine

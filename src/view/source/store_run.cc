#include "view/source/store_run.h"

#include <algorithm>
#include <list>
#include <mutex>
#include <set>

#include <fmt/format.h>

#include "store/series.h"
#include "store/store.h"
#include "view/source/set_step.h"

namespace forebay::view {
namespace {

constexpr size_t kMostOpenSteps = 16;
constexpr uint64_t kOfOneReading = 64 << 20;  // what is kept for what comes next

// Of the memory, half is for decoded frames, and a quarter for the indices of the steps that are kept open.
class StoreRun final : public Run {
 public:
  StoreRun(store::Store store, const RunOptions& options)
      : store_(std::move(store)),
        options_(options),
        cache_(std::make_shared<engine::FrameCache>(options.resources.memory_bytes / 2,
                                                    options.reads_once ? kOfOneReading : UINT64_MAX)),
        index_bytes_(options.resources.memory_bytes / 4) {}

  Result<void> find_sets() {
    FOREBAY_TRY(const auto all, store_.list());
    if (!options_.set.empty() && options_.set != "latest") {
      FOREBAY_TRY(auto info, store_.find(options_.set));
      if (!info.manifest) return std::unexpected(info.manifest.error());
      sets_.push_back(std::move(info));
      return {};
    }
    FOREBAY_TRY(series_, store::choose_series(all, options_.series, store_.path()));
    take_new(all);
    if (options_.set == "latest" && sets_.size() > 1) sets_.erase(sets_.begin(), sets_.end() - 1);
    if (sets_.empty()) return fail(ErrorKind::not_found, "the store has no set that can be read", store_.path());
    return {};
  }

  std::vector<StepInfo> steps() const override {
    const std::lock_guard lock(mutex_);
    std::vector<StepInfo> infos;
    for (size_t i = 0; i < sets_.size(); ++i)
      infos.push_back(
          {.number = i, .step = sets_[i].manifest->step, .time = {}, .time_index = 0, .set = sets_[i].name});
    return infos;
  }

  // Several steps are opened at once by as many threads.
  Result<std::shared_ptr<const Step>> step(uint64_t number) const override {
    OpenSteps closed;  // when nobody has to wait for it
    std::unique_lock lock(mutex_);
    if (number >= sets_.size())
      return fail(ErrorKind::invalid_argument,
                  fmt::format("there is no step {}, but {} steps from 0 on", number, sets_.size()), store_.path());
    if (auto step = kept(number)) return step;
    const store::SetInfo set = sets_[number];
    lock.unlock();
    auto opened = open_set_step(set, number, index_bytes_, cache_, options_);
    if (!opened) return why_not(number, set.name, opened.error());
    lock.lock();
    if (auto step = kept(number)) return step;  // another thread was faster
    open_bytes_ += opened->memory_bytes;
    open_.emplace_front(number, *std::move(opened));
    while (open_.size() > 1 && (open_.size() > kMostOpenSteps || open_bytes_ > index_bytes_)) {
      open_bytes_ -= open_.back().second.memory_bytes;
      closed.splice(closed.begin(), open_, std::prev(open_.end()));
    }
    return open_.front().second.step;
  }

  Result<uint64_t> refresh() override {
    if (!options_.set.empty() && options_.set != "latest") return 0;
    FOREBAY_TRY(const auto all, store_.list());
    const std::lock_guard lock(mutex_);
    const size_t before = sets_.size();
    take_new(all);
    return sets_.size() - before;
  }

  const std::string& path() const override { return store_.path(); }

 private:
  using OpenSteps = std::list<std::pair<uint64_t, OpenedStep>>;

  // The step, if it is open; of those that are kept it was then used last. Null otherwise.
  std::shared_ptr<const Step> kept(uint64_t number) const {
    const auto open = std::ranges::find(open_, number, [](const auto& one) { return one.first; });
    if (open == open_.end()) return nullptr;
    open_.splice(open_.begin(), open_, open);
    return open_.front().second.step;
  }

  // A set that was removed is no damaged one.
  std::unexpected<Error> why_not(uint64_t number, const std::string& name, const Error& error) const {
    const auto is_there = store_.has(name);
    if (!is_there || *is_there) return std::unexpected(error);
    return fail(ErrorKind::changed, fmt::format("step {} is not there any more: its set {} was removed", number, name),
                store_.path());
  }

  // Takes the sets of the series that are not known yet, oldest first.
  void take_new(std::span<const store::SetInfo> all) {
    for (const store::SetInfo& set : store::of_series(all, series_))
      if (set.manifest && known_.emplace(set.name, set.manifest->created_ns).second) sets_.push_back(set);
  }

  const store::Store store_;
  const RunOptions options_;
  const std::shared_ptr<engine::FrameCache> cache_;
  const uint64_t index_bytes_;
  std::string series_;
  mutable std::mutex mutex_;
  std::vector<store::SetInfo> sets_;
  std::set<std::pair<std::string, int64_t>> known_;
  mutable OpenSteps open_;           // most recently used first
  mutable uint64_t open_bytes_ = 0;  // of these
};

}  // namespace

Result<std::unique_ptr<Run>> open_store_run(const std::string& path, const RunOptions& options) {
  FOREBAY_TRY(auto store, store::Store::open(path));
  auto run = std::make_unique<StoreRun>(std::move(store), options);
  FOREBAY_CHECK(run->find_sets());
  return run;
}

}  // namespace forebay::view

#include "view/source/store_run.h"

#include <algorithm>
#include <map>
#include <mutex>

#include <fmt/format.h>

#include "base/lru.h"
#include "store/series.h"
#include "store/store.h"
#include "view/source/run_sets.h"
#include "view/source/set_step.h"

namespace forebay::view {
namespace {

constexpr size_t kMostOpenSteps = 16;
constexpr uint64_t kOfOneReading = 64 << 20;  // what is kept for what comes next

// Of the memory, three quarters are for decoded frames and for the indices of the steps that are kept open, of which
// one may take five eighths.
class StoreRun final : public Run {
 public:
  StoreRun(store::Store store, const RunOptions& options)
      : store_(std::move(store)),
        options_(options),
        cache_(std::make_shared<engine::FrameCache>(options.resources.memory_bytes / 4 * 3,
                                                    options.reads_once ? kOfOneReading : UINT64_MAX)),
        index_bytes_(options.resources.memory_bytes / 8 * 5) {}

  Result<void> find_sets() {
    std::string name = options_.set;
    if (store::asks_for_step(name)) {
      FOREBAY_TRY(const auto sets, store_.list());
      FOREBAY_TRY(const std::string series, store::choose_series(sets, options_.series, store_.path()));
      FOREBAY_TRY(name, store::find_step(store::of_series(sets, series), name, store_.path()));
    }
    if (!name.empty() && name != "latest") {
      FOREBAY_TRY(auto info, store_.find(name));
      if (!info.manifest) return std::unexpected(info.manifest.error());
      sets_.push_back({.info = std::move(info)});
      return {};
    }
    FOREBAY_TRY(auto all, store_.list());
    FOREBAY_TRY(series_, store::choose_series(all, options_.series, store_.path()));
    FOREBAY_CHECK(take_new(std::move(all)));
    if (options_.set == "latest" && sets_.size() > 1) sets_.erase(sets_.begin(), sets_.end() - 1);
    if (sets_.empty()) return fail(ErrorKind::not_found, "the store has no set", store_.path());
    return {};
  }

  std::vector<StepInfo> steps() const override {
    const std::lock_guard lock(mutex_);
    std::vector<StepInfo> infos;
    for (const RunSet& set : sets_) {
      const store::Manifest* const known = set.known();
      infos.push_back({.number = infos.size(),
                       .step = known != nullptr ? known->step : std::nullopt,
                       .time = {},
                       .time_index = 0,
                       .set = set.info.name,
                       .damage = {}});
      if (!set.info.manifest)
        infos.back().damage = std::make_shared<const Error>(damage_of(infos.back().number, set.info));
    }
    return infos;
  }

  // Several steps are opened at once by as many threads.
  Result<std::shared_ptr<const Step>> step(uint64_t number) const override {
    std::vector<OpenedStep> closed;  // when nobody has to wait for it
    std::unique_lock lock(mutex_);
    if (number >= sets_.size())
      return fail(ErrorKind::invalid_argument,
                  fmt::format("there is no step {}, but {} steps from 0 on", number, sets_.size()), store_.path());
    if (auto step = kept(number)) return step;
    const store::SetInfo set = sets_[number].info;
    lock.unlock();
    if (!set.manifest) return why_not(number, set.name, damage_of(number, set));
    auto opened = open_set_step(set, number, index_bytes_, cache_, options_);
    if (!opened) return why_not(number, set.name, opened.error());
    lock.lock();
    if (auto step = kept(number)) return step;  // another thread was faster
    const std::shared_ptr<const Step> step = opened->step;
    const uint64_t bytes = opened->memory_bytes;
    open_.add(number, *std::move(opened), bytes);
    closed = open_.trim(options_.resources.memory_bytes / 4, 1);
    if (open_.size() > kMostOpenSteps) closed.push_back(*open_.take_oldest());
    cache_->lend(std::min(open_.cost(), index_bytes_));
    return step;
  }

  Result<uint64_t> refresh() override {
    if (!options_.set.empty() && options_.set != "latest") return 0;
    FOREBAY_TRY(auto all, store_.list());
    const std::lock_guard lock(mutex_);
    const size_t before = sets_.size();
    FOREBAY_CHECK(take_new(std::move(all)));
    return sets_.size() - before;
  }

  const std::string& path() const override { return store_.path(); }

 private:
  // The step, if it is open; of those that are kept it was then used last. Null otherwise.
  std::shared_ptr<const Step> kept(uint64_t number) const {
    const OpenedStep* const open = open_.find(number);
    return open == nullptr ? nullptr : open->step;
  }

  // A set that was removed is no damaged one.
  std::unexpected<Error> why_not(uint64_t number, const std::string& name, const Error& error) const {
    const auto is_there = store_.has(name);
    if (!is_there || *is_there) return std::unexpected(error);
    return fail(ErrorKind::changed, fmt::format("step {} is not there any more: its set {} was removed", number, name),
                store_.path());
  }

  // Of a set without a manifest.
  static Error damage_of(uint64_t number, const store::SetInfo& set) {
    Error error = set.manifest.error();
    error.what = fmt::format("step {}, the set {}, cannot be opened: {}", number, set.name, error.what);
    return error;
  }

  // What else is known of those among all sets of the store that cannot be read.
  Result<std::vector<RunSet>> with_outlines(std::vector<store::SetInfo> all) const {
    std::map<std::string, store::Manifest> outlines;
    if (std::ranges::any_of(all, [](const store::SetInfo& set) { return !set.manifest; })) {
      FOREBAY_TRY(const auto listed, store_.outline());
      for (const store::SetInfo& set : listed)
        if (set.manifest) outlines.emplace(set.name, *set.manifest);
    }
    std::vector<RunSet> sets;
    for (store::SetInfo& info : all) {
      RunSet set{.info = std::move(info)};
      if (const auto outline = outlines.find(set.info.name); !set.info.manifest && outline != outlines.end())
        set.outline = outline->second;
      if (!set.info.manifest) set.written_ns = set.info.files.written_ns();
      sets.push_back(std::move(set));
    }
    return sets;
  }

  // Takes the sets of the series that are not known yet, oldest first, and in their places those that could not be read
  // before.
  Result<void> take_new(std::vector<store::SetInfo> all) {
    FOREBAY_TRY(auto sets, with_outlines(std::move(all)));
    for (RunSet& set : steps_of_series(std::move(sets), series_)) {
      const store::SetInfo& info = set.info;
      const auto [place, is_new] = places_.try_emplace(info.name, sets_.size());
      const auto& here = is_new ? info.manifest : sets_[place->second].info.manifest;
      const bool is_another = here && info.manifest && here->created_ns != info.manifest->created_ns;
      if (is_new || is_another) {
        place->second = sets_.size();
        sets_.push_back(std::move(set));
      } else if (!here) {
        sets_[place->second] = std::move(set);
      }
    }
    return {};
  }

  const store::Store store_;
  const RunOptions options_;
  const std::shared_ptr<engine::FrameCache> cache_;
  const uint64_t index_bytes_;
  std::string series_;
  mutable std::mutex mutex_;
  std::vector<RunSet> sets_;
  std::map<std::string, size_t> places_;    // in `sets_`, of the last set of each name
  mutable Lru<uint64_t, OpenedStep> open_;  // by their numbers, and the memory that they take
};

}  // namespace

Result<std::unique_ptr<Run>> open_store_run(const std::string& path, const RunOptions& options) {
  FOREBAY_TRY(auto store, store::Store::open(path));
  auto run = std::make_unique<StoreRun>(std::move(store), options);
  FOREBAY_CHECK(run->find_sets());
  return run;
}

}  // namespace forebay::view

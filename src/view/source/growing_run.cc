#include "view/source/growing_run.h"

#include <fmt/format.h>

#include "base/lru.h"
#include "view/source/growing_arrays.h"
#include "view/source/growing_step.h"

namespace forebay::view {
namespace {

constexpr size_t kMostKeptSteps = 16;

class GrowingRun final : public Run {
 public:
  GrowingRun(const std::string& path, const RunOptions& options) : path_(path), options_(options) {}

  Result<void> load() {
    FOREBAY_TRY(auto reader, io::FileReader::open(path_, options_.resources.memory_bytes / 2));
    file_ = std::make_shared<GrowingFileState>(std::move(reader), path_, options_.resources.memory_bytes / 4,
                                               options_.resources.threads);
    steps_.clear();
    const io::Listing& listing = file_->listing();
    for (uint64_t number = 0; number < file_->reader().steps(); ++number) {
      const auto [begin, end] = parts_of(listing, number);
      steps_.push_back({.number = number,
                        .step = static_cast<int64_t>(number),
                        .time = {},
                        .time_index = begin < end ? listing.parts[begin].time_index : 0,
                        .set = {}});
    }
    kept_.trim(0);
    arrays_.reset();
    first_alike_.clear();
    for (uint64_t number = 0; number < steps_.size(); ++number)
      first_alike_.push_back(number > 0 && are_alike(listing, file_->writes(), number, number - 1) ? first_alike_.back()
                                                                                                   : number);
    return {};
  }

  uint64_t first_alike(uint64_t number) const override {
    const std::lock_guard lock(mutex_);
    return number < first_alike_.size() ? first_alike_[number] : number;
  }

  std::vector<StepInfo> steps() const override {
    const std::lock_guard lock(mutex_);
    return steps_;
  }

  Result<std::shared_ptr<const Step>> step(uint64_t number) const override {
    const std::lock_guard lock(mutex_);
    if (number >= steps_.size())
      return fail(ErrorKind::invalid_argument,
                  fmt::format("there is no step {}, but {} steps from 0 on", number, steps_.size()), path_);
    if (const auto* const known = kept_.find(number)) return *known;
    const bool is_known = arrays_ && arrays_of_ == first_alike_[number];
    FOREBAY_TRY(auto opened, open_growing_step(file_, steps_[number], is_known ? arrays_ : nullptr));
    arrays_ = opened.arrays;
    arrays_of_ = first_alike_[number];
    kept_.add(number, opened.step);
    kept_.trim(kMostKeptSteps);
    return opened.step;
  }

  Result<uint64_t> refresh() override {
    const std::lock_guard lock(mutex_);
    const size_t before = steps_.size();
    FOREBAY_CHECK(load());
    return steps_.size() > before ? steps_.size() - before : 0;
  }

  const std::string& path() const override { return path_; }

 private:
  const std::string path_;
  const RunOptions options_;
  mutable std::mutex mutex_;
  std::shared_ptr<const GrowingFileState> file_;
  std::vector<StepInfo> steps_;
  std::vector<uint64_t> first_alike_;                        // of each step
  mutable Lru<uint64_t, std::shared_ptr<const Step>> kept_;  // by their numbers
  // Of the step that was opened last, for those that are alike, of which the first one is arrays_of_.
  mutable std::shared_ptr<const GrowingArrays> arrays_;
  mutable uint64_t arrays_of_ = 0;
};

}  // namespace

Result<std::unique_ptr<Run>> open_growing_run(const std::string& path, const RunOptions& options) {
  FOREBAY_TRY(const auto source, FileSource::open(path));
  FOREBAY_TRY(const bool grows, io::is_growing(*source));
  if (!grows)
    return fail(ErrorKind::unsupported, "is neither a store nor a file that grows", path, {},
                "give the directory of a store, or a file that was written through adaptable I/O");
  auto run = std::make_unique<GrowingRun>(path, options);
  FOREBAY_CHECK(run->load());
  return run;
}

}  // namespace forebay::view

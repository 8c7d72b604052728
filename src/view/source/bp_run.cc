#include "view/source/bp_run.h"

#include <mutex>
#include <set>

#include <fmt/format.h>

#include "view/source/bp_step.h"

namespace forebay::view {
namespace {

class BpRun final : public Run {
 public:
  BpRun(const std::string& path, const RunOptions& options) : path_(path), options_(options) {}

  Result<void> load() {
    FOREBAY_TRY(file_, BpFile::open(path_, options_.resources.memory_bytes, options_.resources.threads));
    std::set<uint32_t> times;
    for (const bp::ProcessGroup& group : file_->index().groups) times.insert(group.time);
    steps_.clear();
    for (const uint32_t time : times)
      steps_.push_back({.number = steps_.size(),
                        .step = static_cast<int64_t>(steps_.size()),
                        .time = {},
                        .time_index = time,
                        .set = {}});
    last_.reset();
    return {};
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
    if (!last_ || last_->info().number != number) last_ = open_bp_step(file_, steps_[number]);
    return last_;
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
  std::shared_ptr<const BpFile> file_;
  std::vector<StepInfo> steps_;
  mutable std::shared_ptr<const Step> last_;
};

}  // namespace

Result<std::unique_ptr<Run>> open_bp_run(const std::string& path, const RunOptions& options) {
  auto run = std::make_unique<BpRun>(path, options);
  FOREBAY_CHECK(run->load());
  return run;
}

}  // namespace forebay::view

#include "engine/pack/advise.h"

#include <algorithm>

#include "engine/pack/trial.h"

namespace forebay::engine {
namespace {

constexpr uint64_t kMostRanks = 64;
constexpr uint64_t kGroupSizes[] = {64, 32, 8, 2, 1};
constexpr const char* kBaselineProfile = "gzip";
constexpr const char* kProfile = "balanced";
constexpr const char* kOtherProfiles[] = {"paper", "fast", "max"};
constexpr size_t kTrials = 20;  // about, for the progress

// The combinations of scheme and block size that are tried.
struct Way {
  const char* scheme;
  uint64_t block_bytes;
};
constexpr Way kWays[] = {{"agnostic", 0}, {"agnostic-block", 4 << 10}, {"agnostic-block", 64 << 10},
                         {"aware", 0},    {"aware-block", 4 << 10},    {"aware-block", 64 << 10},
                         {"auto", 0}};

// The files of up to kMostRanks ranks, spread evenly over all and numbered anew.
SourceTree sample_ranks(const SourceTree& tree) {
  const uint64_t count = std::min(tree.ranks, kMostRanks);
  SourceTree sample{.files = {}, .ranks = count, .bytes = 0};
  for (const SourceFile& file : tree.files) {
    const uint64_t number =
        (uint64_t{file.row.rank} * count + tree.ranks - 1) / tree.ranks;  // the first that may be this rank
    if (number >= count || number * tree.ranks / count != file.row.rank) continue;
    sample.files.push_back(file);
    sample.files.back().row.rank = static_cast<uint32_t>(number);
    sample.bytes += file.row.size;
  }
  return sample;
}

class Adviser {
 public:
  explicit Adviser(const AdviseOptions& options) : options_(options), resources_(options.resources.resolved()) {}

  Result<Advice> run() {
    FOREBAY_TRY(resources_.memory_bytes, buffer_bytes(resources_.memory_bytes));
    FOREBAY_TRY(const SourceTree tree, scan_tree(options_.sources));
    if (tree.bytes == 0)
      return fail(ErrorKind::invalid_argument, "there are no bytes to try",
                  options_.sources.empty() ? "" : options_.sources[0]);
    advice_.total_bytes = tree.bytes;
    advice_.ranks = tree.ranks;
    sample_ = sample_ranks(tree);
    progress_.total_bytes = kTrials * std::min(sample_.bytes, options_.sample_bytes);
    FOREBAY_CHECK(try_all());
    for (const Trial& trial : advice_.trials) advice_.sampled_bytes = std::max(advice_.sampled_bytes, trial.raw_bytes);
    advice_.recommended = recommend(advice_.trials, options_.min_mb_per_s);
    const auto& best = *std::ranges::max_element(advice_.trials, {}, &Trial::ratio);
    advice_.best_ratio = best.ratio() > advice_.recommended.ratio() ? best : advice_.recommended;
    return std::move(advice_);
  }

 private:
  Result<void> try_all() {
    std::vector<uint64_t> sizes = {sample_.ranks};
    for (const uint64_t size : kGroupSizes)
      if (size < sample_.ranks) sizes.push_back(size);
    Way best = kWays[0];
    {
      FOREBAY_TRY(auto groups, SampleGroups::read(sample_, sizes.front(), options_, resources_));
      for (const Way& way : kWays) FOREBAY_CHECK(run(way, kBaselineProfile, groups));
      double best_ratio = 0;
      for (const Way& way : kWays) {
        FOREBAY_CHECK(run(way, kProfile, groups));
        const double ratio = advice_.trials.back().ratio();
        if (ratio > best_ratio) best = way;
        best_ratio = std::max(best_ratio, ratio);
      }
      for (const char* profile : kOtherProfiles) FOREBAY_CHECK(run(best, profile, groups));
    }
    for (const uint64_t size : std::span(sizes).subspan(1)) {
      FOREBAY_TRY(auto groups, SampleGroups::read(sample_, size, options_, resources_));
      FOREBAY_CHECK(run(best, kProfile, groups));
    }
    return {};
  }

  Result<void> run(const Way& way, const char* profile, SampleGroups& groups) {
    Trial trial{.scheme = way.scheme, .block_bytes = way.block_bytes, .profile = profile};
    FOREBAY_CHECK(run_trial(trial, groups, options_.sample_bytes, resources_, [&](uint64_t raw_bytes) {
      progress_.done_bytes = std::min(progress_.done_bytes + raw_bytes, progress_.total_bytes);
      if (resources_.progress) resources_.progress(progress_);
    }));
    advice_.trials.push_back(std::move(trial));
    return {};
  }

  const AdviseOptions& options_;
  Resources resources_;
  SourceTree sample_;
  Progress progress_;
  Advice advice_;
};

}  // namespace

const Trial& recommend(const std::vector<Trial>& trials, double min_mb_per_s) {
  const auto is_better = [&](const Trial& a, const Trial& b) {
    const bool fast_a = a.mb_per_s() >= min_mb_per_s, fast_b = b.mb_per_s() >= min_mb_per_s;
    if (fast_a != fast_b) return fast_a;
    return fast_a ? a.ratio() > b.ratio() : a.mb_per_s() > b.mb_per_s();
  };
  return *std::ranges::min_element(trials, is_better);
}

Result<Advice> advise(const AdviseOptions& options) { return Adviser(options).run(); }

}  // namespace forebay::engine

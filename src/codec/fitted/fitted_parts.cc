#include "codec/fitted/fitted_parts.h"

#include <algorithm>

namespace forebay::codec {

FittedParts::FittedParts(std::vector<FittedRun> runs, const FrameShape& shape) : runs_(std::move(runs)) {
  uint64_t element = 0, left = runs_.empty() ? 0 : runs_.front().blocks;
  size_t run = 0;
  for (const Block& block : shape.blocks) {
    if (block.count() == 0) continue;
    const bool is_large = form_of(lorenzo_array(block, 0)) != FittedForm::lorenzo;
    if (is_large && left == 0) left = runs_[++run].blocks;
    if (is_large) --left;
    starts_.push_back({element, is_large ? run : runs_.size()});
    element += block.count();
  }
}

Bytes FittedParts::of(const FrameShape& part, uint64_t begin) const {
  auto start = std::ranges::upper_bound(starts_, begin, {}, &Start::element) - 1;
  std::vector<FittedRun> runs;
  size_t last = runs_.size();
  for (const Block& block : part.blocks) {
    const FittedForm form = form_of(lorenzo_array(block, 0));
    const size_t run = (start++)->run;
    if (form == FittedForm::lorenzo) continue;
    // A stretch of a volume may be a plane, for which its run has weights, too.
    const FittedForm wanted = std::min(form, runs_[run].form);
    if (run == last && runs.back().form == wanted) {
      ++runs.back().blocks;
      continue;
    }
    runs.push_back(runs_[run]);
    runs.back().blocks = 1;
    runs.back().form = wanted;
    last = run;
  }
  return encode_runs(runs);
}

}  // namespace forebay::codec

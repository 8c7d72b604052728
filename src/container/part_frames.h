// The frames of one part of a damaged container, found among its records.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/byte_source.h"
#include "container/container.h"
#include "container/record.h"
#include "container/scan.h"

namespace forebay::container {

class PartFrames {
 public:
  // `raw_sizes` are those of the part's plan, frame after frame; `lossy_of_recipe` must outlive this.
  PartFrames(std::vector<uint64_t> raw_sizes, const LossyOfRecipe& lossy_of_recipe);

  // Takes `record` of `source`, which passes its checksums, if it is a frame of the plan; remarks upon frames that are
  // not.
  void collect(const ByteSource& source, const FoundRecord& record, Remarks& remarks);

  // The part with all frames that were found; `index` is its own, as far as it is known.
  RecoveredPart settle(Index index) &&;

 private:
  void collect(const FoundRecord& record, const FrameMeta& meta, Remarks& remarks);
  uint32_t intern_chain(const std::string& chain);

  std::vector<uint64_t> raw_sizes_;
  const LossyOfRecipe& lossy_of_recipe_;
  std::vector<std::optional<FrameEntry>> found_;
  std::vector<std::string> chains_;
  std::unordered_map<std::string, uint32_t> chain_numbers_;
};

}  // namespace forebay::container

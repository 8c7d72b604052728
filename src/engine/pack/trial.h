// One way of packing, tried on a sample in memory: what advise() is made of.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "engine/pack/advise.h"
#include "engine/pack/read_group.h"
#include "engine/pack/source_pool.h"
#include "engine/pack/tree.h"

namespace forebay::engine {

// The rank groups of a sample, read and classified.
class SampleGroups {
 public:
  // `tree` must outlive this. Errors as of read_group().
  static Result<SampleGroups> read(const SourceTree& tree, uint64_t group_size, const AdviseOptions& options,
                                   const Resources& resources);

  struct Group {
    std::unique_ptr<SourcePool> sources;
    Catalogue catalogue;
  };
  std::vector<Group>& groups() { return groups_; }
  uint64_t group_size() const { return group_size_; }

 private:
  uint64_t group_size_ = 0;
  std::vector<Group> groups_;
};

// Fills in sizes and times of `trial`, whose scheme, block size and profile say how. Of all frames that the groups'
// plans have, those are tried that hold every k-th part of the bytes, so that about `sample_bytes` are. internal if a
// frame does not come back as it was; else as the sources.
Result<void> run_trial(Trial& trial, SampleGroups& sample, uint64_t sample_bytes, const Resources& resources,
                       const std::function<void(uint64_t raw_bytes)>& delivered);

}  // namespace forebay::engine

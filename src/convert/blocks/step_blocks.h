// A step as what each rank wrote of each group: for targets that keep blocks instead of putting arrays together. Plans,
// and reads indices; never values.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "convert/plan/make_plan.h"
#include "convert/plan/wanted.h"

namespace forebay::convert {

// A block as it will be: Plan::datasets has a dataset for it, of the same number, with its name, type and shape.
struct NewBlock {
  view::Form form = view::Form::scalar;
  Shape global, offsets;  // of a part of a global array; C order
};

// What one rank wrote of one group.
struct NewGroup {
  std::string name;
  uint32_t rank = 0;
  std::vector<size_t> blocks;               // in StepBlocks::blocks, in the order in which they were written
  std::vector<view::Attribute> attributes;  // of the first rank's: those of the step, in the order of their definition
};

struct StepBlocks {
  Plan plan;  // of this step alone
  uint32_t time_index = 0;
  bool fortran_order = false;  // of the program that wrote it
  std::vector<NewBlock> blocks;
  std::vector<NewGroup> groups;  // by rank
};

// What ADIOS would count a step as, after one that it counted as `before`: its own time index, or its place in the run,
// but more than `before`. limit beyond 2^32 - 1.
Result<uint32_t> time_index_of(const view::StepInfo& step, uint32_t before);

class BlockPlanner {
 public:
  // `target`: as messages call it.
  BlockPlanner(const Wish& wish, std::string_view target) : wish_(wish), target_(target), wanted_(wish) {}

  // Looks at all steps, before anything is written: the run's names and types. What the target will have, an entry for
  // each array, is in the plan that it returns. Errors of make_plan(); invalid_argument for a stride.
  Result<Plan> survey(const view::Run& run);

  // Of the arrays that were looked at, those that have several types.
  const std::set<std::string>& retyped() const { return retyped_; }

  // Step `number` of the run; steps come in rising order. limit if it has more blocks than a plan may have datasets, or
  // 2^62 bytes; errors of the step.
  Result<StepBlocks> plan_step(const view::Run& run, uint64_t number);

  const std::set<std::string>& remarks() const { return remarks_; }  // on what is left out or changed

 private:
  struct Adding;
  std::vector<size_t> wanted_arrays(const view::Step& step);
  Result<void> add_array(const view::Step& step, size_t array, Adding& adding);
  Result<void> add_block(const view::Array& array, Dataset dataset, NewBlock block, uint32_t rank, Adding& adding);
  void add_attributes(const view::Step& step, StepBlocks& to);

  const Wish& wish_;
  const std::string target_;
  Wanted wanted_;
  std::set<std::string> remarks_, retyped_;
  std::optional<bool> fortran_order_;  // as the first array of the run says
  uint32_t last_time_ = 0;
};

}  // namespace forebay::convert

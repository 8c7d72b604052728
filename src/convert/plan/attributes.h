// Which attributes the objects of a target get. Pure.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "convert/plan/plan.h"
#include "view/source/step.h"

namespace forebay::convert {

// Gathers the attributes of all steps. One that describes an array goes to its datasets, one of a group that the target
// has to that group, and any other to the whole, its '/' replaced by '.'. Where steps disagree, each step's own goes to
// what is of this step alone; what stacks steps does not get it. Those by which HDF5 and netCDF keep dimensions are
// left out; of two of one name, one gets '_' behind its own.
class AttributeGathering {
 public:
  void look_at(const view::Step& step);

  // To the plan's datasets and groups, with remarks on what is left out; without those that say what values mean if
  // values are what they mean already. To be called once, at last.
  void add_to(Plan& plan, bool is_meant) const;

 private:
  struct Known {
    // A value and the first step that has it, in rising order: only where it is another than in the step before.
    std::vector<std::pair<uint64_t, view::Attribute>> values;
    uint64_t steps = 0;  // that have one
  };
  // Whether it is one by which a format of the source keeps its dimensions. `owner` as in known_.
  bool is_of_the_format(std::string_view owner, std::string_view name) const;
  const view::Attribute* of_step(const Known& known, uint64_t step) const;
  const view::Attribute* of_all(const Known& known) const;  // null if steps disagree

  std::map<std::string, Known> known_;  // by full name, without a '/' in front
  uint64_t steps_ = 0;
};

}  // namespace forebay::convert

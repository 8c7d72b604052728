// The blocks of a step as a BP file has them. Pure.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "convert/blocks/step_blocks.h"
#include "convert/bp/bp_names.h"

namespace forebay::convert {

struct BpBlock {
  bp::VariableHead head;
  std::vector<bp::Dimension> dimensions;  // in the order of the file; empty for a scalar or a string
  uint64_t bytes = 0;
};

struct BpAttribute {
  bp::VariableHead head;
  uint64_t count = 1;
  Bytes value;                        // as bp::Entry::value
  std::optional<uint32_t> reference;  // as bp::Entry::reference
};

struct BpGroup {
  bp::ProcessGroup head;  // but for its offset
  std::vector<size_t> blocks;
  std::vector<BpAttribute> attributes;
};

struct BpStep {
  std::vector<BpBlock> blocks;  // as StepBlocks::blocks
  std::vector<BpGroup> groups;  // by rank
};

// limit for strings and names that are longer than BP allows; errors of BpNames::variable(). Attributes that do not fit
// are left out, with a remark.
Result<BpStep> bp_step(const StepBlocks& step, BpNames& names, std::set<std::string>& remarks);

}  // namespace forebay::convert

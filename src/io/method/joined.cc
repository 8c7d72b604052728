#include "io/method/joined.h"

#include <algorithm>
#include <set>
#include <string>

namespace forebay::io {
namespace {

bool is_joined(const VariableDefinition& variable) {
  return std::ranges::any_of(variable.global_dimensions, [](const Extension& extension) {
    return std::holds_alternative<JoinedDimension>(extension);
  });
}

Outcome<void> join_variable(Communicator& communicator, const std::string& name, ProcessGroup& step) {
  uint64_t mine = 0;
  for (const Block& block : step.blocks)
    if (block.joined && block.name == name) mine += block.shape[*block.joined];
  FOREBAY_TRY(uint64_t offset, communicator.exclusive_scan(mine));
  FOREBAY_TRY(const uint64_t total, communicator.all_reduce(mine, Reduction::sum));
  for (Block& block : step.blocks) {
    if (!block.joined || block.name != name) continue;
    block.global_shape[*block.joined] = total;
    block.offsets[*block.joined] = offset;
    offset += block.shape[*block.joined];
  }
  return {};
}

}  // namespace

bool has_joined(const GroupDefinition& group) { return std::ranges::any_of(group.variables, is_joined); }

Outcome<void> join_blocks(Communicator& communicator, const GroupDefinition& group, std::span<ProcessGroup> steps) {
  std::set<std::string> names;
  for (const VariableDefinition& variable : group.variables)
    if (is_joined(variable)) names.insert(variable.full_name());
  for (ProcessGroup& step : steps)
    for (const std::string& name : names) FOREBAY_CHECK(join_variable(communicator, name, step));
  return {};
}

}  // namespace forebay::io

#include "base/layout.h"

#include <algorithm>

namespace forebay {
namespace {

bool fits(const Variable& variable, uint64_t file_size) {
  if (variable.extents.empty() || !variable.type.is_valid() || variable.path.size() > kMaxPathBytes) return false;
  if (variable.shape.size() > kMaxDims) return false;
  const bool blocked = !variable.block.empty();
  if (blocked && variable.block.size() != variable.shape.size()) return false;
  uint64_t bytes = element_count(blocked ? variable.block : variable.shape);
  if (__builtin_mul_overflow(bytes, uint64_t{variable.type.size}, &bytes)) return false;
  if (!blocked && !variable.filtered && variable.extents.size() != 1) return false;
  for (const Extent& extent : variable.extents) {
    if (extent.length == 0 || extent.offset > file_size || extent.length > file_size - extent.offset) return false;
    if (!variable.filtered && extent.length != bytes) return false;
  }
  return true;
}

struct OwnedExtent {
  Extent extent;
  size_t owner;
};

// The owners whose extents overlap one of an earlier owner.
std::vector<bool> find_overlapping(const std::vector<Variable>& variables) {
  std::vector<OwnedExtent> all;
  for (size_t owner = 0; owner < variables.size(); ++owner)
    for (const Extent& extent : variables[owner].extents) all.push_back({extent, owner});
  std::ranges::sort(all, [](const OwnedExtent& a, const OwnedExtent& b) { return a.extent.offset < b.extent.offset; });
  std::vector<bool> dropped(variables.size(), false);
  const OwnedExtent* last = nullptr;  // the kept extent that reaches farthest
  for (const OwnedExtent& next : all) {
    if (dropped[next.owner]) continue;
    if (last && !dropped[last->owner] && next.extent.offset < last->extent.end()) {
      const size_t loser = std::max(next.owner, last->owner);
      dropped[loser] = true;
      if (loser == next.owner) continue;
    }
    last = &next;
  }
  return dropped;
}

}  // namespace

size_t normalise(Layout& layout, uint64_t file_size) {
  auto& variables = layout.variables;
  const auto with_extents =
      static_cast<size_t>(std::ranges::count_if(variables, [](const Variable& v) { return !v.extents.empty(); }));
  std::erase_if(variables, [&](const Variable& v) { return !fits(v, file_size); });
  uint64_t extents = 0;
  for (const Variable& variable : variables) extents += variable.extents.size();
  if (variables.size() > kMaxVariablesPerFile || extents > kMaxExtentsPerFile) {
    layout = {.format = "opaque", .variables = {}};
    return with_extents;
  }
  // Dropping a variable can uncover an overlap that it hid, so repeat until nothing overlaps. Honest files need one
  // pass.
  constexpr int kMaxPasses = 16;
  for (int pass = 0;; ++pass) {
    const std::vector<bool> dropped = find_overlapping(variables);
    if (std::ranges::find(dropped, true) == dropped.end()) break;
    size_t index = 0;
    std::erase_if(variables, [&](const Variable&) { return pass >= kMaxPasses || dropped[index++]; });
  }
  return with_extents - layout.variables.size();
}

}  // namespace forebay

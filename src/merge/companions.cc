#include "merge/companions.h"

#include <algorithm>
#include <map>

namespace forebay::merge {
namespace {

// Whether codecs see plain floating-point arrays of one variable group.
bool is_eligible(const Catalogue& catalogue, const FrameGroup& group) {
  if (group.type.kind != Kind::floating || group.streams.front().variable >= kSkeleton) return false;
  const uint32_t key = catalogue.variables[group.streams.front().variable].key;
  return std::ranges::all_of(group.streams,
                             [&](const Stream& stream) { return catalogue.variables[stream.variable].key == key; });
}

bool have_same_cells(const Catalogue& catalogue, const FrameGroup& a, const FrameGroup& b) {
  return std::ranges::equal(a.streams, b.streams, [&](const Stream& x, const Stream& y) {
    return x.file == y.file && x.bytes == y.bytes &&
           catalogue.variables[x.variable].block == catalogue.variables[y.variable].block;
  });
}

}  // namespace

std::vector<std::vector<uint32_t>> companion_groups(const Plan& plan) {
  const Catalogue& catalogue = plan.catalogue();
  struct Alike {
    DataType type;
    uint64_t block_bytes, bytes;
    size_t streams;
    auto operator<=>(const Alike&) const = default;
  };
  std::map<Alike, std::vector<std::vector<uint32_t>>> families;
  for (uint32_t number = 0; number < plan.groups().size(); ++number) {
    const FrameGroup& group = plan.groups()[number];
    if (!is_eligible(catalogue, group)) continue;
    auto& alike = families[{group.type, group.block_bytes, group.bytes, group.streams.size()}];
    const auto family = std::ranges::find_if(alike, [&](const std::vector<uint32_t>& members) {
      return have_same_cells(catalogue, plan.groups()[members.front()], group);
    });
    if (family == alike.end()) {
      alike.push_back({number});
    } else {
      family->push_back(number);
    }
  }
  std::vector<std::vector<uint32_t>> result;
  for (auto& [description, alike] : families)
    for (auto& family : alike)
      if (family.size() > 1) result.push_back(std::move(family));
  std::ranges::sort(result);
  return result;
}

}  // namespace forebay::merge

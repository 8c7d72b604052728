#include "engine/inspect/find_in_set.h"

#include <algorithm>

#include "engine/set/each_container.h"

namespace forebay::engine {
namespace {

struct Ranked {
  Found found;
  uint32_t rank = 0;
};

}  // namespace

Result<std::vector<Found>> find_in_set(const store::SetInfo& set, const std::string& path, std::optional<uint32_t> rank,
                                       const Resources& resources) {
  if (!set.manifest) return std::unexpected(set.manifest.error());
  std::vector<Ranked> all;
  const auto visit = [&](size_t number, Result<OpenContainer> opened, uint64_t) -> Result<uint64_t> {
    if (!opened) return std::unexpected(std::move(opened).error());
    OpenSet one;
    one.containers.push_back(*std::move(opened));
    const std::vector<Found> found = find_variables(one, path, rank);
    for (const Found& here : found)
      all.push_back({{number, here.file, here.variable}, one.containers[0].catalogue().files[here.file].rank});
    return found.size() * (sizeof(Ranked) + sizeof(Found));
  };
  const auto numbers = rank ? containers_of_rank(*set.manifest, *rank) : all_containers(*set.manifest);
  FOREBAY_CHECK(for_each_container(set, numbers, resources, visit));
  std::ranges::stable_sort(all, {}, &Ranked::rank);
  std::vector<Found> found;
  found.reserve(all.size());
  for (const Ranked& one : all) found.push_back(one.found);
  return found;
}

}  // namespace forebay::engine

// Which rank wrote which file: assign_ranks() and rank_groups().
#include <algorithm>
#include <map>
#include <string_view>
#include <unordered_map>

#include "engine/pack/tree.h"
#include "engine/set/name_pattern.h"

namespace forebay::engine {
namespace {

// The last run of digits that differs among names of one pattern; -1 if none does.
int varying_run(const std::vector<const NamePattern*>& members) {
  for (int run = static_cast<int>(members.front()->numbers.size()) - 1; run >= 0; --run) {
    const std::string_view first = members.front()->numbers[run];
    if (std::ranges::any_of(members, [&](const NamePattern* member) { return member->numbers[run] != first; }))
      return run;
  }
  return -1;
}

}  // namespace

AssignedRanks assign_ranks(std::span<const std::string> names) {
  std::vector<NamePattern> parsed;
  for (const std::string& name : names) parsed.push_back(take_apart(name));
  std::unordered_map<std::string_view, std::vector<const NamePattern*>> series;
  for (const NamePattern& name : parsed) series[name.pattern].push_back(&name);

  std::unordered_map<std::string_view, int> run_of;
  std::map<std::string_view, uint32_t, ByValue> rank_of;
  for (const auto& [pattern, members] : series) {
    const int run = varying_run(members);
    run_of[pattern] = run;
    if (run >= 0)
      for (const NamePattern* member : members) rank_of.try_emplace(member->numbers[run], 0);
  }
  uint32_t next = 0;
  for (auto& [number, rank] : rank_of) rank = next++;

  AssignedRanks assigned{.of_name = {}, .are_numbered = !rank_of.empty()};
  for (uint32_t i = 0; i < parsed.size(); ++i) {
    const int run = run_of[parsed[i].pattern];
    if (rank_of.empty()) {
      assigned.of_name.push_back(i);
    } else {
      assigned.of_name.push_back(run < 0 ? 0 : rank_of.at(parsed[i].numbers[run]));
    }
  }
  return assigned;
}

uint64_t default_group_size(const SourceTree& tree) {
  constexpr uint64_t kLeast = 64, kMostFiles = 16384;
  const double enough_bytes = tree.are_numbered ? 8 << 20 : 256 << 20;
  const auto of_average_group = [&](uint64_t total, uint64_t size) {
    return static_cast<double>(total) * static_cast<double>(size) / static_cast<double>(tree.ranks);
  };
  uint64_t size = kLeast;
  while (size < tree.ranks && of_average_group(tree.bytes, size) < enough_bytes &&
         of_average_group(tree.files.size(), 2 * size) <= kMostFiles)
    size *= 2;
  return size;
}

std::vector<FileRange> rank_groups(const SourceTree& tree, uint64_t group_size) {
  std::vector<FileRange> groups;
  for (size_t first = 0; first < tree.files.size();) {
    const uint64_t group = tree.files[first].row.rank / group_size;
    size_t last = first;
    while (last < tree.files.size() && tree.files[last].row.rank / group_size == group) ++last;
    groups.push_back({first, last});
    first = last;
  }
  return groups;
}

}  // namespace forebay::engine

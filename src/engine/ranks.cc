// Which rank wrote which file: assign_ranks() and rank_groups().
#include <algorithm>
#include <map>
#include <string_view>
#include <unordered_map>

#include "engine/name_pattern.h"
#include "engine/tree.h"

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

std::vector<uint32_t> assign_ranks(std::span<const std::string> names) {
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

  std::vector<uint32_t> ranks;
  for (uint32_t i = 0; i < parsed.size(); ++i) {
    const int run = run_of[parsed[i].pattern];
    if (rank_of.empty()) {
      ranks.push_back(i);
    } else {
      ranks.push_back(run < 0 ? 0 : rank_of.at(parsed[i].numbers[run]));
    }
  }
  return ranks;
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

#include "job/coordinator/backlog.h"

#include <utility>

namespace forebay::job {
namespace {

bool is_newer(const WaitingSet& a, const WaitingSet& b) {
  return std::pair(a.ordinal, a.id) > std::pair(b.ordinal, b.id);
}

}  // namespace

std::optional<Backlog> parse_backlog(std::string_view name) {
  for (const Backlog backlog : {Backlog::newest, Backlog::skip, Backlog::block})
    if (name == to_string(backlog)) return backlog;
  return {};
}

const char* to_string(Backlog backlog) {
  switch (backlog) {
    case Backlog::newest:
      return "newest";
    case Backlog::skip:
      return "skip";
    case Backlog::block:
      return "block";
  }
  return "?";
}

std::optional<NextSet> next_to_drain(const std::vector<WaitingSet>& waiting, Backlog backlog) {
  if (waiting.empty()) return std::nullopt;
  const bool newest_first = backlog == Backlog::newest;
  const WaitingSet* next = &waiting.front();
  for (const WaitingSet& set : waiting)
    if (&set != next && is_newer(set, *next) == newest_first) next = &set;
  NextSet chosen{.id = next->id, .skipped = {}};
  for (const WaitingSet& set : waiting)
    if (newest_first && set.id != next->id) chosen.skipped.push_back(set.id);
  return chosen;
}

}  // namespace forebay::job

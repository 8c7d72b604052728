#include "job/coordinator/restart_candidates.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

namespace forebay::job {
namespace {

// At the end of a name.
std::optional<int64_t> number_of(std::string_view name) {
  constexpr size_t kMostDigits = 18;
  const size_t end = name.find_last_not_of("0123456789");
  const std::string_view digits = name.substr(end == std::string_view::npos ? 0 : end + 1);
  if (digits.empty() || digits.size() > kMostDigits) return std::nullopt;
  int64_t number = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return number;
}

}  // namespace

void RestartCandidates::add(size_t tier, std::vector<TierSet> sets) {
  for (TierSet& set : sets) {
    Ranked& one = all_.emplace_back();
    one.index = all_.size();
    one.candidate = {tier, std::move(set)};
  }
}

void RestartCandidates::order() {
  std::map<std::string, TierSet> stored;  // as its last tier says, which knows it by that name
  for (const Ranked& one : all_)
    if (const TierSet& set = one.candidate.set; !set.stored_as.empty()) stored.insert_or_assign(set.stored_as, set);
  for (Ranked& one : all_) {
    const auto same = stored.find(one.candidate.set.stored_as);
    const TierSet& said = same == stored.end() ? one.candidate.set : same->second;
    one.step = said.step;
    one.age = {said.ordinal, said.time_ns};
    if (one.candidate.set.suspicion.empty()) one.candidate.set.suspicion = said.suspicion;
  }
  std::ranges::sort(all_, {}, [](const Ranked& one) { return std::tuple(one.age, ~one.candidate.tier, one.index); });
}

void RestartCandidates::leave_newer_out(const std::string& newest) {
  const auto is_it = [&](const Ranked& one) {
    return one.candidate.set.application_name == newest || one.candidate.set.stored_as == newest;
  };
  const auto last = std::find_if(all_.rbegin(), all_.rend(), is_it);
  if (last != all_.rend()) {
    all_.erase(last.base(), all_.end());
  } else if (const auto limit = number_of(newest)) {
    std::erase_if(all_, [&](const Ranked& one) {
      const auto number = one.step ? one.step : number_of(one.candidate.set.application_name);
      return number && *number > *limit;
    });
  }
}

RestartCandidates::Candidate RestartCandidates::take_newest() {
  const auto is_whole = [](const Ranked& one) { return one.candidate.set.suspicion.empty(); };
  auto newest = std::find_if(all_.rbegin(), all_.rend(), is_whole);
  if (newest == all_.rend()) newest = all_.rbegin();
  Candidate taken = std::move(newest->candidate);
  for (auto newer = all_.rbegin(); newer != newest; ++newer)
    if (!std::exchange(newer->is_told, true)) taken.passed.push_back(newer->candidate.set);
  all_.erase(std::next(newest).base());
  return taken;
}

}  // namespace forebay::job

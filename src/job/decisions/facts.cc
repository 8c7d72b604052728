#include "job/decisions/facts.h"

#include <algorithm>
#include <utility>

namespace forebay::job {
namespace {

using namespace decided;

template <class One>
void keep_last(std::vector<One>& all, size_t most) {
  if (all.size() > most) all.erase(all.begin(), all.end() - static_cast<std::ptrdiff_t>(most));
}

// The set of the lowest place, if there are more than are remembered.
template <class One>
void drop_lowest(std::map<std::string, One>& all) {
  if (all.size() <= Facts::kMostSets) return;
  all.erase(
      std::ranges::min_element(all, {}, [](const auto& set) { return std::pair(set.second.ordinal, set.first); }));
}

bool is_of_the_same(const Refused& a, const Refused& b) {
  return a.set == b.set && a.write == b.write && a.encoding == b.encoding;
}

struct Apply {
  Facts& facts;

  void operator()(const Opened&) const { facts = {}; }
  void operator()(const Closed&) const {}
  void operator()(const Excluded& one) const { facts.excluded.insert(one.host); }
  void operator()(const Whole& one) const {
    Sums& sums = facts.sums;
    sums.newest_place = std::max(sums.newest_place, one.ordinal);
    std::erase_if(facts.refused, [&](const Refused& known) { return known.set == one.set && known.is_by_name(); });
    const Whole* const known = facts.whole(one.set, one.write);
    if (one.is_counted && (known == nullptr || !known->is_counted)) {
      sums.unflushed = one.is_due ? 0 : sums.unflushed + 1;
      if (one.is_due) sums.owes_flush = false;
    }
    if (one.sample) sums.pace.add(*one.sample);
    Whole& kept = facts.wholes[one.set] = one;
    kept.sample.reset();
    drop_lowest(facts.wholes);
  }
  void operator()(const Ended& one) const {
    Sums& sums = facts.sums;
    if (one.end == End::durable) {
      const auto whole = facts.wholes.find(one.set);
      if (whole != facts.wholes.end()) sums.durable_place = std::max(sums.durable_place, whole->second.ordinal);
      sums.counts.raw_bytes += one.raw_bytes;
      sums.counts.stored_bytes += one.stored_bytes;
    }
    if (one.is_counted) count(one);
    if (one.owes_flush) sums.owes_flush = true;
  }
  void operator()(const Sealed& one) const {
    if (facts.is_sealed(one.encoding)) return;
    facts.sealed.push_back(one);
    keep_last(facts.sealed, Facts::kMostSets);
  }
  void operator()(const Answered& one) const {
    facts.answered = one;
    facts.sums.durable_place = std::min(facts.sums.durable_place, one.place);  // newer sets were passed over
    ++facts.sums.counts.restarts;
    facts.sums.pace.restarted();
  }
  void operator()(const Refused& one) const {
    if (facts.may_be_newest_durable(one.set)) facts.sums.durable_place = 0;
    if (facts.is_refused(one)) return;
    std::erase_if(facts.refused, [&](const Refused& known) { return is_of_the_same(known, one); });
    facts.refused.push_back(one);
    keep_last(facts.refused, Facts::kMostSets);
  }
  void operator()(const PutAside& one) const {
    if (one.is_done)
      facts.aside.erase(one.stored_as);
    else
      facts.sums.durable_place = 0;
    if (!one.is_done && facts.aside.size() < Facts::kMostSets) facts.aside.emplace(one.stored_as, one.reason);
  }
  void operator()(const NotStored& one) const {
    if (one.is_over) {
      facts.not_stored.erase(one.set);
      return;
    }
    facts.not_stored[one.set] = one;
    drop_lowest(facts.not_stored);
  }
  void operator()(const Sums& sums) const {
    facts.sums = sums;
    keep_last(facts.sums.latest, Facts::kMostLatest);
  }

  void count(const Ended& one) const {
    Counts& counts = facts.sums.counts;
    auto& latest = facts.sums.latest;
    switch (one.end) {
      case End::durable:
        if (std::ranges::find(latest, one.stored_as) != latest.end()) return;
        ++counts.durable;
        latest.push_back(one.stored_as);
        return keep_last(latest, Facts::kMostLatest);
      case End::skipped:
        ++counts.skipped;
        return;
      case End::failed:
        ++counts.failed;
        return;
      case End::cached:
        ++counts.cached;
        return;
    }
  }
};

}  // namespace

void Facts::apply(const Decision& decision) { std::visit(Apply{*this}, decision); }

const Whole* Facts::whole(const std::string& set, uint64_t write) const {
  const auto found = wholes.find(set);
  return write == 0 || found == wholes.end() || found->second.write != write ? nullptr : &found->second;
}

bool Facts::is_sealed(uint64_t encoding) const {
  return std::ranges::find(sealed, encoding, &Sealed::encoding) != sealed.end();
}

bool Facts::is_refused(const Refused& one) const {
  return std::ranges::any_of(
      refused, [&](const Refused& known) { return is_of_the_same(known, one) && (known.removes || !one.removes); });
}

bool Facts::is_newest_refused(const std::string& set, bool removes) const {
  const auto newest = wholes.find(set);
  return std::ranges::any_of(refused, [&](const Refused& known) {
    return known.set == set && (known.removes || !removes) &&
           (newest == wholes.end() || known.is_by_name() || known.write == newest->second.write);
  });
}

bool Facts::may_be_newest_durable(const std::string& set) const {
  const auto whole = wholes.find(set);
  return whole == wholes.end() || whole->second.ordinal >= sums.durable_place;
}

bool Facts::is_due(uint32_t flush_every) const {
  return flush_every != 0 && (sums.owes_flush || sums.unflushed + 1 >= flush_every);
}

std::vector<Decision> records_of(const Facts& facts) {
  std::vector<Decision> records;
  for (const std::string& host : facts.excluded) records.emplace_back(Excluded{host});
  for (const auto& [name, whole] : facts.wholes) records.emplace_back(whole);
  for (const Sealed& one : facts.sealed) records.emplace_back(one);
  for (const Refused& one : facts.refused) records.emplace_back(one);
  for (const auto& [name, reason] : facts.aside) records.emplace_back(PutAside{name, reason});
  for (const auto& [name, one] : facts.not_stored) records.emplace_back(one);
  if (facts.answered != Answered{}) records.emplace_back(facts.answered);
  records.emplace_back(facts.sums);  // last: the others have added to them
  return records;
}

}  // namespace forebay::job

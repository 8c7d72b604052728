#include "job/coordinator/cached_sets.h"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>

#include "job/coordinator/coverage.h"
#include "store/set_order.h"

namespace forebay::job {
namespace {

constexpr size_t kMostQuarantined = 1024;

// What an encoding says of a group, without who has it now.
CachedGroup group_of(const wire::EncodingT& encoding) {
  CachedGroup group{.losses = encoding.losses, .chunk = encoding.chunk, .members = {}};
  for (const auto& member : encoding.members)
    group.members.push_back({.host = member->host, .bytes = member->bytes, .ranks = member->ranks});
  return group;
}

bool says_the_same(const CachedGroup& group, const wire::EncodingT& encoding) {
  return group.losses == encoding.losses && group.chunk == encoding.chunk &&
         std::ranges::equal(group.members, encoding.members, [](const CachedGroup::Member& a, const auto& b) {
           return a.bytes == b->bytes && a.ranks == b->ranks;
         });
}

// Hosts of members that are lost, some of them.
std::string hosts_of_lost(const CachedGroup& group) {
  constexpr size_t kMost = 4;
  std::string text;
  size_t count = 0;
  for (const CachedGroup::Member& member : group.members) {
    if (!member.holder.empty()) continue;
    if (++count <= kMost) text += (count == 1 ? "" : ", ") + member.host;
  }
  return count > kMost ? fmt::format("{} and {} more", text, count - kMost) : text;
}

}  // namespace

void CachedSets::offered(const std::string& key, const std::string& set, CachedPart part,
                         const std::vector<std::unique_ptr<wire::EncodingT>>& encodings) {
  Entry& entry = sets_[set];
  for (const auto& one : encodings) {
    Encoding& encoding = entry.encodings[one->id];
    if (encoding.groups == 0) encoding.groups = one->groups;
    const auto [known, is_new] = encoding.known.try_emplace(one->group);
    if (is_new) known->second = group_of(*one);
    if (encoding.groups != one->groups || !says_the_same(known->second, *one)) continue;
    const wire::MemberT& own = *one->members[one->position];
    part.held.push_back({.id = one->id,
                         .group = one->group,
                         .position = one->position,
                         .is_encoded = one->is_encoded,
                         .is_sealed = one->is_sealed,
                         .data = own.data,
                         .parity = own.parity});
  }
  entry.parts.insert_or_assign(key, std::move(part));
  keys_[key].insert(set);
}

void CachedSets::placed(const std::string& key, const std::string& set, uint64_t exposure, uint64_t ordinal) {
  const auto entry = sets_.find(set);
  if (entry == sets_.end()) return;
  const auto part = entry->second.parts.find(key);
  if (part != entry->second.parts.end() && part->second.exposure == exposure) part->second.ordinal = ordinal;
}

void CachedSets::withdrawn(const std::string& key, const std::string& set, uint64_t exposure) {
  const auto entry = sets_.find(set);
  if (entry == sets_.end()) return;
  const auto part = entry->second.parts.find(key);
  if (part == entry->second.parts.end() || part->second.exposure != exposure) return;
  drop(key, entry);
  if (const auto theirs = keys_.find(key); theirs != keys_.end()) theirs->second.erase(set);
}

void CachedSets::left(const std::string& key) {
  const auto theirs = keys_.extract(key);
  if (!theirs) return;
  for (const std::string& set : theirs.mapped())
    if (const auto entry = sets_.find(set); entry != sets_.end()) drop(key, entry);
}

void CachedSets::drop(const std::string& key, std::map<std::string, Entry>::iterator entry) {
  entry->second.parts.erase(key);
  if (entry->second.parts.empty()) sets_.erase(entry);
}

void CachedSets::distrust(const std::string& key, const std::string& set, uint64_t encoding) {
  const auto entry = sets_.find(set);
  if (entry == sets_.end()) return;
  const auto part = entry->second.parts.find(key);
  if (part != entry->second.parts.end() && encoding == 0) return withdrawn(key, set, part->second.exposure);
  if (part != entry->second.parts.end())
    std::erase_if(part->second.held, [&](const HeldPosition& held) { return held.id == encoding; });
}

void CachedSets::encodes_anew(const std::string& key, const std::string& set) {
  const auto entry = sets_.find(set);
  if (entry == sets_.end()) return;
  const auto part = entry->second.parts.find(key);
  if (part == entry->second.parts.end()) return;
  std::erase_if(part->second.held, [](const HeldPosition& held) { return !held.is_sealed; });
}

void CachedSets::stored(const std::string& set, uint64_t write, const std::string& stored_as) {
  const auto entry = sets_.find(set);
  if (entry == sets_.end()) return;
  for (auto& [key, part] : entry->second.parts) {
    if (part.write != write) continue;
    part.state = wire::SetState::durable;
    part.stored_as = stored_as;
  }
}

void CachedSets::quarantine(Quarantined refused) {
  const auto is_same = [&](const Quarantined& one) {
    return one.set == refused.set && one.write == refused.write && one.encoding == refused.encoding &&
           one.is_by_name == refused.is_by_name;
  };
  if (const auto known = std::ranges::find_if(quarantined_, is_same); known != quarantined_.end()) {
    if (refused.removes && !known->removes) *known = std::move(refused);
    return;
  }
  quarantined_.push_back(std::move(refused));
  if (quarantined_.size() > kMostQuarantined) quarantined_.erase(quarantined_.begin());
}

void CachedSets::release(const std::string& set) {
  std::erase_if(quarantined_, [&](const Quarantined& one) { return one.set == set && one.is_by_name; });
}

const CachedSets::Quarantined* CachedSets::quarantined(const std::string& set, const CachedPart& part) const {
  for (const Quarantined& one : quarantined_) {
    if (one.set != set) continue;
    if (one.is_by_name) return &one;
    if (one.write != 0 && part.write == one.write) return &one;
    if (one.encoding != 0 && std::ranges::find(part.held, one.encoding, &HeldPosition::id) != part.held.end())
      return &one;
  }
  return nullptr;
}

std::vector<CachedGroup> CachedSets::groups(const std::string& set, uint64_t encoding) const {
  const auto entry = sets_.find(set);
  if (entry == sets_.end()) return {};
  const auto found = entry->second.encodings.find(encoding);
  return found == entry->second.encodings.end() ? std::vector<CachedGroup>() : groups(entry->second, encoding);
}

std::vector<CachedGroup> CachedSets::groups(const Entry& entry, uint64_t encoding) {
  const Encoding& known = entry.encodings.at(encoding);
  // Groups of which nobody has said anything are empty.
  std::vector<CachedGroup> groups(known.groups < kMostGroups ? known.groups : 0);
  for (const auto& [number, group] : known.known)
    if (number < groups.size()) groups[number] = group;
  for (const auto& [key, part] : entry.parts)
    for (const HeldPosition& held : part.held) {
      if (held.id != encoding || !held.is_encoded || held.group >= groups.size()) continue;
      CachedGroup::Member& member = groups[held.group].members[held.position];
      if (!member.holder.empty() && (member.is_sealed || !held.is_sealed)) continue;
      member.holder = key;
      member.is_sealed = held.is_sealed;
      member.data = held.data;
      member.parity = held.parity;
    }
  return groups;
}

// What all parts of one writing have in common.
CachedSet CachedSets::summary(const std::string& name, const Entry& entry, uint64_t write) {
  CachedSet set{.name = name, .write = write};
  for (const auto& [key, part] : entry.parts) {
    if (part.write != write) continue;
    if (part.step) set.step = part.step;
    set.ordinal = std::max(set.ordinal, part.ordinal);
    set.time_ns = std::max(set.time_ns, part.written_ns);
    set.is_for_store = set.is_for_store && part.flush != wire::FlushWish::never;
    set.ranks = std::max(set.ranks, part.total);
    set.bytes += part.bytes;
    if (!part.stored_as.empty()) set.stored_as = part.stored_as;
    if (!part.level.empty()) set.levels.insert(part.level);
  }
  return set;
}

CachedSet CachedSets::without_encoding(const std::string& name, const Entry& entry, uint64_t write) {
  CachedSet set = summary(name, entry, write);
  Coverage ranks;
  bool overlap = false;
  set.is_sealed = true;
  for (const auto& [key, part] : entry.parts) {
    if (part.write != write) continue;
    overlap = !ranks.add(part.ranks) || overlap;
    set.is_sealed = set.is_sealed && (part.state == wire::SetState::cached || part.state == wire::SetState::durable);
  }
  if (set.ranks == 0)
    set.wrong = "it does not say of how many ranks it is";
  else if (overlap && write == 0)
    set.wrong = "several nodes have parts of the same ranks, perhaps of different times";
  else if (ranks.size() < set.ranks)
    set.wrong = fmt::format("the nodes that are there have {} of its {} ranks, and nothing protects the others",
                            ranks.size(), set.ranks);
  return set;
}

CachedSet CachedSets::with_encoding(const std::string& name, const Entry& entry, uint64_t write, uint64_t encoding) {
  CachedSet set = summary(name, entry, write);
  set.encoding = encoding;
  set.bytes = 0;
  const auto all = groups(entry, encoding);
  if (all.empty()) set.wrong = "its encoding has more groups than can be";
  Coverage ranks;
  for (size_t g = 0; g < all.size(); ++g) {
    const CachedGroup& group = all[g];
    size_t lost = 0;
    for (const CachedGroup::Member& member : group.members) {
      ranks.add(member.ranks);
      set.bytes += member.bytes;
      set.is_sealed = set.is_sealed || member.is_sealed;
      if (member.holder.empty()) ++lost;
    }
    set.lost += lost;
    if (!set.wrong.empty()) continue;
    if (group.members.empty())
      set.wrong = fmt::format("nobody of its protection group {} is there", g);
    else if (lost > group.losses)
      set.wrong = fmt::format("protection group {} has lost {} of {} members ({}), and survives {}", g, lost,
                              group.members.size(), hosts_of_lost(group), group.losses);
  }
  if (set.wrong.empty() && set.ranks != 0 && ranks.size() < set.ranks)
    set.wrong = fmt::format("its protection groups have {} of its {} ranks", ranks.size(), set.ranks);
  return set;
}

CachedSet CachedSets::best(const std::string& name, const Entry& entry, uint64_t write) {
  std::set<uint64_t> ids;
  for (const auto& [key, part] : entry.parts)
    if (part.write == write)
      for (const HeldPosition& held : part.held) ids.insert(held.id);
  std::optional<CachedSet> best;
  // The better one comes first.
  const auto rank = [](const CachedSet& set) {
    return std::tuple(!set.wrong.empty(), set.lost, !set.is_sealed, ~set.encoding);
  };
  for (const uint64_t id : ids) {
    if (!entry.encodings.contains(id)) continue;
    CachedSet set = with_encoding(name, entry, write, id);
    if (!best || rank(set) < rank(*best)) best = std::move(set);
  }
  if (best && best->wrong.empty()) return *std::move(best);
  CachedSet whole = without_encoding(name, entry, write);
  return best && !whole.wrong.empty() ? *std::move(best) : std::move(whole);
}

std::vector<CachedSet> CachedSets::sets() const {
  std::vector<CachedSet> all;
  for (const auto& [name, entry] : sets_) {
    std::set<uint64_t> writes;
    for (const auto& [key, part] : entry.parts) writes.insert(part.write);
    for (const uint64_t write : writes) all.push_back(with_refusal(best(name, entry, write), entry));
  }
  std::ranges::sort(all, {}, [](const CachedSet& set) {
    return std::tuple(store::Age{set.ordinal, set.time_ns}, set.name, set.write);
  });
  return all;
}

CachedSet CachedSets::with_refusal(CachedSet set, const Entry& entry) const {
  for (const auto& [key, part] : entry.parts) {
    if (part.write != set.write) continue;
    const Quarantined* const refused = quarantined(set.name, part);
    if (refused == nullptr) continue;
    set.is_refused = true;
    set.wrong = "it is set aside: " + refused->reason;
  }
  return set;
}

std::optional<CachedSet> CachedSets::find(const std::string& name, uint64_t write, uint64_t encoding) const {
  const auto found = sets_.find(name);
  if (found == sets_.end()) return std::nullopt;
  const Entry& entry = found->second;
  if (std::ranges::none_of(entry.parts, [&](const auto& part) { return part.second.write == write; }))
    return std::nullopt;
  if (encoding == 0) return with_refusal(without_encoding(name, entry, write), entry);
  if (!entry.encodings.contains(encoding)) return std::nullopt;
  return with_refusal(with_encoding(name, entry, write, encoding), entry);
}

std::optional<CachedSet> CachedSets::sealed(const std::string& set, uint64_t write) const {
  const auto found = sets_.find(set);
  if (found == sets_.end()) return std::nullopt;
  CachedSet known = best(set, found->second, write);
  if (known.encoding == 0 || !known.is_sealed) return std::nullopt;
  return known;
}

std::optional<CachedSet> CachedSets::encoded(const std::string& set, uint64_t write) const {
  const auto found = sets_.find(set);
  if (found == sets_.end()) return std::nullopt;
  CachedSet known = with_refusal(best(set, found->second, write), found->second);
  if (known.encoding == 0 || !known.wrong.empty()) return std::nullopt;
  return known;
}

const CachedPart* CachedSets::part(const std::string& key, const std::string& set) const {
  const auto entry = sets_.find(set);
  if (entry == sets_.end()) return nullptr;
  const auto part = entry->second.parts.find(key);
  return part == entry->second.parts.end() ? nullptr : &part->second;
}

bool CachedSets::is_told(const std::string& set, uint64_t write) const {
  const auto entry = sets_.find(set);
  return entry != sets_.end() && std::ranges::any_of(entry->second.parts, [&](const auto& one) {
           const CachedPart& part = one.second;
           return part.write == write &&
                  (part.state == wire::SetState::cached || part.state == wire::SetState::durable);
         });
}

std::map<std::string, const CachedPart*> CachedSets::parts(const std::string& set, uint64_t write) const {
  std::map<std::string, const CachedPart*> all;
  if (const auto entry = sets_.find(set); entry != sets_.end())
    for (const auto& [key, part] : entry->second.parts)
      if (part.write == write) all.emplace(key, &part);
  return all;
}

}  // namespace forebay::job

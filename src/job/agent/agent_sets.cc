#include "job/agent/agent_sets.h"

#include <algorithm>
#include <utility>

#include "store/set_order.h"

namespace forebay::job {

using wire::SetState;

AgentSets::Decision AgentSets::observed(const std::string& set, const std::optional<Content>& content,
                                        const std::string& reason) {
  Decision decision;
  const auto found = entries_.find(set);
  if (!content) {
    if (found == entries_.end() || !found->second.is_offered()) return decision;
    Entry& entry = found->second;
    decision = {.withdraw = entry.exposure, .reason = reason, .is_lost = true};
    entry.exposure = 0;
    entry.complete.clear();
    if (entry.state == SetState::durable) return decision;  // the store has it
    entry.fingerprint.clear();
    entry.state = SetState::failed;
    entry.message = reason;
    return decision;
  }
  Entry& entry = found == entries_.end() ? entries_[set] : found->second;
  entry.has_files = true;
  if (entry.fingerprint == content->fingerprint && (entry.is_offered() || (entry.is_final() && !entry.is_in_cache())))
    return decision;
  if (entry.is_offered()) decision.withdraw = std::exchange(entry.exposure, 0);
  decision.offer = true;
  return decision;
}

void AgentSets::offered(const std::string& set, const Content& content, uint64_t exposure, uint64_t bytes) {
  Entry& entry = entries_[set];
  const bool stays = entry.is_in_cache() && (entry.is_rebuilt || entry.fingerprint == content.fingerprint);
  const auto noted = noted_.extract(set);
  uint64_t ordinal = stays || entry.is_rebuilt || entry.fingerprint == content.fingerprint ? entry.ordinal : 0;
  if (noted && noted.mapped().fingerprint == content.fingerprint) ordinal = std::max(ordinal, noted.mapped().ordinal);
  Entry now = {.exposure = exposure,
               .fingerprint = content.fingerprint,
               .step = content.step,
               .ordinal = ordinal,
               .has_files = true,
               .written_ns = content.written_ns,
               .write = entry.write,
               .is_encoded = entry.is_encoded,
               .level = entry.level,
               .bytes = bytes};
  if (stays) {
    now.state = entry.state;
    now.stored_as = entry.stored_as;
    now.message = entry.message;
    now.was_cached = entry.was_cached;
    now.ended_ns = entry.ended_ns;
    now.restored_ns = entry.restored_ns;
  }
  entry = std::move(now);
  entry.complete.insert(content.complete.begin(), content.complete.end());
}

bool AgentSets::placed(const wire::PlacedT& placed) {
  const auto found = entries_.find(placed.set);
  if (found == entries_.end() || !found->second.is_offered() || found->second.exposure != placed.exposure) return false;
  found->second.ordinal = placed.ordinal;
  return true;
}

bool AgentSets::heard(const wire::SetNewsT& news, int64_t now_ns) {
  const auto found = entries_.find(news.set);
  if (found == entries_.end() || !found->second.is_offered() || found->second.exposure != news.exposure) return false;
  Entry& entry = found->second;
  if (news.ordinal != 0) entry.ordinal = news.ordinal;
  const bool is_known = entry.is_final() && entry.state == news.state && entry.stored_as == news.stored_as;
  entry.state = news.state;
  entry.message = news.message;
  entry.is_void = news.is_void;
  if (is_known || !entry.is_final()) return false;
  entry.stored_as = news.stored_as;
  entry.was_cached = entry.was_cached || entry.state == SetState::cached;
  if (!entry.is_in_cache()) entry.exposure = 0;
  entry.ended_ns = now_ns;
  return true;
}

// What is offered was begun, too: by ranks that were done before this one had come.
bool AgentSets::is_open_for(std::string_view set, uint32_t rank, uint64_t write) const {
  const Entry* entry = find(set);
  if (entry == nullptr || entry->is_final()) return false;
  if (write != 0 && entry->write != 0 && write != entry->write) return false;
  return entry->is_offered() ? !entry->complete.contains(rank) : entry->is_begun;
}

AgentSets::Begun AgentSets::begin(const std::string& set, uint32_t rank, uint64_t write, const std::string& level) {
  Entry& entry = entries_[set];
  if (is_open_for(set, rank, write)) {
    entry.begun.insert(rank);
    return {};
  }
  Begun begun{.is_new = entry.is_offered() || entry.is_final() || (entry.is_begun && entry.write != write)};
  if (entry.is_offered()) {
    begun.decision.withdraw = entry.exposure;
    begun.decision.reason = "it is written anew";
  }
  entry = {.begun = {rank}, .is_begun = true, .has_files = true, .write = write, .level = level};
  return begun;
}

bool AgentSets::given_up(const std::string& set, uint32_t rank) {
  const auto found = entries_.find(set);
  if (found == entries_.end() || !found->second.is_begun || found->second.is_offered()) return false;
  // After a restart of the agent nobody knows which ranks had begun it.
  return found->second.begun.erase(rank) == 1 && found->second.begun.empty();
}

void AgentSets::resume(const std::string& set, uint64_t write, const std::string& level) {
  entries_[set] = {.is_begun = true, .has_files = true, .write = write, .level = level};
}

void AgentSets::lies_in_stage(const std::string& set) {
  if (const auto found = entries_.find(set); found != entries_.end()) found->second.level.clear();
}

bool AgentSets::must_wait(unsigned keep, std::string_view level, std::string_view itself) const {
  size_t held = 0, unsealed = 0;
  for (const auto& [set, entry] : entries_) {
    if (set == itself || entry.level != level || !entry.has_files || entry.state == SetState::failed ||
        entry.state == SetState::skipped)
      continue;
    ++held;
    if (entry.is_offered() && !entry.is_final()) ++unsealed;
  }
  return unsealed > 0 && held > keep;
}

void AgentSets::encoded(const std::string& set, bool is_encoded) {
  if (const auto found = entries_.find(set); found != entries_.end()) found->second.is_encoded = is_encoded;
}

void AgentSets::rebuilt(const std::string& set, const std::vector<uint32_t>& ranks, uint64_t ordinal) {
  Entry& entry = entries_[set];
  entry.ordinal = std::max(entry.ordinal, ordinal);
  entry.has_files = entry.is_rebuilt = true;
  entry.is_begun = false;
  entry.fingerprint.clear();
  entry.complete.insert(ranks.begin(), ranks.end());
}

void AgentSets::unexposed(const std::string& set) {
  if (const auto found = entries_.find(set); found != entries_.end()) found->second.exposure = 0;
}

void AgentSets::ended(const std::string& set, const Outcome& outcome, bool has_files, const std::string& level) {
  entries_[set] = {.state = outcome.state,
                   .stored_as = outcome.stored_as,
                   .message = outcome.message,
                   .fingerprint = outcome.fingerprint,
                   .step = outcome.step,
                   .ordinal = outcome.ordinal,
                   .has_files = has_files,
                   .ended_ns = outcome.ended_ns,
                   .restored_ns = outcome.restored_ns,
                   .written_ns = outcome.written_ns,
                   .level = level};
}

Outcome AgentSets::outcome_of(const Entry& entry) {
  return {.state = entry.state,
          .stored_as = entry.stored_as,
          .message = entry.message,
          .fingerprint = entry.fingerprint,
          .step = entry.step,
          .ordinal = entry.ordinal,
          .ended_ns = entry.ended_ns,
          .restored_ns = entry.restored_ns,
          .written_ns = entry.written_ns};
}

// Newer sets are larger.
static store::Age age(const AgentSets::Entry& entry) { return {entry.ordinal, entry.ended_ns}; }

unsigned AgentSets::Keep::on(std::string_view level) const {
  const auto own = levels.find(level);
  return own == levels.end() ? stage : own->second;
}

// What is durable or cached, and at rest.
std::vector<const AgentSets::Item*> AgentSets::newest_first(std::string_view without) const {
  std::vector<const Item*> sets;
  for (const Item& item : entries_) {
    const Entry& entry = item.second;
    const bool is_at_rest =
        item.first != without && entry.has_files && !entry.is_begun && (entry.is_final() || !entry.is_offered());
    if (is_at_rest && (entry.state == SetState::durable || entry.state == SetState::cached)) sets.push_back(&item);
  }
  std::ranges::sort(sets, std::greater(), [](const auto* item) { return age(item->second); });
  return sets;
}

// When what the last restart has brought came, if nothing was written since.
std::optional<int64_t> AgentSets::pinned(const std::vector<const Item*>& sets) {
  int64_t restored_ns = 0, written_ns = 0;
  for (const auto* item : sets) {
    restored_ns = std::max(restored_ns, item->second.restored_ns);
    written_ns = std::max(written_ns, item->second.written_ns);
  }
  return restored_ns != 0 && written_ns <= restored_ns ? std::optional(restored_ns) : std::nullopt;
}

bool AgentSets::has_newer_on_its_way(int64_t since_ns) const {
  return std::ranges::any_of(
      entries_, [&](const Item& item) { return item.second.is_offered() && item.second.written_ns > since_ns; });
}

std::vector<std::string> AgentSets::removable(const Keep& keep) const {
  std::vector<std::string> removable;
  // Where places are not known, as in the notes of an earlier version, the times of the files must do.
  const auto completed = [](const Entry& entry) { return store::Age{entry.ordinal, entry.written_ns}; };
  store::Age safe;  // of the newest set that became durable
  for (const auto& [set, entry] : entries_)
    if (entry.state == SetState::durable && entry.restored_ns == 0) safe = std::max(safe, completed(entry));
  for (const auto& [set, entry] : entries_)
    if (entry.state == SetState::skipped && entry.has_files && !entry.is_begun && completed(entry) < safe)
      removable.push_back(set);
  const auto sets = newest_first();
  const auto brought = pinned(sets);
  std::map<std::string_view, unsigned> staying;
  for (const auto* item : sets) {
    const bool is_needed = item == sets.front() && item->second.state == SetState::cached;
    if (staying[item->second.level]++ < keep.on(item->second.level) || is_needed) continue;
    if (!brought || item->second.restored_ns != *brought) removable.push_back(item->first);
  }
  return removable;
}

void AgentSets::takes(const std::string& set, uint64_t bytes) {
  if (const auto found = entries_.find(set); found != entries_.end()) found->second.bytes += bytes;
}

AgentSets::Room AgentSets::room(std::string_view level, uint64_t capacity, std::string_view itself) const {
  Room room;
  if (capacity == 0) return room;
  uint64_t largest = 0, used = 0;
  for (const auto& [set, entry] : entries_) largest = std::max(largest, entry.bytes);
  for (const auto& [set, entry] : entries_) {
    if (set == itself || entry.level != level || !entry.has_files) continue;
    used += entry.bytes == 0 ? largest : entry.bytes;
    room.may_come = room.may_come || (entry.is_offered() && !entry.is_final());
  }
  const auto sets = newest_first(itself);
  const auto brought = pinned(sets);
  for (size_t i = sets.size(); i-- > 1 && used + largest > capacity;) {  // the newest one stays
    const Entry& entry = sets[i]->second;
    if (entry.level != level || (brought && entry.restored_ns == *brought)) continue;
    used -= entry.bytes == 0 ? largest : entry.bytes;
    room.leaving.push_back(sets[i]->first);
  }
  room.fits = used + largest <= capacity;
  room.may_come = room.may_come && !room.fits;
  return room;
}

void AgentSets::files_removed(const std::string& set) {
  if (const auto found = entries_.find(set); found != entries_.end()) found->second.has_files = false;
}

std::vector<std::string> AgentSets::forgettable(size_t most) const {
  std::vector<std::pair<int64_t, std::string>> ended;
  for (const auto& [set, entry] : entries_)
    if (entry.is_final() && !entry.has_files && !entry.is_begun) ended.emplace_back(entry.ended_ns, set);
  if (ended.size() <= most) return {};
  std::ranges::sort(ended);
  std::vector<std::string> sets;
  for (size_t i = 0; i < ended.size() - most; ++i) sets.push_back(std::move(ended[i].second));
  return sets;
}

size_t AgentSets::undrained() const {
  return static_cast<size_t>(std::ranges::count_if(
      entries_, [](const auto& item) { return item.second.is_offered() && !item.second.is_final(); }));
}

bool AgentSets::has_work() const {
  return std::ranges::any_of(entries_, [](const auto& item) {
    return item.second.is_offered() && item.second.state != wire::SetState::cached && !item.second.is_final();
  });
}

std::vector<std::string> AgentSets::unfinished() const {
  std::vector<std::string> sets;
  for (const auto& [set, entry] : entries_)
    if (entry.is_begun && !entry.is_offered()) sets.push_back(set);
  return sets;
}

const AgentSets::Entry* AgentSets::find(std::string_view set) const {
  const auto found = entries_.find(set);
  return found == entries_.end() ? nullptr : &found->second;
}

void AgentSets::started_again(const std::set<uint32_t>& ranks) {
  for (auto& [set, entry] : entries_) std::erase_if(entry.begun, [&](uint32_t rank) { return !ranks.contains(rank); });
}

std::set<uint32_t> AgentSets::awaited(std::string_view set, std::set<uint32_t> connected) const {
  const Entry* const entry = find(set);
  if (entry == nullptr) return connected;
  // Of what is offered a rank that joins later takes nothing back.
  if (entry->is_offered() || entry->is_final() || entry->is_rebuilt) return entry->complete;
  connected.insert(entry->begun.begin(), entry->begun.end());
  return connected;
}

}  // namespace forebay::job

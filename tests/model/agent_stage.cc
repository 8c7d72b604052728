// The part of a model agent that looks at its stage, offers what is complete and makes room.
#include <algorithm>
#include <utility>

#include "agent.h"

namespace forebay::job::model {

using wire::SetState;

bool Agent::has_set(const std::string& set) const {
  const auto found = disk_.sets.find(set);
  return found != disk_.sets.end() && found->second.has_directory;
}

// As scan_set() does it with a directory.
Listing Agent::scan(const std::string& set, const std::set<uint32_t>& wanted, const Completion& completion) const {
  Listing listing;
  const auto found = disk_.sets.find(set);
  if (found == disk_.sets.end()) return listing;
  const StagedSet& staged = found->second;
  listing.is_begun = staged.begun.has_value();
  if (staged.begun) {
    listing.step = staged.begun->step;
    listing.policy = staged.begun->policy;
    for (const auto& [rank, marker] : staged.markers) listing.markers.push_back(marker);
    const auto has = [&](uint32_t rank) { return staged.markers.contains(rank); };
    if (staged.markers.empty() || !std::ranges::all_of(wanted, has)) return listing;
  } else if (completion.kind == Completion::Kind::api) {
    return listing;
  }
  for (const auto& [name, body] : staged.files) {
    StagedFile file;
    file.row.name = name;
    file.row.size = file.identity.size = size_of(body);
    file.row.mtime_s = file.identity.mtime_s = body.written_ns / 1'000'000'000;
    file.row.mtime_ns = file.identity.mtime_ns = static_cast<uint32_t>(body.written_ns % 1'000'000'000);
    file.identity.ctime_ns = body.written_ns;
    listing.files.push_back(std::move(file));
  }
  return listing;
}

std::string Agent::fingerprint_in_stage(const std::string& set) const {
  const Completion as_it_is{.kind = Completion::Kind::rename};
  const Verdict verdict =
      judge(set, scan(set, {}, as_it_is), {}, as_it_is, WallTime(std::chrono::nanoseconds(wall_ns())));
  return verdict.content ? verdict.content->fingerprint : std::string();
}

bool Agent::is_as_it_ended(const std::string& set) const {
  return !has_set(set) || fingerprint_in_stage(set) == sets_.find(set)->fingerprint;
}

void Agent::see(const std::string& set) {
  look(set);
  tick_soon();
}

// Those whose end or place is known come first, the others by their names.
void Agent::look_at_all() {
  std::vector<std::string> known, unseen;
  std::set<std::string> all;
  for (const auto& [set, staged] : disk_.sets) all.insert(set);
  for (const auto& [set, entry] : sets_.entries())
    if (entry.is_offered()) all.insert(set);
  for (const std::string& set : all) {
    const auto* const entry = sets_.find(set);
    const bool is_known = entry != nullptr ? !entry->fingerprint.empty() : sets_.has_noted_place(set);
    (is_known ? known : unseen).push_back(set);
  }
  for (const std::string& set : known) look(set);
  for (const std::string& set : unseen) look(set);
}

void Agent::look(const std::string& set) {
  const auto ranks = awaited(set);
  const Listing listing = scan(set, ranks, {});
  const Verdict verdict = judge(set, listing, ranks, {}, WallTime(std::chrono::nanoseconds(wall_ns())));
  const auto decision = sets_.observed(set, verdict.content, verdict.reason);
  follow(set, decision);
  if (decision.offer) offer(set, listing, *verdict.content);
}

void Agent::follow(const std::string& set, const AgentSets::Decision& decision) {
  if (decision.withdraw != 0 && decision.offer) exposed_.erase(decision.withdraw);
  if (decision.withdraw != 0 && !decision.offer) withdraw(set, decision.withdraw, decision.reason);
  if (decision.is_lost) settle_all();
}

void Agent::offer(const std::string& set, const Listing& listing, const Content& content) {
  Exposed exposed{.number = ++offered_, .offer = {}, .files = {}};
  wire::OfferT& offer = exposed.offer;
  offer.set = set;
  offer.ranks = content.ranks;
  offer.complete = content.complete;
  if (content.step) offer.step = *content.step;
  if (listing.policy) offer.policy = std::make_unique<wire::SetPolicyT>(*listing.policy);
  uint64_t bytes = 0;
  for (const Content::File& file : content.files) {
    const StagedFile& staged = listing.files[file.listed];
    auto row = std::make_unique<wire::FileT>();
    row->name = staged.row.name;
    row->mode = 0644;
    row->size = staged.row.size;
    row->mtime_s = staged.row.mtime_s;
    row->mtime_ns = staged.row.mtime_ns;
    row->ctime_ns = staged.identity.ctime_ns;
    row->rank = static_cast<int32_t>(file.rank);
    offer.files.push_back(std::move(row));
    bytes += staged.row.size;
  }
  exposed.files = disk_.sets.at(set).files;
  offer.exposure = number_ * 1'000'000 + next_exposure_++;
  sets_.offered(set, content, offer.exposure, bytes);
  const uint64_t exposure = offer.exposure;
  exposed_.emplace(exposure, std::move(exposed));
  offer_again(exposure);
}

void Agent::withdraw(const std::string& set, uint64_t exposure, const std::string& reason) {
  exposed_.erase(exposure);
  if (!coordinator_ || !coordinator_->is_welcome) return;
  say_to(coordinator_->link, wire::WithdrawnT{.set = set, .exposure = exposure, .reason = reason});
}

void Agent::finish(const std::string& set) {
  const auto& entry = *sets_.find(set);
  disk_.sets[set].outcome = AgentSets::outcome_of(entry);
  if (entry.is_void && disk_.sets[set].begun) discard(set);
  tidy();
  settle_all();
}

void Agent::discard(const std::string& set) {
  world_.removing();
  if (const auto* entry = sets_.find(set); entry != nullptr && entry->is_offered()) {
    withdraw(set, entry->exposure, "it is removed to make room");
    sets_.unexposed(set);
  }
  drop_encodings(set);
  if (const auto staged = disk_.sets.find(set); staged != disk_.sets.end()) {
    staged->second.has_directory = false;
    staged->second.files.clear();
    staged->second.markers.clear();
    staged->second.begun.reset();
  }
  sets_.files_removed(set);
  world_.removed(*this, set, false);
}

void Agent::discard_notes(const std::string& set) {
  const auto staged = disk_.sets.find(set);
  if (staged == disk_.sets.end()) return;
  staged->second.begun.reset();
  staged->second.markers.clear();
  staged->second.outcome.reset();
  staged->second.place.reset();
  if (!staged->second.has_directory) disk_.sets.erase(staged);
}

void Agent::drop_encodings(const std::string& set) {
  std::erase_if(disk_.held, [&](const auto& one) { return one.second.set == set; });
  std::vector<uint64_t> ids;
  for (const auto& [id, encode] : encodes_)
    if (encode.order.set == set) ids.push_back(id);
  for (const uint64_t id : ids) cancel(id);
}

void Agent::forget_unfinished() {
  for (const std::string& set : sets_.unfinished()) {
    discard(set);
    discard_notes(set);
    sets_.forget(set);
  }
  tidy();
}

void Agent::tidy() {
  for (const std::string& set : sets_.removable(keep_))
    if (is_as_it_ended(set)) discard(set);
  for (const std::string& set : sets_.forgettable(256)) {
    discard_notes(set);
    sets_.forget(set);
  }
}

const std::map<std::string, Body>* Agent::exposed_files(uint64_t exposure) const {
  const auto found = exposed_.find(exposure);
  if (found == exposed_.end()) return nullptr;
  // A file that was changed since is not read.
  const auto staged = disk_.sets.find(found->second.offer.set);
  if (staged == disk_.sets.end()) return nullptr;
  for (const auto& [name, body] : found->second.files) {
    const auto now = staged->second.files.find(name);
    if (now == staged->second.files.end() || now->second.written_ns != body.written_ns) return nullptr;
  }
  return &staged->second.files;
}

bool Agent::deliver(const std::string& stored_as, const std::map<std::string, Body>& files) {
  for (const auto& [name, body] : files) disk_.delivered[stored_as][name] = body;
  return true;
}

}  // namespace forebay::job::model

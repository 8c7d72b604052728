// The part of a model agent that does what src/job/cache does: encodes, checks and repairs. What agents send each other
// there is no message of the coordinator's protocol: the model lets an encoding be done when all members take part.
#include <algorithm>
#include <utility>

#include "agent.h"

namespace forebay::job::model {
namespace {

constexpr auto kLook = 20ms;    // whether the others take part by now
constexpr auto kPatience = 5s;  // with those that do not

}  // namespace

bool Agent::hear_about_caches(const wire::MessageT& message) {
  if (const auto* order = message.body.AsProtect())
    protect(*order);
  else if (const auto* cancelled = message.body.AsProtectCancel())
    cancel(cancelled->id);
  else if (const auto* sealing = message.body.AsSeal())
    seal(*sealing);
  else if (const auto* checking = message.body.AsCheckCached())
    check(*checking);
  else if (const auto* repairing = message.body.AsRepair())
    repair(*repairing);
  else if (const auto* over = message.body.AsCancel())
    std::erase_if(repairs_, [&](const auto& one) { return one.second.order.number == over->id; });
  else if (const auto* refused = message.body.AsQuarantine())
    quarantine(*refused);
  else
    return false;
  return true;
}

bool Agent::protects(const std::string& set) const {
  return std::ranges::any_of(disk_.held, [&](const auto& one) { return one.second.set == set; });
}

// Whether the files of that position lie in the stage as they were recorded.
bool Agent::is_recorded(const PartKey& key, const HeldPart& held) const {
  const auto staged = disk_.sets.find(held.set);
  if (staged == disk_.sets.end()) return false;
  return std::ranges::all_of(held.members[std::get<2>(key)].files, [&](const auto& one) {
    const auto now = staged->second.files.find(one.first);
    return now != staged->second.files.end() && now->second.written_ns == one.second.written_ns;
  });
}

std::vector<std::unique_ptr<wire::EncodingT>> Agent::encodings(const std::string& set, uint64_t write) {
  std::vector<std::unique_ptr<wire::EncodingT>> all;
  for (const auto& [key, held] : disk_.held) {
    if (held.set != set || (write != 0 && held.write != 0 && write != held.write) || !is_recorded(key, held)) continue;
    auto encoding = std::make_unique<wire::EncodingT>();
    std::tie(encoding->id, encoding->group, encoding->position) = key;
    encoding->groups = held.groups;
    encoding->losses = held.losses;
    encoding->chunk = held.chunk;
    encoding->is_encoded = true;
    encoding->is_sealed = held.is_sealed;
    for (const HeldPart::Member& known : held.members) {
      auto& member = *encoding->members.emplace_back(std::make_unique<wire::MemberT>());
      member.host = known.host;
      member.node = known.node;
      member.bytes = known.bytes;
      member.ranks = known.ranks;
    }
    encoding->members[encoding->position]->data = encoding->members[encoding->position]->parity = encoding->id;
    all.push_back(std::move(encoding));
  }
  return all;
}

void Agent::protect(const wire::ProtectT& order) {
  const LinkId from = coordinator_->link;
  const uint64_t exposure = order.members[order.position]->data;
  wire::ProtectedT answer;
  answer.id = order.id;
  const auto found = exposed_.find(exposure);
  if (found == exposed_.end() || found->second.offer.set != order.set) {
    answer.failed = true;
    answer.error = "the set is not offered any more as it was";
    return answer_coordinator(from, std::move(answer));
  }
  std::erase_if(disk_.held, [&](const auto& one) {
    return one.second.set == order.set && !one.second.is_sealed && std::get<0>(one.first) != order.id;
  });
  cancel(order.id);
  encodes_[order.id] = {.order = order, .exposure = exposure, .until = world_.loop().now + kPatience, .asked_by = from};
  world_.loop().after(world_.net().delay(mix(number_, ++work_)), process_, [this, id = order.id] { encode(id); });
}

bool Agent::encodes(uint64_t id, uint32_t position, uint32_t group) const {
  return encodes_.contains(id) || disk_.held.contains({id, group, position});
}

// When all members take part, and have what is to be encoded.
void Agent::encode(uint64_t id) {
  const auto found = encodes_.find(id);
  if (found == encodes_.end()) return;
  const wire::ProtectT& order = found->second.order;
  if (disk_.is_full) return encoded(id, std::nullopt, "no space left on the device", true);
  HeldPart held{.set = order.set, .groups = order.groups, .losses = order.losses, .chunk = order.chunk, .members = {}};
  const auto& own = exposed_.find(found->second.exposure);
  if (own == exposed_.end()) return encoded(id, std::nullopt, "it was changed meanwhile");
  const wire::OfferT& offer = own->second.offer;
  held.write = offer.policy ? offer.policy->write : 0;
  if (offer.step) held.step = *offer.step;
  for (uint32_t i = 0; i < order.members.size(); ++i) {
    const wire::MemberT& member = *order.members[i];
    Agent* const other = world_.agent_at(member.addresses);
    const auto* files = other == nullptr ? nullptr : other->exposed_files(member.data);
    const bool is_late = world_.loop().now >= found->second.until;
    if (files == nullptr && (other == nullptr || other->encodes(id, i, order.group) || is_late))
      return encoded(id, i, other == nullptr ? "nobody answers" : "its files are not offered any more");
    if (files == nullptr || !other->encodes(id, i, order.group)) {
      if (is_late) return encoded(id, i, "it does not take part");
      return world_.loop().after(kLook, process_, [this, id] { encode(id); });
    }
    held.members.push_back({.host = member.host,
                            .node = member.node,
                            .bytes = member.bytes,
                            .ranks = member.ranks,
                            .files = *files,
                            .markers = other->disk_.sets.at(order.set).markers});
  }
  disk_.held[{id, order.group, order.position}] = std::move(held);
  encoded(id, std::nullopt, {});
}

void Agent::encoded(uint64_t id, std::optional<uint32_t> fault, const std::string& why, bool is_full) {
  const Encode encode = encodes_.extract(id).mapped();
  wire::ProtectedT answer;
  answer.id = id;
  answer.failed = !why.empty();
  answer.error = why;
  answer.is_full = is_full;
  if (fault && *fault != encode.order.position) answer.fault = *fault;
  if (answer.failed)
    disk_.held.erase({id, encode.order.group, encode.order.position});
  else
    answer.data = answer.parity = id;
  sets_.encoded(encode.order.set, protects(encode.order.set));
  answer_coordinator(encode.asked_by, std::move(answer));
  tick_soon();
}

void Agent::cancel(uint64_t id) {
  encodes_.erase(id);
  std::erase_if(disk_.held, [&](const auto& one) { return std::get<0>(one.first) == id && !one.second.is_sealed; });
}

void Agent::seal(const wire::SealT& order) {
  wire::SealedT answer;
  answer.id = order.id;
  answer.failed = true;
  answer.error = "there is nothing of this encoding";
  for (auto& [key, held] : disk_.held)
    if (std::get<0>(key) == order.id) {
      held.is_sealed = true;
      answer.failed = false;
    }
  if (!answer.failed) answer.error.clear();
  answer_coordinator(coordinator_->link, std::move(answer));
}

void Agent::check(const wire::CheckCachedT& order) {
  world_.loop().after(world_.net().delay(mix(number_, ++work_)), process_,
                      [this, order, from = coordinator_ ? coordinator_->link : 0] {
                        wire::CachedCheckedT answer;
                        answer.number = order.number;
                        answer.failed = true;
                        answer.error = "there is nothing of this encoding";
                        for (const auto& [key, held] : disk_.held) {
                          if (std::get<0>(key) != order.id || held.set != order.set) continue;
                          answer.failed = !is_recorded(key, held);
                          answer.error = answer.failed ? "its files were changed" : "";
                          if (answer.failed) break;
                          const uint32_t position = std::get<2>(key);
                          for (const auto& [name, body] : held.members[position].files)
                            if (disk_.sets.at(held.set).files.at(name).damaged_ns != 0) {
                              auto& bad = *answer.bad.emplace_back(std::make_unique<wire::BadPiecesT>());
                              bad.position = position;
                              bad.group = std::get<1>(key);
                              bad.row = position == 0 ? 1 : 0;
                              bad.count = 1;
                            }
                        }
                        answer_coordinator(from, std::move(answer));
                      });
}

void Agent::repair(const wire::RepairT& order) {
  const LinkId from = coordinator_->link;
  const std::pair key(order.id, order.group);
  if (repairs_.contains(key)) repaired(order.id, order.group, std::nullopt, "another repair has taken its place");
  repairs_[key] = {.order = order, .until = world_.loop().now + kPatience, .asked_by = from};
  const auto is_lost = [&](uint32_t i) { return std::ranges::find(order.lost, i) != order.lost.end(); };
  for (const uint32_t position : order.self)
    if (!is_lost(position) && !disk_.held.contains({order.id, order.group, position}))
      return repaired(order.id, order.group, std::nullopt, "there is nothing of a position");
  world_.loop().after(
      world_.net().delay(mix(number_, ++work_)), process_,
      [this, id = order.id, group = order.group, number = order.number] { go_on_repairing(id, group, number); });
}

bool Agent::repairs(uint64_t id, uint32_t group, uint64_t number) const {
  const auto found = repairs_.find({id, group});
  return (found != repairs_.end() && found->second.order.number == number) || repaired_.contains({id, group, number});
}

void Agent::go_on_repairing(uint64_t id, uint32_t group, uint64_t number) {
  const auto found = repairs_.find({id, group});
  if (found == repairs_.end() || found->second.order.number != number) return;
  const wire::RepairT& order = found->second.order;
  const auto is_in = [](const auto& list, uint32_t i) { return std::ranges::find(list, i) != list.end(); };
  const HeldPart* record = nullptr;
  for (uint32_t i = 0; i < order.members.size(); ++i) {
    Agent* const other = world_.agent_at(order.members[i]->addresses);
    if (other == nullptr) return repaired(id, group, i, "nobody answers");
    if (!other->repairs(id, group, number)) {
      if (world_.loop().now >= found->second.until) return repaired(id, group, i, "it does not take part");
      return world_.loop().after(kLook, process_, [this, id, group, number] { go_on_repairing(id, group, number); });
    }
    if (is_in(order.lost, i)) continue;
    const auto held = other->disk_.held.find({id, group, i});
    if (held == other->disk_.held.end() || !other->is_recorded(held->first, held->second))
      return repaired(id, group, i, "it has nothing of its position");
    record = &held->second;
  }
  const bool is_receiver = std::ranges::any_of(order.self, [&](uint32_t i) { return is_in(order.lost, i); });
  if (disk_.is_full && is_receiver) return repaired(id, group, std::nullopt, "no space left on the device");
  for (const uint32_t position : order.self) {
    if (!is_in(order.lost, position)) continue;
    HeldPart made = *record;
    made.is_sealed = false;
    const HeldPart::Member& member = made.members[position];
    StagedSet& staged = disk_.sets[order.set];
    staged.has_directory = true;
    if (!staged.begun && !member.markers.empty()) {
      wire::SetPolicyT policy;
      policy.write = made.write;
      staged.begun = Begin{.step = made.step, .policy = policy, .place = {}};
    }
    for (const auto& [name, body] : member.files) staged.files[name] = body;
    for (const auto& [rank, marker] : member.markers) staged.markers[rank] = marker;
    std::erase_if(staged.markers, [&](const auto& one) {
      return std::ranges::any_of(one.second.files, [&](const auto& file) { return !staged.files.contains(file.name); });
    });
    // A watcher may see the files before the record of what protects them is there.
    if (world_.net().happens(mix(id, position))) look(order.set);
    disk_.held[{id, group, position}] = std::move(made);
  }
  for (const auto& bad : order.bad)
    if (is_in(order.self, bad->position))
      for (const auto& [name, body] : record->members[bad->position].files) disk_.sets[order.set].files[name] = body;
  repaired(id, group, std::nullopt, {});
}

void Agent::repaired(uint64_t id, uint32_t group, std::optional<uint32_t> fault, const std::string& why) {
  const Repair repair = repairs_.extract({id, group}).mapped();
  const wire::RepairT& order = repair.order;
  wire::RepairedT answer;
  answer.number = order.number;
  answer.group = group;
  answer.failed = !why.empty();
  answer.error = why;
  if (fault) answer.fault = *fault;
  if (!answer.failed) {
    repaired_.insert({id, group, order.number});
    std::vector<uint32_t> ranks;
    bool receives = !order.bad.empty();
    for (const uint32_t position : order.self) {
      if (std::ranges::find(order.lost, position) == order.lost.end()) continue;
      receives = true;
      const auto& its = order.members[position]->ranks;
      ranks.insert(ranks.end(), its.begin(), its.end());
    }
    if (receives) {
      sets_.rebuilt(order.set, ranks, order.ordinal);
      sets_.encoded(order.set, protects(order.set));
      look(order.set);
    }
  }
  answer_coordinator(repair.asked_by, std::move(answer));
  tick_soon();
}

void Agent::quarantine(const wire::QuarantineT& order) {
  world_.removing();
  const std::string& set = order.set;
  if (const auto* entry = sets_.find(set); entry != nullptr && entry->is_offered())
    withdraw(set, entry->exposure, "it is set aside: " + order.reason);
  drop_encodings(set);
  if (disk_.sets.erase(set) != 0 && !order.removes) disk_.aside[set] = order.reason;
  sets_.forget(set);
  looks_.forget(set);
  if (order.removes) tidy();
  world_.removed(*this, set, true);
  settle_all();
}

}  // namespace forebay::job::model

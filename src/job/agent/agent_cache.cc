// The part of an agent that does what the coordinator asks of its caches (decision 0037).
#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "job/agent/agent_core.h"
#include "job/client/marker.h"
#include "job/client/stage_names.h"
#include "store/files.h"

namespace forebay::job {
namespace {

using fabric::Severity;

redundancy::RecordedFile recorded(const wire::FileT& file) {
  return {.name = file.name,
          .kind = file.kind,
          .size = file.size,
          .mode = file.mode,
          .mtime_ns = file.mtime_ns,
          .mtime_s = file.mtime_s,
          .rank = file.rank,
          .link_target = file.link_target};
}

// Whether anything of it is for this agent's own positions.
bool receives_anything(const wire::RepairT& order) {
  const auto is_own = [&](uint32_t position) { return std::ranges::find(order.self, position) != order.self.end(); };
  return std::ranges::any_of(order.lost, is_own) ||
         std::ranges::any_of(order.bad, [&](const auto& pieces) { return is_own(pieces->position); });
}

}  // namespace

bool AgentCore::hear_about_caches(const wire::MessageT& message) {
  const ConnectionId from = coordinator_->id;
  if (const auto* protect_order = message.body.AsProtect()) {
    protect(*protect_order);
  } else if (const auto* cancel = message.body.AsProtectCancel()) {
    cache_.cancel(cancel->id);
  } else if (const auto* seal = message.body.AsSeal()) {
    cache_.seal(seal->id, options_.sync_caches,
                [this, from](wire::SealedT answer) { answer_coordinator(from, std::move(answer)); });
  } else if (const auto* check = message.body.AsCheckCached()) {
    cache_.check(*check, [this, from](wire::CachedCheckedT answer) { answer_coordinator(from, std::move(answer)); });
  } else if (const auto* repair = message.body.AsRepair()) {
    if (const auto free = check_free(repair->set); !free) {
      wire::RepairedT answer;
      answer.number = repair->number;
      answer.failed = true;
      answer.error = free.error().message();
      send(from, std::move(answer));
      return true;
    }
    cache_.repair(*repair, options_.sync_caches,
                  [this, from, set = repair->set, ordinal = repair->ordinal, receives = receives_anything(*repair)](
                      wire::RepairedT answer, const std::vector<uint32_t>& ranks) {
                    if (receives) repaired(set, ordinal, answer, ranks);
                    answer_coordinator(from, std::move(answer));
                  });
  } else if (const auto* over = message.body.AsCancel()) {
    cache_.cancel_repair(over->id);
  } else if (const auto* refused = message.body.AsQuarantine()) {
    quarantine(refused->set, refused->reason, refused->removes);
  } else {
    return false;
  }
  return true;
}

// This node's part of the set, as it is offered.
Result<Cache::Part> AgentCore::part_of(const wire::ProtectT& order) const {
  const auto found = exposed_.find(order.members[order.position]->data);
  if (found == exposed_.end() || found->second->offer.set != order.set)
    return fail(ErrorKind::changed, "the set is not offered any more as it was", order.set);
  const wire::OfferT& offer = found->second->offer;
  Cache::Part part;
  part.exposure = offer.exposure;
  part.sync = options_.sync_caches;
  part.record.set = offer.set;
  if (offer.step) part.record.step = *offer.step;
  part.record.ranks = offer.ranks;
  part.record.write = offer.policy ? offer.policy->write : 0;
  redundancy::MemberRecord own;
  own.host = order.members[order.position]->host;
  own.node = order.members[order.position]->node;
  own.ranks = offer.complete;
  for (const auto& file : offer.files) own.files.push_back(recorded(*file));
  for (const uint32_t rank : offer.complete) {
    auto marker = store::read_text(marker_path(stage_, offer.set, rank), kMaxMarkerBytes);
    if (marker) own.markers.emplace_back(rank, std::move(*marker));
  }
  part.record.members.push_back(std::move(own));
  return part;
}

void AgentCore::protect(const wire::ProtectT& order) {
  const ConnectionId from = coordinator_->id;
  auto part = part_of(order);
  if (!part) {
    wire::ProtectedT answer;
    answer.id = order.id;
    answer.failed = true;
    answer.error = part.error().message();
    return answer_coordinator(from, std::move(answer));
  }
  cache_.protect(order, std::move(*part),
                 [this, from, set = order.set, parity = order.losses * order.chunk](wire::ProtectedT answer) {
                   if (answer.failed)
                     log(Severity::warning, fmt::format("{}: is not protected: {}", set, answer.error));
                   else
                     sets_.takes(set, parity);
                   sets_.encoded(set, cache_.protects(set));
                   answer_coordinator(from, std::move(answer));
                 });
}

// What is new here is offered before the coordinator is told that it is there.
void AgentCore::repaired(const std::string& set, uint64_t ordinal, const wire::RepairedT& answer,
                         const std::vector<uint32_t>& ranks) {
  if (answer.failed) return log(Severity::warning, fmt::format("{}: is not repaired: {}", set, answer.error));
  if (!ranks.empty()) log(Severity::info, fmt::format("{}: made again for {} ranks", set, ranks.size()));
  sets_.rebuilt(set, ranks, ordinal);
  if (!place_of(stage_, set)) sets_.lies_in_stage(set);
  sets_.encoded(set, cache_.protects(set));
  look(set);
}

Result<void> AgentCore::restart_in_place(const wire::RestartInPlaceT& order) {
  wire::RestartReadyT ready;
  ready.found = true;
  ready.set = order.set;
  ready.step = order.step;
  ready.message = order.message;
  ready.round = order.round;
  ready.ranks = order.ranks;
  ready.attempt = order.attempt;
  FOREBAY_TRY(const auto step, restart_.ready(ready, coordinator_->generation));
  if (step == RankRestart::Step::too_late) {
    published(coordinator_->id, ready, fail(ErrorKind::cancelled, "the application was started again meanwhile"));
    return {};
  }
  forget_unfinished();
  const auto* entry = sets_.find(order.set);
  const bool is_here = entry != nullptr && entry->is_offered() && is_as_it_ended(order.set);
  published(coordinator_->id, ready,
            is_here ? Result<bool>(false)
                    : fail(ErrorKind::changed, "the set is not in this stage any more as it was offered", order.set));
  return {};
}

void AgentCore::offer_again(uint64_t exposure) {
  const auto found = exposed_.find(exposure);
  if (found == exposed_.end()) return;
  auto exposed = std::make_shared<Exposed>(*found->second);
  wire::OfferT& offer = exposed->offer;
  offer.encodings = cache_.offer(offer.set, offer.policy ? offer.policy->write : 0);
  if (const auto* entry = sets_.find(offer.set)) {
    offer.state = entry->is_final() ? entry->state : wire::SetState::incomplete;
    offer.stored_as = entry->stored_as;
    offer.ordinal = entry->ordinal;
    offer.level = entry->level;
  }
  found->second = exposed;
  if (coordinator_ && coordinator_->is_welcome) send(coordinator_->id, offer);
}

void AgentCore::quarantine(const std::string& set, const std::string& reason, bool removes) {
  if (!is_ours(set)) return;
  if (const auto* entry = sets_.find(set); entry != nullptr && entry->is_offered())
    withdraw(set, entry->exposure, "it is set aside: " + reason);
  watcher_.forget(set);
  cache_.discard(set);
  auto aside = put_into_quarantine(stage_, set, reason);
  if (aside && removes) aside = discard_quarantined(stage_, set);
  if (!aside)
    log(Severity::warning, aside.error().message());
  else if (removes)
    log(Severity::info, fmt::format("{}: is removed: {}", set, reason));
  else
    log(Severity::warning, fmt::format("{}: is set aside, and never restarted from: {}", set, reason));
  sets_.forget(set);
  looks_.forget(set);
  if (removes) tidy();
  settle_all();
}

// What was set aside before this set was written is not needed any more: it is safe.
void AgentCore::release_quarantined(int64_t written_ns) {
  const auto sets = quarantined_sets(stage_);
  if (!sets) return;
  for (const Quarantined& aside : *sets) {
    if (aside.since_ns >= written_ns) continue;
    const auto gone = discard_quarantined(stage_, aside.set);
    log(Severity::info,
        gone ? aside.set + ": what was set aside of it is removed, since a newer set is safe" : gone.error().message());
  }
}

// To each coordinator: the one before may have died before its log had it.
void AgentCore::send_rejects() {
  if (!coordinator_ || !coordinator_->is_welcome) return;
  for (const auto& [set, reject] : rejects_) send(coordinator_->id, wire::RejectT(reject));
}

void AgentCore::rejected(const wire::RejectT& confirmed) {
  const auto found = rejects_.find(confirmed.set);
  if (found == rejects_.end() || found->second.removes != confirmed.removes) return;
  rejects_.erase(found);
  settle_all();
}

}  // namespace forebay::job

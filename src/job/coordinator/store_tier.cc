#include "job/coordinator/store_tier.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "store/names.h"
#include "store/series.h"

namespace forebay::job {
namespace {

constexpr uint32_t kNobody = 0xffffffff;

// Why a set cannot be delivered, as far as its manifest tells.
std::string what_is_wrong(const store::SetInfo& set) {
  if (!set.manifest) return set.manifest.error().message();
  const store::Manifest& manifest = *set.manifest;
  if (!manifest.lost_containers.empty()) return "a repair could not save all of it";
  if (manifest.group_size == 0 ||
      manifest.containers.size() != (manifest.ranks + manifest.group_size - 1) / manifest.group_size)
    return "its containers are not those of its ranks";
  return {};
}

}  // namespace

void StoreTier::list(TierNeeds& needs) {
  state_ = State::asked;
  listed_.reset();
  ++owed_;
  needs.commands.emplace_back(std::in_place_type<ListSets>);
}

void StoreTier::ask(Time, TierNeeds& needs) {
  retry_.succeeded();
  list(needs);
}

void StoreTier::listed(ListedSets listed) {
  if (owed_ == 0 || --owed_ != 0 || state_ != State::asked) return;  // for an earlier question
  listed_ = std::move(listed);
  state_ = State::listed;
}

std::optional<TierAnswer> StoreTier::answer(Time now, TierNeeds& needs) {
  if (state_ == State::pausing && now >= retry_.next()) list(needs);
  if (state_ != State::listed) return std::nullopt;
  ListedSets listed = *std::exchange(listed_, std::nullopt);
  if (!listed.sets) {
    retry_.failed(now);
    state_ = State::pausing;
    needs.log.warn("the store fails at a restart, and is tried again: " + listed.sets.error().message());
    return std::nullopt;
  }
  state_ = State::idle;
  return take(*std::move(listed.sets), needs.log);
}

TierAnswer StoreTier::take(std::vector<store::SetInfo> sets, LogLines& log) {
  TierAnswer answer;
  answer.none = fmt::format("the store holds no set of the series {}", series_);
  answer.left_alone = store::describe_series(sets, series_);
  if (!answer.left_alone.empty())
    log.info(fmt::format("restart: series {}; sets of others are left alone: {}", series_, answer.left_alone));
  sets_.clear();
  for (store::SetInfo& set : store::of_series(sets, series_)) {
    TierSet& row = answer.sets.emplace_back(TierSet{.name = set.name, .wrong = what_is_wrong(set)});
    if (set.refused) refused_.emplace(set.name, *set.refused);
    if (const auto refused = refused_.find(set.name); refused != refused_.end())
      row.wrong = "it is set aside: " + refused->second;
    if (!set.manifest) continue;
    row.application_name = store::application_name(*set.manifest);
    row.step = set.manifest->step;
    row.ordinal = set.manifest->ordinal;
    row.suspicion = set.manifest->suspicion;
    row.ranks = set.manifest->ranks;
    row.time_ns = set.manifest->created_ns;
    row.stored_as = set.name;
    if (row.wrong.empty()) sets_.emplace(set.name, std::move(set));
  }
  return answer;
}

std::vector<Delivery> StoreTier::deliveries(const TierSet& set, const Askers& askers) const {
  const store::Manifest& manifest = *sets_.at(set.name).manifest;
  const bool as_many = manifest.ranks == askers.by_rank.size();
  std::vector<Delivery> all;
  for (uint32_t i = 0; i < manifest.containers.size(); ++i) {
    if (as_many)
      all.push_back({i, 0, askers.all.at(askers.by_rank[i * manifest.group_size]).node});
    else
      for (const auto& [id, asker] : askers.all) all.push_back({i, id, asker.node});
  }
  return all;
}

wire::TaskT StoreTier::task(const TierSet& set, const Delivery& delivery, const Askers& askers) const {
  const store::SetInfo& info = sets_.at(set.name);
  const store::Manifest& manifest = *info.manifest;
  wire::TaskT task;
  task.kind = wire::TaskKind::deliver;
  task.set = set.name;
  task.container = manifest.containers[delivery.part].name;
  task.first_rank = static_cast<uint32_t>(delivery.part * manifest.group_size);
  const auto end = static_cast<uint32_t>(std::min(task.first_rank + manifest.group_size, manifest.ranks));
  std::map<SessionId, uint32_t> peers;
  for (uint32_t rank = task.first_rank; rank < end; ++rank) {
    const SessionId asker = rank < askers.by_rank.size() ? askers.by_rank[rank] : 0;
    const SessionId to = delivery.to != 0 ? delivery.to : asker;
    if (to == 0) {
      task.peer_of_rank.push_back(kNobody);
      continue;
    }
    const auto [place, is_new] = peers.emplace(to, static_cast<uint32_t>(peers.size()));
    task.peer_of_rank.push_back(place->second);
    if (!is_new) continue;
    const Asker& agent = askers.all.at(to);
    auto& peer = *task.peers.emplace_back(std::make_unique<wire::PeerT>());
    peer.node = agent.node;
    peer.host = agent.host;
    peer.addresses = agent.addresses;
    peer.stage = agent.stage;
  }
  return task;
}

}  // namespace forebay::job

#include "job/coordinator/set_drain.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

namespace forebay::job {
namespace {

bool is_among(uint64_t hash, const StoredSet& stored) {
  return std::ranges::binary_search(stored.sources, hash_text(hash));
}

}  // namespace

SetDrain::Actions SetDrain::begin() {
  Actions actions;
  look_up(actions);
  return actions;
}

void SetDrain::look_up(Actions& actions) {
  is_asked_ = true;
  store_waits_ = false;
  stored_.reset();
  actions.commands.emplace_back(LookUp{id_, name_, options_->origin.series});
}

SetDrain::Actions SetDrain::offered(const std::string& key, Part part, std::optional<int64_t> step, Time now) {
  Actions actions;
  if (is_drained()) {
    const auto known = parts_.find(key);
    if (known != parts_.end() && is_same(known->second, part)) {
      renew(known->second, std::move(part));
      away_.erase(key);
      update_ready(known->second, actions);
      return actions;
    }
    actions.log.warn(
        fmt::format("set {} was changed on {} while it was drained: it is drained anew", name_, part.host));
    undo(now, actions);
  }
  if (step) step_ = step;
  if (const auto known = parts_.find(key); is_whole() && known != parts_.end() && is_same(known->second, part) &&
                                           known->second.covered == part.covered && known->second.write == part.write) {
    renew(known->second, std::move(part));
    return actions;
  }
  actions.is_other = true;
  put_part(key, std::move(part));
  consider(actions);
  return actions;
}

void SetDrain::postpone(SessionId from, wire::OfferT offer) {
  std::erase_if(postponed_, [&](const auto& one) { return one.first == from; });
  postponed_.emplace_back(from, std::move(offer));
}

void SetDrain::put_part(const std::string& key, Part part) {
  go(SetEvent::part_changed);
  drop_part(key);
  coverage_.add(part.covered);
  ++writes_[part.write];
  if (part.ranks != 0) ranks_ = part.ranks;
  parts_.emplace(key, std::move(part));
}

void SetDrain::drop_part(const std::string& key) {
  const auto found = parts_.find(key);
  if (found == parts_.end()) return;
  coverage_.remove(found->second.covered);
  if (--writes_[found->second.write] == 0) writes_.erase(found->second.write);
  parts_.erase(found);
}

SetDrain::Actions SetDrain::withdrawn(const std::string& key, const wire::WithdrawnT& withdrawn) {
  Actions actions;
  std::erase_if(postponed_, [&](const auto& one) { return one.second.exposure == withdrawn.exposure; });
  const auto part = parts_.find(key);
  if (part == parts_.end() || part->second.exposure != withdrawn.exposure) return actions;
  if (phase_ == Phase::committing) return actions;  // all of it was read before
  const std::string why = fmt::format("{}: {}", part->second.host, withdrawn.reason);
  if (is_drained()) {
    give_up("its files were withdrawn by " + why, actions);
    return actions;
  }
  actions.log.info(fmt::format("set {}: an offer was withdrawn by {}", name_, why));
  lose_part(key, actions);
  return actions;
}

// While it is sealed, its group makes up for the part, as long as others are there.
void SetDrain::lose_part(const std::string& key, Actions& actions) {
  drop_part(key);
  if (phase_ != Phase::sealing || parts_.empty()) go(SetEvent::part_changed);
  consider(actions);
}

SetDrain::Actions SetDrain::agent_left(const std::string& key, Time now) {
  Actions actions;
  const auto part = parts_.find(key);
  if (part == parts_.end()) return actions;
  if (is_drained()) {
    part->second.session = 0;
    away_[key] = now;
    update_ready(part->second, actions);
    return actions;
  }
  if (is_whole()) since_ = now;
  lose_part(key, actions);
  return actions;
}

SetDrain::Actions SetDrain::answered(LookedUp answer, Time now) {
  Actions actions;
  is_asked_ = false;
  if (!answer.stored) {
    store_failed(answer.stored.error(), now, actions);
    return actions;
  }
  store_retry_.succeeded();
  store_error_.clear();
  stored_ = *std::move(answer.stored);
  taken_ = answer.taken;
  for (StoredSet& stored : *stored_) std::ranges::sort(stored.sources);
  consider(actions);
  return actions;
}

bool SetDrain::is_complete() const {
  if (parts_.empty() || writes_.size() > 1) return false;
  if (ranks_ != 0) return coverage_.size() >= ranks_;
  return options_->agents != 0 && parts_.size() >= options_->agents;
}

std::optional<SetSizes::Size> SetDrain::watched_size() const {
  SetSizes::Size size;
  for (const auto& [agent, part] : parts_) {
    if (part.ranks != 0) return std::nullopt;
    size.files += part.files.size();
    size.bytes += part.bytes;
  }
  return size;
}

uint64_t SetDrain::take_place(uint64_t newest) {
  std::vector<uint64_t> hashes;
  uint64_t told = 0;
  for (const auto& [agent, part] : parts_) {
    hashes.push_back(part.hash);
    told = std::max(told, part.ordinal);
  }
  std::ranges::sort(hashes);
  hashes.erase(std::ranges::unique(hashes).begin(), hashes.end());  // a part may be there twice, made again
  if (ordinal_ == 0 && told != 0)
    ordinal_ = told;
  else if (ordinal_ == 0 || (hashes != placed_ && (write() == 0 || write() != placed_write_)))
    ordinal_ = newest + 1;
  placed_ = std::move(hashes);
  placed_write_ = write();
  return std::max(newest, ordinal_);
}

// The stored set that has all these files. A complete one must be just that.
const StoredSet* SetDrain::stored_already() const {
  if (!stored_ || parts_.empty()) return nullptr;
  for (const StoredSet& stored : *stored_) {
    const auto is_there = [&](const auto& part) { return is_among(part.second.hash, stored); };
    if (!std::ranges::all_of(parts_, is_there)) continue;
    std::set<uint64_t> hashes;
    for (const auto& [agent, part] : parts_) hashes.insert(part.hash);
    if (!is_complete() || hashes.size() == stored.sources.size()) return &stored;
  }
  return nullptr;
}

std::string SetDrain::what_is_missing(const AgentHosts& agents) const {
  if (is_complete() && !stored_) return store_error_.empty() ? "the store does not answer" : store_error_;
  if (writes_.size() > 1) return fmt::format("its parts are of {} writings of the set", writes_.size());
  std::string text = ranks_ != 0 ? fmt::format("ranks {} of {} are missing", coverage_.missing(ranks_), ranks_)
                                 : fmt::format("{} of {} nodes offered it", parts_.size(), options_->agents);
  constexpr int kMost = 10;
  int named = 0;
  for (const auto& [key, host] : agents) {
    if (parts_.contains(key)) continue;
    if (named++ == kMost) return text + ", ...";
    text += (named == 1 ? "; not offered by " : ", ") + host;
  }
  return text;
}

void SetDrain::consider(Actions& actions) {
  if (phase_ != Phase::incomplete) return;
  if (parts_.empty() && !is_asked_) {
    actions.vanished = true;
    return;
  }
  if (ranks_ == 0 && options_->agents == 0 && !parts_.empty())
    return give_up("the number of ranks is unknown, and so is that of the nodes (give --agents)", actions);
  if (!stored_ || !is_complete()) return;
  if (const StoredSet* stored = stored_already()) {
    ordinal_ = stored->ordinal;
    return end(wire::SetState::durable, stored->name, "the store had it already", actions);
  }
  go(SetEvent::whole);
  actions.completed = true;
}

SetDrain::Actions SetDrain::tick(Time now, const AgentHosts& agents) {
  Actions actions;
  if (store_waits_ && now >= store_retry_.next()) {
    store_waits_ = false;
    if (phase_ == Phase::staging)
      stage(actions);
    else if (phase_ == Phase::committing)
      commit(actions);
    else
      look_up(actions);
    return actions;
  }
  for (const auto& [key, since] : away_)
    if (now - since > options_->set_timeout && needs(parts_.at(key))) {
      give_up(fmt::format("the agent of {} did not come back", parts_.at(key).host), actions);
      return actions;
    }
  if (phase_ != Phase::incomplete) return actions;
  // What remains of a set that was committed, and whose other nodes know it, comes alone.
  const StoredSet* stored = stored_already();
  if (stored != nullptr && now - since_ > 2 * options_->peer_timeout) {
    ordinal_ = stored->ordinal;
    end(wire::SetState::durable, stored->name, "the store had it already", actions);
  } else if (now - since_ > options_->set_timeout) {
    give_up(what_is_missing(agents), actions);
  }
  return actions;
}

void SetDrain::store_failed(const Error& error, Time now, Actions& actions) {
  const auto kind = error.kind;
  if (kind == ErrorKind::invalid_argument || kind == ErrorKind::limit || kind == ErrorKind::unsupported ||
      kind == ErrorKind::internal)
    return give_up(error.message(), actions);
  store_retry_.failed(now);
  store_error_ = error.message();
  if (now - store_retry_.since() >= options_->set_timeout) return give_up(error.message(), actions);
  store_waits_ = true;
  actions.log.warn(fmt::format("set {}: the store fails, and is tried again: {}", name_, error.message()));
}

SetDrain::Actions SetDrain::skip(const std::string& why) {
  Actions actions;
  end(wire::SetState::skipped, {}, why, actions);
  return actions;
}

SetDrain::Actions SetDrain::keep(const std::string& why) {
  Actions actions;
  end(wire::SetState::cached, {}, why, actions);
  return actions;
}

SetDrain::Actions SetDrain::give_up(const std::string& why) {
  Actions actions;
  give_up(why, actions);
  return actions;
}

void SetDrain::give_up(const std::string& why, Actions& actions) {
  actions.log.warn(fmt::format("set {} failed: {}", name_, why));
  end(wire::SetState::failed, {}, why, actions);
}

void SetDrain::end(wire::SetState state, std::string stored_as, std::string message, Actions& actions) {
  remove_units(actions);
  if (state != wire::SetState::durable && is_staged()) actions.commands.emplace_back(Abandon{staging_});
  go(SetEvent::ended);
  actions.completed = false;
  actions.ended = Ended{state, std::move(stored_as), std::move(message), ordinal_};
}

double SetDrain::seconds(Time now) const {
  return drained_since_ ? std::chrono::duration<double>(now - *drained_since_).count() : 0;
}

SetDrain::Row SetDrain::row() const {
  return {.ranks = groups_.ranks != 0 ? groups_.ranks : ranks_,
          .ranks_offered = coverage_.size(),
          .containers = groups_.groups.size(),
          .containers_done = reports_.size(),
          .files = groups_.files,
          .bytes = groups_.bytes,
          .raw_done = raw_done_,
          .stored_done = stored_done_,
          .store_failures = store_retry_.failures(),
          .stored_as = place_.name,
          .since = since_};
}

engine::StageSeconds SetDrain::cpu() const {
  engine::StageSeconds sum;
  for (const auto& [group, report] : reports_) sum.add(report.cpu_seconds);
  return sum;
}

}  // namespace forebay::job

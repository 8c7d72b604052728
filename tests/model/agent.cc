#include "agent.h"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>

#include "job/wire/convert.h"

namespace forebay::job::model {
namespace {

constexpr auto kPing = 2s;
constexpr int64_t kEpoch = 1'700'000'000'000'000'000;

}  // namespace

Agent::Agent(World& world, std::string node, Disk& disk, unsigned keep, uint64_t number)
    : world_(world), node_(std::move(node)), disk_(disk), keep_(keep), number_(number) {
  process_->name = node_;
}

std::string Agent::address() const { return fmt::format("tcp:{}:{}", node_, number_); }

int64_t Agent::wall_ns() const {
  return kEpoch + std::chrono::duration_cast<std::chrono::nanoseconds>(world_.loop().now.time_since_epoch()).count();
}

void Agent::refuse(LinkId to, const Error& error) { say_to(to, wire::refusal_of(error)); }

// What an agent before this one has noted goes on.
void Agent::begin() {
  disk_.delivered.clear();
  std::erase_if(disk_.held, [&](const auto& one) { return !has_set(one.second.set); });
  for (const auto& [set, staged] : disk_.sets) {
    if (staged.outcome) {
      sets_.ended(set, *staged.outcome, has_set(set));
      sets_.encoded(set, protects(set));
    } else if (staged.begun) {
      sets_.resume(set, staged.begun->policy ? staged.begun->policy->write : 0);
    }
    if (staged.place) sets_.had_place(set, *staged.place);
  }
  tidy();
  look_at_all();
  world_.find_coordinator(*this);
}

void Agent::adopt(LinkId link, uint64_t generation) {
  coordinator_ = Coordinator{.link = link, .generation = generation, .heard = world_.loop().now};
  wire::AgentHelloT hello;
  hello.host = hello.node = node_;
  hello.stage = "/stage";
  hello.addresses = address();
  hello.pid = number_;
  say_to(link, std::move(hello));
  ping_at_ = world_.loop().now + kPing;
  tick_soon();
}

void Agent::lose_coordinator() {
  coordinator_.reset();
  restart_.interrupted();
  world_.find_coordinator(*this);
}

void Agent::hear_coordinator(wire::MessageT message) {
  coordinator_->heard = world_.loop().now;
  if (const auto* welcome = message.body.AsWelcome()) {
    coordinator_->lost = std::max<Duration>(std::chrono::milliseconds(welcome->lost_ms),
                                            2 * std::chrono::milliseconds(welcome->ping_ms));
    coordinator_->is_welcome = true;
    block_at_ = welcome->block_at;
    offer_everything();
    send_rejects();
    send_restart_request();
    settle_all();
  } else if (const auto* news = message.body.AsSetNews()) {
    const std::string set = news->set;
    const uint64_t exposure = news->exposure;
    if (sets_.heard(*news, wall_ns())) {
      world_.heard(*this, set, sets_.find(set)->stored_as);
      const bool stays = sets_.find(set)->is_offered();
      if (!stays) exposed_.erase(exposure);
      finish(set);
      if (stays) offer_again(exposure);
    }
  } else if (const auto* placed = message.body.AsPlaced()) {
    if (sets_.placed(*placed))
      disk_.sets[placed->set].place = NotedPlace{placed->ordinal, sets_.find(placed->set)->fingerprint};
  } else if (const auto* confirmed = message.body.AsReject()) {
    rejected(*confirmed);
  } else if (const auto* ready = message.body.AsRestartReady()) {
    restart_ready(*ready);
  } else if (const auto* done = message.body.AsRestartDone()) {
    if (restart_.done(*done, world_.loop().now)) settle_all();
  } else if (const auto* refused = message.body.AsRefused()) {
    restart_refused(*refused);
  } else if (const auto* rest = message.body.AsSettle()) {
    settle(rest->number);
  } else if (message.body.AsStop() != nullptr) {
    const LinkId link = coordinator_->link;
    coordinator_.reset();
    world_.net().close(link, process_);
    process_->is_alive = false;
    world_.net().crashed(process_);
    return;
  } else if (const auto* in_place = message.body.AsRestartInPlace()) {
    restart_in_place(*in_place);
  } else {
    hear_about_caches(message);
  }
  tick_soon();
}

void Agent::offer_everything() {
  std::vector<std::tuple<uint64_t, uint64_t, uint64_t>> exposures;
  for (const auto& [exposure, exposed] : exposed_) {
    const auto* const entry = sets_.find(exposed.offer.set);
    const uint64_t ordinal = entry != nullptr ? entry->ordinal : 0;
    exposures.emplace_back(ordinal != 0 ? ordinal : UINT64_MAX, exposed.number, exposure);
  }
  std::ranges::sort(exposures);
  for (const auto& [ordinal, number, exposure] : exposures) offer_again(exposure);
}

void Agent::offer_again(uint64_t exposure) {
  const auto found = exposed_.find(exposure);
  if (found == exposed_.end()) return;
  wire::OfferT& offer = found->second.offer;
  offer.encodings = encodings(offer.set, offer.policy ? offer.policy->write : 0);
  if (const auto* entry = sets_.find(offer.set)) {
    offer.state = entry->is_final() ? entry->state : wire::SetState::incomplete;
    offer.stored_as = entry->stored_as;
    offer.ordinal = entry->ordinal;
  }
  if (coordinator_ && coordinator_->is_welcome) say_to(coordinator_->link, offer);
}

// Nobody else is at a set in this model, so that all is known at once.
void Agent::settle(uint64_t number) {
  std::vector<uint64_t> cached;
  for (const auto& [set, entry] : sets_.entries())
    if (entry.is_offered() && entry.is_in_cache()) cached.push_back(entry.exposure);
  for (const uint64_t exposure : cached) offer_again(exposure);
  look_at_all();
  wire::SettledT settled;
  settled.number = number;
  for (const auto& [set, staged] : disk_.sets)
    if (auto why = why_left(set)) {
      auto row = std::make_unique<wire::LeftT>();
      row->name = set;
      row->reason = *std::move(why);
      settled.left.push_back(std::move(row));
    }
  if (coordinator_ && coordinator_->is_welcome) say_to(coordinator_->link, std::move(settled));
}

std::optional<std::string> Agent::why_left(const std::string& set) const {
  const auto* entry = sets_.find(set);
  if (entry != nullptr && entry->is_offered()) return std::nullopt;
  if (disk_.sets.at(set).files.empty()) return std::nullopt;
  const bool is_same = entry != nullptr && entry->is_final() && is_as_it_ended(set);
  if (is_same && entry->state != wire::SetState::failed) return std::nullopt;
  if (is_same) return "it failed: " + entry->message;
  const auto ranks = awaited(set);
  const Verdict verdict = judge(set, scan(set, ranks, {}), ranks, {}, WallTime(std::chrono::nanoseconds(wall_ns())));
  return verdict.content ? "it failed, or is being written" : verdict.reason;
}

void Agent::tick_soon() {
  const Time next = std::min({restart_.request_at(), ping_at_, clients_.next_deadline()});
  if (next >= ticks_at_) return;
  ticks_at_ = std::max(next, world_.loop().now);
  world_.loop().at(ticks_at_, process_, [this] { tick(); });
}

void Agent::tick() {
  const Time now = world_.loop().now;
  ticks_at_ = Time::max();
  if (now >= restart_.request_at()) send_restart_request();
  for (const auto& [id, question] : clients_.expired(now)) {
    if (question.kind == Question::Kind::wait)
      tell_state(id, question.set);
    else
      refuse(id, {ErrorKind::timeout, "it takes too long", {}, {}, {}});
  }
  if (now >= ping_at_) {
    ping_at_ = coordinator_ ? now + kPing : Time::max();
    keep_in_touch();
  }
  tick_soon();
}

void Agent::keep_in_touch() {
  if (!coordinator_) return;
  if (world_.loop().now - coordinator_->heard > coordinator_->lost) {
    world_.net().close(coordinator_->link, process_);
    return lose_coordinator();
  }
  wire::PingT ping;
  ping.ranks = static_cast<uint32_t>(clients_.count());
  say_to(coordinator_->link, std::move(ping));
}

}  // namespace forebay::job::model

// The part of an agent that looks at sets, offers them and clears up.
#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "job/agent/agent_core.h"
#include "job/client/stage_names.h"
#include "job/wire/convert.h"
#include "store/natural_order.h"

namespace forebay::job {
namespace {

using namespace std::chrono_literals;
using fabric::Severity;
using wire::SetState;

constexpr auto kLookAgain = 10s;       // at a set that cannot be read
constexpr size_t kMostOutcomes = 256;  // of sets without files, for those who still ask

WallTime wall_now() { return std::chrono::time_point_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now()); }

wire::FileT offered(const StagedFile& staged, int64_t rank) {
  wire::FileT file = wire::file_of(staged.row, rank);
  file.ctime_ns = staged.identity.ctime_ns;
  file.marker = staged.marker;
  return file;
}

const char* name_of(SetState state) {
  switch (state) {
    case SetState::durable:
      return "durable";
    case SetState::skipped:
      return "skipped";
    case SetState::cached:
      return "cached";
    default:
      return "failed";
  }
}

}  // namespace

void AgentCore::look_at_all() {
  auto sets = sets_in(stage_);
  if (!sets) {
    warn_once(stage_, sets.error().message());
    look_at_all_ = std::chrono::steady_clock::now() + kLookAgain;
    return;
  }
  // What is offered may have gone as a whole.
  for (const auto& [set, entry] : sets_.entries())
    if (entry.is_offered() && !std::ranges::binary_search(*sets, set)) sets->push_back(set);
  put_in_order(*sets);
  for (const std::string& set : *sets) look(set);
}

// Sets that nobody has seen become complete are looked at, and offered, in the order that names and times tell, behind
// those whose places are known.
void AgentCore::put_in_order(std::vector<std::string>& sets) {
  std::vector<std::string> others;
  std::vector<store::NamedSet> unseen;
  for (std::string& set : sets) {
    const auto* const entry = sets_.find(set);
    if (is_left_alone(set) || (entry != nullptr ? !entry->fingerprint.empty() : sets_.has_noted_place(set)))
      others.push_back(std::move(set));
    else
      unseen.push_back({std::move(set)});
  }
  if (unseen.size() > 1)
    for (store::NamedSet& set : unseen) set.time_ns = newest_time(stage_, set.name);
  const store::NaturalOrder order = store::natural_order(unseen, wall_now().time_since_epoch().count());
  sets = std::move(others);
  std::string names;
  for (const size_t i : order.oldest_first) {
    if (unseen[i].time_ns) names += (names.empty() ? "" : ", ") + unseen[i].name;
    sets.push_back(std::move(unseen[i].name));
  }
  if (names.find(',') == std::string::npos || !looks_.is_news("/order", names)) return;
  log(Severity::info, fmt::format("what lies here is taken in the order of the {}: {}",
                                  order.is_by_times ? "times of the files" : "names", names));
  if (!order.remark.empty()) log(Severity::warning, order.remark);
}

void AgentCore::look(const std::string& set) {
  if (is_left_alone(set) || !looks_.may_look(set, std::chrono::steady_clock::now())) return;
  note_sight(set);
  auto listing = scan_set(stage_, set, awaited(set), options_.completion);
  if (!listing) {
    warn_once(set, listing.error().message());
    looks_.look_again(set, std::chrono::steady_clock::now() + kLookAgain);
    return;
  }
  if (listing->anothers == set) warn_once(set, "belongs to another user: it is no set, and is left alone");
  const WallTime now = wall_now();
  Verdict verdict = judge(set, *listing, awaited(set), options_.completion, now, at_rest_);
  if (verdict.again)
    looks_.look_again(
        set, std::chrono::steady_clock::now() + std::chrono::ceil<std::chrono::milliseconds>(*verdict.again - now));
  if (verdict.is_misfit) tell_misfit(set, verdict.reason);
  const auto* entry = sets_.find(set);
  const bool is_news = verdict.content && (entry == nullptr || entry->fingerprint != verdict.content->fingerprint);
  if (is_news && verdict.needs_check) {
    if (looks_.is_rejected(set, verdict.content->fingerprint)) return;
    return check_then_offer(set, std::move(*listing), std::move(*verdict.content));
  }
  const auto decision = sets_.observed(set, verdict.content, verdict.reason);
  follow(set, decision);
  if (decision.offer) offer(set, *listing, *verdict.content);
}

void AgentCore::follow(const std::string& set, const AgentSets::Decision& decision) {
  if (decision.withdraw != 0 && decision.offer) unexpose(decision.withdraw);  // the next offer tells
  if (decision.withdraw != 0 && !decision.offer) withdraw(set, decision.withdraw, decision.reason);
  if (!decision.is_lost) return;
  warn_once(set, fmt::format("was changed or removed before it was durable: {}", decision.reason));
  watcher_.forget(set);
  settle_all();
}

// The format readers look into every file: not in the thread that answers.
void AgentCore::check_then_offer(const std::string& set, Listing listing, Content content) {
  looks_.begin_work(set);
  const auto seen = std::make_shared<const Listing>(std::move(listing));
  worker_.add([this, set, seen] { return check_formats(stage_ + "/" + set, *seen, options_.format); },
              [this, set, seen, content = std::move(content)](const Result<void>& checked) {
                looks_.end_work(set);
                if (checked) {
                  looks_.accepted(set);
                  const auto decision = sets_.observed(set, content, {});
                  follow(set, decision);
                  if (decision.offer) offer(set, *seen, content);
                } else {
                  warn_once(set, "is not offered: " + checked.error().message());
                  looks_.rejected(set, content.fingerprint, checked.error().what);
                  if (checked.error().kind == ErrorKind::limit)
                    looks_.look_again(set, std::chrono::steady_clock::now() + kLookAgain);
                }
                tell_settled();
              });
}

void AgentCore::offer(const std::string& set, const Listing& listing, const Content& content) {
  auto exposed = std::make_shared<Exposed>();
  std::vector<fabric::ExposedFile> files;
  exposed->number = ++offered_;
  wire::OfferT& offer = exposed->offer;
  offer.set = set;
  offer.ranks = content.ranks;
  offer.complete = content.complete;
  if (content.step) offer.step = *content.step;
  offer.suspect = read_suspicion(stage_, set);
  if (listing.policy) offer.policy = std::make_unique<wire::SetPolicyT>(*listing.policy);
  uint64_t bytes = 0;
  for (const Content::File& file : content.files) {
    const StagedFile& staged = listing.files[file.listed];
    auto row = std::make_unique<wire::FileT>(offered(staged, file.rank));
    offer.files.push_back(std::move(row));
    if (staged.row.kind != FileKind::regular) continue;
    const std::string path = fmt::format("{}/{}/{}", stage_, set, staged.row.name);
    files.push_back({path, staged.identity});
    exposed->files.push_back({path, staged.row});
    bytes += staged.row.size;
  }
  if (const auto began = began_.extract(set)) {
    const auto took = std::chrono::steady_clock::now() - began.mapped();
    offer.took_ms = static_cast<uint32_t>(std::chrono::ceil<std::chrono::milliseconds>(took).count());
  }
  offer.exposure = exposures_.add(std::move(files));
  sets_.offered(set, content, offer.exposure, bytes);  // offer_again() says the rest
  watcher_.follow(set, place_of(stage_, set).value_or(std::string()));
  looks_.forget_news(set);
  log(Severity::info,
      fmt::format("{}: complete on this node, {} files of {} bytes", set, exposed->files.size(), bytes));
  const uint64_t exposure = offer.exposure;
  exposed_[exposure] = std::move(exposed);
  offer_again(exposure);
}

void AgentCore::unexpose(uint64_t exposure) {
  exposures_.remove(exposure);
  exposed_.erase(exposure);
}

void AgentCore::withdraw(const std::string& set, uint64_t exposure, const std::string& reason) {
  unexpose(exposure);
  if (!coordinator_ || !coordinator_->is_welcome) return;
  wire::WithdrawnT withdrawn;
  withdrawn.set = set;
  withdrawn.exposure = exposure;
  withdrawn.reason = reason;
  send(coordinator_->id, std::move(withdrawn));
}

// The set's state is final now. It is written down before anything is removed.
void AgentCore::finish(const std::string& set) {
  const auto& entry = *sets_.find(set);
  log(entry.state == SetState::failed ? Severity::warning : Severity::info,
      fmt::format("{}: {}{}{}", set, name_of(entry.state), entry.message.empty() ? "" : ": ", entry.message));
  if (!entry.is_offered()) watcher_.forget(set);
  if (entry.state == SetState::cached || entry.state == SetState::durable) release_quarantined(entry.written_ns);
  if (auto noted = note_outcome(stage_, set, AgentSets::outcome_of(entry)); !noted)
    warn_once(set, "its outcome cannot be written down: " + noted.error().message());
  if (entry.is_void && read_begin(stage_, set).value_or(std::nullopt)) {
    log(Severity::info, set + ": the application goes on without it, what there is of it is void");
    discard(set);
  }
  tidy();
  settle_all();
}

// Takes the files out of the stage.
void AgentCore::discard(const std::string& set) {
  if (!is_ours(set)) return;
  if (const auto* entry = sets_.find(set); entry != nullptr && entry->is_offered()) {
    withdraw(set, entry->exposure, "it is removed to make room");
    sets_.unexposed(set);
    watcher_.forget(set);
  }
  cache_.discard(set);
  const bool has_marker = options_.completion.kind == Completion::Kind::marker;
  auto discarded = discard_files(stage_, set, has_marker ? marker_of(set, options_.completion) : "");
  if (!discarded) warn_once(set, discarded.error().message());
  if (discarded) sets_.files_removed(set);
  began_.erase(set);
}

bool AgentCore::is_as_it_ended(const std::string& set) const {
  const auto there = has_set(stage_, set);
  if (there && !*there) return true;
  const auto fingerprint = fingerprint_in_stage(set);
  return fingerprint && *fingerprint == sets_.find(set)->fingerprint;
}

void AgentCore::tidy() {
  for (const std::string& set : sets_.removable(keep()))
    if (is_ours(set) && is_as_it_ended(set)) discard(set);
  for (const std::string& set : sets_.forgettable(kMostOutcomes)) {
    (void)discard_notes(stage_, set);
    sets_.forget(set);
    looks_.forget(set);
  }
  std::vector<const Level*> levels;
  for (const auto& [directory, level] : levels_) levels.push_back(&level);
  worker_.add(
      [stage = stage_, levels = std::move(levels)]() -> Result<void> {
        Result<void> emptied = empty_bin(stage);  // what cannot be emptied keeps nobody else from it
        for (const Level* level : levels)
          if (auto done = level->empty_bin(); !done && emptied) emptied = std::move(done);
        return emptied;
      },
      [this](const Result<void>& emptied) {
        if (!emptied) warn_once(stage_, emptied.error().message());
      });
}

// Of all that lies in STAGE/SET, whoever has put it there; nothing if there is no file.
Result<std::string> AgentCore::fingerprint_in_stage(const std::string& set) const {
  const Completion as_it_is{.kind = Completion::Kind::rename};
  FOREBAY_TRY(const Listing listing, scan_set(stage_, set, {}, as_it_is));
  const Verdict verdict = judge(set, listing, {}, as_it_is, wall_now());
  return verdict.content ? verdict.content->fingerprint : std::string();
}

}  // namespace forebay::job

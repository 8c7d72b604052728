// The part of an agent that serves the ranks of its node (forebay.h).
#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "job/agent/agent_core.h"
#include "job/client/marker.h"
#include "job/client/stage_names.h"
#include "store/files.h"
#include "store/names.h"

namespace forebay::job {
namespace {

using Clock = std::chrono::steady_clock;
using fabric::Severity;

}  // namespace

Result<void> AgentCore::greet(ConnectionId id, const wire::ClientHelloT& hello) {
  const ConnectedRank client{hello.rank, hello.ranks, hello.pid, hello.attempt};
  FOREBAY_TRY(const bool is_new_start, clients_.joined(id, client));
  ping_at_ = Time::min();  // the coordinator tells the other agents that there are ranks
  if (rank_processes_ && client.pid != 0) rank_processes_->add(static_cast<pid_t>(client.pid));
  if (is_new_start) {
    restart_.forget_gone([this](uint32_t rank, uint64_t pid) { return clients_.is_connected(rank, pid); },
                         Clock::now());
    sets_.started_again(clients_.ranks());
  }
  drop_stale_markers(is_new_start, client);
  return {};
}

void AgentCore::miss(const ConnectedRank& client) {
  for (const std::string& set : sets_.unfinished())
    if (::access(marker_path(stage_, set, client.rank).c_str(), F_OK) != 0)
      warn_once(set, fmt::format("is not complete: rank {} (process {}) has ended without its part", client.rank,
                                 client.pid));
}

// Of sets that an earlier run of the application has left unfinished nothing may get into those of this one.
void AgentCore::drop_stale_markers(bool is_new_start, const ConnectedRank& client) {
  for (const std::string& set : sets_.unfinished()) {
    const auto ranks = marked_ranks(stage_, set);
    if (!ranks) continue;
    for (const uint32_t rank : *ranks) {
      if (rank != client.rank && !is_new_start) continue;
      const std::string path = marker_path(stage_, set, rank);
      const auto text = store::read_text(path, kMaxMarkerBytes);
      const auto marker = text ? decode_marker(*text, path) : std::unexpected(text.error());
      if (marker && clients_.is_connected(rank, marker->pid)) continue;
      remove_marker(stage_, set, rank);
      log(Severity::info, fmt::format("{}: what rank {} has left of it is of an earlier job, and void", set, rank));
    }
  }
}

Result<void> AgentCore::answer(ConnectionId id, const ConnectedRank& client, wire::MessageT message) {
  if (auto* begin = message.body.AsBegin()) {
    if (const auto named = store::check_job_name(begin->set); !named) {
      refuse(id, named.error());
      return {};
    }
    std::optional<int64_t> step;
    if (begin->step) step = *begin->step;
    Question question{Question::Kind::begin, begin->set, step, deadline_after(begin->timeout_ms, Clock::now())};
    if (begin->policy) question.policy = *begin->policy;
    return ask(id, std::move(question));
  }
  if (const auto* completed = message.body.AsCompleted()) {
    if (completed->given_up) give_up(completed->set, client.rank);
    if (watcher_.is_blind() && store::is_job_name(completed->set)) look(completed->set);
    see_changes();
    return {};
  }
  if (const auto* wait = message.body.AsWait())
    return ask(id, {Question::Kind::wait, wait->set, std::nullopt, deadline_after(wait->timeout_ms, Clock::now())});
  if (const auto* restart = message.body.AsRestart()) {
    if (const auto asked = restart_.ask(client, restart->any_ranks, Clock::now(), restart->newest); !asked) {
      refuse(id, asked.error());
      return {};
    }
    return ask(id, {Question::Kind::restart, {}, std::nullopt, deadline_after(restart->timeout_ms, Clock::now())});
  }
  if (const auto* reject = message.body.AsReject()) {
    if (reject->removes)
      log(Severity::info, fmt::format("{}: rank {} deletes it", reject->set, client.rank));
    else
      log(Severity::warning, fmt::format("{}: rank {} cannot use it: {}", reject->set, client.rank, reject->reason));
    rejects_[reject->set] = *reject;
    send_rejects();
    return ask(id,
               {Question::Kind::reject, reject->set, std::nullopt, deadline_after(reject->timeout_ms, Clock::now())});
  }
  if (message.body.AsPing()) return {};
  return fail(ErrorKind::corrupt, "a message that ranks do not send");
}

Result<void> AgentCore::ask(ConnectionId id, Question question) {
  FOREBAY_CHECK(clients_.may_ask(id));
  if (!settle(id, question)) clients_.wait(id, std::move(question));
  return {};
}

bool AgentCore::settle(ConnectionId id, const Question& question) {
  switch (question.kind) {
    case Question::Kind::begin:
      return settle_begin(id, question);
    case Question::Kind::wait:
      return settle_wait(id, question);
    case Question::Kind::reject:
      return settle_reject(id, question);
    default:
      return settle_restart(id);
  }
}

bool AgentCore::settle_begin(ConnectionId id, const Question& question) {
  const std::string& set = question.set;
  const uint32_t rank = clients_.find(id)->rank;
  const uint64_t write = question.policy ? question.policy->write : 0;
  // Then this rank has to begin it, too: all or none.
  const bool is_open = sets_.is_open_for(set, rank, write) && has_set(stage_, set).value_or(true);
  if (const auto free = is_open ? Result<void>() : check_free(set); !free) {
    refuse(id, free.error());
    return true;
  }
  if (!is_open && block_at_ > 0 && sets_.undrained() >= block_at_) return false;
  const std::string level = is_open ? std::string() : level_for(question);
  if (!is_open && question.policy && sets_.must_wait(keep().on(level), level, set)) return false;
  if (!is_open && !has_room(level, set)) return false;
  const auto begun = sets_.begin(set, rank, write, level);
  follow(set, begun.decision);
  if (begun.is_new) {
    watcher_.forget(set);
    discard(set);
    (void)discard_notes(stage_, set);
    tidy();
  } else {
    remove_marker(stage_, set, rank);
  }
  if (!is_open) {
    overtake_reject(set);
    ++begun_;
    began_[set] = Clock::now();
    const std::string place = place_on(level, set);
    if (place.empty()) sets_.lies_in_stage(set);
    const auto noted = note_begin(stage_, set, question.step, question.policy ? &*question.policy : nullptr, place);
    if (!noted) {
      sets_.forget(set);
      refuse(id, noted.error());
      return true;
    }
  }
  wire::BegunT answer;
  answer.directory = set;
  answer.marker = marker_path("", set, rank).substr(1);
  send(id, std::move(answer));
  return true;
}

// What no rank completes takes no room any more, and is missed by nobody.
void AgentCore::give_up(const std::string& set, uint32_t rank) {
  if (!sets_.given_up(set, rank)) return;
  discard(set);
  (void)discard_notes(stage_, set);
  sets_.forget(set);
  looks_.forget(set);
  settle_all();
}

bool AgentCore::settle_wait(ConnectionId id, const Question& question) {
  const auto* entry = sets_.find(question.set);
  if (entry == nullptr) {
    refuse(id, {ErrorKind::not_found, fmt::format("no set '{}' is known", question.set), {}, {}, {}});
    return true;
  }
  if (!entry->is_final()) return false;
  tell_state(id, question.set);
  return true;
}

// A rank writes the set again: the rejection was about the files before. That of a set of the store still holds.
void AgentCore::overtake_reject(const std::string& set) {
  const auto known = rejects_.find(set);
  if (known == rejects_.end() || !known->second.stored_as.empty()) return;
  rejects_.erase(known);
  clients_.settle_each([&](ConnectionId id, const Question& question) {
    if (question.kind != Question::Kind::reject || question.set != set) return false;
    refuse(id, {ErrorKind::changed,
                "a rank writes the set again, and no coordinator has confirmed its rejection",
                {},
                {},
                {}});
    return true;
  });
}

bool AgentCore::settle_reject(ConnectionId id, const Question& question) {
  if (rejects_.contains(question.set)) return false;
  send(id, wire::RejectT{.set = question.set});
  return true;
}

void AgentCore::tell_state(ConnectionId id, const std::string& set) {
  wire::SetNewsT news;
  news.set = set;
  if (const auto* entry = sets_.find(set)) {
    news.exposure = entry->exposure;
    news.state = entry->state;
    news.stored_as = entry->stored_as;
    news.message = entry->message;
  }
  send(id, std::move(news));
}

// After anything that may be the answer to a question.
void AgentCore::settle_all() {
  clients_.settle_each([this](ConnectionId id, const Question& question) { return settle(id, question); });
}

void AgentCore::expire(Time now) {
  const auto why = [](Question::Kind kind) {
    if (kind == Question::Kind::begin) return "the drain is behind: too many sets are not durable yet";
    if (kind == Question::Kind::reject) return "no coordinator has confirmed it";
    return "not all ranks have asked, or the files are not there yet";
  };
  for (const auto& [id, question] : clients_.expired(now)) {
    if (question.kind == Question::Kind::wait)
      tell_state(id, question.set);
    else
      refuse(id, {ErrorKind::timeout, why(question.kind), {}, {}, {}});
  }
}

}  // namespace forebay::job

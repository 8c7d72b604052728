#include "trace.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace forebay::job::model {
namespace {

std::string ranks(const std::vector<uint32_t>& ranks) { return fmt::format("[{}]", fmt::join(ranks, " ")); }

std::string offer(const wire::OfferT& offer) {
  std::string text = fmt::format("{} ranks {}", offer.set, ranks(offer.complete));
  for (const auto& one : offer.encodings)
    text += fmt::format(", encoding {} position {}{}", one->id, one->position, one->is_sealed ? " sealed" : "");
  if (offer.state != wire::SetState::incomplete) text += fmt::format(", is {}", wire::EnumNameSetState(offer.state));
  return text;
}

std::string repair(const wire::RepairT& order) {
  std::string text = fmt::format("{} encoding {}", order.set, order.id);
  for (const uint32_t position : order.self)
    text += fmt::format(", {} position {}",
                        std::ranges::find(order.lost, position) == order.lost.end() ? "lead" : "make", position);
  if (!order.bad.empty()) text += fmt::format(", {} damaged runs", order.bad.size());
  return text;
}

template <class Table>
std::string failure(const Table& table) {
  return table.failed ? ": failed, " + table.error : std::string();
}

std::string details(const wire::MessageT& message) {
  const auto& body = message.body;
  if (const auto* m = body.AsAgentHello()) return m->node;
  if (const auto* m = body.AsWorkerHello()) return m->node;
  if (const auto* m = body.AsWelcome()) return fmt::format("generation {}", m->generation);
  if (const auto* m = body.AsOffer()) return offer(*m);
  if (const auto* m = body.AsWithdrawn()) return fmt::format("{}: {}", m->set, m->reason);
  if (const auto* m = body.AsPlaced()) return fmt::format("{} place {}", m->set, m->ordinal);
  if (const auto* m = body.AsSetNews())
    return fmt::format("{} {}{}{}", m->set, wire::EnumNameSetState(m->state),
                       m->stored_as.empty() ? "" : " as " + m->stored_as, m->message.empty() ? "" : ": " + m->message);
  if (const auto* m = body.AsProtect())
    return fmt::format("{} encoding {} position {} of {}", m->set, m->id, m->position, m->members.size());
  if (const auto* m = body.AsProtectCancel()) return fmt::format("encoding {}", m->id);
  if (const auto* m = body.AsProtected()) return fmt::format("encoding {}{}", m->id, failure(*m));
  if (const auto* m = body.AsSeal()) return fmt::format("{} encoding {}", m->set, m->id);
  if (const auto* m = body.AsSealed()) return fmt::format("encoding {}{}", m->id, failure(*m));
  if (const auto* m = body.AsCheckCached()) return fmt::format("{} encoding {}", m->set, m->id);
  if (const auto* m = body.AsCachedChecked()) return fmt::format("{} damaged runs{}", m->bad.size(), failure(*m));
  if (const auto* m = body.AsRepair()) return repair(*m);
  if (const auto* m = body.AsRepaired()) return "done" + failure(*m);
  if (const auto* m = body.AsQuarantine()) return fmt::format("{}: {}", m->set, m->reason);
  if (const auto* m = body.AsReject()) return m->reason.empty() ? m->set : fmt::format("{}: {}", m->set, m->reason);
  if (const auto* m = body.AsTask())
    return m->kind == wire::TaskKind::pack ? fmt::format("pack {} of {}", m->container, m->set)
                                           : fmt::format("deliver {} of {}", m->container, m->set);
  if (const auto* m = body.AsTaskDone()) return "done" + failure(*m);
  if (const auto* m = body.AsRestartRequest()) return fmt::format("start {} ranks {}", m->attempt, ranks(m->ranks));
  if (const auto* m = body.AsRestartReady())
    return m->found ? fmt::format("start {}: put {} in its place", m->attempt, m->stored_as)
                    : fmt::format("start {}: nothing, {}", m->attempt, m->message);
  if (const auto* m = body.AsRestartInPlace()) return fmt::format("start {}: {} is here", m->attempt, m->set);
  if (const auto* m = body.AsRestartPublished()) return "done" + (m->failed ? ": failed, " + m->error : std::string());
  if (const auto* m = body.AsRestart()) return m->newest;
  if (const auto* m = body.AsRestarted())
    return m->found ? fmt::format("from {}", m->set) : "from scratch: " + m->message;
  if (const auto* m = body.AsRefused()) return m->message;
  if (const auto* m = body.AsBegin()) return m->set;
  if (const auto* m = body.AsCompleted()) return m->set;
  if (const auto* m = body.AsWait()) return m->set;
  if (const auto* m = body.AsExclude()) return m->host;
  if (const auto* m = body.AsStop()) return m->message;
  if (const auto* m = body.AsSettled()) {
    std::string text;
    for (const auto& left : m->left)
      text += fmt::format("{}left {}: {}", text.empty() ? "" : "; ", left->name, left->reason);
    return text;
  }
  return {};
}

void add_once(std::vector<std::string>& list, const std::string& name) {
  if (std::ranges::find(list, name) == list.end()) list.push_back(name);
}

}  // namespace

std::string to_text(const wire::MessageT& message) {
  const std::string more = details(message);
  return fmt::format("{}{}{}", wire::EnumNameBody(message.body.type), more.empty() ? "" : " ", more);
}

bool is_small_talk(const wire::MessageT& message) {
  switch (message.body.type) {
    case wire::Body::Ping:
    case wire::Body::Welcome:
    case wire::Body::WorkerHello:
    case wire::Body::ClientHello:
    case wire::Body::Status:
    case wire::Body::StatusRequest:
    case wire::Body::Begun:
      return true;
    default:
      return false;
  }
}

void Trace::sent(const std::string& from, const std::string& to, const std::string& text) {
  if (!is_on_) return;
  if (!entries_.empty() && entries_.back().text == text && !entries_.back().to.empty()) {
    add_once(entries_.back().from, from);
    add_once(entries_.back().to, to);
  } else {
    entries_.push_back({{from}, {to}, text});
  }
}

void Trace::add(const std::string& who, const std::string& what) {
  if (!is_on_) return;
  if (!entries_.empty() && entries_.back().text == what && entries_.back().to.empty())
    add_once(entries_.back().from, who);
  else
    entries_.push_back({{who}, {}, what});
}

std::string Trace::take() {
  std::string text;
  for (const Entry& entry : entries_)
    if (entry.to.empty())
      text += fmt::format("{}: {}\n", fmt::join(entry.from, " "), entry.text);
    else
      text += fmt::format("  {} -> {}: {}\n", fmt::join(entry.from, " "), fmt::join(entry.to, " "), entry.text);
  entries_.clear();
  return text;
}

}  // namespace forebay::job::model

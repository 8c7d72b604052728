// What a service lends, and how it gets it back (service.h).
#include <algorithm>
#include <optional>
#include <unordered_set>
#include <vector>

#include "lock/service.h"
#include "lock/service_state.h"

namespace forebay::lock {
namespace {

std::unexpected<Error> not_lent() { return fail(ErrorKind::corrupt, "a return of what was not lent"); }

// The regions of what stays lent. What is in the place of a loan was in it, and has numbers that nothing else has.
template <class Requests, class Loan>
std::optional<std::vector<Region>> may_return(const Requests& in_use, const Loan& loan, const wire::Return& message) {
  std::unordered_set<uint64_t> numbers;
  const auto is_new = [&](uint64_t number) { return !in_use.contains(number) && numbers.insert(number).second; };
  Region bytes = Region::whole_file();
  if (loan.count != 0) {
    auto all = elements(loan.first, loan.stride, {0, loan.count});
    if (!all) return std::nullopt;
    bytes = *std::move(all);
  }
  for (const wire::Return::Part& part : message.parts) {
    if (part.request == message.loan ? !numbers.insert(part.request).second : !is_new(part.request))
      return std::nullopt;
    if (loan.access == Access::shared && part.access == Access::exclusive) return std::nullopt;
    if (loan.count != 0 && !covers(bytes, part.region)) return std::nullopt;
  }
  if (!message.kept.empty() && (loan.count == 0 || loan.splits >= Table::kMostSplits)) return std::nullopt;
  std::vector<Region> regions;
  for (const wire::Return::Kept& kept : message.kept) {
    if (!is_new(kept.loan) || kept.which.to > loan.count) return std::nullopt;
    auto region = elements(loan.first, loan.stride, kept.which);  // some need more levels than all together
    if (!region) return std::nullopt;
    regions.push_back(*std::move(region));
  }
  return regions;
}

// Elements of a loan that stay lent.
template <class Loan>
Loan part_of(const Loan& loan, Elements which, Ticket ticket) {
  Loan part = loan;
  part.ticket = ticket;
  part.count = which.to - which.from;
  if (auto first = elements(loan.first, loan.stride, {which.from, which.from + 1})) part.first = *std::move(first);
  ++part.splits;
  part.recalled = false;
  part.wanted = {};
  return part;
}

uint64_t memory_of(const wire::Return::Part& part) { return kEntryBytes + part.region.memory(); }

// Of elements that stay lent.
template <class Loan>
uint64_t memory_of(const Loan& loan, const Region& elements) {
  return kEntryBytes + loan.first.memory() + elements.memory();
}

template <class Loan>
uint64_t memory_of(const Loan& loan, const wire::Return& message, const std::vector<Region>& kept) {
  uint64_t all = 0;
  for (const wire::Return::Part& part : message.parts) all += memory_of(part);
  for (const Region& region : kept) all += memory_of(loan, region);
  return all;
}

}  // namespace

bool Service::may_lend(const Session& session, const File& file) const {
  return open_ && session.bell != 0 && file.table.empty() && file.solitude.alone();
}

// The whole file, or of what is asked ahead as much as is free.
std::optional<Table::Added> Service::lend(SessionId id, Session& session, File& file, wire::LockRequest& message,
                                          uint64_t& memory, std::vector<Outgoing>& out) {
  if (message.may_lend && may_lend(session, file)) {
    const auto ticket = file.table.try_add_roomy(Region::whole_file(), Access::exclusive);
    if (!ticket) return std::nullopt;
    file.loans.push_back({.ticket = *ticket});
    out.push_back({id, wire::Lent{message.request, 0}});
    return Table::Added{*ticket, true};
  }
  if (!open_ || session.bell == 0 || message.ahead.count == 0) return std::nullopt;
  if (message.region.terms().size() > Foresight::kMostTerms) return std::nullopt;
  for (uint64_t ahead = message.ahead.count; ahead > 0; ahead /= 4) {
    auto bytes = elements(message.region, message.ahead.stride, {0, ahead + 1});
    if (!bytes || !covers(*bytes, message.region)) continue;  // else the request itself could not be returned
    const uint64_t of_all = bytes->memory();
    if (session.memory + memory + of_all > options_.max_client_memory) continue;
    const auto ticket = file.table.try_add_roomy(*std::move(bytes), message.access);
    if (!ticket) continue;
    file.loans.push_back({.ticket = *ticket,
                          .access = message.access,
                          .first = std::move(message.region),
                          .stride = message.ahead.stride,
                          .count = ahead + 1});
    out.push_back({id, wire::Lent{message.request, ahead + 1}});
    memory += of_all;
    return Table::Added{*ticket, true};
  }
  return std::nullopt;
}

// Whether anything is lent that this request has to wait for. Of a progression only what it needs is recalled.
bool Service::recall(File& file, SessionId for_whom, const Region& region, Access access, std::vector<Outgoing>& out) {
  bool any = false;
  for (Loan& loan : file.loans) {
    if (loan.access == Access::shared && access == Access::shared) continue;
    Elements wanted;
    if (loan.count != 0) {
      if (apart(file.table.find(loan.ticket)->region->bounds(), region.bounds())) continue;  // most are
      wanted = touched(loan.first, loan.stride, loan.count, region);
      if (wanted.empty()) continue;
    }
    any = true;
    recall(file, loan, wanted, for_whom, out);
  }
  return any;
}

void Service::recall(File& file, Loan& loan, Elements wanted, SessionId for_whom, std::vector<Outgoing>& out) {
  if (std::exchange(loan.recalled, true)) {
    const Elements all{std::min(loan.wanted.from, wanted.from), std::max(loan.wanted.to, wanted.to)};
    if (all == loan.wanted) return;
    wanted = all;
  }
  loan.wanted = wanted;
  const File::Owner& owner = file.owners.at(loan.ticket);
  if (loan.count == 0 && owner.session != for_whom) file.solitude.recalled();
  const Session& session = sessions_.at(owner.session);
  if (!session.connected) return;
  if (session.bell != 0) out.push_back({session.bell, wire::Recall{owner.request, wanted}});
  out.push_back({owner.session, wire::Recall{owner.request, wanted}});
}

// Where the table ran out of effort, a request may wait for a loan of which it touches nothing.
void Service::recall_what_counts_as_in_the_way(File& file, std::vector<Outgoing>& out) {
  if (!file.table.ran_out() || file.loans.empty()) return;
  file.table.for_each([&](const Table::Entry& entry) {
    const auto loan = std::ranges::find(file.loans, entry.waits_for, &Loan::ticket);
    const auto owner = file.owners.find(entry.ticket);
    if (entry.granted || loan == file.loans.end() || owner == file.owners.end()) return;
    recall(file, *loan, {0, loan->count}, owner->second.session, out);
  });
}

Result<void> Service::receive(SessionId id, Session& session, wire::Return message, Time now,
                              std::vector<Outgoing>& out) {
  const auto found = session.requests.find(message.loan);
  if (found == session.requests.end() || !found->second.loan) {
    for (const wire::Return::Part& part : message.parts)
      if (!part.held) out.push_back({id, wire::Refused{part.request, wire::Reason::gone}});
    return {};
  }
  File& file = *found->second.file;
  const Ticket ticket = found->second.ticket;
  const auto place = std::ranges::find(file.loans, ticket, &Loan::ticket);
  const Loan loan = *place;
  auto kept_regions = may_return(session.requests, loan, message);
  if (!kept_regions) return not_lent();
  if (session.memory - found->second.memory + memory_of(loan, message, *kept_regions) >
      options_.max_client_memory + options_.max_returned_memory)
    return fail(ErrorKind::corrupt, "a return that needs more memory than a client may use");

  session.memory -= found->second.memory;
  session.requests.erase(found);
  file.owners.erase(ticket);
  file.loans.erase(place);
  std::vector<std::pair<uint64_t, Session::Request>> returned;
  std::vector<Table::Part> parts;
  for (wire::Return::Part& part : message.parts) {
    returned.push_back({part.request, {&file, 0, memory_of(part), part.held}});
    parts.push_back({std::move(part.region), part.access, part.held, false});
  }
  for (size_t i = 0; i < message.kept.size(); ++i) {
    Region& region = (*kept_regions)[i];
    returned.push_back({message.kept[i].loan, {&file, 0, memory_of(loan, region), true, false, true}});
    parts.push_back({std::move(region), loan.access, true, true});
  }
  const Table::Replaced replaced = file.table.replace(ticket, std::move(parts));
  for (size_t i = 0; i < replaced.parts.size(); ++i) {
    auto& [number, request] = returned[i];
    request.ticket = replaced.parts[i];
    session.memory += request.memory;
    file.owners.emplace(request.ticket, File::Owner{id, number, now});
    if (request.loan) file.loans.push_back(part_of(loan, message.kept[i - message.parts.size()].which, request.ticket));
    session.requests[number] = request;
  }
  notify(file, replaced.granted, now, out);
  if (!message.kept.empty()) recall_for_those_who_wait(file, out);
  recall_what_counts_as_in_the_way(file, out);
  decide_tries(file, now, out);
  drop_if_unused(file);
  return {};
}

// Those who came after the recall that was answered.
void Service::recall_for_those_who_wait(File& file, std::vector<Outgoing>& out) {
  file.table.for_each([&](const Table::Entry& entry) {
    const auto owner = file.owners.find(entry.ticket);
    if (!entry.granted && owner != file.owners.end())
      recall(file, owner->second.session, *entry.region, entry.access, out);
  });
}

// Those that have to wait for something else than loans.
void Service::decide_tries(File& file, Time now, std::vector<Outgoing>& out) {
  for (const File::Owner& one : std::exchange(file.tries, {})) {
    const auto session = sessions_.find(one.session);
    if (session == sessions_.end()) continue;
    const auto request = session->second.requests.find(one.request);
    if (request == session->second.requests.end() || request->second.granted) continue;
    const Ticket ticket = request->second.ticket;
    if (const auto entry = file.table.find(ticket);
        entry && recall(file, one.session, *entry->region, entry->access, out)) {
      file.tries.push_back(one);
      continue;
    }
    session->second.memory -= request->second.memory;
    session->second.requests.erase(request);
    file.owners.erase(ticket);
    out.push_back({one.session, wire::Refused{one.request, wire::Reason::busy}});
    remove(file, ticket, now, out);
  }
}

}  // namespace forebay::lock

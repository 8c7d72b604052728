#include "lock/service.h"

#include <algorithm>

#include <fmt/format.h>

#include "lock/service_state.h"

namespace forebay::lock {
namespace {

std::unexpected<Error> broken(std::string what) { return fail(ErrorKind::corrupt, std::move(what)); }

}  // namespace

Service::Service(const ServiceOptions& options, Time now)
    : options_(options), open_at_(now + options.hold_off), open_(options.hold_off.count() == 0) {
  if (!open_) next_tick_ = open_at_;
}

Service::~Service() = default;

Service::Time Service::end_of(const Session& session) const {
  return session.last_heard + options_.lease + options_.grace;
}

bool Service::busy() const {
  return std::ranges::any_of(sessions_, [](const auto& one) { return !one.second.requests.empty(); });
}

void Service::connected(SessionId id, std::string peer, Time now) {
  Session& session = sessions_[id];
  session.peer = std::move(peer);
  session.last_heard = now;
}

Result<void> Service::receive(SessionId id, wire::Decoded decoded, Time now, std::vector<Outgoing>& out) {
  const auto found = sessions_.find(id);
  if (found == sessions_.end()) return fail(ErrorKind::internal, "a message of an unknown session");
  Session& session = found->second;
  if (session.expired) return {};  // the client learns it from the message that was sent then
  session.last_heard = now;
  if (session.life_of != 0 || session.bell_of != 0) return broken("a message on a life line or a bell");
  if (auto* hello = std::get_if<wire::Hello>(&decoded.message)) {
    if (session.greeted) return broken("a second hello");
    session.greeted = true;
    session.hello = std::move(*hello);
    out.push_back({id, wire::Welcome{id, static_cast<uint64_t>(options_.lease.count()),
                                     static_cast<uint64_t>(options_.grace.count()), options_.max_terms,
                                     sessions_.size() < options_.max_lively_sessions}});
    return {};
  }
  if (const auto* life = std::get_if<wire::Life>(&decoded.message)) {
    if (session.greeted || life->session == 0) return broken("a life line of nobody");
    session.life_of = life->session;
    return {};
  }
  if (const auto* bell = std::get_if<wire::Bell>(&decoded.message)) return receive(id, session, *bell, out);
  if (!session.greeted) return broken("no hello at first");
  if (auto* lock = std::get_if<wire::LockRequest>(&decoded.message)) {
    if (decoded.too_long)
      out.push_back({id, wire::Refused{lock->request, wire::Reason::terms}});
    else
      receive(id, session, std::move(*lock), now, out);
  } else if (const auto* release = std::get_if<wire::Release>(&decoded.message)) {
    receive(session, *release, now, out);
  } else if (auto* loan = std::get_if<wire::Return>(&decoded.message)) {
    return receive(id, session, std::move(*loan), now, out);
  } else if (const auto* renew = std::get_if<wire::Renew>(&decoded.message)) {
    out.push_back({id, wire::Renewed{renew->number}});
  } else if (auto* file = std::get_if<wire::File>(&decoded.message)) {
    receive(id, session, std::move(*file));
  } else if (const auto* counter = std::get_if<wire::Counter>(&decoded.message)) {
    receive(id, session, *counter, out);
  } else {
    answer(id, std::get<wire::Query>(decoded.message), now, out);
  }
  return {};
}

void Service::receive(SessionId, Session& session, wire::File message) {
  if (session.files.size() <= message.number) session.files.resize(message.number + 1);
  auto& file = files_[message.name];
  if (!file) {
    file = std::make_unique<File>();
    file->name = std::move(message.name);
    file->table = Table(options_.table_effort);
  }
  File* const named = file.get();
  ++named->names;
  session.memory += kEntryBytes + named->name.size();
  File* const before = std::exchange(session.files[message.number], named);
  if (before == nullptr) return;
  session.memory -= kEntryBytes + before->name.size();
  unname(before);
}

void Service::unname(File* file) {
  --file->names;
  drop_if_unused(*file);
}

void Service::drop_if_unused(File& file) {
  if (file.names == 0 && file.owners.empty()) files_.erase(files_.find(file.name));
}

void Service::receive(SessionId id, Session& session, wire::LockRequest message, Time now, std::vector<Outgoing>& out) {
  const auto refuse = [&](wire::Reason reason) { out.push_back({id, wire::Refused{message.request, reason}}); };
  File* const file = message.file < session.files.size() ? session.files[message.file] : nullptr;
  if (file == nullptr) return refuse(wire::Reason::not_a_file);
  uint64_t memory = kEntryBytes + message.region.memory();
  if (session.memory + memory > options_.max_client_memory) return refuse(wire::Reason::memory);
  const auto [place, is_new] = session.requests.try_emplace(message.request);
  if (!is_new) return refuse(wire::Reason::in_use);

  const bool none_lent = file->loans.empty();
  if (none_lent) file->solitude.asked(id);
  auto added = lend(id, session, *file, message, memory, out);
  const bool lent = added.has_value();
  if (!lent && message.only_try) {
    if (open_)
      if (const auto ticket = file->table.try_add(message.region, message.access)) added = Table::Added{*ticket, true};
    if (!added && recall(*file, id, message.region, message.access, out)) {
      added = file->table.add(std::move(message.region), message.access);
      file->tries.push_back({id, message.request, now});
    }
  } else if (!lent) {
    added = file->table.add(std::move(message.region), message.access);
    if (!added->granted && !file->loans.empty())
      recall(*file, id, *file->table.find(added->ticket)->region, message.access, out);
  }
  if (!none_lent) file->solitude.asked(id);  // after the recall, if there was one
  if (!added) {
    session.requests.erase(place);
    return refuse(wire::Reason::busy);
  }
  session.memory += memory;
  place->second = {file, added->ticket, memory, added->granted, added->granted && !open_, lent};
  file->owners.emplace(added->ticket, File::Owner{id, message.request, now});
  recall_what_counts_as_in_the_way(*file, out);
  if (session.requests.size() == 1) next_tick_ = std::min(next_tick_, end_of(session));
  if (!lent && added->granted && open_) out.push_back({id, wire::Granted{message.request}});
}

Result<void> Service::receive(SessionId id, Session& session, const wire::Bell& message, std::vector<Outgoing>& out) {
  const auto client = sessions_.find(message.session);
  if (session.greeted || client == sessions_.end() || !client->second.greeted || client->second.bell != 0)
    return broken("a bell of nobody");
  session.bell_of = message.session;
  client->second.bell = id;
  out.push_back({id, wire::Renewed{message.session}});
  return {};
}

// What its owner does not know any more.
void Service::remove(File& file, Ticket ticket, Time now, std::vector<Outgoing>& out) {
  const bool loan = std::erase_if(file.loans, [ticket](const Loan& one) { return one.ticket == ticket; }) != 0;
  notify(file, file.table.remove(ticket), now, out);
  recall_what_counts_as_in_the_way(file, out);
  if (loan) decide_tries(file, now, out);
}

void Service::receive(Session& session, const wire::Release& message, Time now, std::vector<Outgoing>& out) {
  const auto found = session.requests.find(message.request);
  if (found == session.requests.end()) return;  // it was refused, and the client had given up on it
  File& file = *found->second.file;
  const Ticket ticket = found->second.ticket;
  session.memory -= found->second.memory;
  session.requests.erase(found);
  file.owners.erase(ticket);
  remove(file, ticket, now, out);
  drop_if_unused(file);
}

void Service::notify(const File& file, const std::vector<Ticket>& granted, Time, std::vector<Outgoing>& out) {
  for (const Ticket ticket : granted) {
    const auto owner = file.owners.find(ticket);
    if (owner == file.owners.end()) continue;
    const auto session = sessions_.find(owner->second.session);
    if (session == sessions_.end() || session->second.expired) continue;
    Session::Request& request = session->second.requests[owner->second.request];
    request.granted = true;
    if (open_)
      out.push_back({owner->second.session, wire::Granted{owner->second.request}});
    else
      request.deferred = true;
  }
}

void Service::receive(SessionId id, Session& session, const wire::Counter& message, std::vector<Outgoing>& out) {
  if (message.action == wire::CounterAction::forget) {
    const auto found = counters_.find(message.name);
    const int64_t before = found == counters_.end() ? 0 : found->second.value;
    if (found != counters_.end()) counters_.erase(found);
    if (session.counters.erase(message.name) != 0) session.memory -= kEntryBytes + message.name.size();
    out.push_back({id, wire::Value{message.request, before}});
    return;
  }
  const uint64_t memory = kEntryBytes + message.name.size();
  const bool known = session.counters.contains(message.name);
  if (!known && session.memory + memory > options_.max_client_memory) {
    out.push_back({id, wire::Refused{message.request, wire::Reason::memory}});
    return;
  }
  CounterState& counter = counters_[message.name];
  if (counter.id == 0) counter.id = next_counter_++;
  uint64_t& used = session.counters[message.name];
  if (!known) session.memory += memory;
  if (used != counter.id) ++counter.users;
  used = counter.id;
  const int64_t before = counter.value;
  counter.value = static_cast<int64_t>(static_cast<uint64_t>(before) + static_cast<uint64_t>(message.operand));
  out.push_back({id, wire::Value{message.request, before}});
}

void Service::end_requests(Session& session, Which which, Time now, std::vector<Outgoing>& out) {
  std::vector<Session::Request> requests;
  requests.reserve(session.requests.size());
  std::erase_if(session.requests, [&](const auto& one) {
    if (which == Which::waiting && one.second.granted) return false;
    requests.push_back(one.second);
    return true;
  });
  // The latest first: else one would be granted to this session only to be ended next.
  std::ranges::sort(requests, std::greater<>(), &Session::Request::ticket);
  for (const Session::Request& request : requests) {
    File& file = *request.file;
    file.owners.erase(request.ticket);
    session.memory -= request.memory;
    remove(file, request.ticket, now, out);
    drop_if_unused(file);
  }
}

void Service::end_use(Session& session) {
  for (File* file : session.files)
    if (file != nullptr) unname(file);
  session.files.clear();
  for (const auto& [name, id] : session.counters) {
    const auto counter = counters_.find(name);
    if (counter != counters_.end() && counter->second.id == id && --counter->second.users == 0)
      counters_.erase(counter);
  }
  session.counters.clear();
  session.memory = 0;
}

void Service::disconnected(SessionId id, Ending ending, Time now, std::vector<Outgoing>& out) {
  const auto found = sessions_.find(id);
  if (found == sessions_.end()) return;
  Session& session = found->second;
  if (const SessionId client = session.life_of; client != 0) {
    sessions_.erase(found);
    if (ending == Ending::orderly) process_gone(client, now, out);
    return;
  }
  if (const SessionId client = session.bell_of; client != 0) {
    sessions_.erase(found);
    if (const auto served = sessions_.find(client); served != sessions_.end()) served->second.bell = 0;
    return;
  }
  session.connected = false;
  end_requests(session, Which::waiting, now, out);
  const bool nothing_left = session.requests.empty() && session.counters.empty();
  if (ending == Ending::broken && !nothing_left && now < end_of(session)) {
    next_tick_ = std::min(next_tick_, end_of(session));
    return;
  }
  session.expired = true;
  end_requests(session, Which::all, now, out);
  end_use(session);
  sessions_.erase(found);
}

// The end of its other connection may be heard of sooner, later, or as a reset.
void Service::process_gone(SessionId id, Time now, std::vector<Outgoing>& out) {
  const auto found = sessions_.find(id);
  if (found == sessions_.end() || found->second.expired || !found->second.greeted) return;
  Session& session = found->second;
  session.expired = true;
  end_requests(session, Which::all, now, out);
  end_use(session);
  if (!session.connected) sessions_.erase(found);
}

void Service::open(Time, std::vector<Outgoing>& out) {
  open_ = true;
  for (auto& [id, session] : sessions_)
    for (auto& [number, request] : session.requests)
      if (std::exchange(request.deferred, false)) out.push_back({id, wire::Granted{number}});
}

// While its connection is there, such a session loses them and no more: a client that did nothing for a while because
// it was stopped has its counters still.
bool Service::has_only_loans(const Session& session) {
  return session.connected && std::ranges::all_of(session.requests, [](const auto& one) { return one.second.loan; });
}

void Service::take_loans(SessionId id, Session& session, Time now, std::vector<Outgoing>& out) {
  for (const auto& [number, request] : std::exchange(session.requests, {})) {
    File& file = *request.file;
    file.owners.erase(request.ticket);
    session.memory -= request.memory;
    out.push_back({id, wire::Taken{number}});
    remove(file, request.ticket, now, out);
    drop_if_unused(file);
  }
}

void Service::tick(Time now, std::vector<Outgoing>& out) {
  if (now < next_tick_) return;
  if (!open_ && now >= open_at_) open(now, out);
  next_tick_ = open_ ? Time::max() : open_at_;
  std::vector<SessionId> over, borrowers;
  for (const auto& [id, session] : sessions_) {
    if (session.expired || (session.connected && session.requests.empty())) continue;
    if (now >= end_of(session))
      (has_only_loans(session) ? borrowers : over).push_back(id);
    else
      next_tick_ = std::min(next_tick_, end_of(session));
  }
  for (const SessionId id : over) sessions_[id].expired = true;
  for (const SessionId id : borrowers) take_loans(id, sessions_[id], now, out);
  for (const SessionId id : over) {
    Session& session = sessions_[id];
    end_requests(session, Which::all, now, out);
    end_use(session);
    if (session.connected)
      out.push_back({id, wire::Expired{}});
    else
      sessions_.erase(id);
  }
}

}  // namespace forebay::lock

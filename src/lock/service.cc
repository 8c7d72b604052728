#include "lock/service.h"

#include <algorithm>
#include <unordered_set>

#include <fmt/format.h>

#include "lock/service_state.h"

namespace forebay::lock {
namespace {

// What a request, a file's name or a counter costs beside what it refers to: entries of tables, roughly.
constexpr uint64_t kEntryBytes = 512;

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
  const uint64_t memory = kEntryBytes + message.region.memory();
  if (session.memory + memory > options_.max_client_memory) return refuse(wire::Reason::memory);
  const auto [place, is_new] = session.requests.try_emplace(message.request);
  if (!is_new) return refuse(wire::Reason::in_use);

  if (file->loan) recall(*file, id, out);
  file->solitude.asked(id);
  const bool lends = message.may_lend && may_lend(session, *file);
  Table::Added added;
  if (lends) {
    added = file->table.add_roomy(Region::whole_file(), Access::exclusive);
    file->loan = File::Loan{added.ticket, false};
  } else if (message.only_try && file->loan) {
    added = file->table.add(std::move(message.region), message.access);
    file->tries.push_back({id, message.request, now});
  } else if (message.only_try) {
    const auto ticket = open_ ? file->table.try_add(std::move(message.region), message.access) : std::nullopt;
    if (!ticket) {
      session.requests.erase(place);
      return refuse(wire::Reason::busy);
    }
    added = {*ticket, true};
  } else {
    added = file->table.add(std::move(message.region), message.access);
  }
  session.memory += memory;
  place->second = {file, added.ticket, memory, added.granted, added.granted && !open_, lends};
  file->owners.emplace(added.ticket, File::Owner{id, message.request, now});
  if (session.requests.size() == 1) next_tick_ = std::min(next_tick_, end_of(session));
  if (lends)
    out.push_back({id, wire::Lent{message.request}});
  else if (added.granted && open_)
    out.push_back({id, wire::Granted{message.request}});
}

bool Service::may_lend(const Session& session, const File& file) const {
  return open_ && session.bell != 0 && file.table.empty() && file.solitude.alone();
}

void Service::recall(File& file, SessionId for_whom, std::vector<Outgoing>& out) {
  if (std::exchange(file.loan->recalled, true)) return;
  const File::Owner& owner = file.owners.at(file.loan->ticket);
  if (owner.session != for_whom) file.solitude.recalled();
  const Session& session = sessions_.at(owner.session);
  if (!session.connected) return;
  if (session.bell != 0) out.push_back({session.bell, wire::Recall{owner.request}});
  out.push_back({owner.session, wire::Recall{owner.request}});
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

Result<void> Service::receive(SessionId id, Session& session, wire::Return message, Time now,
                              std::vector<Outgoing>& out) {
  const auto found = session.requests.find(message.loan);
  if (found == session.requests.end() || !found->second.loan) {
    for (const wire::Return::Part& part : message.parts)
      if (!part.held) out.push_back({id, wire::Refused{part.request, wire::Reason::gone}});
    return {};
  }
  std::unordered_set<uint64_t> numbers;
  for (const wire::Return::Part& part : message.parts)
    if ((part.request != message.loan && session.requests.contains(part.request)) ||
        !numbers.insert(part.request).second)
      return broken("a number that is in use, in the return of a loan");

  File& file = *found->second.file;
  const Ticket ticket = found->second.ticket;
  session.memory -= found->second.memory;
  session.requests.erase(found);
  file.owners.erase(ticket);
  file.loan.reset();
  std::vector<Table::Part> parts;
  for (wire::Return::Part& part : message.parts) {
    const uint64_t memory = kEntryBytes + part.region.memory();
    session.memory += memory;
    session.requests[part.request] = {&file, 0, memory, part.held};
    parts.push_back({std::move(part.region), part.access, part.held});
  }
  const Table::Replaced replaced = file.table.replace(ticket, std::move(parts));
  for (size_t i = 0; i < replaced.parts.size(); ++i) {
    session.requests[message.parts[i].request].ticket = replaced.parts[i];
    file.owners.emplace(replaced.parts[i], File::Owner{id, message.parts[i].request, now});
  }
  notify(file, replaced.granted, now, out);
  decide_tries(file, now, out);
  drop_if_unused(file);
  return {};
}

// Those that have to wait for something else than the loan.
void Service::decide_tries(File& file, Time now, std::vector<Outgoing>& out) {
  for (const File::Owner& one : std::exchange(file.tries, {})) {
    const auto session = sessions_.find(one.session);
    if (session == sessions_.end()) continue;
    const auto request = session->second.requests.find(one.request);
    if (request == session->second.requests.end() || request->second.granted) continue;
    const Ticket ticket = request->second.ticket;
    session->second.memory -= request->second.memory;
    session->second.requests.erase(request);
    file.owners.erase(ticket);
    out.push_back({one.session, wire::Refused{one.request, wire::Reason::busy}});
    remove(file, ticket, now, out);
  }
}

// What its owner does not know any more.
void Service::remove(File& file, Ticket ticket, Time now, std::vector<Outgoing>& out) {
  const bool loan = file.loan && file.loan->ticket == ticket;
  if (loan) file.loan.reset();
  notify(file, file.table.remove(ticket), now, out);
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

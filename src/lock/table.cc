#include "lock/table.h"

#include <algorithm>
#include <list>
#include <map>
#include <utility>

#include "lock/overlap.h"
#include "lock/term_index.h"

namespace forebay::lock {
// Every request that waits watches one that stands in its way: the latest of those that came before it. When that one
// is gone, it looks for the next one before; what came in between was found not to stand in its way, and what comes
// later cannot. So a request is granted when nothing before it is in its way, and a queue takes memory in proportion to
// its length, even if everybody in it waits for everybody before.
struct Table::Impl {
  struct Request : TermIndex::Node {
    Region region;
    Ticket room = 0;
    Request* watched = nullptr;  // nothing if this one is granted
    std::list<Request*> watchers;
    std::list<Request*>::iterator place;  // among the watchers of `watched`
  };

  static Entry entry(const std::pair<const Ticket, Request>& one) {
    const Request& request = one.second;
    return {one.first, request.exclusive ? Access::exclusive : Access::shared, request.watched == nullptr,
            &request.region, request.watched ? request.watched->ticket : 0};
  }

  Impl(uint64_t steps, Ticket before) : most_effort(steps), last(before) {}

  uint64_t most_effort;
  bool ran_out = false;
  std::map<Ticket, Request> requests;
  TermIndex index;
  Ticket last;

  Request* in_the_way(const Region& region, bool exclusive, Ticket before, uint64_t& effort) const {
    return static_cast<Request*>(index.latest_before(before, region, exclusive, [&](const TermIndex::Node& other) {
      return overlap(static_cast<const Request&>(other).region, region, effort);
    }));
  }

  static void watch(Request& request, Request* watched) {
    request.watched = watched;
    if (watched) request.place = watched->watchers.insert(watched->watchers.end(), &request);
  }

  Request& insert(Ticket ticket, Region region, bool exclusive, Request* watched) {
    Request& request = requests[ticket];
    request.ticket = ticket;
    request.exclusive = exclusive;
    request.region = std::move(region);
    index.insert(request, request.region);
    watch(request, watched);
    return request;
  }

  // Adds the request unless `only_free` is set and it would have to wait. A sorted list is compared faster.
  std::optional<Added> add(Region region, Access access, bool only_free) {
    region.sort();
    const bool exclusive = access == Access::exclusive;
    uint64_t effort = most_effort;
    Request* watched = in_the_way(region, exclusive, last + 1, effort);
    ran_out = effort == 0;
    if (watched && only_free) return std::nullopt;
    insert(++last, std::move(region), exclusive, watched);
    return Added{last, watched == nullptr};
  }

  void make_room(Ticket ticket) {
    requests.at(ticket).room = kRoom;
    last += kRoom;
  }

  std::vector<Ticket> remove(Ticket ticket) {
    const auto place = requests.find(ticket);
    if (place == requests.end()) return {};
    Request& request = place->second;
    index.erase(request);
    if (request.watched) request.watched->watchers.erase(request.place);
    uint64_t effort = most_effort;
    std::vector<Ticket> granted;
    look_again(request.watchers, ticket, effort, granted);
    ran_out = effort == 0;
    requests.erase(place);
    std::ranges::sort(granted);
    return granted;
  }

  // What watched one that is gone looks for another one before `before`.
  void look_again(const std::list<Request*>& watchers, Ticket before, uint64_t& effort, std::vector<Ticket>& granted) {
    for (Request* watcher : watchers) {
      watch(*watcher, in_the_way(watcher->region, watcher->exclusive, before, effort));
      if (watcher->watched == nullptr) granted.push_back(watcher->ticket);
    }
  }

  Replaced replace(Ticket ticket, std::vector<Part> parts) {
    const auto place = requests.find(ticket);
    if (place == requests.end()) return {};
    Request& request = place->second;
    index.erase(request);
    uint64_t effort = most_effort;
    Replaced replaced;
    Ticket next = ticket;
    const Ticket room = request.room / (kMostRoomyParts + 1);
    Ticket roomy = ticket;
    for (Part& part : parts) {
      part.region.sort();
      const bool exclusive = part.access == Access::exclusive;
      const Ticket own = part.roomy ? (roomy += room) : ++next;
      Request* const watched = part.held ? nullptr : in_the_way(part.region, exclusive, own, effort);
      insert(own, std::move(part.region), exclusive, watched).room = part.roomy ? room : 0;
      replaced.parts.push_back(own);
      if (watched == nullptr && !part.held) replaced.granted.push_back(own);
    }
    look_again(request.watchers, ticket + request.room + 1, effort, replaced.granted);
    ran_out = effort == 0;
    requests.erase(place);
    std::ranges::sort(replaced.granted);
    return replaced;
  }
};

Table::Table(uint64_t effort, Ticket last) : impl_(std::make_unique<Impl>(effort, last)) {}
Table::~Table() = default;
Table::Table(Table&&) noexcept = default;
Table& Table::operator=(Table&&) noexcept = default;

Table::Added Table::add(Region region, Access access) { return *impl_->add(std::move(region), access, false); }

std::optional<Ticket> Table::try_add(Region region, Access access) {
  const std::optional<Added> added = impl_->add(std::move(region), access, true);
  return added ? std::optional(added->ticket) : std::nullopt;
}

std::optional<Ticket> Table::try_add_roomy(Region region, Access access) {
  if (impl_->last >= kLastRoomy) return std::nullopt;
  const auto ticket = try_add(std::move(region), access);
  if (ticket) impl_->make_room(*ticket);
  return ticket;
}

Table::Replaced Table::replace(Ticket ticket, std::vector<Part> parts) {
  return impl_->replace(ticket, std::move(parts));
}

std::vector<Ticket> Table::remove(Ticket ticket) { return impl_->remove(ticket); }

std::optional<Table::Entry> Table::find(Ticket ticket) const {
  const auto place = impl_->requests.find(ticket);
  return place == impl_->requests.end() ? std::nullopt : std::optional(Impl::entry(*place));
}

void Table::for_each(const std::function<void(const Entry&)>& visit) const {
  for (const auto& one : impl_->requests) visit(Impl::entry(one));
}

bool Table::ran_out() const { return impl_->ran_out; }

size_t Table::size() const { return impl_->requests.size(); }

}  // namespace forebay::lock

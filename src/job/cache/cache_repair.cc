// How a cache takes part in a repair: for some positions it receives what is missing, for others it leads.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "job/cache/cache_impl.h"

namespace forebay::job {
namespace {

using redundancy::Record;

std::vector<redundancy::Bad> bad_of(const wire::RepairT& order) {
  std::vector<redundancy::Bad> all;
  const auto n = static_cast<unsigned>(order.members.size());
  for (const uint32_t position : order.lost)
    for (unsigned row = 0; row < n; ++row)
      all.push_back({.member = position, .row = row, .first = 0, .count = UINT64_MAX});
  for (const auto& pieces : order.bad)
    if (std::ranges::find(order.lost, pieces->position) == order.lost.end())
      all.push_back({.member = pieces->position, .row = pieces->row, .first = pieces->first, .count = pieces->count});
  return all;
}

}  // namespace

bool Cache::Impl::Repair::is_lost(unsigned position) const {
  return std::ranges::find(order.lost, position) != order.lost.end();
}

bool Cache::Impl::is_current(const std::shared_ptr<Repair>& repair) const {
  const auto found = repairs.find({repair->order.id, repair->order.group});
  return found != repairs.end() && found->second == repair;
}

// Of a position that is not here: any survivor has all of it.
Result<Record> Cache::Impl::fetch_record(const Repair& repair, const EncodingKey& key) const {
  Result<Record> last = fail(ErrorKind::disconnected, "nobody has the record of this encoding");
  for (const unsigned from : repair.leaders) {
    const auto& member = *repair.order.members[from];
    const EncodingKey its{key.id, key.group, from};
    last = stored.read_record(its);
    if (!last) {
      const auto text =
          ask_record(options.access, member.addresses, its, wire::RecordPart::whole, repair.stop.get_token());
      last = text ? redundancy::decode_record(*text, member.host) : std::unexpected(text.error());
    }
    if (!last) continue;
    if (last->id == key.id && last->group == key.group && last->set == repair.order.set &&
        last->members.size() == repair.order.members.size() && last->chunk == repair.order.chunk &&
        last->losses == repair.order.losses) {
      last->position = key.position;
      return last;
    }
    last = fail(ErrorKind::corrupt, "its record is of another encoding", member.host);
  }
  return last;
}

void Cache::repair(const wire::RepairT& order, bool sync,
                   std::function<void(wire::RepairedT, const std::vector<uint32_t>&)> done) {
  Impl* const impl = impl_.get();
  const auto repair = std::make_shared<Impl::Repair>();
  repair->order = order;
  repair->sync = sync;
  repair->done = std::move(done);
  for (unsigned i = 0; i < order.members.size(); ++i)
    if (!repair->is_lost(i)) repair->leaders.push_back(i);
  std::set<unsigned> receivers(order.lost.begin(), order.lost.end());
  for (const auto& pieces : order.bad) receivers.insert(pieces->position);
  repair->receivers.assign(receivers.begin(), receivers.end());
  auto& current = impl->repairs[{order.id, order.group}];
  if (const auto before = std::exchange(current, nullptr)) {
    current = before;
    impl->end(before, fail(ErrorKind::cancelled, "another repair has taken its place"), {});
  }
  impl->repairs[{order.id, order.group}] = repair;

  const std::set<unsigned> self(order.self.begin(), order.self.end());
  for (const unsigned position : self) {
    const EncodingKey key{order.id, order.group, position};
    if (!repair->is_lost(position)) {
      const auto found = impl->held.find(key);
      if (found == impl->held.end() || found->second.record.set != order.set)
        return impl->end(repair, fail(ErrorKind::not_found, fmt::format("there is nothing of position {}", position)),
                         {});
      ++repair->leading;
    }
    if (receivers.contains(position)) {
      repair->positions[position];
      impl->pieces.expect(key);
      if (repair->is_lost(position)) impl->drop(key);
    }
  }
  for (const auto& [position, none] : repair->positions) {
    const EncodingKey key{order.id, order.group, position};
    impl->exchanges_.add(
        [impl, repair, key]() -> Result<std::shared_ptr<std::unique_ptr<PositionRepair>>> {
          const bool is_lost = repair->is_lost(key.position);
          FOREBAY_TRY(Record record, is_lost ? impl->fetch_record(*repair, key) : impl->stored.read_record(key));
          FOREBAY_TRY(auto made,
                      is_lost ? PositionRepair::whole(impl->options.stage, std::move(record))
                              : PositionRepair::pieces(impl->options.stage, std::move(record), bad_of(repair->order)));
          return std::make_shared<std::unique_ptr<PositionRepair>>(std::move(made));
        },
        [impl, repair](Result<std::shared_ptr<std::unique_ptr<PositionRepair>>> made) {
          if (!impl->is_current(repair)) return;
          if (!made) return impl->end(repair, std::unexpected(made.error()), {});
          impl->prepared(repair, std::move(**made));
        });
  }
  if (repair->positions.empty())
    for (const unsigned position : self) impl->lead(repair, position);
}

// Leading begins when all that is received here can be received.
void Cache::Impl::prepared(const std::shared_ptr<Repair>& repair, std::unique_ptr<PositionRepair> made) {
  const EncodingKey key = made->key();
  auto& at = repair->positions[key.position];
  at = std::move(made);
  pieces.accept(key, at->sink(), [this, repair, position = key.position](uint32_t from, const Result<void>& result) {
    if (!is_current(repair)) return;
    if (!result) return end(repair, result, from);
    repair->ended[position].insert(from);
    finish(repair);
  });
  if (!std::ranges::all_of(repair->positions, [](const auto& item) { return item.second != nullptr; })) return;
  for (const uint32_t position : std::set(repair->order.self.begin(), repair->order.self.end()))
    if (!repair->is_lost(position)) lead(repair, position);
}

void Cache::Impl::lead(const std::shared_ptr<Repair>& repair, unsigned position) {
  if (!is_current(repair)) return;
  const wire::RepairT& order = repair->order;
  auto task = std::make_shared<RepairLead>();
  task->key = {order.id, order.group, position};
  task->bad = bad_of(order);
  task->leaders = repair->leaders;
  task->receivers = repair->receivers;
  task->access = options.access;
  for (unsigned i = 0; i < order.members.size(); ++i) {
    GroupMember member{.name = order.members[i]->host.empty() ? order.members[i]->node : order.members[i]->host,
                       .addresses = order.members[i]->addresses,
                       .data = order.members[i]->data,
                       .parity = order.members[i]->parity,
                       .map = {},
                       .own = {},
                       .sink = {}};
    const auto own = held.find({order.id, order.group, i});
    if (own != held.end() && !repair->is_lost(i))
      member.own = OwnPart{.exposures = &exposures,
                           .data = own->second.data,
                           .parity = own->second.parity,
                           .map = PartMap(own->second.own().files)};
    if (const auto here = repair->positions.find(i); here != repair->positions.end())
      member.sink = here->second->sink();
    task->members.push_back(std::move(member));
  }
  leads_.add(
      [this, task, repair]() -> Result<GroupResult<uint64_t>> {
        FOREBAY_TRY(task->record, stored.read_record(task->key));
        for (size_t i = 0; i < task->members.size(); ++i) task->members[i].map = PartMap(task->record.members[i].files);
        return lead_repair(*task, repair->stop.get_token());
      },
      [this, repair, position](const Result<GroupResult<uint64_t>>& led) {
        if (!is_current(repair)) return;
        if (!led) return end(repair, std::unexpected(led.error()), {});
        if (!*led) return end(repair, std::unexpected(led->error().error), led->error().position);
        repair->moved += **led;
        --repair->leading;
        for (const auto& [here, received] : repair->positions) repair->ended[here].insert(position);
        finish(repair);
      });
}

void Cache::Impl::finish(const std::shared_ptr<Repair>& repair) {
  if (repair->leading > 0 || repair->is_finishing) return;
  for (const auto& [position, received] : repair->positions)
    if (received == nullptr || repair->ended[position].size() < repair->leaders.size()) return;
  repair->is_finishing = true;
  exchanges_.add(
      [repair]() -> Result<void> {
        for (const auto& [position, received] : repair->positions) FOREBAY_CHECK(received->finish(repair->sync));
        return {};
      },
      [this, repair](const Result<void>& finished) {
        if (is_current(repair)) end(repair, finished, {});
      });
}

// `repair` is an owner of its own: the one in `repairs` goes.
void Cache::Impl::end(std::shared_ptr<Repair> repair, const Result<void>& result, std::optional<unsigned> fault) {
  repair->stop.request_stop();
  repairs.erase({repair->order.id, repair->order.group});
  std::vector<uint32_t> ranks;
  for (const auto& [position, received] : repair->positions) {
    const EncodingKey key{repair->order.id, repair->order.group, position};
    pieces.forget(key);
    if (result && repair->is_lost(position)) {
      const auto& its = received->record().members[position].ranks;
      ranks.insert(ranks.end(), its.begin(), its.end());
      hold(key, received->record(), false);
    } else if (repair->is_lost(position)) {
      drop(key);
    }
    if (const auto at = held.find(key); at != held.end()) renew(at->second);
  }
  wire::RepairedT answer;
  answer.number = repair->order.number;
  answer.group = repair->order.group;
  answer.bytes = repair->moved;
  if (!result) set_fault(answer, {result.error(), fault});
  repair->done(std::move(answer), ranks);
}

void Cache::cancel_repair(uint64_t number) {
  for (const auto& [key, repair] : impl_->repairs)
    if (repair->order.number == number)
      return impl_->end(repair, fail(ErrorKind::cancelled, "it is not wanted any more"), {});
}

}  // namespace forebay::job

// How a cache makes an encoding.
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>

#include "base/catalogue.h"
#include "job/cache/cache_impl.h"
#include "job/stage/levels.h"
#include "job/wire/convert.h"
#include "store/files.h"

namespace forebay::job {
namespace {

using redundancy::Geometry;
using redundancy::Record;

redundancy::Scheme scheme_of(wire::Scheme scheme) {
  switch (scheme) {
    case wire::Scheme::partner:
      return redundancy::Scheme::partner;
    case wire::Scheme::rs:
      return redundancy::Scheme::rs;
    default:
      return redundancy::Scheme::xor_;
  }
}

Result<void> sync_files(const std::string& stage, const Record& record) {
  for (const auto& file : record.members[record.position].files) {
    if (file.kind != static_cast<uint8_t>(FileKind::regular)) continue;
    const std::string path = fmt::format("{}/{}/{}", stage, record.set, file.name);
    FOREBAY_TRY(const Fd opened, store::open_at(AT_FDCWD, path, O_RDONLY, path));
    FOREBAY_CHECK(store::sync_file(opened.get(), path));
  }
  return store::sync_directory(stage + "/" + record.set);
}

}  // namespace

Result<std::shared_ptr<Cache::Impl::Encode>> Cache::Impl::make(const wire::ProtectT& order, Part part) {
  std::vector<uint64_t> sizes;
  for (const auto& member : order.members) sizes.push_back(member->bytes);
  FOREBAY_TRY(Geometry geometry, Geometry::check(std::move(sizes), order.losses, order.chunk));
  const EncodingKey key{order.id, order.group, order.position};
  const PartMap map(part.record.members[0].files);
  if (map.size() != geometry.size(order.position))
    return fail(ErrorKind::changed,
                fmt::format("this node's part has {} bytes, not {}", map.size(), geometry.size(order.position)));
  // The parity lies where the set does.
  const auto place = place_of(options.stage, order.set);
  FOREBAY_TRY(Fd made, stored.create(key, geometry.parity_bytes(), place ? level_of(*place) : std::string()));
  const auto parity = std::make_shared<const Fd>(std::move(made));
  const std::string path = stored.parity_path(key);
  auto sink = std::make_shared<PieceSink>(
      geometry, order.position, [parity, path](const Geometry::Range& range, std::span<const std::byte> bytes) {
        return store::write_all(parity->get(), range.offset, bytes, path);
      });
  sink->want_parity();

  auto encode = std::make_shared<Encode>(geometry);
  EncodeTask& task = encode->task;
  task.key = key;
  task.record = std::move(part.record);
  task.record.id = order.id;
  task.record.scheme = scheme_of(order.scheme);
  task.record.group = order.group;
  task.record.groups = order.groups;
  task.record.position = order.position;
  task.record.losses = order.losses;
  task.record.chunk = order.chunk;
  redundancy::MemberRecord own = std::move(task.record.members[0]);
  task.record.members.assign(geometry.members(), {});
  task.record.members[order.position] = std::move(own);
  for (const auto& member : order.members)
    task.members.push_back({.host = member->host.empty() ? member->node : member->host,
                            .node = member->node,
                            .addresses = member->addresses,
                            .exposure = member->data,
                            .ranks = member->ranks});
  task.own = {.exposures = &exposures, .data = part.exposure, .map = map};
  task.sink = std::move(sink);
  task.access = options.access;
  encode->exposure = part.exposure;
  encode->sync = part.sync;
  if (geometry.chunk() > 0) encode->leaders = geometry.losses() - 1;
  return encode;
}

void Cache::protect(const wire::ProtectT& order, Part part, std::function<void(wire::ProtectedT)> done) {
  Impl* const impl = impl_.get();
  std::vector<EncodingKey> old;
  for (const auto& [key, held] : impl->held)
    if (held.record.set == order.set && !held.is_sealed && key.id != order.id) old.push_back(key);
  for (const EncodingKey& key : old) impl->drop(key);
  cancel(order.id);
  auto made = impl->make(order, std::move(part));
  if (!made) {
    impl->drop({order.id, order.group, order.position});
    impl->forget(order.id);
    wire::ProtectedT answer;
    answer.id = order.id;
    set_fault(answer, {made.error(), {}});
    return done(std::move(answer));
  }
  const auto encode = *made;
  const EncodingKey key = encode->task.key;
  encode->done = std::move(done);
  impl->encodes[key] = encode;
  impl->pieces.accept(key, encode->task.sink, [impl, encode](uint32_t from, const Result<void>& result) {
    if (!impl->is_current(encode)) return;
    if (!result) return impl->fail_encode(encode, {result.error(), from});
    encode->ended.insert(from);
    impl->go_on(encode);
  });
  for (auto at = impl->unknown.begin(); at != impl->unknown.end();) {
    const auto node = at->second.id == key.id && at->second.group == key.group && at->second.position == key.position
                          ? impl->unknown.extract(at++)
                          : (++at, decltype(impl->unknown)::node_type());
    if (node) impl->request(node.key(), node.mapped());
  }
  impl->leads_.add(
      [encode]() -> Result<GroupResult<EncodeLead>> { return lead_encoding(encode->task, encode->stop.get_token()); },
      [impl, encode](Result<GroupResult<EncodeLead>> lead) {
        impl->led(encode, lead ? std::move(*lead) : std::unexpected(GroupFault{lead.error(), {}}));
      });
}

bool Cache::Impl::is_current(const std::shared_ptr<Encode>& encode) const {
  const auto found = encodes.find(encode->task.key);
  return found != encodes.end() && found->second == encode;
}

void Cache::Impl::led(const std::shared_ptr<Encode>& encode, GroupResult<EncodeLead> lead) {
  if (!is_current(encode)) return;
  if (!lead) return fail_encode(encode, lead.error());
  encode->lead = std::move(*lead);
  go_on(encode);
}

// When data and parity are there: this member's record is complete, and those of the others are wanted.
void Cache::Impl::go_on(const std::shared_ptr<Encode>& encode) {
  if (!encode->lead || encode->ended.size() < encode->leaders || encode->own) return;
  const EncodeTask& task = encode->task;
  if (const auto complete = task.sink->check_complete(); !complete) return fail_encode(encode, {complete.error(), {}});
  encode->own = task.record.members[task.key.position];
  encode->own->data_sums = encode->lead->data_sums;
  encode->own->parity_sums = task.sink->parity_sums();
  for (const Asking& asking : std::exchange(encode->asking, {})) answer(asking, *encode->own, true);
  exchanges_.add(
      [this, encode]() -> Result<GroupResult<Record>> {
        const uint64_t cpu_before = thread_cpu_us();
        auto record = exchange_records(encode->task, *encode->lead, *encode->own, encode->stop.get_token());
        if (!record) return record;
        FOREBAY_CHECK(exposures.check_unchanged(encode->exposure));
        if (encode->sync) FOREBAY_CHECK(sync_files(options.stage, *record));
        FOREBAY_CHECK(stored.put_record(encode->task.key, *record, encode->sync));
        encode->lead->cpu_us += thread_cpu_us() - cpu_before;
        return record;
      },
      [this, encode](Result<GroupResult<Record>> record) {
        exchanged(encode, record ? std::move(*record) : std::unexpected(GroupFault{record.error(), {}}));
      });
}

void Cache::Impl::exchanged(const std::shared_ptr<Encode>& encode, GroupResult<Record> record) {
  if (!is_current(encode)) return;
  if (!record) return fail_encode(encode, record.error());
  const EncodingKey key = encode->task.key;
  hold(key, std::move(*record), false);
  renew(held[key]);
  encodes.erase(key);
  pieces.forget(key);
  wire::ProtectedT answer;
  answer.id = key.id;
  answer.sent_bytes = encode->lead->moved_bytes;
  answer.cpu_us = encode->lead->cpu_us;
  answer.data = held[key].data;
  answer.parity = held[key].parity;
  encode->done(std::move(answer));
}

void Cache::Impl::fail_encode(const std::shared_ptr<Encode>& encode, const GroupFault& fault) {
  const EncodingKey key = encode->task.key;
  encode->stop.request_stop();
  for (const Asking& asking : encode->asking) send(asking.who, wire::refusal_of(fault.error));
  encodes.erase(key);
  pieces.forget(key);
  drop(key);
  forget(key.id);
  wire::ProtectedT answer;
  answer.id = key.id;
  set_fault(answer, fault);
  encode->done(std::move(answer));
}

void Cache::cancel(uint64_t id) {
  std::vector<EncodingKey> gone;
  for (const auto& [key, encode] : impl_->encodes) {
    if (key.id != id) continue;
    encode->stop.request_stop();
    gone.push_back(key);
  }
  for (const EncodingKey& key : gone) {
    impl_->encodes.erase(key);
    impl_->pieces.forget(key);
  }
  for (const auto& [key, held] : impl_->held)
    if (key.id == id && !held.is_sealed) gone.push_back(key);
  for (const EncodingKey& key : gone) impl_->drop(key);
  if (!gone.empty()) impl_->forget(id);
}

}  // namespace forebay::job

#include "job/cache/cache.h"

#include <utility>

#include <fmt/format.h>
#include <sys/stat.h>

#include "base/catalogue.h"
#include "job/cache/cache_impl.h"
#include "job/stage/stage_notes.h"
#include "job/wire/convert.h"

namespace forebay::job {
namespace {

using redundancy::MemberRecord;
using redundancy::Record;

uint64_t bytes_of(const MemberRecord& member) { return PartMap(member.files).size(); }

std::vector<uint8_t> as_numbers(const std::string& text) { return {text.begin(), text.end()}; }

MemberRecord without_sums(MemberRecord member) {
  member.data_sums.clear();
  member.parity_sums.clear();
  return member;
}

}  // namespace

Cache::Impl::Impl(Options its_options, fabric::Hub& its_hub, fabric::Exposures& its_exposures)
    : options(std::move(its_options)),
      hub(its_hub),
      exposures(its_exposures),
      stored(options.stage),
      pieces(its_hub),
      leads_([&its_hub](auto what) { its_hub.post(std::move(what)); }),
      exchanges_([&its_hub](auto what) { its_hub.post(std::move(what)); }),
      answers_([&its_hub](auto what) { its_hub.post(std::move(what)); }) {}

Cache::Cache(Options options, fabric::Hub& hub, fabric::Exposures& exposures)
    : impl_(std::make_unique<Impl>(std::move(options), hub, exposures)) {}

Cache::~Cache() {
  impl_->stop.request_stop();
  for (const auto& [key, encode] : impl_->encodes) encode->stop.request_stop();
  for (const auto& [key, repair] : impl_->repairs) repair->stop.request_stop();
}

Result<void> Cache::begin() {
  FOREBAY_TRY(const auto keys, impl_->stored.list());
  for (const EncodingKey& key : keys) {
    auto record = impl_->stored.read_record(key);
    if (record && has_set(impl_->options.stage, record->set).value_or(false)) {
      impl_->hold(key, std::move(*record), impl_->stored.is_sealed(key));
      continue;
    }
    if (!record) impl_->say(fabric::Severity::warning, record.error().message());
    FOREBAY_CHECK(impl_->stored.discard(key));
  }
  return {};
}

void Cache::Impl::hold(const EncodingKey& key, Record record, bool is_sealed) {
  Held& at = held[key];
  unexpose(at);
  at.is_sealed = is_sealed;
  at.bytes.clear();
  for (MemberRecord& member : record.members) {
    at.bytes.push_back(bytes_of(member));
    member = without_sums(std::move(member));
    member.markers.clear();
    if (at.bytes.size() - 1 != record.position) member.files.clear();
  }
  at.record = std::move(record);
}

void Cache::Impl::unexpose(Held& at) {
  if (at.data != 0) exposures.remove(std::exchange(at.data, 0));
  if (at.parity != 0) exposures.remove(std::exchange(at.parity, 0));
}

void Cache::Impl::drop(const EncodingKey& key) {
  if (const auto found = held.find(key); found != held.end()) {
    unexpose(found->second);
    held.erase(found);
  }
  if (auto gone = stored.discard(key); !gone) say(fabric::Severity::warning, gone.error().message());
}

// Those of the stage, if they are as they were recorded.
std::optional<std::vector<fabric::ExposedFile>> Cache::Impl::files_of(const Held& at) const {
  std::vector<fabric::ExposedFile> files;
  for (const redundancy::RecordedFile& file : at.own().files) {
    if (file.kind != static_cast<uint8_t>(FileKind::regular)) continue;
    std::string path = fmt::format("{}/{}/{}", options.stage, at.record.set, file.name);
    struct stat info{};
    if (::lstat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return std::nullopt;
    const auto identity = FileSource::identity_of(info);
    if (identity.size != file.size || identity.mtime_s != file.mtime_s || identity.mtime_ns != file.mtime_ns)
      return std::nullopt;
    files.push_back({std::move(path), identity});
  }
  return files;
}

std::vector<std::unique_ptr<wire::EncodingT>> Cache::offer(const std::string& set, uint64_t write) {
  std::vector<std::unique_ptr<wire::EncodingT>> all;
  for (auto& [key, held] : impl_->held) {
    const Record& record = held.record;
    if (record.set != set || (write != 0 && record.write != 0 && write != record.write)) continue;
    impl_->renew(held);
    if (held.data == 0) continue;
    auto encoding = std::make_unique<wire::EncodingT>();
    encoding->id = key.id;
    encoding->group = key.group;
    encoding->groups = record.groups;
    encoding->position = key.position;
    encoding->losses = record.losses;
    encoding->chunk = record.chunk;
    encoding->is_encoded = true;
    encoding->is_sealed = held.is_sealed;
    for (size_t i = 0; i < record.members.size(); ++i) {
      auto member = std::make_unique<wire::MemberT>();
      member->host = record.members[i].host;
      member->node = record.members[i].node;
      member->bytes = held.bytes[i];
      member->ranks = record.members[i].ranks;
      if (i == key.position) {
        member->data = held.data;
        member->parity = held.parity;
      }
      encoding->members.push_back(std::move(member));
    }
    all.push_back(std::move(encoding));
  }
  return all;
}

bool Cache::protects(const std::string& set) const {
  for (const auto& [key, held] : impl_->held)
    if (held.record.set == set) return true;
  return false;
}

void Cache::discard(const std::string& set) {
  std::vector<EncodingKey> gone;
  for (const auto& [key, held] : impl_->held)
    if (held.record.set == set) gone.push_back(key);
  for (const EncodingKey& key : gone) impl_->drop(key);
  std::set<uint64_t> ids;
  for (const auto& [key, encode] : impl_->encodes)
    if (encode->task.record.set == set) ids.insert(key.id);
  for (const uint64_t id : ids) cancel(id);
}

std::vector<std::string> Cache::sets() const {
  std::set<std::string> names;
  for (const auto& [key, held] : impl_->held) names.insert(held.record.set);
  return {names.begin(), names.end()};
}

void Cache::seal(uint64_t id, bool sync, std::function<void(wire::SealedT)> done) {
  wire::SealedT answer;
  answer.id = id;
  size_t sealed = 0;
  for (auto& [key, held] : impl_->held) {
    if (key.id != id) continue;
    const auto noted = held.is_sealed ? Result<void>() : impl_->stored.seal(key, sync);
    held.is_sealed = held.is_sealed || noted.has_value();
    ++sealed;
    if (noted) continue;
    answer.failed = true;
    answer.error = noted.error().message();
  }
  if (sealed == 0) {
    answer.failed = true;
    answer.error = "there is nothing of this encoding";
  }
  done(std::move(answer));
}

bool Cache::handles(wire::Body message) {
  return message == wire::Body::RecordRequest || message == wire::Body::PiecesEnd;
}

Result<void> Cache::received(fabric::ConnectionId id, const fabric::Frame& frame) {
  return impl_->pieces.received(id, frame);
}

Result<void> Cache::received(fabric::ConnectionId id, const wire::MessageT& message) {
  if (const auto* end = message.body.AsPiecesEnd()) return impl_->pieces.received(id, *end);
  if (const auto* wanted = message.body.AsRecordRequest()) impl_->request(id, *wanted);
  return {};
}

void Cache::Impl::answer(const Asking& asking, const MemberRecord& member, bool with_sums) {
  wire::RecordT record;
  record.record = as_numbers(redundancy::encode_member(with_sums ? member : without_sums(member)));
  send(asking.who, std::move(record));
}

void Cache::Impl::request(fabric::ConnectionId who, const wire::RecordRequestT& wanted) {
  const EncodingKey key{wanted.id, wanted.group, wanted.position};
  if (const auto found = encodes.find(key); found != encodes.end() && wanted.part != wire::RecordPart::whole) {
    Encode& encode = *found->second;
    const Asking asking{who, wanted.part};
    if (wanted.part == wire::RecordPart::files) return answer(asking, encode.task.record.members[key.position], false);
    if (encode.own) return answer(asking, *encode.own, true);
    encode.asking.push_back(asking);
    return;
  }
  if (held.contains(key)) return serve(key, {who, wanted.part});
  if (is_over(key.id)) return refuse(who);
  unknown.insert_or_assign(who, wanted);
}

void Cache::Impl::refuse(fabric::ConnectionId who) {
  send(who,
       wire::refusal_of({ErrorKind::not_found, "the encoding has failed here, or is not wanted any more", {}, {}, {}}));
}

void Cache::Impl::forget(uint64_t id) {
  constexpr size_t kKept = 64;
  if (is_over(id)) return;
  over.push_back(id);
  if (over.size() > kKept) over.pop_front();
  for (auto at = unknown.begin(); at != unknown.end();) {
    if (at->second.id == id) refuse(at->first);
    at = at->second.id == id ? unknown.erase(at) : std::next(at);
  }
}

// From the disk.
void Cache::Impl::serve(const EncodingKey& key, const Asking& asking) {
  waiting.insert(asking.who);
  answers_.add(
      [this, key, part = asking.part]() -> Result<std::string> {
        FOREBAY_TRY(const Record record, stored.read_record(key));
        if (part == wire::RecordPart::whole) return redundancy::encode_record(record);
        const MemberRecord& own = record.members[key.position];
        return redundancy::encode_member(part == wire::RecordPart::files ? without_sums(own) : own);
      },
      [this, who = asking.who](const Result<std::string>& text) {
        if (waiting.erase(who) == 0) return;
        if (!text) return send(who, wire::refusal_of(text.error()));
        wire::RecordT record;
        record.record = as_numbers(*text);
        send(who, std::move(record));
      });
}

void Cache::disconnected(fabric::ConnectionId id) {
  impl_->unknown.erase(id);
  impl_->waiting.erase(id);
  for (const auto& [key, encode] : impl_->encodes)
    std::erase_if(encode->asking, [&](const Impl::Asking& asking) { return asking.who == id; });
  impl_->pieces.disconnected(id);
}

void Cache::ping() {
  impl_->pieces.ping();
  for (const auto id : impl_->waiting) impl_->send(id, wire::PingT());
  for (const auto& [key, encode] : impl_->encodes)
    for (const auto& asking : encode->asking) impl_->send(asking.who, wire::PingT());
}

bool Cache::is_busy() const {
  return impl_->pieces.is_busy() || !impl_->waiting.empty() || !impl_->encodes.empty() || !impl_->repairs.empty();
}

}  // namespace forebay::job

#include "lock/wire.h"

#include <fmt/format.h>

#include "lock/wire_region.h"

namespace forebay::lock::wire {
namespace {

// A frame under construction.
class Writer {
 public:
  Writer(Bytes& to, Type type) : to_(to), begin_(fabric::begin_frame(to, static_cast<uint8_t>(type))) {}
  ~Writer() { fabric::end_frame(to_, begin_); }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  Writer& number(uint64_t value) { return put_varint(to_, value), *this; }
  Writer& signed_number(int64_t value) { return put_signed_varint(to_, value), *this; }
  Writer& text(std::string_view value) { return put_text(to_, value), *this; }
  Bytes& bytes() { return to_; }

 private:
  Bytes& to_;
  size_t begin_;
};

// Bits of a lock request (kMayLend, kAhead), and of a request in a status or a return (kGranted).
enum Flags : uint64_t { kExclusive = 1, kOnlyTry = 2, kGranted = 4, kMayLend = 4, kAhead = 8 };
// Bits of a status.
enum StatusFlags : uint64_t { kLast = 1, kTruncated = 2 };

uint64_t flag(bool set, uint64_t bit) { return set ? bit : 0; }

void put(Bytes& to, const Welcome& m) {
  Writer(to, Type::welcome)
      .number(m.session)
      .number(m.lease_ms)
      .number(m.grace_ms)
      .number(m.max_terms)
      .number(m.life_line);
}
void put(Bytes& to, const Granted& m) { Writer(to, Type::granted).number(m.request); }
void put(Bytes& to, const Refused& m) {
  Writer(to, Type::refused).number(m.request).number(static_cast<uint64_t>(m.reason));
}
void put(Bytes& to, const Renewed& m) { Writer(to, Type::renewed).number(m.number); }
void put(Bytes& to, const Value& m) { Writer(to, Type::value).number(m.request).signed_number(m.value); }
void put(Bytes& to, const Expired&) { Writer(to, Type::expired); }
void put(Bytes& to, const Lent& m) { Writer(to, Type::lent).number(m.request).number(m.count); }
void put(Bytes& to, const Recall& m) {
  Writer(to, Type::recall).number(m.loan).number(m.wanted.from).number(m.wanted.to);
}
void put(Bytes& to, const Taken& m) { Writer(to, Type::taken).number(m.loan); }

void put(Bytes& to, const Status& m) {
  Writer writer(to, Type::status);
  writer.number(m.request).number(flag(m.last, kLast) | flag(m.truncated, kTruncated));
  writer.number(m.clients.size());
  for (const StatusClient& one : m.clients) {
    writer.number(one.session).text(one.label).text(one.host).text(one.peer).number(one.pid).number(one.silent_ms);
    writer.number(one.connected);
  }
  writer.number(m.requests.size());
  std::string_view file;  // written where it changes
  for (const StatusRequest& one : m.requests) {
    writer.text(one.file == file ? std::string_view{} : one.file);
    file = one.file;
    writer.number(one.ticket).number(one.session).number(one.waits_for).number(one.age_ms);
    writer.number(flag(one.access == Access::exclusive, kExclusive) | flag(one.granted, kGranted));
    writer.number(one.bounds.first).number(one.bounds.end).number(one.segments);
  }
  writer.number(m.counters.size());
  for (const StatusCounter& one : m.counters) writer.text(one.name).signed_number(one.value);
}

Hello read_hello(Cursor& from) {
  Hello m;
  m.label = from.varint_text(kMaxLabelBytes);
  m.host = from.varint_text(kMaxLabelBytes);
  m.pid = from.varint();
  return m;
}

// An empty name would be taken for "the same as before" in a status.
std::string read_name(Cursor& from) {
  const std::string_view name = from.varint_text(kMaxNameBytes);
  if (name.empty()) from.refuse();
  return std::string(name);
}

File read_file(Cursor& from) {
  File m;
  m.number = static_cast<uint32_t>(from.varint(kMaxFiles - 1));
  m.name = read_name(from);
  return m;
}

Counter read_counter(Cursor& from) {
  Counter m;
  m.request = from.varint();
  m.action = static_cast<CounterAction>(from.varint(1));
  m.operand = from.signed_varint();
  m.name = read_name(from);
  return m;
}

Result<Decoded> read_lock(Cursor& from, uint64_t max_terms) {
  LockRequest m;
  m.request = from.varint();
  m.file = static_cast<uint32_t>(from.varint(kMaxFiles - 1));
  const uint64_t flags = from.varint(kExclusive | kOnlyTry | kMayLend | kAhead);
  m.access = (flags & kExclusive) ? Access::exclusive : Access::shared;
  m.only_try = (flags & kOnlyTry) != 0;
  m.may_lend = (flags & kMayLend) != 0;
  auto region = read_region(from, max_terms);
  if (!region && region.error().kind == ErrorKind::limit) return Decoded{std::move(m), true};
  if (!region) return std::unexpected(std::move(region).error());
  m.region = std::move(*region);
  if ((flags & kAhead) != 0) {
    m.ahead = {from.varint(), from.varint(kMaxAhead)};
    if (m.ahead.stride == 0 || m.ahead.count == 0) from.refuse();
  }
  return Decoded{std::move(m)};
}

Elements read_elements(Cursor& from) {
  const uint64_t begin = from.varint(kMaxAhead + 1);
  return {begin, from.varint(kMaxAhead + 1)};
}

// A client composes it of requests that it would have sent one by one: a list that is too long breaks the protocol.
Result<Return> read_return(Cursor& from, uint64_t max_terms) {
  Return m;
  m.loan = from.varint();
  for (uint64_t left = from.varint(kMaxReturned); left > 0 && from.ok(); --left) {
    Return::Part& part = m.parts.emplace_back();
    part.request = from.varint();
    const uint64_t flags = from.varint(kExclusive | kOnlyTry | kGranted);
    if ((flags & kOnlyTry) != 0) from.refuse();
    part.access = (flags & kExclusive) ? Access::exclusive : Access::shared;
    part.held = (flags & kGranted) != 0;
    FOREBAY_TRY(part.region, read_region(from, max_terms));
  }
  for (uint64_t left = from.varint(kMaxKept); left > 0 && from.ok(); --left) {
    Return::Kept& kept = m.kept.emplace_back();
    kept.loan = from.varint();
    kept.which = read_elements(from);
    if (kept.which.empty()) from.refuse();
  }
  return m;
}

std::vector<StatusClient> read_clients(Cursor& from) {
  std::vector<StatusClient> list;
  for (uint64_t left = from.varint(kMaxStatusEntries); left > 0 && from.ok(); --left) {
    StatusClient& one = list.emplace_back();
    one.session = from.varint();
    one.label = from.varint_text(kMaxLabelBytes);
    one.host = from.varint_text(kMaxLabelBytes);
    one.peer = from.varint_text(kMaxLabelBytes);
    one.pid = from.varint();
    one.silent_ms = from.varint();
    one.connected = from.varint(1) != 0;
  }
  return list;
}

std::vector<StatusRequest> read_requests(Cursor& from) {
  std::vector<StatusRequest> list;
  std::string_view file;
  for (uint64_t left = from.varint(kMaxStatusEntries); left > 0 && from.ok(); --left) {
    StatusRequest& one = list.emplace_back();
    if (const auto name = from.varint_text(kMaxNameBytes); !name.empty()) file = name;
    one.file = file;
    one.ticket = from.varint();
    one.session = from.varint();
    one.waits_for = from.varint();
    one.age_ms = from.varint();
    const uint64_t flags = from.varint(kExclusive | kOnlyTry | kGranted);
    one.access = (flags & kExclusive) ? Access::exclusive : Access::shared;
    one.granted = (flags & kGranted) != 0;
    one.bounds.first = from.varint();
    one.bounds.end = from.varint();
    one.segments = from.varint();
  }
  return list;
}

std::vector<StatusCounter> read_counters(Cursor& from) {
  std::vector<StatusCounter> list;
  for (uint64_t left = from.varint(kMaxStatusEntries); left > 0 && from.ok(); --left) {
    StatusCounter& one = list.emplace_back();
    one.name = from.varint_text(kMaxNameBytes);
    one.value = from.signed_varint();
  }
  return list;
}

Status read_status(Cursor& from) {
  Status m;
  m.request = from.varint();
  const uint64_t flags = from.varint(kLast | kTruncated);
  m.last = (flags & kLast) != 0;
  m.truncated = (flags & kTruncated) != 0;
  m.clients = read_clients(from);
  m.requests = read_requests(from);
  m.counters = read_counters(from);
  return m;
}

std::unexpected<Error> broken(uint8_t type) {
  return fail(ErrorKind::corrupt, fmt::format("a message of type {} that cannot be read", type));
}

}  // namespace

void encode(Bytes& to, const Hello& m) { Writer(to, Type::hello).text(m.label).text(m.host).number(m.pid); }
void encode(Bytes& to, uint32_t number, std::string_view file_name) {
  Writer(to, Type::file).number(number).text(file_name);
}
void encode(Bytes& to, uint64_t request, uint32_t file, Access access, LockFlags flags, const Region& region) {
  Writer writer(to, Type::lock);
  writer.number(request).number(file);
  writer.number(flag(access == Access::exclusive, kExclusive) | flag(flags.only_try, kOnlyTry) |
                flag(flags.may_lend, kMayLend) | flag(flags.ahead.count != 0, kAhead));
  put_region(writer.bytes(), region);
  if (flags.ahead.count != 0) writer.number(flags.ahead.stride).number(flags.ahead.count);
}
void encode(Bytes& to, const Release& m) { Writer(to, Type::release).number(m.request); }
void encode(Bytes& to, const Renew& m) { Writer(to, Type::renew).number(m.number); }
void encode(Bytes& to, const Counter& m) {
  Writer(to, Type::counter)
      .number(m.request)
      .number(static_cast<uint64_t>(m.action))
      .signed_number(m.operand)
      .text(m.name);
}
void encode(Bytes& to, const Query& m) { Writer(to, Type::query).number(m.request); }
void encode(Bytes& to, const Life& m) { Writer(to, Type::life).number(m.session); }
void encode(Bytes& to, const Bell& m) { Writer(to, Type::bell).number(m.session); }
void encode(Bytes& to, const Return& m) {
  Writer writer(to, Type::give_back);
  writer.number(m.loan).number(m.parts.size());
  for (const Return::Part& part : m.parts) {
    writer.number(part.request);
    writer.number(flag(part.access == Access::exclusive, kExclusive) | flag(part.held, kGranted));
    put_region(writer.bytes(), part.region);
  }
  writer.number(m.kept.size());
  for (const Return::Kept& kept : m.kept) writer.number(kept.loan).number(kept.which.from).number(kept.which.to);
}
void encode(Bytes& to, const ServerMessage& message) {
  std::visit([&to](const auto& m) { put(to, m); }, message);
}

Result<Decoded> decode_client(const fabric::Frame& frame, uint64_t max_terms) {
  Cursor from(frame.body);
  Decoded decoded;
  switch (static_cast<Type>(frame.type)) {
    case Type::hello:
      decoded.message = read_hello(from);
      break;
    case Type::file:
      decoded.message = read_file(from);
      break;
    case Type::lock: {
      FOREBAY_TRY(decoded, read_lock(from, max_terms));
      if (decoded.too_long) return decoded;
      break;
    }
    case Type::release:
      decoded.message = Release{from.varint()};
      break;
    case Type::renew:
      decoded.message = Renew{from.varint()};
      break;
    case Type::counter:
      decoded.message = read_counter(from);
      break;
    case Type::query:
      decoded.message = Query{from.varint()};
      break;
    case Type::life:
      decoded.message = Life{from.varint()};
      break;
    case Type::bell:
      decoded.message = Bell{from.varint()};
      break;
    case Type::give_back: {
      auto given_back = read_return(from, max_terms);
      if (!given_back) return broken(frame.type);
      decoded.message = std::move(*given_back);
      break;
    }
    default:
      return broken(frame.type);
  }
  if (!from.at_end()) return broken(frame.type);
  return decoded;
}

Result<ServerMessage> decode_server(const fabric::Frame& frame) {
  Cursor from(frame.body);
  ServerMessage message;
  switch (static_cast<Type>(frame.type)) {
    case Type::welcome: {
      // Times up to a year: nothing that is computed with them overflows.
      constexpr uint64_t kYearMs = 366ull * 24 * 3600 * 1000;
      Welcome welcome;
      welcome.session = from.varint();
      welcome.lease_ms = from.varint(kYearMs);
      welcome.grace_ms = from.varint(kYearMs);
      welcome.max_terms = from.varint();
      welcome.life_line = from.varint(1) != 0;
      message = welcome;
      break;
    }
    case Type::granted:
      message = Granted{from.varint()};
      break;
    case Type::refused: {
      const uint64_t request = from.varint();
      message = Refused{request, static_cast<Reason>(from.varint(static_cast<uint64_t>(Reason::gone)))};
      break;
    }
    case Type::renewed:
      message = Renewed{from.varint()};
      break;
    case Type::value: {
      const uint64_t request = from.varint();
      message = Value{request, from.signed_varint()};
      break;
    }
    case Type::status:
      message = read_status(from);
      break;
    case Type::expired:
      message = Expired{};
      break;
    case Type::lent: {
      const uint64_t request = from.varint();
      message = Lent{request, from.varint(kMaxAhead + 1)};
      break;
    }
    case Type::recall: {
      const uint64_t loan = from.varint();
      message = Recall{loan, read_elements(from)};
      break;
    }
    case Type::taken:
      message = Taken{from.varint()};
      break;
    default:
      return broken(frame.type);
  }
  if (!from.at_end()) return broken(frame.type);
  return message;
}

}  // namespace forebay::lock::wire

// The messages between a client and a lock server (docs/wire.md, "Locks"): encoded to frames and decoded from their
// bodies. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/bytes.h"
#include "base/error.h"
#include "fabric/framing.h"
#include "lock/progression.h"
#include "lock/region.h"
#include "lock/table.h"

namespace forebay::lock::wire {

inline constexpr std::string_view kPurpose = "lock";  // in the handshake

inline constexpr size_t kMaxNameBytes = 4096;  // of a file or a counter
inline constexpr size_t kMaxLabelBytes = 256;  // of a label or a host
inline constexpr size_t kMaxBody = 32u << 20;
inline constexpr size_t kMaxStatusEntries = 512;            // of each of its lists in one status message
inline constexpr size_t kMaxReturned = 4096;                // requests in one return
inline constexpr size_t kMaxKept = Table::kMostRoomyParts;  // parts of a loan that stay lent
inline constexpr uint64_t kMaxAhead = 1u << 16;             // regions that are asked ahead
inline constexpr uint32_t kMaxFiles = 1024;                 // file numbers of a connection: 0 to kMaxFiles - 1

enum class Type : uint8_t {
  // From the client:
  hello = 16,
  file = 17,
  lock = 18,
  release = 19,
  renew = 20,
  counter = 21,
  query = 22,
  life = 23,
  bell = 24,
  give_back = 25,
  // From the server:
  welcome = 32,
  granted = 33,
  refused = 34,
  renewed = 35,
  value = 36,
  status = 37,
  expired = 38,
  lent = 39,
  recall = 40,
  taken = 41,
};

// The first message.
struct Hello {
  std::string label;
  std::string host;
  uint64_t pid = 0;
};

// The first message of a connection that is a life line, instead of hello, and the only one: its end tells that the
// client of this session is gone. It has no answer: a client's end is clean as long as nothing is sent to it.
struct Life {
  uint64_t session = 0;
};

// The first message of a connection that is a bell, instead of hello, and the only one; answered by renewed with the
// number of the session. Recalls of this session's loans are sent there, too.
struct Bell {
  uint64_t session = 0;
};

// From now on `number` stands for this file. A number that is in use gets a new meaning; requests keep theirs.
struct File {
  uint32_t number = 0;
  std::string name;
};

// Answered by granted or refused. The client chooses the number, which it has used for no other request before: else a
// grant that crosses a release could be taken for another.
struct LockRequest {
  uint64_t request = 0;
  uint32_t file = 0;
  Access access = Access::shared;
  bool only_try = false;  // refuse with `busy` instead of queueing
  Region region;
  bool may_lend = false;  // the whole file is welcome, too: then the answer may be lent
  Ahead ahead;            // so are these, if there are any
};

// Ends a request, held or waiting. Has no answer: a grant that crosses it is void.
struct Release {
  uint64_t request = 0;
};

// Answered by renewed with the same number.
struct Renew {
  uint64_t number = 0;
};

// Ends the loan that was granted as `loan`. What was served from it and is not released yet, held or waiting, takes its
// place in the queue of the file, in this order. Has no answer. If the loan was taken before, each request that waits
// is refused with `gone`, and what is held is lost. Of a progression some elements may stay lent, each run of them as a
// loan of its own under a new number, if no part has a byte of them.
struct Return {
  struct Part {
    uint64_t request = 0;
    Access access = Access::shared;
    bool held = false;
    Region region;
  };
  struct Kept {
    uint64_t loan = 0;
    Elements which;  // of the loan that ends
  };
  uint64_t loan = 0;
  std::vector<Part> parts;
  std::vector<Kept> kept;
};

enum class CounterAction : uint8_t { fetch_add = 0, forget = 1 };

// Answered by value with the number of this request: the value before.
struct Counter {
  uint64_t request = 0;
  CounterAction action = CounterAction::fetch_add;
  int64_t operand = 0;
  std::string name;
};

// Answered by one or more of status, the last of which says so.
struct Query {
  uint64_t request = 0;
};

using ClientMessage = std::variant<Hello, File, LockRequest, Release, Renew, Counter, Query, Life, Bell, Return>;

// The answer to hello.
struct Welcome {
  uint64_t session = 0;
  uint64_t lease_ms = 0;
  uint64_t grace_ms = 0;
  uint64_t max_terms = 0;
  bool life_line = false;  // there is room for one, and for a bell
};

struct Granted {
  uint64_t request = 0;
};

enum class Reason : uint8_t {
  busy = 0,        // only_try, and the bytes are not free
  terms = 1,       // the list is longer than the server takes
  memory = 2,      // the client's requests, files and counters need more memory than it may use
  not_a_file = 3,  // a number that no file message has explained
  in_use = 4,      // the number of another request that is not released
  gone = 5,        // it waited for a loan that was taken before the client returned it: to be asked for again
};

struct Refused {
  uint64_t request = 0;
  Reason reason = Reason::busy;
};

struct Renewed {
  uint64_t number = 0;
};

struct Value {
  uint64_t request = 0;
  int64_t value = 0;
};

struct StatusClient {
  uint64_t session = 0;
  std::string label, host, peer;
  uint64_t pid = 0;
  uint64_t silent_ms = 0;  // since it was last heard of
  bool connected = false;
  bool operator==(const StatusClient&) const = default;
};

struct StatusRequest {
  std::string file;
  uint64_t ticket = 0;  // by file
  uint64_t session = 0;
  Access access = Access::shared;
  bool granted = false;
  uint64_t waits_for = 0;  // a ticket of the same file, or 0
  uint64_t age_ms = 0;     // since it was made
  Extent bounds;
  uint64_t segments = 0;
  bool operator==(const StatusRequest&) const = default;
};

struct StatusCounter {
  std::string name;
  int64_t value = 0;
  bool operator==(const StatusCounter&) const = default;
};

struct Status {
  uint64_t request = 0;
  bool last = true;
  bool truncated = false;  // there is more than the server tells
  std::vector<StatusClient> clients;
  std::vector<StatusRequest> requests;
  std::vector<StatusCounter> counters;
};

// All requests of this client have ended because it was not heard of. Nothing else follows on the connection.
struct Expired {};

// `request` is granted, and with it the whole file, exclusively, or what it has asked ahead, as itself: the client
// serves its own requests for these bytes until it returns this loan.
struct Lent {
  uint64_t request = 0;
  uint64_t count = 0;  // of the progression's elements, the request itself among them; 0: the whole file
};

// Somebody else asks for the file, or for these elements of a progression: to be answered by return at once. Sent
// twice, on the bell and on the connection.
struct Recall {
  uint64_t loan = 0;
  Elements wanted;
};

// The loan has ended because the client was not heard of for lease + grace, and what was served from it is lost.
struct Taken {
  uint64_t loan = 0;
};

using ServerMessage = std::variant<Welcome, Granted, Refused, Renewed, Value, Status, Expired, Lent, Recall, Taken>;

// Append one frame. Texts and regions must keep the limits.
void encode(Bytes& to, const Hello& message);
void encode(Bytes& to, uint32_t number, std::string_view file_name);
struct LockFlags {
  bool only_try = false, may_lend = false;
  Ahead ahead = {};
};
void encode(Bytes& to, uint64_t request, uint32_t file, Access access, LockFlags flags, const Region& region);
void encode(Bytes& to, const Release& message);
void encode(Bytes& to, const Renew& message);
void encode(Bytes& to, const Counter& message);
void encode(Bytes& to, const Query& message);
void encode(Bytes& to, const Life& message);
void encode(Bytes& to, const Bell& message);
void encode(Bytes& to, const Return& message);
void encode(Bytes& to, const ServerMessage& message);

// A region with more than `max_terms` terms is read no further than that: the request then comes back with an empty
// region and `too_long`. corrupt for anything that the document does not allow.
struct Decoded {
  ClientMessage message;
  bool too_long = false;
};
Result<Decoded> decode_client(const fabric::Frame& frame, uint64_t max_terms);
Result<ServerMessage> decode_server(const fabric::Frame& frame);

}  // namespace forebay::lock::wire

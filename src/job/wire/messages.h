// The messages of a running job as values, encoded to frames and decoded from them (docs/wire.md, "Jobs"). Pure.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/bytes.h"
#include "base/error.h"
#include "fabric/framing.h"
#include "messages_generated.h"

namespace forebay::job::wire {

inline constexpr std::string_view kPurpose = "job";  // in the handshake, of all connections of a job
inline constexpr uint8_t kMessage = 64;              // type of the frames whose body is a Message; those of the fabric
                                                     // (fabric/data_wire.h) are below
inline constexpr size_t kMaxBody = 256u << 20;       // an offer of a million files takes about 100 MB

// Appends a frame that holds `body`: a table of messages.fbs in its object form, e.g. OfferT.
void encode(Bytes& to, const MessageT& message);
template <class Table>
void encode(Bytes& to, Table body) {
  MessageT message;
  message.body.Set(std::move(body));
  encode(to, message);
}

// corrupt if the frame is not such a message, or breaks a rule of messages.fbs: a missing field, an unknown value of an
// enumeration, a file's name that is not safe (base/catalogue.h), a set's name that is no single safe path component,
// an index out of its range. What it returns takes at most a few times the memory of the frame's body.
Result<MessageT> decode(const fabric::Frame& frame);

// Rows of a Settled.
inline constexpr size_t kMostLeft = 64;

// However often an agent says that it is alive: so long it may take for one answer, or for the next file of very many,
// and no longer.
inline constexpr std::chrono::minutes kLongestAnswer{5};

}  // namespace forebay::job::wire

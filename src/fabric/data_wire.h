// Messages by which a worker reads the files of an agent (docs/wire.md, "Files of an agent"): encoded to frames and
// decoded from their bodies. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/error.h"
#include "fabric/remote.h"

namespace forebay::fabric::data_wire {

enum class Type : uint8_t {
  // From the worker:
  read = 16,
  check = 17,
  ucx_open = 18,
  ucx_read = 19,
  // From the agent:
  data = 24,
  unchanged = 25,
  failed = 26,
  ucx_opened = 27,
  ucx_ready = 28,
  ucx_sent = 29,
};
inline constexpr uint8_t kFirstType = 16, kLastType = 31;

// Of one request. The agent's memory for a connection is bounded by these: 4 * 2048 pieces of less than 4096 bytes,
// which it copies. Longer pieces go from the file to the socket.
inline constexpr size_t kMaxPieces = 2048;
inline constexpr size_t kMaxFiles = 256;              // different ones
inline constexpr uint64_t kMaxReadBytes = 64u << 20;  // of all its pieces
inline constexpr size_t kMaxUnderWay = 4;             // requests of a connection that are not answered yet

inline constexpr size_t kTokenBytes = 16;
using Token = std::array<std::byte, kTokenBytes>;

struct Read {
  uint64_t number = 0;  // in the answer again
  uint64_t exposure = 0;
  std::vector<Piece> pieces;
};
void encode(Bytes& to, const Read& read);
void encode(Bytes& to, const Read& read, const Token& token);  // ucx_read

// corrupt if it is no such message, or one of its bounds is passed; so all below.
Result<Read> decode_read(std::span<const std::byte> body);

struct UcxRead {
  Token token;
  Read read;
};
Result<UcxRead> decode_ucx_read(std::span<const std::byte> body);

uint64_t total(std::span<const Piece> pieces);  // bytes

// Cuts a list of pieces into those of requests that keep the bounds.
std::vector<std::vector<Piece>> cut(std::span<const Piece> pieces);

struct Check {
  uint64_t number = 0, exposure = 0;
};
void encode(Bytes& to, const Check& check);
Result<Check> decode_check(std::span<const std::byte> body);

// The begin of a data frame: a frame's header and the number of the request, 8 bytes little-endian; `bytes` follow.
inline constexpr size_t kDataNumberBytes = 8;
Bytes data_header(uint64_t number, uint64_t bytes);

// Answers that are a number alone: unchanged, ucx_sent.
void encode_number(Bytes& to, Type type, uint64_t number);
Result<uint64_t> decode_number(std::span<const std::byte> body);

// An error as the answer; of the kinds that the other side cannot use, io is made.
struct Failed {
  uint64_t number = 0;
  Error error;
};
inline constexpr size_t kMaxAnswerBody = 8192;  // of all but data
void encode(Bytes& to, const Failed& failed);
Result<Failed> decode_failed(std::span<const std::byte> body);

// Where a UCX worker can be reached. UCX ends a process that gives it an address which it does not understand, so only
// those of the same version are given to it.
struct UcxAddress {
  uint64_t version = 0;
  Bytes bytes;
};
inline constexpr size_t kMaxUcxAddress = 4096;
void encode(Bytes& to, Type type, const UcxAddress& address);
Result<UcxAddress> decode_address(std::span<const std::byte> body);

}  // namespace forebay::fabric::data_wire

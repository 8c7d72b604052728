// What a member does to encode its group, in the order of the calls below. Blocking, for threads that may.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "job/cache/member_link.h"
#include "job/cache/part.h"
#include "job/cache/piece_sink.h"
#include "redundancy/record.h"

namespace forebay::job {

// An error of a group's work, and who is at fault: a position; nothing: this agent itself.
struct GroupFault {
  Error error;
  std::optional<unsigned> position;
};
template <class T>
using GroupResult = std::expected<T, GroupFault>;

struct EncodeTask {
  explicit EncodeTask(redundancy::Geometry its_geometry) : geometry(std::move(its_geometry)) {}
  EncodingKey key;
  redundancy::Geometry geometry;
  struct Member {
    std::string host, node, addresses;
    uint64_t exposure = 0;  // of its part
    std::vector<uint32_t> ranks;
  };
  std::vector<Member> members;
  redundancy::Record record;  // members: this agent's own, without sums, at its position
  OwnPart own;
  std::shared_ptr<PieceSink> sink;  // of the parity that comes here
  MemberAccess access;
};

// What leading the row leaves behind.
struct EncodeLead {
  std::vector<uint64_t> data_sums;               // of the own part
  std::vector<std::vector<uint64_t>> read_sums;  // by member: of the pieces of its chunk of this row, as they came
  std::vector<std::vector<uint64_t>> sizes;      // by member: of its regular files
  uint64_t moved_bytes = 0, cpu_us = 0;
};

// Reads the own part once, then does the row. changed if files of anybody are not what was offered.
GroupResult<EncodeLead> lead_encoding(const EncodeTask& task, const std::stop_token& stop);

// Gets all other members' records and compares them with what was read: the record of the whole group. corrupt if a
// member's files were others when they were encoded.
GroupResult<redundancy::Record> exchange_records(const EncodeTask& task, const EncodeLead& lead,
                                                 redundancy::MemberRecord own, const std::stop_token& stop);

// Processor time of this thread, in microseconds.
uint64_t thread_cpu_us();

}  // namespace forebay::job

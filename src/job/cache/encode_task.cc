#include "job/cache/encode_task.h"

#include <utility>

#include <fmt/format.h>
#include <time.h>

#include "base/catalogue.h"
#include "job/cache/group_io.h"
#include "redundancy/steps.h"

namespace forebay::job {
namespace {

using redundancy::MemberRecord;

std::unexpected<GroupFault> at_fault(Error error, std::optional<unsigned> position) {
  if (error.kind == ErrorKind::cancelled) position.reset();
  return std::unexpected(GroupFault{std::move(error), position});
}

std::vector<uint64_t> regular_sizes(const MemberRecord& member) {
  std::vector<uint64_t> sizes;
  for (const auto& file : member.files)
    if (file.kind == static_cast<uint8_t>(FileKind::regular)) sizes.push_back(file.size);
  return sizes;
}

Result<MemberRecord> ask_member(const EncodeTask& task, unsigned position, wire::RecordPart part,
                                const std::stop_token& stop) {
  const auto& member = task.members[position];
  FOREBAY_TRY(const std::string text,
              ask_record(task.access, member.addresses, {task.key.id, task.key.group, position}, part, stop));
  FOREBAY_TRY(MemberRecord record, redundancy::decode_member(text, member.host));
  if (PartMap(record.files).size() != task.geometry.size(position))
    return fail(ErrorKind::changed, "its files have another size than the set that it offered", member.host);
  return record;
}

Result<void> compare(const EncodeTask& task, const EncodeLead& lead, unsigned position, const MemberRecord& record) {
  const auto& geometry = task.geometry;
  const std::string& host = task.members[position].host;
  if (record.data_sums.size() != piece_count(geometry, position, false) ||
      record.parity_sums.size() != piece_count(geometry, position, true))
    return fail(ErrorKind::corrupt, "its record does not fit the encoding", host);
  const unsigned row = task.key.position;
  for (uint64_t piece = 0; piece < lead.read_sums[position].size(); ++piece) {
    const auto index = redundancy::sum_index(geometry, row, position, piece);
    if (!index || record.data_sums[*index] != lead.read_sums[position][piece])
      return fail(ErrorKind::changed, fmt::format("piece {} of row {} was another one when it was encoded", piece, row),
                  host);
  }
  return {};
}

}  // namespace

uint64_t thread_cpu_us() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000 + static_cast<uint64_t>(now.tv_nsec) / 1'000;
}

GroupResult<EncodeLead> lead_encoding(const EncodeTask& task, const std::stop_token& stop) {
  const uint64_t cpu_before = thread_cpu_us();
  const unsigned leader = task.key.position, n = task.geometry.members();
  EncodeLead lead;
  lead.read_sums.resize(n);
  lead.sizes.resize(n);
  auto sums = sums_of(task.geometry, leader, false, task.own, stop);
  if (!sums) return at_fault(sums.error(), {});
  lead.data_sums = std::move(*sums);
  const redundancy::EncodeSteps steps(task.geometry, leader);
  std::vector<GroupMember> members(n);
  std::vector<unsigned> receivers;
  for (unsigned i = 0; i < n; ++i) {
    members[i].name = task.members[i].host;
    members[i].addresses = task.members[i].addresses;
    members[i].data = task.members[i].exposure;
    const redundancy::ChunkPlace place = task.geometry.place(leader, i);
    if (i == leader) {
      members[i].sink = task.sink;
    } else if (place.is_parity) {
      receivers.push_back(i);
    } else if (task.geometry.range(leader, i, 0).length > 0) {
      auto record = ask_member(task, i, wire::RecordPart::files, stop);
      if (!record) return at_fault(record.error(), i);
      lead.sizes[i] = regular_sizes(*record);
      members[i].map = PartMap(lead.sizes[i]);
    }
  }
  const auto seen = [&](unsigned member, unsigned, uint64_t piece, uint64_t sum) -> Result<void> {
    auto& read = lead.read_sums[member];
    if (read.size() <= piece) read.resize(piece + 1);
    read[piece] = sum;
    return {};
  };
  GroupIo io(task.key, std::move(members), task.access, seen, stop);
  auto done = run_steps(steps.count(), [&](uint64_t piece) { return steps.at(piece); }, io, stop);
  if (done && steps.count() > 0) done = io.end(receivers);
  if (!done) return at_fault(done.error(), io.fault());
  lead.moved_bytes = io.moved_bytes();
  lead.cpu_us = thread_cpu_us() - cpu_before;
  return lead;
}

GroupResult<redundancy::Record> exchange_records(const EncodeTask& task, const EncodeLead& lead, MemberRecord own,
                                                 const std::stop_token& stop) {
  redundancy::Record record = task.record;
  for (unsigned i = 0; i < task.geometry.members(); ++i) {
    if (i == task.key.position) {
      record.members[i] = std::move(own);
      continue;
    }
    auto member = ask_member(task, i, wire::RecordPart::member, stop);
    if (!member) return at_fault(member.error(), i);
    if (!lead.sizes[i].empty() && regular_sizes(*member) != lead.sizes[i])
      return at_fault(
          {ErrorKind::changed, "its files are others than those that were encoded", task.members[i].host, {}, {}}, i);
    if (auto same = compare(task, lead, i, *member); !same) return at_fault(same.error(), i);
    record.members[i] = std::move(*member);
  }
  // What cannot be read back must not count as protection.
  const auto again = redundancy::decode_record(redundancy::encode_record(record), "the record");
  if (!again) return at_fault(again.error(), {});
  return record;
}

}  // namespace forebay::job

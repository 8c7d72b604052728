#include "io/method/join.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/bytes.h"

namespace forebay::io {
namespace {

struct Joined {
  uint64_t step;
  Block* block;
};

std::vector<Joined> joined_blocks(std::span<ProcessGroup> groups) {
  std::vector<Joined> found;
  for (ProcessGroup& group : groups)
    for (Block& block : group.blocks)
      if (block.joined && *block.joined < block.shape.size()) found.push_back({group.step, &block});
  return found;
}

void put_number(Bytes& to, uint64_t value) {
  to.resize(to.size() + sizeof value);
  store_le(to.data() + to.size() - sizeof value, value);
}

Bytes ask_places(std::span<const Joined> mine) {
  Bytes message;
  for (const Joined& each : mine) {
    put_number(message, each.step);
    put_number(message, each.block->shape[*each.block->joined]);
    put_number(message, each.block->name.size());
    const auto name = as_bytes(each.block->name);
    message.insert(message.end(), name.begin(), name.end());
  }
  return message;
}

using JoinedSums = std::map<std::pair<uint64_t, std::string>, uint64_t>;                  // by step and name
using JoinedPlaces = std::vector<std::pair<std::pair<uint64_t, std::string>, uint64_t>>;  // what is joined, its offset

// The offsets of the blocks that a rank asks for; adds their extents to the sums.
Result<JoinedPlaces> place_joined(std::span<const std::byte> message, JoinedSums& sums) {
  JoinedPlaces answer;
  while (!message.empty()) {
    if (message.size() < 24) return fail(ErrorKind::corrupt, "a message of another rank ends too early");
    const auto step = load_le<uint64_t>(message.data());
    const auto extent = load_le<uint64_t>(message.data() + 8);
    const auto length = load_le<uint64_t>(message.data() + 16);
    message = message.subspan(24);
    if (length > message.size()) return fail(ErrorKind::corrupt, "a message of another rank ends too early");
    std::pair key(step, std::string(as_text(message.first(length))));
    message = message.subspan(length);
    uint64_t& sum = sums[key];
    answer.emplace_back(std::move(key), sum);
    if (__builtin_add_overflow(sum, extent, &sum))
      return fail(ErrorKind::limit, "the joined array " + answer.back().first.second + " has too many elements");
  }
  return answer;
}

// Sends each rank the offset and the whole extent of each of its blocks; returns those of rank 0.
Result<Bytes> answer_all(Communicator& communicator, std::span<const Bytes> questions) {
  JoinedSums sums;
  std::vector<JoinedPlaces> answers;
  for (const Bytes& question : questions) {
    FOREBAY_TRY(answers.emplace_back(), place_joined(question, sums));
  }
  Bytes own;
  for (uint32_t rank = 0; rank < answers.size(); ++rank) {
    Bytes message;
    for (const auto& [key, offset] : answers[rank]) {
      put_number(message, offset);
      put_number(message, sums[key]);
    }
    if (rank == 0) {
      own = std::move(message);
    } else {
      FOREBAY_CHECK(communicator.send(message, rank));
    }
  }
  return own;
}

}  // namespace

Outcome<void> join_blocks(Communicator& communicator, std::span<ProcessGroup> groups) {
  const std::vector<Joined> mine = joined_blocks(groups);
  FOREBAY_TRY(const uint64_t most, communicator.all_reduce(mine.size(), Reduction::max));
  if (most == 0) return {};
  FOREBAY_TRY(const std::vector<Bytes> questions, communicator.gather(ask_places(mine), 0));
  Bytes answer;
  if (communicator.rank() == 0) {
    FOREBAY_TRY(answer, answer_all(communicator, questions));
  } else {
    FOREBAY_TRY(answer, communicator.receive(0));
  }
  if (answer.size() != mine.size() * 16)
    return refuse(Code::invalid_data, "rank 0 answered for other blocks", {}, {}, ErrorKind::internal);
  for (size_t i = 0; i < mine.size(); ++i) {
    Block& block = *mine[i].block;
    block.offsets.resize(block.shape.size());
    block.global_shape.resize(block.shape.size());
    block.offsets[*block.joined] = load_le<uint64_t>(answer.data() + 16 * i);
    block.global_shape[*block.joined] = load_le<uint64_t>(answer.data() + 16 * i + 8);
  }
  return {};
}

}  // namespace forebay::io

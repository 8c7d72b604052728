#include "io/method/join_chunks.h"

#include <algorithm>
#include <deque>
#include <map>
#include <new>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "io/method/block_notes.h"
#include "io/method/box_filler.h"
#include "io/method/join_plan.h"

namespace forebay::io {
namespace {

// What notes take at the rank that plans, beside their own bytes: decoded, and while it plans.
constexpr uint64_t kNotesFactor = 8;

// What a joined block takes beside its bytes, as OpenGroup counts it.
uint64_t overhead_of(const Block& block) { return sizeof(Block) + block.name.size() + 8 * (block.shape.size() * 3); }

struct Heading {
  uint64_t notes_bytes = 0;
  bool takes_part = false;
};

Bytes encode_heading(const Heading& heading) {
  Bytes bytes(9);
  store_le(bytes.data(), heading.notes_bytes);
  bytes[8] = std::byte{heading.takes_part};
  return bytes;
}

// What is not a heading takes no part.
Heading decode_heading(const Bytes& bytes) {
  if (bytes.size() != 9) return {};
  return {load_le<uint64_t>(bytes.data()), bytes[8] != std::byte{0}};
}

// Sends what is put, whatever its length, in messages of equal length, the last of which may be shorter.
class OutStream {
 public:
  OutStream(Communicator& ranks, uint32_t to) : ranks_(ranks), to_(to) { message_.reserve(kJoinMessageBytes); }

  Result<void> put(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const auto piece = bytes.first(std::min<uint64_t>(bytes.size(), kJoinMessageBytes - message_.size()));
      message_.insert(message_.end(), piece.begin(), piece.end());
      bytes = bytes.subspan(piece.size());
      if (message_.size() == kJoinMessageBytes) FOREBAY_CHECK(flush());
    }
    return {};
  }

  Result<void> flush() {
    if (message_.empty()) return {};
    FOREBAY_CHECK(ranks_.send(message_, to_));
    message_.clear();
    return {};
  }

 private:
  Communicator& ranks_;
  const uint32_t to_;
  Bytes message_;
};

// The other end: `sink(piece)` gets `bytes` of them.
template <class Sink>
Result<void> receive_stream(Communicator& ranks, uint32_t from, uint64_t bytes, const Sink& sink) {
  while (bytes > 0) {
    FOREBAY_TRY(const Bytes message, ranks.receive(from));
    if (message.empty() || message.size() > bytes)
      return fail(ErrorKind::disconnected, "rank " + std::to_string(from) + " sends something else than blocks");
    bytes -= message.size();
    sink(std::span<const std::byte>(message));
  }
  return {};
}

Result<void> send_all(Communicator& ranks, std::span<const std::byte> bytes, uint32_t to) {
  OutStream out(ranks, to);
  FOREBAY_CHECK(out.put(bytes));
  return out.flush();
}

Result<Bytes> receive_all(Communicator& ranks, uint32_t from, uint64_t bytes) {
  Bytes all;
  all.reserve(bytes);
  FOREBAY_CHECK(receive_stream(ranks, from, bytes, [&](std::span<const std::byte> piece) {
    all.insert(all.end(), piece.begin(), piece.end());
  }));
  return all;
}

// A rank without memory for its notes and a message takes no part.
bool can_take_part(const JoinSettings& settings, uint64_t notes_bytes) {
  return settings.may_join && settings.spare_bytes >= kJoinMessageBytes &&
         notes_bytes <= (settings.spare_bytes - kJoinMessageBytes) / kNotesFactor;
}

using BlockPlace = std::pair<uint64_t, uint64_t>;  // step, block

// The first rank of those that join.
class Joiner {
 public:
  Joiner(Communicator& ranks, std::span<ProcessGroup> steps, const JoinSettings& settings)
      : ranks_(ranks), steps_(steps), settings_(settings), spare_(settings.spare_bytes) {}

  Outcome<JoinedBytes> run(std::vector<BlockNote> notes, const Heading& mine) {
    FOREBAY_TRY(const std::vector<Bytes> headings, ranks_.gather(encode_heading(mine), 0));
    const bool goes_on = can_go_on(headings);
    Bytes word(goes_on ? 1 : 0);
    FOREBAY_CHECK(ranks_.broadcast(word, 0));
    if (!goes_on) return JoinedBytes();
    add_notes(std::move(notes), 0);
    for (uint32_t rank = 1; rank < ranks_.size(); ++rank) {
      FOREBAY_TRY(const Bytes bytes, receive_all(ranks_, rank, decode_heading(headings[rank]).notes_bytes));
      if (auto theirs = decode_notes(bytes)) add_notes(std::move(*theirs), rank);
    }
    plan();
    for (uint32_t rank = 1; rank < ranks_.size(); ++rank) FOREBAY_CHECK(answer(rank));
    for (uint32_t rank = 0; rank < ranks_.size(); ++rank) FOREBAY_CHECK(take_values_of(rank));
    replace_blocks();
    return std::move(bytes_);
  }

 private:
  struct Noted {
    uint32_t rank;
    uint64_t number;  // among the notes of the rank
    BlockNote note;
  };
  struct Box {
    uint64_t step;
    Block block;
    std::optional<uint64_t> place;  // of the first block of this rank in it
  };
  struct Part {
    size_t noted, box;
  };

  bool can_go_on(const std::vector<Bytes>& headings) {
    uint64_t notes_bytes = 0;
    for (const Bytes& bytes : headings) {
      const Heading heading = decode_heading(bytes);
      if (!heading.takes_part || __builtin_add_overflow(notes_bytes, heading.notes_bytes, &notes_bytes)) return false;
    }
    if (notes_bytes == 0 || !can_take_part(settings_, notes_bytes)) return false;
    spare_ -= kJoinMessageBytes + notes_bytes * kNotesFactor;
    return true;
  }

  // A step that is not one of this rank cannot be joined here.
  void add_notes(std::vector<BlockNote> notes, uint32_t rank) {
    for (uint64_t number = 0; number < notes.size(); ++number)
      if (notes[number].step < steps_.size()) noted_.push_back({rank, number, std::move(notes[number])});
  }

  void plan() {
    for (const Join& join : plan_joins(placed())) {
      const BlockNote& first = noted_[join.blocks[0]].note;
      Box box{.step = first.step, .block = first.head, .place = {}};
      box.block.offsets = join.offsets;
      box.block.shape = join.shape;
      if (!give_memory(box.block)) continue;
      for (const size_t noted : join.blocks) {
        if (noted != join.blocks[0]) add_statistics(box.block, noted_[noted].note.head);
        if (noted_[noted].rank == 0 && !box.place) box.place = noted_[noted].note.block;
        parts_[noted_[noted].rank].push_back({noted, boxes_.size()});
      }
      boxes_.push_back(std::move(box));
    }
  }

  std::vector<PlacedBlock> placed() const {
    std::map<std::tuple<uint64_t, std::string>, uint32_t> variables;
    std::map<std::tuple<ValueType, Shape, std::vector<double>, size_t>, uint32_t> kinds;
    std::vector<PlacedBlock> blocks;
    blocks.reserve(noted_.size());
    for (const Noted& noted : noted_) {
      const Block& head = noted.note.head;
      const auto next_variable = static_cast<uint32_t>(variables.size()),
                 next_kind = static_cast<uint32_t>(kinds.size());
      const auto variable = variables.try_emplace({noted.note.step, head.name}, next_variable).first;
      const auto kind =
          kinds.try_emplace({head.type, head.global_shape, head.breaks, head.histogram.size()}, next_kind).first;
      blocks.push_back({variable->second, kind->second, noted.note.may_join, head.offsets, head.shape});
    }
    return blocks;
  }

  // False if there is none within the limit.
  bool give_memory(Block& block) {
    constexpr uint64_t kAlignment = 64;
    const uint64_t bytes = element_count(block.shape) * element_bytes(block.type);
    const uint64_t cost = overhead_of(block) + (bytes + kAlignment - 1) / kAlignment * kAlignment;
    if (cost > spare_) return false;
    std::unique_ptr<std::byte[]> memory(new (std::nothrow) std::byte[bytes]);
    if (!memory) return false;
    spare_ -= cost;
    block.bytes = {memory.get(), bytes};
    bytes_.push_back(std::move(memory));
    return true;
  }

  static void add_statistics(Block& block, const Block& other) {
    block.characteristics.merge(other.characteristics);
    for (size_t i = 0; i < block.histogram.size(); ++i) block.histogram[i] += other.histogram[i];
  }

  // The numbers of the notes whose values the rank is to send, in this order.
  Result<void> answer(uint32_t rank) {
    const std::vector<Part>& parts = parts_[rank];
    Bytes count(8), numbers(8 * parts.size());
    store_le(count.data(), uint64_t{parts.size()});
    for (size_t i = 0; i < parts.size(); ++i) store_le(numbers.data() + 8 * i, noted_[parts[i].noted].number);
    FOREBAY_CHECK(ranks_.send(count, rank));
    return send_all(ranks_, numbers, rank);
  }

  BoxFiller filler(const Part& part) {
    const Block& head = noted_[part.noted].note.head;
    const Block& box = boxes_[part.box].block;
    Shape place = head.offsets;
    for (size_t d = 0; d < place.size(); ++d) place[d] -= box.offsets[d];
    return BoxFiller({bytes_[part.box].get(), box.bytes.size()}, box.shape, place, head.shape, element_bytes(box.type));
  }

  Result<void> take_values_of(uint32_t rank) {
    if (rank == 0) {
      for (const Part& part : parts_[0]) {
        const BlockNote& note = noted_[part.noted].note;
        filler(part).put(steps_[note.step].blocks[note.block].bytes);
      }
      return {};
    }
    const std::vector<Part>& parts = parts_[rank];
    uint64_t total = 0;
    for (const Part& part : parts) total += bytes_of(part);
    size_t at = 0;
    uint64_t left = 0;  // of the part before `at`
    std::optional<BoxFiller> present;
    return receive_stream(ranks_, rank, total, [&](std::span<const std::byte> message) {
      while (!message.empty()) {
        if (left == 0) {
          present.emplace(filler(parts[at]));
          left = bytes_of(parts[at++]);
        }
        const auto piece = message.first(std::min<uint64_t>(message.size(), left));
        present->put(piece);
        left -= piece.size();
        message = message.subspan(piece.size());
      }
    });
  }

  uint64_t bytes_of(const Part& part) const {
    const Block& head = noted_[part.noted].note.head;
    return element_count(head.shape) * element_bytes(head.type);
  }

  void replace_blocks() {
    std::set<BlockPlace> gone;
    for (const Part& part : parts_[0]) gone.insert({noted_[part.noted].note.step, noted_[part.noted].note.block});
    std::map<BlockPlace, Block*> boxes;
    for (Box& box : boxes_)
      if (box.place) boxes[{box.step, *box.place}] = &box.block;
    for (uint64_t step = 0; step < steps_.size(); ++step) {
      std::vector<Block> blocks;
      for (uint64_t at = 0; at < steps_[step].blocks.size(); ++at) {
        if (const auto box = boxes.find({step, at}); box != boxes.end())
          blocks.push_back(std::move(*box->second));
        else if (!gone.contains({step, at}))
          blocks.push_back(std::move(steps_[step].blocks[at]));
      }
      steps_[step].blocks = std::move(blocks);
    }
    for (Box& box : boxes_)
      if (!box.place) steps_[box.step].blocks.push_back(std::move(box.block));
  }

  Communicator& ranks_;
  const std::span<ProcessGroup> steps_;
  const JoinSettings& settings_;
  uint64_t spare_;           // what is left of it
  std::deque<Noted> noted_;  // grows without being copied
  std::vector<Box> boxes_;
  JoinedBytes bytes_;                            // by box
  std::map<uint32_t, std::vector<Part>> parts_;  // by rank, in the order in which their values come
};

Result<std::vector<uint64_t>> receive_answer(Communicator& ranks, uint64_t most) {
  FOREBAY_TRY(const Bytes count, ranks.receive(0));
  const uint64_t numbers = count.size() == 8 ? load_le<uint64_t>(count.data()) : UINT64_MAX;
  if (numbers > most) return fail(ErrorKind::disconnected, "rank 0 asks for other blocks than there are");
  FOREBAY_TRY(const Bytes bytes, receive_all(ranks, 0, 8 * numbers));
  std::vector<uint64_t> answer(numbers);
  for (size_t i = 0; i < answer.size(); ++i) {
    answer[i] = load_le<uint64_t>(bytes.data() + 8 * i);
    if (answer[i] >= most) return fail(ErrorKind::disconnected, "rank 0 asks for other blocks than there are");
  }
  return answer;
}

void remove_blocks(std::span<ProcessGroup> steps, const std::set<BlockPlace>& gone) {
  for (uint64_t step = 0; step < steps.size(); ++step) {
    std::vector<Block> kept;
    for (uint64_t at = 0; at < steps[step].blocks.size(); ++at)
      if (!gone.contains({step, at})) kept.push_back(std::move(steps[step].blocks[at]));
    steps[step].blocks = std::move(kept);
  }
}

// The other ranks: what is asked for is sent, and no longer theirs.
Outcome<JoinedBytes> give_chunks(Communicator& ranks, std::span<ProcessGroup> steps,
                                 const std::vector<BlockNote>& notes, const Heading& mine,
                                 std::span<const std::byte> encoded) {
  FOREBAY_CHECK(ranks.gather(encode_heading(mine), 0));
  Bytes word;
  FOREBAY_CHECK(ranks.broadcast(word, 0));
  if (word.empty()) return JoinedBytes();
  FOREBAY_CHECK(send_all(ranks, encoded, 0));
  FOREBAY_TRY(const std::vector<uint64_t> asked, receive_answer(ranks, notes.size()));
  OutStream out(ranks, 0);
  std::set<BlockPlace> gone;
  for (const uint64_t number : asked) {
    const BlockNote& note = notes[number];
    FOREBAY_CHECK(out.put(steps[note.step].blocks[note.block].bytes));
    gone.insert({note.step, note.block});
  }
  FOREBAY_CHECK(out.flush());
  remove_blocks(steps, gone);
  return JoinedBytes();
}

}  // namespace

Outcome<JoinedBytes> join_chunks(Communicator& ranks, std::span<ProcessGroup> steps, const JoinSettings& settings) {
  Heading mine{0, can_take_part(settings, notes_bound(steps))};
  std::vector<BlockNote> notes;
  if (mine.takes_part) notes = notes_of(steps, settings.chunk_bytes);
  const Bytes encoded = encode_notes(notes);
  mine.notes_bytes = encoded.size();
  if (ranks.rank() == 0) return Joiner(ranks, steps, settings).run(std::move(notes), mine);
  return give_chunks(ranks, steps, notes, mine, encoded);
}

}  // namespace forebay::io

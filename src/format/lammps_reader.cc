#include "format/lammps_reader.h"

#include <algorithm>
#include <array>
#include <bit>
#include <optional>

#include <fmt/format.h>

#include "base/cursor.h"
#include "format/window.h"

namespace forebay::format {
namespace {

constexpr std::string_view kMagic("LammpS RestartT\0", 16);
constexpr uint64_t kChunkHead = 8;  // bytes: a flag that says what follows, and how many numbers
constexpr uint64_t kNumber = 8;     // bytes

struct Head {
  int32_t flag = 0, numbers = 0;
};

Head head_of(std::span<const std::byte> bytes, ByteOrder order) {
  return {load<int32_t>(bytes.data(), order), load<int32_t>(bytes.data() + 4, order)};
}

class Scan {
 public:
  Scan(const ByteSource& source, ByteOrder order) : source_(&source), order_(order) {}

  // The chunks from `at` on, if they have one flag and end with the file, or with the mark that newer versions put
  // there; else none. All calls together look at 2^20 chunks at most, more than a job has processes: bytes
  // may be such that chunks seem to begin everywhere.
  Result<std::vector<Extent>> chunks_from(uint64_t at) {
    std::vector<Extent> chunks;
    const uint64_t size = source_->size();
    for (int32_t flag = 0; at != size && at + kMagic.size() != size;) {
      std::array<std::byte, kChunkHead> bytes{};
      if (at + kChunkHead > size || looks_left_ == 0) return std::vector<Extent>();
      --looks_left_;
      FOREBAY_CHECK(source_->read_at(at, bytes));
      const Head head = head_of(bytes, order_);
      if (flag == 0) flag = head.flag;
      if (head.flag != flag || head.numbers < 0) return std::vector<Extent>();
      const uint64_t length = kNumber * static_cast<uint64_t>(head.numbers);
      if (length > size - at - kChunkHead) return std::vector<Extent>();
      chunks.push_back({.offset = at + kChunkHead, .length = length});
      at += kChunkHead + length;
    }
    return chunks;
  }

  // What comes before the atoms is of no fixed length: the first place counts from which chunks end with the file.
  Result<std::vector<Extent>> chunks() {
    constexpr uint64_t kFarthest = 1 << 20;
    const uint64_t last = std::min(source_->size(), kFarthest);
    Window window(*source_);
    for (uint64_t at = kMagic.size(); at < last; ++at) {
      FOREBAY_TRY(const auto bytes, window.at(at, kChunkHead));
      if (!may_be_chunk(bytes, at)) continue;
      FOREBAY_TRY(auto found, chunks_from(at));
      if (!found.empty()) return found;
    }
    return std::vector<Extent>();
  }

  bool may_be_chunk(std::span<const std::byte> bytes, uint64_t at) const {
    constexpr int32_t kMostFlag = 255;
    if (bytes.size() < kChunkHead) return false;
    const Head head = head_of(bytes, order_);
    return head.flag > 0 && head.flag <= kMostFlag && head.numbers > 0 &&
           kNumber * static_cast<uint64_t>(head.numbers) <= source_->size() - at - kChunkHead;
  }

  // How many numbers each atom has, if all have as many, as far as is looked at; else 0. Each atom begins with that.
  Result<uint64_t> numbers_of_atom(const Extent& chunk) const {
    constexpr uint64_t kMost = 4096, kLooks = 16;
    const uint64_t numbers = chunk.length / kNumber;
    FOREBAY_TRY(const double first, number(chunk.offset));
    if (!(first >= 1 && first <= kMost) || first != static_cast<double>(static_cast<uint64_t>(first))) return 0;
    const auto each = static_cast<uint64_t>(first);
    if (numbers % each != 0) return 0;
    for (uint64_t look = 1; look <= kLooks; ++look) {
      const uint64_t atom = (numbers / each - 1) * look / kLooks;
      FOREBAY_TRY(const double there, number(chunk.offset + atom * each * kNumber));
      if (there != first) return 0;
    }
    return each;
  }

 private:
  Result<double> number(uint64_t offset) const {
    std::array<std::byte, kNumber> bytes{};
    FOREBAY_CHECK(source_->read_at(offset, bytes));
    return std::bit_cast<double>(load<uint64_t>(bytes.data(), order_));
  }

  const ByteSource* source_;
  ByteOrder order_;
  uint64_t looks_left_ = 1 << 20;
};

struct Restart {
  ByteOrder order = ByteOrder::little;
  std::vector<Extent> chunks;
};

// Files of some processes begin with the number of these, and have the mark at their end only.
Result<std::optional<Restart>> part_of(std::span<const std::byte> head, const ByteSource& source) {
  std::array<std::byte, kMagic.size()> tail{};
  if (head.size() < 2 * kChunkHead || source.size() < 2 * kChunkHead + tail.size()) return std::optional<Restart>();
  for (const ByteOrder order : {ByteOrder::little, ByteOrder::big}) {
    Scan scan(source, order);
    if (!scan.may_be_chunk(head.subspan(kChunkHead), kChunkHead)) continue;
    FOREBAY_CHECK(source.read_at(source.size() - tail.size(), tail));
    if (as_text(tail) != kMagic) return std::optional<Restart>();
    FOREBAY_TRY(auto chunks, scan.chunks_from(kChunkHead));
    if (!chunks.empty()) return std::optional(Restart{order, std::move(chunks)});
  }
  return std::optional<Restart>();
}

// Nothing if no atoms are found that end with the file.
Result<std::optional<Restart>> find_restart(std::span<const std::byte> head, const ByteSource& source) {
  if (!as_text(head).starts_with(kMagic) || head.size() < kMagic.size() + 4) return part_of(head, source);
  Restart restart;
  if (load_le<uint32_t>(head.data() + kMagic.size()) != 1) restart.order = ByteOrder::big;
  FOREBAY_TRY(restart.chunks, Scan(source, restart.order).chunks());
  if (restart.chunks.empty()) return std::optional<Restart>();
  return std::optional(std::move(restart));
}

}  // namespace

Result<bool> LammpsReader::matches(std::span<const std::byte> head, const ByteSource& source) const {
  FOREBAY_TRY(const auto restart, find_restart(head, source));
  return restart.has_value();
}

Result<Layout> LammpsReader::read(const ByteSource& source) const {
  std::array<std::byte, kMagic.size() + 4> head{};
  if (source.size() < head.size()) return fail(ErrorKind::corrupt, "lammps: the file is too short", source.name());
  FOREBAY_CHECK(source.read_at(0, head));
  FOREBAY_TRY(const auto found, find_restart(head, source));
  if (!found) return fail(ErrorKind::corrupt, "lammps: the atoms were not found", source.name());
  const Restart& restart = *found;
  const Scan scan(source, restart.order);
  Layout layout{.format = "lammps", .variables = {}};
  for (size_t i = 0; i < restart.chunks.size(); ++i) {
    const Extent& chunk = restart.chunks[i];
    const uint64_t numbers = chunk.length / kNumber;
    if (numbers == 0) continue;
    FOREBAY_TRY(const uint64_t each, scan.numbers_of_atom(chunk));
    Variable& variable = layout.variables.emplace_back();
    variable.path = fmt::format("/atoms/{}", i);
    variable.type = {Kind::floating, restart.order, kNumber};
    variable.shape = each > 1 ? Shape{numbers / each, each} : Shape{numbers};
    variable.extents = {chunk};
  }
  return layout;
}

}  // namespace forebay::format

#include "io/method/block_notes.h"

#include <bit>
#include <string>
#include <utility>

#include "base/shape.h"
#include "io/file/transform.h"

namespace forebay::io {
namespace {

bool has_its_bytes(const Block& block) {
  uint64_t bytes = 0;
  return !__builtin_mul_overflow(element_count(block.shape), element_bytes(block.type), &bytes) &&
         bytes == block.bytes.size() && bytes > 0;
}

bool consists_of_plain_values(const Block& block) {
  if (block.type == ValueType::string) return false;
  if (block.transform.empty()) return true;
  const auto transform = Transform::parse(block.transform);
  return transform && transform->is_identity();
}

// Numbers of eight bytes; lists and texts with their length in front.
class NoteWriter {
 public:
  void put(uint64_t number) {
    bytes.resize(bytes.size() + sizeof number);
    store_le(bytes.data() + bytes.size() - sizeof number, number);
  }
  void put(double number) { put(std::bit_cast<uint64_t>(number)); }
  void put(const std::string& text) {
    put(uint64_t{text.size()});
    const auto content = as_bytes(text);
    bytes.insert(bytes.end(), content.begin(), content.end());
  }
  template <class T>
  void put(const std::vector<T>& list) {
    put(uint64_t{list.size()});
    for (const T number : list) put(number);
  }
  void put(const container::Characteristics& of) {
    for (const uint64_t number : {of.count, of.nans, of.infinities}) put(number);
    for (const double number : {of.min, of.max, of.sum, of.sum_of_squares}) put(number);
  }

  Bytes bytes;
};

class NoteReader {
 public:
  explicit NoteReader(std::span<const std::byte> bytes) : left_(bytes) {}

  bool has_more() const { return is_whole && !left_.empty(); }

  void get(uint64_t& number) {
    number = 0;
    if (const auto bytes = next(sizeof number); is_whole) number = load_le<uint64_t>(bytes.data());
  }
  void get(double& number) {
    uint64_t bits = 0;
    get(bits);
    number = std::bit_cast<double>(bits);
  }
  void get(std::string& text) {
    uint64_t length = 0;
    get(length);
    text = as_text(next(length));
  }
  template <class T>
  void get(std::vector<T>& list) {
    uint64_t length = 0;
    get(length);
    is_whole = is_whole && length <= left_.size() / sizeof(T);
    if (!is_whole) return;
    list.resize(length);
    for (T& number : list) get(number);
  }
  void get(container::Characteristics& of) {
    for (uint64_t* number : {&of.count, &of.nans, &of.infinities}) get(*number);
    for (double* number : {&of.min, &of.max, &of.sum, &of.sum_of_squares}) get(*number);
  }

  bool is_whole = true;  // everything that was asked for was there

 private:
  std::span<const std::byte> next(uint64_t bytes) {
    is_whole = is_whole && bytes <= left_.size();
    if (!is_whole) return {};
    const auto piece = left_.first(bytes);
    left_ = left_.subspan(bytes);
    return piece;
  }

  std::span<const std::byte> left_;
};

}  // namespace

std::vector<BlockNote> notes_of(std::span<const ProcessGroup> steps, uint64_t chunk_bytes) {
  std::vector<BlockNote> notes;
  for (uint64_t step = 0; step < steps.size(); ++step)
    for (uint64_t at = 0; at < steps[step].blocks.size(); ++at) {
      const Block& block = steps[step].blocks[at];
      if (!block.is_array || !has_place(block) || !has_its_bytes(block)) continue;
      BlockNote note{.step = step, .block = at, .may_join = false, .head = {}};
      note.may_join = block.bytes.size() < chunk_bytes && consists_of_plain_values(block);
      note.head = {.name = block.name,
                   .type = block.type,
                   .is_array = true,
                   .shape = block.shape,
                   .global_shape = block.global_shape,
                   .offsets = block.offsets,
                   .joined = {},
                   .transform = {},
                   .bytes = {},
                   .characteristics = block.characteristics,
                   .hashes = {},
                   .histogram = block.histogram,
                   .breaks = block.breaks};
      notes.push_back(std::move(note));
    }
  return notes;
}

uint64_t notes_bound(std::span<const ProcessGroup> steps) {
  constexpr uint64_t kFixed = 24;  // numbers
  uint64_t bytes = 0;
  for (const ProcessGroup& step : steps)
    for (const Block& block : step.blocks)
      bytes += block.name.size() + 8 * (kFixed + 3 * block.shape.size() + block.histogram.size() + block.breaks.size());
  return bytes;
}

Bytes encode_notes(std::span<const BlockNote> notes) {
  NoteWriter out;
  for (const BlockNote& note : notes) {
    out.put(note.step);
    out.put(note.block);
    out.put(uint64_t{note.may_join});
    out.put(note.head.name);
    out.put(static_cast<uint64_t>(note.head.type));
    for (const Shape* shape : {&note.head.shape, &note.head.global_shape, &note.head.offsets}) out.put(*shape);
    out.put(note.head.characteristics);
    out.put(note.head.histogram);
    out.put(note.head.breaks);
  }
  return std::move(out.bytes);
}

Result<std::vector<BlockNote>> decode_notes(std::span<const std::byte> bytes) {
  NoteReader in(bytes);
  std::vector<BlockNote> notes;
  while (in.has_more()) {
    BlockNote& note = notes.emplace_back();
    uint64_t may_join = 0, type = 0;
    in.get(note.step);
    in.get(note.block);
    in.get(may_join);
    in.get(note.head.name);
    in.get(type);
    for (Shape* shape : {&note.head.shape, &note.head.global_shape, &note.head.offsets}) in.get(*shape);
    in.get(note.head.characteristics);
    in.get(note.head.histogram);
    in.get(note.head.breaks);
    note.may_join = may_join != 0;
    note.head.is_array = true;
    note.head.type = static_cast<ValueType>(type);
    in.is_whole = in.is_whole && has_place(note.head);
  }
  if (!in.is_whole) return fail(ErrorKind::internal, "a rank tells of blocks what cannot be understood");
  return notes;
}

}  // namespace forebay::io

#include "view/source/piece_reader.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include <fmt/format.h>

namespace forebay::view {
namespace {

// Puts bytes of a packed box where they belong.
class Scatter {
 public:
  Scatter(const Piece& piece, uint64_t element_bytes, bool reversed)
      : out_(piece.out), count_(piece.box.count), strides_(piece.strides), element_(element_bytes) {
    if (reversed) {
      std::ranges::reverse(count_);
      std::ranges::reverse(strides_);
    }
    // The dimensions from `dense_` on lie in the destination as they lie in the packed box.
    dense_ = count_.size();
    run_ = element_bytes;
    while (dense_ > 0 && strides_[dense_ - 1] == run_) run_ *= count_[--dense_];
  }

  void operator()(uint64_t at, std::span<const std::byte> bytes) const {
    while (!bytes.empty()) {
      const uint64_t row = at / run_, inside = at % run_;
      const uint64_t length = std::min<uint64_t>(bytes.size(), run_ - inside);
      std::memcpy(out_ + offset_of(row) + inside, bytes.data(), length);
      bytes = bytes.subspan(length);
      at += length;
    }
  }

  // Calls `visit` with each run of bytes in the destination that elements of the box fill.
  template <class Visit>
  void for_each_run(const Visit& visit) const {
    const uint64_t rows = element_count(std::span(count_).first(dense_));
    for (uint64_t row = 0; row < rows; ++row) visit(std::span(out_ + offset_of(row), run_));
  }

  // Turns every element round.
  void swap() const {
    for_each_run([this](std::span<std::byte> run) {
      for (std::byte *at = run.data(), *end = at + run.size(); at != end; at += element_)
        std::reverse(at, at + element_);
    });
  }

 private:
  uint64_t offset_of(uint64_t row) const {
    uint64_t offset = 0;
    for (size_t d = dense_; d-- > 0; row /= count_[d]) offset += row % count_[d] * strides_[d];
    return offset;
  }

  std::byte* out_;
  Shape count_;                    // of the packed box
  std::vector<uint64_t> strides_;  // of the destination, in the same order
  uint64_t element_, run_ = 0;     // bytes
  size_t dense_ = 0;
};

// The box of a piece in its stored array, in the order in which that is stored.
Box stored_box(const StoredArray& stored, const Piece& piece) {
  const StoredPart& from = piece.from;
  Box box = piece.box;
  for (size_t d = 0; d < from.begin.size() && d < box.begin.size(); ++d) box.begin[d] += from.begin[d];
  if (from.flat) return box;
  box.begin.insert(box.begin.begin(), from.leading.begin(), from.leading.end());
  box.count.insert(box.count.begin(), from.leading.size(), 1);
  if (stored.reversed) {
    std::ranges::reverse(box.begin);
    std::ranges::reverse(box.count);
  }
  return box;
}

Result<engine::BoxPlan> plan_of(const engine::SharedReader& reader, const StoredArray& stored, const Piece& piece) {
  const engine::StreamFrames& frames = reader.frames(stored.container);
  const Box box = stored_box(stored, piece);
  const StoredPart& from = piece.from;
  if (from.flat) return engine::BoxPlan::make_flat(frames, stored.file, stored.variable, *from.flat, from.shape, box);
  return engine::BoxPlan::make(frames, stored.file, stored.variable, box);
}

// The error of a stored array, with the rank that wrote it.
Error with_rank(Error error, const engine::SharedReader& reader, const StoredArray& stored) {
  const Catalogue& catalogue = reader.set().containers[stored.container].catalogue();
  const FileRow& file = catalogue.files[stored.file];
  error.what =
      fmt::format("'{}' of rank {} ({}), set {}: {}", catalogue.paths[catalogue.variables[stored.variable].path],
                  file.rank, file.name, reader.set().manifest.name, error.what);
  return error;
}

}  // namespace

ReadCost read_pieces(const engine::SharedReader& reader, const engine::ChunkValues& chunks,
                     std::span<const StoredArray> stored, std::span<const Piece> pieces, const Step::Failed& failed) {
  std::vector<engine::SharedReader::BoxRead> boxes;
  std::vector<engine::ChunkValues::BoxRead> chunked;
  std::vector<size_t> numbers, chunked_numbers;  // of the pieces that the boxes are
  std::vector<bool> is_bad(pieces.size());
  const auto row_of = [&](const StoredArray& from) -> const VariableRow& {
    return reader.set().containers[from.container].catalogue().variables[from.variable];
  };
  const auto tell = [&](size_t piece, const Error& error) {
    if (is_bad[piece]) return;
    is_bad[piece] = true;
    failed(pieces[piece], with_rank(error, reader, stored[pieces[piece].from.array]));
  };
  for (size_t i = 0; i < pieces.size(); ++i) {
    const StoredArray& from = stored[pieces[i].from.array];
    const VariableRow& row = row_of(from);
    Scatter scatter(pieces[i], row.type.size, from.reversed);
    if (engine::ChunkValues::are_needed_for(row) && !pieces[i].from.flat) {
      chunked.push_back({from.container, from.file, from.variable, stored_box(from, pieces[i]), std::move(scatter)});
      chunked_numbers.push_back(i);
    } else if (auto plan = plan_of(reader, from, pieces[i])) {
      boxes.push_back({from.container, *std::move(plan), std::move(scatter)});
      numbers.push_back(i);
    } else {
      tell(i, plan.error());
    }
  }
  auto cost = reader.read(boxes, [&](size_t box, const Error& error) { tell(numbers[box], error); });
  cost.add(chunks.read(chunked, [&](size_t box, const Error& error) { tell(chunked_numbers[box], error); }));
  for (size_t i = 0; i < pieces.size(); ++i) {
    const StoredArray& from = stored[pieces[i].from.array];
    const DataType type = row_of(from).type;
    const bool is_foreign = (type.order == ByteOrder::big) != (std::endian::native == std::endian::big);
    if (!is_bad[i] && type.is_number() && type.size > 1 && is_foreign)
      Scatter(pieces[i], type.size, from.reversed).swap();
  }
  return {cost.read_bytes, cost.decoded_bytes, cost.frames, cost.cached};
}

namespace {

constexpr uint64_t kMostAsideBytes = 16 << 20;  // of values that are read aside, to become others

const DataType& type_of(const engine::SharedReader& reader, const StoredArray& stored) {
  return reader.set().containers[stored.container].catalogue().variables[stored.variable].type;
}

// As read_pieces() leaves it.
DataType native(DataType type) {
  if (type.size > 1) type.order = std::endian::native == std::endian::big ? ByteOrder::big : ByteOrder::little;
  return type;
}

// Reads pieces whose elements have another size than what is stored, some at a time.
class AsideReader {
 public:
  AsideReader(const engine::SharedReader& reader, const engine::ChunkValues& chunks,
              std::span<const StoredArray> stored, const Step::Failed& failed)
      : reader_(reader), chunks_(chunks), stored_(stored), failed_(failed) {}

  // Cuts what is too large to be held at once.
  void add(const Piece& piece) {
    const uint64_t bytes = element_count(piece.box.count) * size_of(piece);
    const auto cut = std::ranges::find_if(piece.box.count, [](uint64_t count) { return count > 1; });
    if (bytes > kMostAsideBytes && cut != piece.box.count.end()) {
      const auto d = static_cast<size_t>(cut - piece.box.count.begin());
      Piece first = piece, second = piece;
      first.box.count[d] /= 2;
      second.box.begin[d] += first.box.count[d];
      second.box.count[d] -= first.box.count[d];
      second.out += first.box.count[d] * piece.strides[d];
      add(first);
      add(second);
      return;
    }
    if (bytes_ + bytes > kMostAsideBytes) flush();
    wanted_.push_back(piece);
    bytes_ += bytes;
  }

  void flush() {
    Bytes values(bytes_);
    std::vector<Piece> aside;
    uint64_t at = 0;
    for (size_t i = 0; i < wanted_.size(); ++i) {
      Piece piece = wanted_[i];
      piece.out = values.data() + at;
      piece.tag = i;
      uint64_t stride = size_of(piece);
      for (size_t d = piece.strides.size(); d-- > 0; stride *= piece.box.count[d]) piece.strides[d] = stride;
      at += stride;
      aside.push_back(std::move(piece));
    }
    std::vector<bool> is_bad(wanted_.size());
    cost_.add(read_pieces(reader_, chunks_, stored_, aside, [&](const Piece& piece, const Error& error) {
      is_bad[piece.tag] = true;
      failed_(wanted_[piece.tag], error);
    }));
    for (size_t i = 0; i < wanted_.size(); ++i)
      if (!is_bad[i]) convert(aside[i], wanted_[i]);
    wanted_.clear();
    bytes_ = 0;
  }

  ReadCost cost() const { return cost_; }

 private:
  uint64_t size_of(const Piece& piece) const { return type_of(reader_, stored_[piece.from.array]).size; }

  void convert(const Piece& from, const Piece& to) const {
    const StoredArray& stored = stored_[to.from.array];
    const DataType type = native(type_of(reader_, stored));
    const uint64_t elements = element_count(to.box.count);
    Bytes meant(elements * stored.read_as.size);
    to_meant(*stored.meaning, type, stored.read_as, std::span(from.out, elements * type.size), meant.data());
    Scatter(to, stored.read_as.size, false)(0, meant);
  }

  const engine::SharedReader& reader_;
  const engine::ChunkValues& chunks_;
  std::span<const StoredArray> stored_;
  const Step::Failed& failed_;
  std::vector<Piece> wanted_;
  uint64_t bytes_ = 0;
  ReadCost cost_;
};

}  // namespace

ReadCost read_meant_pieces(const engine::SharedReader& reader, const engine::ChunkValues& chunks,
                           std::span<const StoredArray> stored, std::span<const Piece> pieces,
                           const Step::Failed& failed) {
  const auto is_meant = [&](const Piece& piece) { return stored[piece.from.array].meaning != nullptr; };
  if (std::ranges::none_of(pieces, is_meant)) return read_pieces(reader, chunks, stored, pieces, failed);
  std::vector<Piece> direct;
  AsideReader aside(reader, chunks, stored, failed);
  for (size_t i = 0; i < pieces.size(); ++i) {
    const StoredArray& from = stored[pieces[i].from.array];
    if (from.meaning && from.read_as.size != type_of(reader, from).size) {
      aside.add(pieces[i]);
      continue;
    }
    direct.push_back(pieces[i]);
    direct.back().tag = i;
  }
  aside.flush();
  std::vector<bool> is_bad(pieces.size());
  ReadCost cost = read_pieces(reader, chunks, stored, direct, [&](const Piece& piece, const Error& error) {
    is_bad[piece.tag] = true;
    failed(pieces[piece.tag], error);
  });
  for (const Piece& piece : direct) {
    const StoredArray& from = stored[piece.from.array];
    const DataType type = native(type_of(reader, from));
    if (!from.meaning || is_bad[piece.tag]) continue;
    Scatter(piece, type.size, from.reversed).for_each_run([&](std::span<std::byte> run) {
      to_meant(*from.meaning, type, from.read_as, run, run.data());
    });
  }
  cost.add(aside.cost());
  return cost;
}

}  // namespace forebay::view

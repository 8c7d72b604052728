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
  Scatter(const Piece& piece, uint64_t element_bytes) : piece_(piece), element_(element_bytes) {
    // The dimensions from `dense_` on lie in the destination as they lie in the packed box.
    dense_ = piece.box.count.size();
    run_ = element_bytes;
    while (dense_ > 0 && piece.strides[dense_ - 1] == run_) run_ *= piece.box.count[--dense_];
  }

  void operator()(uint64_t at, std::span<const std::byte> bytes) const {
    while (!bytes.empty()) {
      const uint64_t row = at / run_, inside = at % run_;
      const uint64_t length = std::min<uint64_t>(bytes.size(), run_ - inside);
      std::memcpy(piece_.out + offset_of(row) + inside, bytes.data(), length);
      bytes = bytes.subspan(length);
      at += length;
    }
  }

  // Turns every element round.
  void swap() const {
    const uint64_t rows = element_count(std::span(piece_.box.count).first(dense_));
    for (uint64_t row = 0; row < rows; ++row)
      for (std::byte *at = piece_.out + offset_of(row), *end = at + run_; at != end; at += element_)
        std::reverse(at, at + element_);
  }

 private:
  uint64_t offset_of(uint64_t row) const {
    uint64_t offset = 0;
    for (size_t d = dense_; d-- > 0; row /= piece_.box.count[d])
      offset += row % piece_.box.count[d] * piece_.strides[d];
    return offset;
  }

  const Piece& piece_;
  uint64_t element_, run_ = 0;  // bytes
  size_t dense_ = 0;
};

Result<engine::BoxPlan> plan_of(const engine::SharedReader& reader, const StoredArray& stored, const Piece& piece) {
  const engine::StreamFrames& frames = reader.frames(stored.container);
  const StoredPart& from = piece.from;
  Box box = piece.box;
  for (size_t d = 0; d < from.begin.size() && d < box.begin.size(); ++d) box.begin[d] += from.begin[d];
  if (from.flat) return engine::BoxPlan::make_flat(frames, stored.file, stored.variable, *from.flat, from.shape, box);
  box.begin.insert(box.begin.begin(), from.leading.begin(), from.leading.end());
  box.count.insert(box.count.begin(), from.leading.size(), 1);
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

ReadCost read_pieces(const engine::SharedReader& reader, std::span<const StoredArray> stored,
                     std::span<const Piece> pieces, const Step::Failed& failed) {
  std::vector<engine::SharedReader::BoxRead> boxes;
  std::vector<size_t> numbers;  // of the pieces that the boxes are
  std::vector<bool> is_bad(pieces.size());
  for (size_t i = 0; i < pieces.size(); ++i) {
    const StoredArray& from = stored[pieces[i].from.array];
    auto plan = plan_of(reader, from, pieces[i]);
    if (!plan) {
      is_bad[i] = true;
      failed(pieces[i], with_rank(plan.error(), reader, from));
      continue;
    }
    const Catalogue& catalogue = reader.set().containers[from.container].catalogue();
    boxes.push_back(
        {from.container, *std::move(plan), Scatter(pieces[i], catalogue.variables[from.variable].type.size)});
    numbers.push_back(i);
  }
  const auto cost = reader.read(boxes, [&](size_t box, const Error& error) {
    const Piece& piece = pieces[numbers[box]];
    if (is_bad[numbers[box]]) return;
    is_bad[numbers[box]] = true;
    failed(piece, with_rank(error, reader, stored[piece.from.array]));
  });
  for (const size_t i : numbers) {
    const StoredArray& from = stored[pieces[i].from.array];
    const DataType type = reader.set().containers[from.container].catalogue().variables[from.variable].type;
    const bool is_foreign = (type.order == ByteOrder::big) != (std::endian::native == std::endian::big);
    if (!is_bad[i] && type.is_number() && type.size > 1 && is_foreign) Scatter(pieces[i], type.size).swap();
  }
  return {cost.read_bytes, cost.decoded_bytes, cost.frames, cost.cached};
}

}  // namespace forebay::view

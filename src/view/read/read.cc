#include <algorithm>
#include <cstring>
#include <map>
#include <memory>

#include <fmt/format.h>

#include "view/read/pieces.h"
#include "view/read/selection.h"

namespace forebay::view {
namespace {

constexpr size_t kMostPieces = size_t{1} << 16;          // that are prepared before they are read
constexpr uint64_t kMostSideBytes = uint64_t{32} << 20;  // of what is read beside `out`

// The reads of one step: pieces are gathered, and read together when there are enough.
class StepReader {
 public:
  StepReader(const Step& step, std::span<Outcome> outcomes, ReadCost& cost)
      : step_(step), outcomes_(outcomes), cost_(cost) {}

  void add(const Request& request, size_t number) {
    const Result<void> done = prepare(request, number);
    if (!done && !outcomes_[number].error) outcomes_[number].error = done.error();
  }

  // Reads what was gathered.
  void flush() {
    if (pieces_.empty()) return;
    const auto failed = [&](const Piece& piece, const Error& error) {
      if (!outcomes_[piece.tag].error) outcomes_[piece.tag].error = error;
    };
    const auto cost = step_.read(pieces_, failed);
    if (cost)
      cost_.add(*cost);
    else
      for (const Piece& piece : pieces_) failed(piece, cost.error());
    pieces_.clear();
  }

 private:
  Result<const ArrayBlocks*> blocks_of(size_t array) {
    auto& blocks = blocks_[array];
    if (!blocks) {
      FOREBAY_TRY(auto found, step_.blocks(array));
      FOREBAY_TRY(blocks, ArrayBlocks::make(step_.array(array), std::move(found)));
    }
    return blocks.get();
  }

  Result<void> prepare(const Request& request, size_t number) {
    const Array& array = step_.array(request.array);
    FOREBAY_TRY(const ArrayBlocks* blocks, blocks_of(request.array));
    const auto* written = std::get_if<WrittenBlock>(&request.selection);
    const uint64_t wanted = written ? written->block : 0;
    const Block* block = wanted < blocks->blocks().size() ? &blocks->blocks()[wanted] : nullptr;
    FOREBAY_TRY(const uint64_t bytes, selection_bytes(array, request.selection, block));
    if (bytes != request.out.size())
      return fail(ErrorKind::invalid_argument,
                  fmt::format("the selection of '{}' has {} bytes, and there is room for {}", array.name, bytes,
                              request.out.size()));
    if (bytes == 0) return {};
    if (const auto* points = std::get_if<Points>(&request.selection))
      return add_points(*blocks, *points, request, number);
    if (written != nullptr || array.form == Form::scalar) {
      const Box box = written != nullptr && written->box ? *written->box : engine::whole_box(block->place.count);
      blocks->add_block(wanted, box, dense(request.out.data(), box.count, array.type.bytes()), number, pieces_);
      return {};
    }
    return add_strided(*blocks, std::get<Strided>(request.selection), request, number);
  }

  Result<void> add_points(const ArrayBlocks& blocks, const Points& points, const Request& request, size_t number) {
    const size_t width = kMostPieces * points.dimensions;
    for (size_t i = 0; i < points.indices.size(); i += width) {
      const auto some = std::span(points.indices).subspan(i, std::min(width, points.indices.size() - i));
      std::byte* out = request.out.data() + i / points.dimensions * blocks.array().type.bytes();
      FOREBAY_TRY(const uint64_t holes, blocks.add_points(some, out, number, pieces_));
      outcomes_[number].holes += holes;
      flush_if_many();
    }
    return {};
  }

  // A box of the array: of a local one, which has one block, of that.
  Result<void> add_box(const ArrayBlocks& blocks, const Box& box, const Destination& to, size_t number) {
    if (blocks.array().form != Form::global) {
      blocks.add_block(0, box, to, number, pieces_);
    } else {
      FOREBAY_TRY(const uint64_t holes, blocks.add_box(box, to, number, pieces_));
      outcomes_[number].holes += holes;
    }
    flush_if_many();
    return {};
  }

  Result<void> add_strided(const ArrayBlocks& blocks, const Strided& selection, const Request& request, size_t number) {
    const Destination to = dense(request.out.data(), selection.box.count, blocks.array().type.bytes());
    Shape stride = selection.stride.empty() ? Shape(selection.box.begin.size(), 1) : selection.stride;
    for (size_t d = 0; d < stride.size(); ++d)
      if (selection.box.count[d] == 1) stride[d] = 1;
    return add_dimensions(blocks, selection.box, stride, 0, to, number);
  }

  // Cuts a strided box at its strided dimensions from `d` on: each index of one but the last by itself; the last
  // dimension is read with what lies between, and thinned out.
  Result<void> add_dimensions(const ArrayBlocks& blocks, const Box& box, const Shape& stride, size_t d,
                              const Destination& to, size_t number) {
    const size_t last = box.begin.size() - 1;
    while (d < stride.size() && stride[d] == 1) ++d;
    if (d >= stride.size()) return add_box(blocks, box, to, number);
    if (d == last) return add_thinned(blocks, box, stride[d], to, number);
    for (uint64_t i = 0; i < box.count[d]; ++i) {
      Box one = box;
      one.begin[d] += i * stride[d];
      one.count[d] = 1;
      FOREBAY_CHECK(add_dimensions(blocks, one, stride, d + 1, {to.first + i * to.strides[d], to.strides}, number));
    }
    return {};
  }

  // Every stride-th element of the last dimension; the others are dense. In slabs along the first dimension that is
  // not 1.
  Result<void> add_thinned(const ArrayBlocks& blocks, const Box& box, uint64_t stride, const Destination& to,
                           size_t number) {
    const size_t last = box.begin.size() - 1;
    const uint64_t element = blocks.array().type.bytes();
    const uint64_t most = std::max<uint64_t>(1, kMostSideBytes / element);  // elements
    Box wide = box;
    wide.count[last] = (box.count[last] - 1) * stride + 1;
    size_t cut = 0;
    while (cut < last && box.count[cut] == 1) ++cut;
    if (cut < last && element_count(std::span(wide.count).subspan(cut + 1)) > most)
      return add_each(blocks, box, stride, cut, to, number);
    if (cut == last) return add_line(blocks, box, stride, most, to, number);
    const uint64_t slice = element_count(std::span(wide.count).subspan(cut + 1));
    const uint64_t step = std::max<uint64_t>(1, most / slice);
    for (uint64_t i = 0; i < box.count[cut]; i += step) {
      Box slab = wide;
      slab.begin[cut] += i;
      slab.count[cut] = std::min(step, box.count[cut] - i);
      FOREBAY_CHECK(read_aside(blocks, slab, stride, {to.first + i * to.strides[cut], to.strides}, number));
    }
    return {};
  }

  Result<void> add_each(const ArrayBlocks& blocks, const Box& box, uint64_t stride, size_t cut, const Destination& to,
                        size_t number) {
    for (uint64_t i = 0; i < box.count[cut]; ++i) {
      Box one = box;
      one.begin[cut] += i;
      one.count[cut] = 1;
      FOREBAY_CHECK(add_thinned(blocks, one, stride, {to.first + i * to.strides[cut], to.strides}, number));
    }
    return {};
  }

  Result<void> add_line(const ArrayBlocks& blocks, const Box& box, uint64_t stride, uint64_t most,
                        const Destination& to, size_t number) {
    const size_t last = box.begin.size() - 1;
    const uint64_t step = std::max<uint64_t>(1, most / stride);
    for (uint64_t i = 0; i < box.count[last]; i += step) {
      Box slab = box;
      slab.begin[last] += i * stride;
      slab.count[last] = (std::min(step, box.count[last] - i) - 1) * stride + 1;
      FOREBAY_CHECK(read_aside(blocks, slab, stride, {to.first + i * to.strides[last], to.strides}, number));
    }
    return {};
  }

  // Reads `box` beside `out`, and takes every stride-th element of its last dimension. What no block has stays as it
  // was.
  Result<void> read_aside(const ArrayBlocks& blocks, const Box& box, uint64_t stride, const Destination& to,
                          size_t number) {
    flush();
    const uint64_t element = blocks.array().type.bytes();
    const size_t last = box.begin.size() - 1;
    std::vector<std::byte> aside(volume(box) * element);
    Shape taken = box.count;
    taken[last] = (box.count[last] - 1) / stride + 1;
    const auto for_each_taken = [&](const auto& visit) {
      Shape at(taken.size());
      const Destination from = dense(aside.data(), box.count, element);
      for (uint64_t i = 0, n = element_count(taken); i < n; ++i) {
        std::byte *source = from.first, *target = to.first;
        for (size_t d = 0; d <= last; ++d) {
          source += at[d] * from.strides[d] * (d == last ? stride : 1);
          target += at[d] * to.strides[d];
        }
        visit(source, target);
        for (size_t d = taken.size(); d-- > 0 && ++at[d] == taken[d];) at[d] = 0;
      }
    };
    for_each_taken([&](std::byte* source, std::byte* target) { std::memcpy(source, target, element); });
    const uint64_t holes_before = outcomes_[number].holes;
    FOREBAY_CHECK(add_box(blocks, box, dense(aside.data(), box.count, element), number));
    flush();
    for_each_taken([&](std::byte* source, std::byte* target) { std::memcpy(target, source, element); });
    if (outcomes_[number].holes != holes_before)
      FOREBAY_CHECK(recount_holes(blocks, box, stride, holes_before, number));
    return {};
  }

  // The holes of a box that was read with what lies between are those of the elements that were meant.
  Result<void> recount_holes(const ArrayBlocks& blocks, const Box& box, uint64_t stride, uint64_t before,
                             size_t number) {
    const size_t last = box.begin.size() - 1;
    uint64_t holes = before;
    std::vector<Piece> unused;
    for (uint64_t i = 0; i < box.count[last]; i += stride) {
      Box one = box;
      one.begin[last] += i;
      one.count[last] = 1;
      FOREBAY_TRY(const uint64_t here,
                  blocks.add_box(one, {nullptr, std::vector<uint64_t>(box.begin.size())}, number, unused));
      holes += here;
      unused.clear();
    }
    outcomes_[number].holes = holes;
    return {};
  }

  void flush_if_many() {
    if (pieces_.size() >= kMostPieces) flush();
  }

  const Step& step_;
  std::span<Outcome> outcomes_;
  ReadCost& cost_;
  std::map<size_t, std::unique_ptr<const ArrayBlocks>> blocks_;
  std::vector<Piece> pieces_;
};

}  // namespace

ReadResult read(std::span<const Request> requests) {
  ReadResult result;
  result.outcomes.resize(requests.size());
  std::map<const Step*, std::vector<size_t>> by_step;
  std::vector<const Step*> order;  // of first mention
  for (size_t i = 0; i < requests.size(); ++i) {
    auto& numbers = by_step[requests[i].step];
    if (numbers.empty()) order.push_back(requests[i].step);
    numbers.push_back(i);
  }
  for (const Step* step : order) {
    StepReader reader(*step, result.outcomes, result.cost);
    for (const size_t i : by_step[step]) reader.add(requests[i], i);
    reader.flush();
  }
  return result;
}

}  // namespace forebay::view

#include "convert/pump/pieces.h"

#include <algorithm>

namespace forebay::convert {
namespace {

size_t leading_of(const Dataset& dataset) { return (dataset.has_steps ? 1 : 0) + (dataset.has_blocks ? 1 : 0); }

// The place of a step among a dataset's sources; nothing if it has none of that step.
std::optional<size_t> source_at(const Dataset& dataset, uint64_t step) {
  const auto found = std::ranges::lower_bound(dataset.sources, step, {}, &Source::step);
  if (found == dataset.sources.end() || found->step != step) return std::nullopt;
  return static_cast<size_t>(found - dataset.sources.begin());
}

// `box` of what is wanted of a source's array, or of a block of it.
view::Selection selection_of(const Dataset& dataset, uint64_t block, Box box) {
  if (dataset.form != view::Form::global) {
    const uint64_t number = dataset.has_blocks ? block : dataset.block.value_or(0);
    if (box.count.empty()) return view::WrittenBlock{number, {}};
    return view::WrittenBlock{number, std::move(box)};
  }
  if (dataset.joins_steps) {
    box.begin.insert(box.begin.begin(), 0);
    box.count.insert(box.count.begin(), 1);
  }
  if (!dataset.part) return view::Strided{std::move(box), {}};
  view::Strided part = *dataset.part;
  for (size_t d = 0; d < box.begin.size(); ++d) {
    part.box.begin[d] += box.begin[d] * (part.stride.empty() ? 1 : part.stride[d]);
    part.box.count[d] = box.count[d];
  }
  return part;
}

}  // namespace

// Goes to the next block, dataset or step that has values. False if there is none.
bool Pieces::go_to_next_part() {
  while (true) {
    const Dataset* dataset = dataset_ < plan_.datasets.size() ? &plan_.datasets[dataset_] : nullptr;
    if (dataset != nullptr && begun_) {
      const uint64_t blocks = dataset->has_blocks ? dataset->shape[dataset->has_steps ? 1 : 0] : 1;
      if (++block_ < blocks) break;
      ++dataset_;
      block_ = 0;
      begun_ = false;
      continue;
    }
    if (dataset == nullptr) {
      if (++step_ >= plan_.steps.size()) return false;
      dataset_ = 0;
      continue;
    }
    const auto source = source_at(*dataset, step_);
    if (!source || dataset->bytes() == 0) {
      ++dataset_;
      continue;
    }
    source_ = *source;
    begun_ = true;
    break;
  }
  const Dataset& dataset = plan_.datasets[dataset_];
  part_.assign(dataset.shape.begin() + static_cast<ptrdiff_t>(leading_of(dataset)), dataset.shape.end());
  slabs_.reset();
  at_.assign(part_.size(), 0);
  done_ = false;
  if (dataset.chunk.empty() && !part_.empty())
    slabs_.emplace(engine::whole_box(part_), part_, dataset.type.bytes(), most_bytes_);
  return true;
}

// The next box of the part.
std::optional<Box> Pieces::next_box() {
  const Dataset& dataset = plan_.datasets[dataset_];
  if (slabs_) return slabs_->next();
  if (done_) return std::nullopt;
  const size_t leading = leading_of(dataset);
  Box box{at_, part_};
  for (size_t d = 0; d < part_.size(); ++d) box.count[d] = std::min(dataset.chunk[leading + d], part_[d] - at_[d]);
  size_t d = part_.size();
  while (d > 0 && (at_[d - 1] += dataset.chunk[leading + d - 1]) >= part_[d - 1]) at_[--d] = 0;
  done_ = d == 0;
  return box;
}

std::optional<WantedPiece> Pieces::next() {
  while (true) {
    if (!in_part_ && !go_to_next_part()) return std::nullopt;
    in_part_ = true;
    auto box = next_box();
    if (!box) {
      in_part_ = false;
      continue;
    }
    const Dataset& dataset = plan_.datasets[dataset_];
    WantedPiece piece{dataset_, *box, dataset.sources[source_], selection_of(dataset, block_, *box)};
    const auto lead = [&](uint64_t index) {
      piece.box.begin.insert(piece.box.begin.begin(), index);
      piece.box.count.insert(piece.box.count.begin(), 1);
    };
    if (dataset.has_blocks) lead(block_);
    if (dataset.has_steps) lead(source_);
    return piece;
  }
}

}  // namespace forebay::convert

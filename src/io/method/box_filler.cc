#include "io/method/box_filler.h"

#include <algorithm>
#include <cstring>

namespace forebay::io {

BoxFiller::BoxFiller(std::span<std::byte> box, const Shape& box_shape, const Shape& place, const Shape& block_shape,
                     uint64_t element_bytes)
    : box_(box), row_bytes_(element_bytes) {
  Shape strides(box_shape.size());
  uint64_t stride = element_bytes;
  for (size_t d = box_shape.size(); d-- > 0; stride *= box_shape[d]) {
    strides[d] = stride;
    begin_ += place[d] * stride;
  }
  size_t cut = block_shape.size();
  bool is_whole = true;
  while (cut > 0 && is_whole) {
    --cut;
    row_bytes_ *= block_shape[cut];
    is_whole = block_shape[cut] == box_shape[cut];
  }
  const auto count = static_cast<std::ptrdiff_t>(cut);
  rows_.assign(block_shape.begin(), block_shape.begin() + count);
  stride_.assign(strides.begin(), strides.begin() + count);
  at_.assign(cut, 0);
}

void BoxFiller::put(std::span<const std::byte> piece) {
  while (!piece.empty()) {
    const uint64_t bytes = std::min<uint64_t>(piece.size(), row_bytes_ - filled_);
    std::memcpy(box_.data() + begin_ + filled_, piece.data(), bytes);
    piece = piece.subspan(bytes);
    filled_ += bytes;
    if (filled_ == row_bytes_) next_row();
  }
}

void BoxFiller::next_row() {
  filled_ = 0;
  for (size_t d = rows_.size(); d-- > 0;) {
    begin_ += stride_[d];
    if (++at_[d] < rows_[d]) return;
    begin_ -= rows_[d] * stride_[d];
    at_[d] = 0;
  }
}

}  // namespace forebay::io

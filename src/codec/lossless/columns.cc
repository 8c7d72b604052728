// The columns transform: what records of a few numbers each hold at one place lies together (coordinates, corners of
// cells, components of vectors), so that codecs see a column's values as neighbours.
#include <algorithm>
#include <cstring>

#include "codec/codec_ids.h"
#include "codec/own_codecs.h"

namespace forebay::codec {
namespace {

constexpr uint64_t kMostColumns = 64;

uint64_t rows_of(const Block& block) { return block.dims[0] * block.dims[1] * block.dims[2]; }

bool has_columns(const Block& block) {
  return block.dims[3] > 1 && block.dims[3] <= kMostColumns && rows_of(block) > 1;
}

// Elements of kWidth bytes from rows x columns to columns x rows; a tile of rows at a time, which stays in the cache.
template <size_t kWidth>
void transpose(const std::byte* in, uint64_t rows, uint64_t columns, std::byte* out) {
  constexpr uint64_t kTile = 512;
  for (uint64_t begin = 0; begin < rows; begin += kTile)
    for (uint64_t column = 0; column < columns; ++column)
      for (uint64_t row = begin; row < std::min(rows, begin + kTile); ++row)
        std::memcpy(out + (column * rows + row) * kWidth, in + (row * columns + column) * kWidth, kWidth);
}

void transpose(size_t width, const std::byte* in, uint64_t rows, uint64_t columns, std::byte* out) {
  switch (width) {
    case 1:
      return transpose<1>(in, rows, columns, out);
    case 2:
      return transpose<2>(in, rows, columns, out);
    case 4:
      return transpose<4>(in, rows, columns, out);
    default:
      return transpose<8>(in, rows, columns, out);
  }
}

void run(const FrameShape& shape, bool is_forward, std::span<const std::byte> in, std::span<std::byte> out) {
  const size_t width = shape.type.size;
  size_t at = 0;
  for (const Block& block : shape.blocks) {
    const uint64_t rows = rows_of(block), columns = block.dims[3];
    const size_t bytes = block.count() * width;
    if (!has_columns(block)) {
      if (bytes > 0) std::memcpy(out.data() + at, in.data() + at, bytes);
    } else if (is_forward) {
      transpose(width, in.data() + at, rows, columns, out.data() + at);
    } else {
      transpose(width, in.data() + at, columns, rows, out.data() + at);
    }
    at += bytes;
  }
}

class Columns final : public Codec {
 public:
  uint16_t id() const override { return kColumnsId; }
  std::string_view name() const override { return "columns"; }
  uint8_t max_level() const override { return 0; }
  bool accepts(const FrameShape& shape) const override {
    const auto size = shape.type.size;
    return (size == 1 || size == 2 || size == 4 || size == 8) && std::ranges::any_of(shape.blocks, has_columns);
  }
  bool is_transform() const override { return true; }
  Result<FrameShape> output_shape(const Context& context) const override {
    FrameShape after = context.shape;
    for (Block& block : after.blocks)
      if (has_columns(block)) block = {{1, 1, block.dims[3], rows_of(block)}};
    return after;
  }
  size_t bound(size_t raw) const override { return raw; }
  size_t scratch_bytes(uint8_t, size_t) const override { return 0; }

  size_t encode(const Context& context, std::span<const std::byte> in, std::span<std::byte> out) const override {
    run(context.shape, true, in, out);
    return in.size();
  }

  Result<void> decode(const Context& context, std::span<const std::byte> in, std::span<std::byte> out) const override {
    FOREBAY_CHECK(check_transform_input(context.shape, in, out));
    run(context.shape, false, in, out);
    return {};
  }
};

}  // namespace

const Codec& columns_codec() {
  static const Columns codec;
  return codec;
}

}  // namespace forebay::codec

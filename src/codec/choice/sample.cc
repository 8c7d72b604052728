#include "codec/choice/sample.h"

#include <algorithm>

namespace forebay::codec {
namespace {

constexpr size_t kPlaces = 4;
constexpr uint64_t kMinOuter = 4, kMinRow = 64;  // a box keeps this many slices and elements, for predictions to work

// `block` cut down to about `max_elements`: the largest outer dimensions first, so that as few elements as possible
// have neighbours outside the box, then rows.
Block box_of(const Block& block, uint64_t max_elements) {
  Block box = block;
  while (box.count() > max_elements) {
    uint64_t& longest = *std::max_element(box.dims, box.dims + 3);
    if (longest <= kMinOuter) break;
    longest -= 1 + longest / 16;
  }
  const uint64_t rows = box.count() / box.dims[3];
  if (box.count() > max_elements)
    box.dims[3] = std::clamp(max_elements / rows, std::min(kMinRow, box.dims[3]), box.dims[3]);
  return box;
}

// Appends the box in the middle of the block that starts at `from`.
void append_box(Bytes& out, const std::byte* from, const Block& block, const Block& box, size_t width) {
  uint64_t start[4];
  for (int i = 0; i < 4; ++i) start[i] = (block.dims[i] - box.dims[i]) / 2;
  for (uint64_t w = 0; w < box.dims[0]; ++w)
    for (uint64_t z = 0; z < box.dims[1]; ++z)
      for (uint64_t y = 0; y < box.dims[2]; ++y) {
        const uint64_t row = ((start[0] + w) * block.dims[1] + start[1] + z) * block.dims[2] + start[2] + y;
        const std::byte* at = from + (row * block.dims[3] + start[3]) * width;
        out.insert(out.end(), at, at + box.dims[3] * width);
      }
}

// How many of the places, spread evenly over a frame of `total` elements, lie before element `end`.
uint64_t places_before(uint64_t end, uint64_t total) {
  uint64_t places = 0;
  while (places < kPlaces && (2 * places + 1) * total / (2 * kPlaces) < end) ++places;
  return places;
}

// The first element that tells, along a dimension of a box.
uint64_t first_telling(bool trimmed, uint64_t dim) { return trimmed && dim > 1 ? 1 : 0; }

}  // namespace

Sample take_sample(const FrameShape& shape, std::span<const std::byte> raw, size_t budget) {
  const size_t width = shape.type.size;
  Sample sample;
  sample.shape.type = shape.type;
  if (raw.size() <= budget) {
    sample.shape.blocks = shape.blocks;
    sample.bytes.assign(raw.begin(), raw.end());
    sample.trimmed.assign(shape.blocks.size(), false);
    return sample;
  }
  const uint64_t share = std::max<uint64_t>(budget / kPlaces / width, 1);
  uint64_t offset = 0, taken = 0;  // in elements: of the block at hand, and in the sample
  for (const Block& block : shape.blocks) {
    const uint64_t end = offset + block.count();
    // Block by block, take what brings the sample up to the shares of all places that the blocks so far reach.
    const uint64_t wanted = places_before(end, raw.size() / width) * share;
    if (taken < wanted && block.count() > 0) {
      const Block box = box_of(block, wanted - taken);
      sample.shape.blocks.push_back(box);
      sample.trimmed.push_back(box != block);
      append_box(sample.bytes, raw.data() + offset * width, block, box, width);
      taken += box.count();
    }
    offset = end;
  }
  return sample;
}

Bytes telling_elements(const Sample& sample, std::span<const std::byte> values) {
  const size_t width = sample.shape.type.size;
  Bytes out;
  out.reserve(values.size());
  const std::byte* row = values.data();
  for (size_t b = 0; b < sample.shape.blocks.size(); ++b) {
    const auto& d = sample.shape.blocks[b].dims;
    const bool trimmed = sample.trimmed[b];
    for (uint64_t w = 0; w < d[0]; ++w)
      for (uint64_t z = 0; z < d[1]; ++z)
        for (uint64_t y = 0; y < d[2]; ++y, row += d[3] * width) {
          if (w < first_telling(trimmed, d[0]) || z < first_telling(trimmed, d[1]) || y < first_telling(trimmed, d[2]))
            continue;
          out.insert(out.end(), row + first_telling(trimmed, d[3]) * width, row + d[3] * width);
        }
  }
  return out;
}

}  // namespace forebay::codec

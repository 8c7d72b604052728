// Halo transform: cells that are copies of other cells of the frame, as ghost zones are, are left out. The parameters
// say where the originals are.
#include <algorithm>
#include <cstring>

#include "codec/codec_ids.h"
#include "codec/halo/halo_choice.h"
#include "codec/halo/halo_copies.h"
#include "codec/halo/halo_cover.h"
#include "codec/halo/halo_search.h"
#include "codec/own_codecs.h"

namespace forebay::codec {
namespace {

size_t list_bytes(size_t raw) {
  constexpr size_t kListBytes = 24;
  return std::min(kHaloSearchBytes, kListBytes * raw);
}

constexpr uint32_t kSmallFrame = 1 << 14;  // cells; a sample of fewer says nothing

// Whether all copies are true of `in`.
bool hold(const CellNumbers& cells, std::span<const Copy> copies, size_t width, std::span<const std::byte> in) {
  return std::ranges::all_of(copies, [&](const Copy& copy) {
    return cells.for_each_row(copy, [&](size_t from, size_t to, size_t count) {
      return std::memcmp(in.data() + from * width, in.data() + to * width, count * width) == 0;
    });
  });
}

class Halo final : public Codec {
 public:
  uint16_t id() const override { return kHaloId; }
  std::string_view name() const override { return "halo"; }
  uint8_t max_level() const override { return 1; }
  bool accepts(const FrameShape& shape) const override {
    return (shape.type.size == 2 || shape.type.size == 4 || shape.type.size == 8) && CellNumbers::fit(shape);
  }
  bool is_transform() const override { return true; }
  size_t bound(size_t raw) const override { return raw; }

  // Three bytes for each cell of two bytes at least (two to decode), and the lists, which grow with the cells that are
  // looked at.
  size_t scratch_bytes(uint8_t, size_t raw) const override { return raw + raw / 2 + list_bytes(raw); }
  size_t decode_scratch_bytes(uint8_t, size_t raw) const override { return raw + list_bytes(raw); }

  Result<FrameShape> output_shape(const Context& context) const override {
    const CellNumbers cells(context.shape);
    FOREBAY_TRY(const std::vector<Copy> copies, decode_copies(cells, context.parameters));
    const Cover cover(cells, copies);
    FrameShape kept{context.shape.type, {}};
    kept.blocks.reserve(context.shape.blocks.size());
    for (size_t i = 0; i < context.shape.blocks.size(); ++i) {
      const Coordinates extent = cover.kept_part(i).extent();
      kept.blocks.push_back({{extent[0], extent[1], extent[2], extent[3]}});
    }
    return kept;
  }

  Bytes fit(const Context& context, std::span<const std::byte> in) const override {
    const CellNumbers cells(context.shape);
    const size_t width = context.shape.type.size;
    const auto look = [&](Look at) { return choose_copies(cells, width, in, find_copies(cells, width, in, at)); };
    if (context.level == 0 && cells.total() > kSmallFrame && look(Look::at_sample).empty()) return {};
    return look(Look::at_all);
  }

  size_t encode(const Context& context, std::span<const std::byte> in, std::span<std::byte> out) const override {
    const CellNumbers cells(context.shape);
    const size_t width = context.shape.type.size;
    const auto copies = decode_copies(cells, context.parameters);
    if (!copies || !hold(cells, *copies, width, in)) return 0;
    const Cover cover(cells, *copies);
    if (!cover.is_restored_by(*copies)) return 0;
    size_t written = 0;
    for (size_t i = 0; i < cells.blocks().size(); ++i) {
      const Box part = cover.kept_part(i);
      cover.write_kept(i, part, width, in.data(), out.data() + written);
      written += volume(part.extent()) * width;
    }
    return written;
  }

  Result<void> decode(const Context& context, std::span<const std::byte> in, std::span<std::byte> out) const override {
    const CellNumbers cells(context.shape);
    FOREBAY_TRY(const std::vector<Copy> copies, decode_copies(cells, context.parameters));
    const Cover cover(cells, copies);
    if (!cover.is_restored_by(copies)) return fail(ErrorKind::corrupt, "a halo copy of cells that are not there yet");
    const size_t width = context.shape.type.size;
    if (out.size() != cells.total() * width) return fail(ErrorKind::corrupt, "a frame of another size than its blocks");
    for (size_t i = 0; i < cells.blocks().size(); ++i) {
      const Box part = cover.kept_part(i);
      if (volume(part.extent()) * width > in.size()) return fail(ErrorKind::corrupt, "halo data cut off");
      cells.for_each_row(i, part, [&](size_t first, size_t count) {
        std::memcpy(out.data() + first * width, in.data(), count * width);
        in = in.subspan(count * width);
      });
    }
    if (!in.empty()) return fail(ErrorKind::corrupt, "bytes after the halo data");
    for (const Copy& copy : copies)
      cells.for_each_row(copy, [&](size_t from, size_t to, size_t count) {
        std::memcpy(out.data() + to * width, out.data() + from * width, count * width);
        return true;
      });
    return {};
  }
};

}  // namespace

const Codec& halo_codec() {
  static const Halo codec;
  return codec;
}

}  // namespace forebay::codec

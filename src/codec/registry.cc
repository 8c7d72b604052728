#include <algorithm>

#include "codec/own_codecs.h"

namespace forebay::codec {

std::span<const Codec* const> all_codecs() {
  static const Codec* const codecs[] = {
      &shuffle_codec(), &bitshuffle_codec(), &lorenzo_codec(), &difference_codec(),
      &columns_codec(), &fpc_codec(),        &lch_codec(),     &planes_codec(),
      &text_codec(),    &zstd_codec(),       &deflate_codec(),
#ifdef FOREBAY_HAVE_LZ4
      &lz4_codec(),
#endif
      &fpzip1d_codec(), &fpzip_codec(),      &fitted_codec(),  &relation_codec(),
      &halo_codec(),    &multiples_codec(),
#ifdef FOREBAY_HAVE_ZFP
      &zfp_codec(),
#endif
  };
  return codecs;
}

const Codec* find_codec(uint16_t id) {
  const auto codecs = all_codecs();
  const auto found = std::ranges::find(codecs, id, &Codec::id);
  return found == codecs.end() ? nullptr : *found;
}

const Codec* find_codec(std::string_view name) {
  const auto codecs = all_codecs();
  const auto found = std::ranges::find(codecs, name, &Codec::name);
  return found == codecs.end() ? nullptr : *found;
}

Result<void> check_transform_input(const FrameShape& shape, std::span<const std::byte> in, std::span<std::byte> out) {
  if (in.size() != out.size() || shape.element_total() * shape.type.size != out.size())
    return fail(ErrorKind::corrupt, "a transform's input has another size than its output");
  return {};
}

}  // namespace forebay::codec

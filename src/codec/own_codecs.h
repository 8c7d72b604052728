// The codecs of this room, one function a file; registry.cc collects them.
#pragma once

#include "codec/codec.h"

namespace forebay::codec {

const Codec& shuffle_codec();
const Codec& bitshuffle_codec();
const Codec& lorenzo_codec();
const Codec& difference_codec();
const Codec& columns_codec();
const Codec& fpc_codec();
const Codec& lch_codec();
const Codec& zstd_codec();

// The bytes that `parts` equal parts of `in` take when each is compressed by itself; none takes more than it has.
size_t zstd_size_of_parts(uint8_t level, std::span<const std::byte> in, size_t parts);

const Codec& deflate_codec();
const Codec& lz4_codec();
const Codec& fpzip1d_codec();
const Codec& fpzip_codec();
const Codec& fitted_codec();
const Codec& relation_codec();
const Codec& halo_codec();
const Codec& multiples_codec();
const Codec& planes_codec();
const Codec& text_codec();
const Codec& zfp_codec();

// What every transform's decode() demands: input and output of one size that `shape` describes. corrupt if not.
Result<void> check_transform_input(const FrameShape& shape, std::span<const std::byte> in, std::span<std::byte> out);

}  // namespace forebay::codec

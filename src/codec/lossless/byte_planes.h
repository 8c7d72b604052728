// Splitting elements into byte planes and joining them: the kernels of shuffle and bitshuffle.
#pragma once

#include <cstddef>

namespace forebay::codec {

// out[plane_stride * b + i] = in[width * i + b] for i < count, b < width.
void split_planes(const std::byte* in, size_t count, size_t width, std::byte* out, size_t plane_stride);

// The inverse: out[width * i + b] = in[plane_stride * b + i].
void join_planes(const std::byte* in, size_t plane_stride, size_t count, size_t width, std::byte* out);

}  // namespace forebay::codec

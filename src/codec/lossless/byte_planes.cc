#include "codec/lossless/byte_planes.h"

#include <cstdint>
#include <cstring>

namespace forebay::codec {
namespace {

using Vector [[gnu::vector_size(16)]] = uint8_t;
constexpr size_t kLanes = 16;

Vector zip_low(Vector a, Vector b) {
  return __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
}
Vector zip_high(Vector a, Vector b) {
  return __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
}

// Zips the first half of the vectors with the second. Seen as a permutation of the bytes' addresses it rotates the
// address bits to the left by one, so a transposition of a power-of-two matrix is a number of such rounds.
template <size_t kWidth>
void rotate_address(Vector (&vectors)[kWidth]) {
  Vector zipped[kWidth];
  for (size_t i = 0; i < kWidth / 2; ++i) {
    zipped[2 * i] = zip_low(vectors[i], vectors[i + kWidth / 2]);
    zipped[2 * i + 1] = zip_high(vectors[i], vectors[i + kWidth / 2]);
  }
  std::memcpy(vectors, zipped, sizeof zipped);
}

// A group is 16 elements: 16 x kWidth bytes. Four groups at a time fill a cache line of each plane.
template <size_t kWidth>
void split(const std::byte* in, size_t groups, std::byte* out, size_t stride) {
  for (size_t group = 0; group < groups; ++group) {
    Vector vectors[kWidth];
    std::memcpy(vectors, in + group * sizeof vectors, sizeof vectors);
    for (size_t lanes = kLanes; lanes > 1; lanes /= 2) rotate_address(vectors);
    for (size_t b = 0; b < kWidth; ++b) std::memcpy(out + b * stride + group * kLanes, &vectors[b], kLanes);
  }
}

template <size_t kWidth>
void join(const std::byte* in, size_t stride, size_t groups, std::byte* out) {
  for (size_t group = 0; group < groups; ++group) {
    Vector vectors[kWidth];
    for (size_t b = 0; b < kWidth; ++b) std::memcpy(&vectors[b], in + b * stride + group * kLanes, kLanes);
    for (size_t width = kWidth; width > 1; width /= 2) rotate_address(vectors);
    std::memcpy(out + group * sizeof vectors, vectors, sizeof vectors);
  }
}

}  // namespace

void split_planes(const std::byte* in, size_t count, size_t width, std::byte* out, size_t plane_stride) {
  const size_t groups = count / kLanes;
  size_t done = groups * kLanes;
  switch (width) {
    case 2:
      split<2>(in, groups, out, plane_stride);
      break;
    case 4:
      split<4>(in, groups, out, plane_stride);
      break;
    case 8:
      split<8>(in, groups, out, plane_stride);
      break;
    default:
      done = 0;
  }
  for (size_t b = 0; b < width; ++b)
    for (size_t i = done; i < count; ++i) out[b * plane_stride + i] = in[width * i + b];
}

void join_planes(const std::byte* in, size_t plane_stride, size_t count, size_t width, std::byte* out) {
  const size_t groups = count / kLanes;
  size_t done = groups * kLanes;
  switch (width) {
    case 2:
      join<2>(in, plane_stride, groups, out);
      break;
    case 4:
      join<4>(in, plane_stride, groups, out);
      break;
    case 8:
      join<8>(in, plane_stride, groups, out);
      break;
    default:
      done = 0;
  }
  for (size_t b = 0; b < width; ++b)
    for (size_t i = done; i < count; ++i) out[width * i + b] = in[b * plane_stride + i];
}

}  // namespace forebay::codec

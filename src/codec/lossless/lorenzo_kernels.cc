#include "codec/lossless/lorenzo_kernels.h"

#include <algorithm>

#include "codec/elements.h"

namespace forebay::codec {
namespace {

// The distances, in bytes, between an element and its predecessors along the outer dimensions, where it has them.
struct Predecessors {
  ptrdiff_t distance[3];
  int count = 0;
};

// A row's integers, differenced along `kOuter` outer dimensions.
template <class E, int kOuter>
FOREBAY_KERNEL typename E::Unsigned outer_difference(const std::byte* at, const ptrdiff_t* distance) {
  using U = typename E::Unsigned;
  if constexpr (kOuter == 0)
    return E::load(at);
  else
    return static_cast<U>(outer_difference<E, kOuter - 1>(at, distance) -
                          outer_difference<E, kOuter - 1>(at - distance[kOuter - 1], distance));
}

// Residuals of one row of `count` elements.
template <class E, int kOuter>
FOREBAY_KERNEL void forward_row(const std::byte* __restrict in, std::byte* __restrict out, size_t count,
                                const Predecessors& predecessors, typename E::Unsigned before) {
  using U = typename E::Unsigned;
  constexpr size_t kTile = 512;
  const ptrdiff_t distance[3] = {predecessors.distance[0], predecessors.distance[1], predecessors.distance[2]};
  U tile[kTile + 1];
  tile[0] = before;
  while (count > 0) {
    const size_t step = std::min(count, kTile);
    for (size_t i = 0; i < step; ++i) tile[i + 1] = outer_difference<E, kOuter>(in + i * sizeof(U), distance);
    for (size_t i = 0; i < step; ++i) store_le(out + i * sizeof(U), E::zigzag(static_cast<U>(tile[i + 1] - tile[i])));
    tile[0] = tile[step];
    in += step * sizeof(U);
    out += step * sizeof(U);
    count -= step;
  }
}

template <class E>
struct Forward {
  using U = typename E::Unsigned;

  FOREBAY_KERNEL static void run(const LorenzoArray* array, const std::byte* in, std::byte* out, uint64_t* carry) {
    const auto& d = array->dims;
    const size_t row = d[3] * sizeof(U);
    const size_t rows = d[0] * d[1] * d[2];
    const ptrdiff_t stride[3] = {static_cast<ptrdiff_t>(row), static_cast<ptrdiff_t>(row * d[2]),
                                 static_cast<ptrdiff_t>(row * d[2] * d[1])};
    U before = static_cast<U>(*carry);
    uint64_t y = 0, z = 0, w = 0;
    for (size_t r = 0; r < rows; ++r) {
      Predecessors predecessors{};
      if (y > 0) predecessors.distance[predecessors.count++] = stride[0];
      if (z > 0) predecessors.distance[predecessors.count++] = stride[1];
      if (w > 0) predecessors.distance[predecessors.count++] = stride[2];
      switch (predecessors.count) {
        case 0:
          forward_row<E, 0>(in + r * row, out + r * row, d[3], predecessors, before);
          break;
        case 1:
          forward_row<E, 1>(in + r * row, out + r * row, d[3], predecessors, before);
          break;
        case 2:
          forward_row<E, 2>(in + r * row, out + r * row, d[3], predecessors, before);
          break;
        default:
          forward_row<E, 3>(in + r * row, out + r * row, d[3], predecessors, before);
      }
      before = 0;
      if (++y == d[2]) {
        y = 0;
        if (++z == d[1]) {
          z = 0;
          ++w;
        }
      }
    }
    *carry = E::load(in + rows * row - sizeof(U));
  }
};

template <class E>
struct Inverse {
  using U = typename E::Unsigned;

  FOREBAY_KERNEL static void sum_row(const std::byte* __restrict in, std::byte* __restrict out, size_t count, U sum) {
    for (size_t i = 0; i < count; ++i) {
      sum = static_cast<U>(sum + E::unzigzag(load_le<U>(in + i * sizeof(U))));
      store_le(out + i * sizeof(U), sum);
    }
  }

  FOREBAY_KERNEL static void add(std::byte* __restrict to, const std::byte* __restrict from, size_t count) {
    for (size_t i = 0; i < count * sizeof(U); i += sizeof(U))
      store_le(to + i, static_cast<U>(load_le<U>(to + i) + load_le<U>(from + i)));
  }

  // Undoes the differences one dimension after the other, each as soon as its rows are there.
  FOREBAY_KERNEL static void run(const LorenzoArray* array, const std::byte* in, std::byte* out, uint64_t* carry) {
    const auto& d = array->dims;
    const size_t row = d[3] * sizeof(U), plane = row * d[2], volume = plane * d[1];
    U before = static_cast<U>(*carry);
    for (size_t w = 0; w < d[0]; ++w) {
      for (size_t z = 0; z < d[1]; ++z) {
        for (size_t y = 0; y < d[2]; ++y) {
          const size_t at = w * volume + z * plane + y * row;
          sum_row(in + at, out + at, d[3], before);
          if (y > 0) add(out + at, out + at - row, d[3]);
          before = 0;
        }
        const size_t at = w * volume + z * plane;
        if (z > 0) add(out + at, out + at - plane, d[2] * d[3]);
      }
      if (w > 0) add(out + w * volume, out + (w - 1) * volume, d[1] * d[2] * d[3]);
    }
    const size_t bytes = d[0] * volume;
    *carry = load_le<U>(out + bytes - sizeof(U));
    for (size_t i = 0; i < bytes; i += sizeof(U)) E::unmap(out + i);
  }
};

template <template <class> class Direction, class U, bool kFloat>
void run_order(ByteOrder order, const LorenzoArray& array, const std::byte* in, std::byte* out, uint64_t& carry) {
  if (order == ByteOrder::big)
    run_kernel<Direction<Elements<U, kFloat, true>>>(&array, in, out, &carry);
  else
    run_kernel<Direction<Elements<U, kFloat, false>>>(&array, in, out, &carry);
}

template <template <class> class Direction>
void run_type(const DataType& type, const LorenzoArray& array, const std::byte* in, std::byte* out, uint64_t& carry) {
  if (array.count() == 0) return;
  const bool floating = type.kind == Kind::floating;
  switch (type.size) {
    case 1:
      return run_order<Direction, uint8_t, false>(ByteOrder::little, array, in, out, carry);
    case 2:
      return floating ? run_order<Direction, uint16_t, true>(type.order, array, in, out, carry)
                      : run_order<Direction, uint16_t, false>(type.order, array, in, out, carry);
    case 4:
      return floating ? run_order<Direction, uint32_t, true>(type.order, array, in, out, carry)
                      : run_order<Direction, uint32_t, false>(type.order, array, in, out, carry);
    default:
      return floating ? run_order<Direction, uint64_t, true>(type.order, array, in, out, carry)
                      : run_order<Direction, uint64_t, false>(type.order, array, in, out, carry);
  }
}

}  // namespace

LorenzoArray lorenzo_array(const Block& block, unsigned level) {
  LorenzoArray array;
  const unsigned wanted = level == 0 ? 4 : level;
  int at = 3;
  unsigned used = 0;
  for (int i = 3; i >= 0; --i) {
    if (block.dims[i] == 1) continue;
    if (used < wanted) {
      array.dims[at--] = block.dims[i];
      ++used;
    } else {
      array.dims[at + 1] *= block.dims[i];
    }
  }
  return array;
}

void lorenzo_forward(const DataType& type, const LorenzoArray& array, const std::byte* in, std::byte* out,
                     uint64_t& carry) {
  run_type<Forward>(type, array, in, out, carry);
}

void lorenzo_inverse(const DataType& type, const LorenzoArray& array, const std::byte* in, std::byte* out,
                     uint64_t& carry) {
  run_type<Inverse>(type, array, in, out, carry);
}

}  // namespace forebay::codec

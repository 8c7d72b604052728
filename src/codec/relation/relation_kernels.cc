#include "codec/relation/relation_kernels.h"

#include <algorithm>
#include <bit>

#include "codec/elements.h"

namespace forebay::codec {
namespace {

constexpr size_t kTile = 256;  // elements that are predicted at once

// The rows of what is left over that a row's prediction looks at: null where they lie outside the array.
struct Neighbours {
  const double *up = nullptr, *back = nullptr, *up_back = nullptr;
};

// What the left neighbours pass on along a row.
struct Carry {
  double left_over = 0, outer = 0;
};

// One row: where its elements are, and where what is left over of them goes (null: nobody needs it).
struct Row {
  const std::byte* in;
  std::byte* out;
  double* left_over;
  size_t count;
  size_t first;  // the index of its first element in the array
  Neighbours neighbours;
};

template <class E>
struct Arithmetic : FloatValues<E> {
  using typename FloatValues<E>::U;
  using typename FloatValues<E>::F;
  using FloatValues<E>::element;

  // The prediction as an integer; anything that is not a number counts as 0.
  FOREBAY_KERNEL static U rounded(double prediction) {
    const F value = static_cast<F>(prediction);
    return value == value ? E::map(std::bit_cast<U>(value)) : U{0};
  }

  FOREBAY_KERNEL static void combine(std::span<const BoundTerm> terms, size_t first, size_t count, double* sum) {
    for (size_t i = 0; i < count; ++i) sum[i] = 0;
    for (const BoundTerm& term : terms) {
      const std::byte* at = term.elements + first * sizeof(U);
      const double coefficient = term.coefficient;
      if (term.squared) {
        for (size_t i = 0; i < count; ++i) {
          const double value = element(at + i * sizeof(U));
          sum[i] = sum[i] + coefficient * (value * value);
        }
      } else {
        for (size_t i = 0; i < count; ++i) sum[i] = sum[i] + coefficient * element(at + i * sizeof(U));
      }
    }
  }

  // What the rows before predict of what is left over.
  FOREBAY_KERNEL static void outer(const Neighbours& rows, size_t first, size_t count, double* sum) {
    if (rows.up_back != nullptr) {
      for (size_t i = 0; i < count; ++i) sum[i] = (rows.up[first + i] + rows.back[first + i]) - rows.up_back[first + i];
    } else if (rows.up != nullptr || rows.back != nullptr) {
      const double* row = rows.up != nullptr ? rows.up : rows.back;
      for (size_t i = 0; i < count; ++i) sum[i] = row[first + i];
    } else {
      for (size_t i = 0; i < count; ++i) sum[i] = 0;
    }
  }
};

// Calls each(begin, count, in, out, combined) for one stretch of a row after the other, with what the terms make of it.
template <class E, class Each>
FOREBAY_KERNEL void for_tiles(std::span<const BoundTerm> terms, const Row& row, const Each& each) {
  using U = typename E::Unsigned;
  double combined[kTile];
  for (size_t begin = 0; begin < row.count; begin += kTile) {
    const size_t count = std::min(kTile, row.count - begin);
    Arithmetic<E>::combine(terms, row.first + begin, count, combined);
    each(begin, count, row.in + begin * sizeof(U), row.out + begin * sizeof(U), combined);
  }
}

template <class E>
struct Forward {
  using A = Arithmetic<E>;
  using U = typename E::Unsigned;

  FOREBAY_KERNEL static void write(const std::byte* in, std::byte* out, size_t i, double prediction) {
    const U difference = static_cast<U>(E::load(in + i * sizeof(U)) - A::rounded(prediction));
    store_le(out + i * sizeof(U), E::zigzag(difference));
  }

  FOREBAY_KERNEL static void value_row(std::span<const BoundTerm> terms, const Row& row) {
    for_tiles<E>(terms, row, [](size_t, size_t count, const std::byte* in, std::byte* out, const double* combined) {
      for (size_t i = 0; i < count; ++i) write(in, out, i, combined[i]);
    });
  }

  FOREBAY_KERNEL static void change_row(std::span<const BoundTerm> terms, const Row& row) {
    double outer[kTile + 1], left_over[kTile + 1];
    outer[0] = left_over[0] = 0;
    for_tiles<E>(terms, row,
                 [&](size_t begin, size_t count, const std::byte* in, std::byte* out, const double* combined) {
                   A::outer(row.neighbours, begin, count, outer + 1);
                   for (size_t i = 0; i < count; ++i) left_over[i + 1] = A::element(in + i * sizeof(U)) - combined[i];
                   for (size_t i = 0; i < count; ++i)
                     write(in, out, i, combined[i] + (outer[i + 1] + (left_over[i] - outer[i])));
                   if (row.left_over != nullptr) std::copy_n(left_over + 1, count, row.left_over + begin);
                   outer[0] = outer[count];
                   left_over[0] = left_over[count];
                 });
  }
};

template <class E>
struct Inverse {
  using A = Arithmetic<E>;
  using U = typename E::Unsigned;

  FOREBAY_KERNEL static void write(const std::byte* in, std::byte* out, size_t i, double prediction) {
    const U difference = E::unzigzag(load_le<U>(in + i * sizeof(U)));
    store_le(out + i * sizeof(U), static_cast<U>(difference + A::rounded(prediction)));
    E::unmap(out + i * sizeof(U));
  }

  FOREBAY_KERNEL static void value_row(std::span<const BoundTerm> terms, const Row& row) {
    for_tiles<E>(terms, row, [](size_t, size_t count, const std::byte* in, std::byte* out, const double* combined) {
      for (size_t i = 0; i < count; ++i) write(in, out, i, combined[i]);
    });
  }

  FOREBAY_KERNEL static void change_row(std::span<const BoundTerm> terms, const Row& row) {
    double outer[kTile];
    Carry carry;
    for_tiles<E>(terms, row,
                 [&](size_t begin, size_t count, const std::byte* in, std::byte* out, const double* combined) {
                   A::outer(row.neighbours, begin, count, outer);
                   for (size_t i = 0; i < count; ++i) {
                     write(in, out, i, combined[i] + (outer[i] + (carry.left_over - carry.outer)));
                     carry = {.left_over = A::element(out + i * sizeof(U)) - combined[i], .outer = outer[i]};
                     if (row.left_over != nullptr) row.left_over[begin + i] = carry.left_over;
                   }
                 });
  }
};

// Walks the rows of an array. What is left over of the current plane and the one before lies in `left_over`.
template <class Rows>
struct Walk {
  FOREBAY_KERNEL static void run(RelationKind kind, const std::span<const BoundTerm>* terms, const LorenzoArray* array,
                                 const std::byte* in, std::byte* out, double* left_over) {
    using U = typename Rows::U;
    const size_t planes = array->dims[1], rows = array->dims[2], count = array->dims[3];
    const size_t plane = rows * count;
    for (size_t z = 0; z < planes; ++z)
      for (size_t y = 0; y < rows; ++y) {
        Row row{.in = in,
                .out = out,
                .left_over = nullptr,
                .count = count,
                .first = z * plane + y * count,
                .neighbours = {}};
        in += count * sizeof(U);
        out += count * sizeof(U);
        if (kind == RelationKind::value) {
          Rows::value_row(*terms, row);
          continue;
        }
        if (plane > count || planes > 1) {  // lines have no memory for what is left over
          double* now = left_over + (z % 2) * plane + y * count;
          row.left_over = now;
          if (y > 0) row.neighbours.up = now - count;
          if (z > 0) row.neighbours.back = left_over + ((z + 1) % 2) * plane + y * count;
          if (y > 0 && z > 0) row.neighbours.up_back = row.neighbours.back - count;
        }
        Rows::change_row(*terms, row);
      }
  }
};

template <template <class> class Direction, class U>
void run_order(const DataType& type, RelationKind kind, std::span<const BoundTerm> terms, const LorenzoArray& array,
               const std::byte* in, std::byte* out, double* left_over, bool avx2) {
  if (type.order == ByteOrder::big)
    run_kernel_on<Walk<Direction<Elements<U, true, true>>>>(avx2, kind, &terms, &array, in, out, left_over);
  else
    run_kernel_on<Walk<Direction<Elements<U, true, false>>>>(avx2, kind, &terms, &array, in, out, left_over);
}

template <template <class> class Direction>
void run_type(const DataType& type, RelationKind kind, std::span<const BoundTerm> terms, const LorenzoArray& array,
              const std::byte* in, std::byte* out, double* left_over, bool avx2) {
  if (array.count() == 0) return;
  if (type.size == 4)
    run_order<Direction, uint32_t>(type, kind, terms, array, in, out, left_over, avx2);
  else
    run_order<Direction, uint64_t>(type, kind, terms, array, in, out, left_over, avx2);
}

}  // namespace

void relation_forward(const DataType& type, RelationKind kind, std::span<const BoundTerm> terms,
                      const LorenzoArray& array, const std::byte* in, std::byte* out, double* left_over, bool avx2) {
  run_type<Forward>(type, kind, terms, array, in, out, left_over, avx2);
}

void relation_inverse(const DataType& type, RelationKind kind, std::span<const BoundTerm> terms,
                      const LorenzoArray& array, const std::byte* in, std::byte* out, double* left_over, bool avx2) {
  run_type<Inverse>(type, kind, terms, array, in, out, left_over, avx2);
}

size_t relation_scratch(RelationKind kind, const LorenzoArray& array) {
  const size_t plane = array.dims[2] * array.dims[3];
  const bool is_line = array.dims[1] == 1 && array.dims[2] == 1;
  return kind == RelationKind::value || is_line ? 0 : std::min<size_t>(array.dims[1], 2) * plane;
}

}  // namespace forebay::codec

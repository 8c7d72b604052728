#include "codec/fitted/fitted_kernels.h"

#include <algorithm>
#include <utility>

#include "codec/fitted/fitted_arithmetic.h"

namespace forebay::codec {
namespace {

constexpr size_t kMargin = 2;  // elements beyond either end of a row that stencils read
constexpr size_t kPlanesKept = 3;

// The last planes of an array as doubles, each row between margins, and below each plane a row that continues it.
class Planes {
 public:
  FOREBAY_KERNEL Planes(double* memory, const LorenzoArray& array)
      : memory_(memory), rows_(array.dims[2]), count_(array.dims[3]) {}

  FOREBAY_KERNEL double* row(size_t z, size_t y) const {
    return memory_ + ((z % kPlanesKept) * (rows_ + 1) + y) * (count_ + 2 * kMargin) + kMargin;
  }

  // Continues a complete row to both sides, along straight lines.
  FOREBAY_KERNEL void finish_row(size_t z, size_t y) const {
    double* first = row(z, y);
    double* last = first + count_ - 1;
    const double left = first[0] - first[1], right = last[0] - last[-1];
    first[-1] = first[0] + left;
    first[-2] = first[-1] + left;
    last[1] = last[0] + right;
    last[2] = last[1] + right;
  }

  // Continues a complete plane downwards.
  FOREBAY_KERNEL void finish_plane(size_t z) const {
    const double* last = row(z, rows_ - 1) - kMargin;
    const double* before = row(z, rows_ - 2) - kMargin;
    double* __restrict below = row(z, rows_) - kMargin;
    for (size_t i = 0; i < count_ + 2 * kMargin; ++i) below[i] = last[i] + (last[i] - before[i]);
  }

 private:
  double* memory_;
  size_t rows_, count_;
};

// The rows that predict one row.
struct Rows {
  const double* at[kStencilRows];
};

// Lets a row that has no elements yet begin as its neighbours do.
FOREBAY_KERNEL void begin_row(const Rows& rows, bool volume, double* row) {
  const double change = volume ? rows.at[kBack][0] - rows.at[kBackUp][0] : 0.0;
  row[-1] = rows.at[kUp][-1] + change;
  row[-2] = rows.at[kUp][-2] + change;
}

template <size_t... kTap>
FOREBAY_KERNEL void outer_terms(const Rows& from, const double* coefficients, size_t count, double* __restrict sums,
                                std::index_sequence<kTap...>) {
  const Rows rows = from;
  const double c[] = {coefficients[kTap]...};
  for (size_t i = 0; i < count; ++i) {
    const double above = rows.at[kUp][i];
    double sum = 0;
    ((sum = sum + c[kTap] * (rows.at[kTaps[kTap].row][static_cast<ptrdiff_t>(i) + kTaps[kTap].dx] - above)), ...);
    sums[i] = sum;
  }
}

// The prediction's part that other rows decide.
FOREBAY_KERNEL void outer(const Rows& rows, const double* stencil, bool volume, size_t count, double* sums) {
  if (volume)
    outer_terms(rows, stencil + kLeftTaps, count, sums, std::make_index_sequence<kVolumeTaps>());
  else
    outer_terms(rows, stencil + kLeftTaps, count, sums, std::make_index_sequence<kPlaneTaps>());
}

template <class E>
struct ForwardRow {
  using Elements = E;
  using A = FittedArithmetic<E>;
  using U = typename E::Unsigned;

  FOREBAY_KERNEL static const std::byte* elements(const std::byte* in, std::byte*) { return in; }

  FOREBAY_KERNEL static void run(const double* stencil, const double* above, const double* sums, double* row,
                                 size_t count, const std::byte* in, std::byte* __restrict out) {
    const double left = stencil[0], left2 = stencil[1];
    for (size_t i = 0; i < count; ++i) row[i] = A::element(in + i * sizeof(U));
    for (size_t i = 0; i < count; ++i) {
      const auto at = static_cast<ptrdiff_t>(i);
      const double u = above[at];
      const double prediction = (u + (sums[at] + left2 * (row[at - 2] - u))) + left * (row[at - 1] - u);
      const U residual = static_cast<U>(E::load(in + i * sizeof(U)) - A::rounded(prediction));
      store_le(out + i * sizeof(U), E::zigzag(residual));
    }
  }
};

template <class E>
struct InverseRow {
  using Elements = E;
  using A = FittedArithmetic<E>;
  using U = typename E::Unsigned;

  FOREBAY_KERNEL static const std::byte* elements(const std::byte*, std::byte* out) { return out; }

  FOREBAY_KERNEL static void run(const double* stencil, const double* above, const double* sums, double* row,
                                 size_t count, const std::byte* in, std::byte* __restrict out) {
    const double left = stencil[0], left2 = stencil[1];
    double x1 = row[-1], x2 = row[-2];
    for (size_t i = 0; i < count; ++i) {
      const double u = above[i];
      const double prediction = (u + (sums[i] + left2 * (x2 - u))) + left * (x1 - u);
      const U integer = static_cast<U>(E::unzigzag(load_le<U>(in + i * sizeof(U))) + A::rounded(prediction));
      store_le(out + i * sizeof(U), integer);
      x2 = x1;
      x1 = A::value(integer);
      row[i] = x1;
    }
    for (size_t i = 0; i < count; ++i) E::unmap(out + i * sizeof(U));
  }
};

// Walks the rows of an array but its first, which it only looks at.
template <class Row>
struct Walk {
  using A = FittedArithmetic<typename Row::Elements>;

  FOREBAY_KERNEL static void run(const FittedRun* run, const LorenzoArray* array, const std::byte* in, std::byte* out,
                                 uint64_t* carry, double* scratch) {
    const size_t depth = array->dims[1], height = array->dims[2], count = array->dims[3];
    const size_t row_bytes = count * sizeof(typename A::U);
    const Planes planes(scratch, *array);
    double* sums = scratch + fitted_scratch(*array) - count;
    const std::byte* first = Row::elements(in, out);
    for (size_t i = 0; i < count; ++i) planes.row(0, 0)[i] = A::element(first + i * sizeof(typename A::U));
    planes.finish_row(0, 0);
    for (size_t z = 0; z < depth; ++z) {
      for (size_t y = z == 0 ? 1 : 0; y < height; ++y) {
        const bool volume = z > 0 && y > 0;
        const Rows rows = rows_of(planes, z, y);
        const double* stencil = volume ? run->volume.data() : run->plane.data();
        outer(rows, stencil, volume, count, sums);
        double* row = planes.row(z, y);
        begin_row(rows, volume, row);
        const size_t at = (z * height + y) * row_bytes;
        Row::run(stencil, rows.at[kUp], sums, row, count, in + at, out + at);
        planes.finish_row(z, y);
      }
      planes.finish_plane(z);
    }
    *carry = Row::Elements::load(first + depth * height * row_bytes - sizeof(typename A::U));
  }

  // The first row of each plane is predicted in the plane that those rows make. Rows outside the array are the nearest
  // inside.
  FOREBAY_KERNEL static Rows rows_of(const Planes& planes, size_t z, size_t y) {
    if (z == 0) return {{planes.row(0, y - 1), planes.row(0, y - std::min<size_t>(y, 2))}};
    const size_t z2 = z - std::min<size_t>(z, 2);
    if (y == 0) return {{planes.row(z - 1, 0), planes.row(z2, 0)}};
    return {{planes.row(z, y - 1), planes.row(z, y - std::min<size_t>(y, 2)), planes.row(z - 1, y - 1),
             planes.row(z - 1, y), planes.row(z - 1, y + 1), planes.row(z2, y)}};
  }
};

template <template <class> class Row, class U>
void run_order(const DataType& type, const FittedRun& run, const LorenzoArray& array, const std::byte* in,
               std::byte* out, uint64_t& carry, double* scratch, bool wide) {
  if (type.order == ByteOrder::big)
    run_kernel_on<Walk<Row<Elements<U, true, true>>>>(wide, &run, &array, in, out, &carry, scratch);
  else
    run_kernel_on<Walk<Row<Elements<U, true, false>>>>(wide, &run, &array, in, out, &carry, scratch);
}

template <template <class> class Row>
void run_type(const DataType& type, const FittedRun& run, const LorenzoArray& array, const std::byte* in,
              std::byte* out, uint64_t& carry, double* scratch, bool wide) {
  if (type.size == sizeof(uint32_t))
    run_order<Row, uint32_t>(type, run, array, in, out, carry, scratch, wide);
  else
    run_order<Row, uint64_t>(type, run, array, in, out, carry, scratch, wide);
}

}  // namespace

void fitted_forward(const DataType& type, const FittedRun& run, const LorenzoArray& array, const std::byte* in,
                    std::byte* out, uint64_t& carry, double* scratch, bool wide) {
  run_type<ForwardRow>(type, run, array, in, out, carry, scratch, wide);
}

void fitted_inverse(const DataType& type, const FittedRun& run, const LorenzoArray& array, const std::byte* in,
                    std::byte* out, uint64_t& carry, double* scratch, bool wide) {
  run_type<InverseRow>(type, run, array, in, out, carry, scratch, wide);
}

size_t fitted_scratch(const LorenzoArray& array) {
  const size_t planes = std::min<size_t>(array.dims[1], kPlanesKept);
  return planes * (array.dims[2] + 1) * (array.dims[3] + 2 * kMargin) + array.dims[3];
}

}  // namespace forebay::codec

// zfp of floats and doubles in fixed-accuracy mode. Not lossless: the parameters say how much may be lost.
#ifdef FOREBAY_HAVE_ZFP

#include <algorithm>
#include <array>
#include <bit>
#include <memory>
#include <type_traits>

#include <zfp.h>

#include "codec/codec_ids.h"
#include "codec/lossy/lossy.h"
#include "codec/own_codecs.h"

namespace forebay::codec {
namespace {

constexpr size_t kSide = 4;                            // of the cells that zfp codes at a time
constexpr size_t kCellValues = 256;                    // of the largest, of four dimensions
constexpr size_t kSlackBytes = ZFP_MAX_BITS / 8 + 32;  // more than one cell takes

// The library's bits, from the lowest of the first byte on, with room for the words that it works in.
class BitBuffer {
 public:
  explicit BitBuffer(size_t bytes) : words_((bytes + kSlackBytes) / sizeof(uint64_t) + 1) {}
  std::byte* data() { return reinterpret_cast<std::byte*>(words_.data()); }
  size_t capacity() const { return words_.size() * sizeof(uint64_t); }

 private:
  std::vector<uint64_t> words_;
};

struct CloseZfp {
  void operator()(zfp_stream* stream) const { zfp_stream_close(stream); }
  void operator()(bitstream* stream) const { stream_close(stream); }
};

// A stream of the library over a buffer. Arrays begin at whole bytes, whatever words the library was built for.
class Stream {
 public:
  Stream(BitBuffer& buffer, double tolerance)
      : bits_(stream_open(buffer.data(), buffer.capacity())), zfp_(zfp_stream_open(bits_.get())) {
    zfp_stream_set_accuracy(zfp_.get(), tolerance);
  }
  zfp_stream* zfp() const { return zfp_.get(); }

  // Bytes so far, the last of which may be only begun.
  size_t written() const { return (stream_wtell(bits_.get()) + 7) / 8; }
  size_t read() const { return (stream_rtell(bits_.get()) + 7) / 8; }

  void end_written_array() { stream_pad(bits_.get(), 8 * written() - stream_wtell(bits_.get())); }
  void end_read_array() { stream_skip(bits_.get(), 8 * read() - stream_rtell(bits_.get())); }
  void flush() { stream_flush(bits_.get()); }

 private:
  std::unique_ptr<bitstream, CloseZfp> bits_;
  std::unique_ptr<zfp_stream, CloseZfp> zfp_;
};

// An array as zfp is to see it: the fastest dimension first.
struct Array {
  unsigned rank = 1;
  std::array<size_t, 4> dims = {1, 1, 1, 1};

  size_t count() const { return dims[0] * dims[1] * dims[2] * dims[3]; }
};

// A block without its dimensions of 1.
Array array_of(const Block& block) {
  Array array{.rank = 0};
  for (size_t i = 4; i-- > 0;)
    if (block.dims[i] != 1) array.dims[array.rank++] = block.dims[i];
  array.rank = std::max(array.rank, 1u);
  return array;
}

// Calls visit(array, its first element) for all arrays of a frame until it returns false; returns whether it never did.
// Lines that follow each other are one.
template <class Visit>
bool for_each_array(const FrameShape& shape, Visit visit) {
  size_t first = 0;
  const auto pass = [&](const Array& array) {
    const size_t at = first;
    first += array.count();
    return array.count() == 0 || visit(array, at);
  };
  Array line{.dims = {0, 1, 1, 1}};
  for (const Block& block : shape.blocks) {
    if (block.count() == 0) continue;
    const Array array = array_of(block);
    if (array.rank == 1) {
      line.dims[0] += array.dims[0];
      continue;
    }
    if (!pass(line) || !pass(array)) return false;
    line.dims[0] = 0;
  }
  return pass(line);
}

// At most four elements along each dimension of an array.
struct Cell {
  unsigned rank;
  std::array<size_t, 4> sizes;
  std::array<size_t, 4> strides;  // of the array, in elements
  size_t first;                   // the element where it begins
};

// Calls visit(cell) for all cells of an array in zfp's order, until it returns false.
template <class Visit>
bool for_each_cell(const Array& array, size_t first, Visit visit) {
  const auto& dims = array.dims;
  Cell cell{.rank = array.rank, .strides = {1, dims[0], dims[0] * dims[1], dims[0] * dims[1] * dims[2]}};
  for (size_t w = 0; w < dims[3]; w += kSide)
    for (size_t z = 0; z < dims[2]; z += kSide)
      for (size_t y = 0; y < dims[1]; y += kSide)
        for (size_t x = 0; x < dims[0]; x += kSide) {
          cell.sizes = {std::min(kSide, dims[0] - x), std::min(kSide, dims[1] - y), std::min(kSide, dims[2] - z),
                        std::min(kSide, dims[3] - w)};
          cell.first = first + x + y * cell.strides[1] + z * cell.strides[2] + w * cell.strides[3];
          if (!visit(cell)) return false;
        }
  return true;
}

// Calls visit(place in the cell, element of the frame).
template <class Visit>
void for_each_value(const Cell& cell, Visit visit) {
  const auto& [x_stride, y_stride, z_stride, w_stride] = cell.strides;
  for (size_t w = 0; w < cell.sizes[3]; ++w)
    for (size_t z = 0; z < cell.sizes[2]; ++z)
      for (size_t y = 0; y < cell.sizes[1]; ++y)
        for (size_t x = 0; x < cell.sizes[0]; ++x)
          visit(x + kSide * (y + kSide * (z + kSide * w)),
                cell.first + x * x_stride + y * y_stride + z * z_stride + w * w_stride);
}

// The library's functions for cells, by dimensions.
#define FOREBAY_ZFP_CALL(action, type)                                                            \
  const auto [nx, ny, nz, nw] = cell.sizes;                                                       \
  switch (cell.rank) {                                                                            \
    case 1:                                                                                       \
      zfp_##action##_partial_block_strided_##type##_1(zfp, values, nx, 1);                        \
      break;                                                                                      \
    case 2:                                                                                       \
      zfp_##action##_partial_block_strided_##type##_2(zfp, values, nx, ny, 1, 4);                 \
      break;                                                                                      \
    case 3:                                                                                       \
      zfp_##action##_partial_block_strided_##type##_3(zfp, values, nx, ny, nz, 1, 4, 16);         \
      break;                                                                                      \
    default:                                                                                      \
      zfp_##action##_partial_block_strided_##type##_4(zfp, values, nx, ny, nz, nw, 1, 4, 16, 64); \
  }
void encode_cell(zfp_stream* zfp, const Cell& cell, const float* values) { FOREBAY_ZFP_CALL(encode, float) }
void encode_cell(zfp_stream* zfp, const Cell& cell, const double* values) { FOREBAY_ZFP_CALL(encode, double) }
void decode_cell(zfp_stream* zfp, const Cell& cell, float* values) { FOREBAY_ZFP_CALL(decode, float) }
void decode_cell(zfp_stream* zfp, const Cell& cell, double* values) { FOREBAY_ZFP_CALL(decode, double) }
#undef FOREBAY_ZFP_CALL

// Values of type T and one byte order in memory.
template <class T, bool kBig>
struct Values {
  using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;

  static T load(const std::byte* from) { return std::bit_cast<T>(kBig ? load_be<Bits>(from) : load_le<Bits>(from)); }
  static void store(std::byte* to, T value) {
    const Bits bits = std::bit_cast<Bits>(value);
    store_le<Bits>(to, kBig ? std::byteswap(bits) : bits);
  }

  // The bytes written; 0 if they would not be fewer than those of `in`, for as many of which `buffer` has room.
  static size_t encode(const FrameShape& shape, std::span<const std::byte> in, double tolerance, BitBuffer& buffer) {
    Stream stream(buffer, tolerance);
    std::array<T, kCellValues> values;
    const bool fits = for_each_array(shape, [&](const Array& array, size_t first) {
      const bool array_fits = for_each_cell(array, first, [&](const Cell& cell) {
        for_each_value(cell, [&](size_t at, size_t i) { values[at] = load(in.data() + i * sizeof(T)); });
        encode_cell(stream.zfp(), cell, values.data());
        return stream.written() < in.size();
      });
      if (array_fits) stream.end_written_array();
      return array_fits;
    });
    if (!fits) return 0;
    const size_t size = stream.written();
    stream.flush();
    return size;
  }

  // Whether the first `size` bytes of `buffer` hold exactly these arrays.
  static bool decode(const FrameShape& shape, BitBuffer& buffer, size_t size, double tolerance,
                     std::span<std::byte> out) {
    Stream stream(buffer, tolerance);
    std::array<T, kCellValues> values;
    const bool inside = for_each_array(shape, [&](const Array& array, size_t first) {
      const bool array_inside = for_each_cell(array, first, [&](const Cell& cell) {
        decode_cell(stream.zfp(), cell, values.data());
        for_each_value(cell, [&](size_t at, size_t i) { store(out.data() + i * sizeof(T), values[at]); });
        return stream.read() <= size;
      });
      if (array_inside) stream.end_read_array();
      return array_inside;
    });
    return inside && stream.read() == size;
  }
};

// Calls run.operator()<Values<T, kBig>>().
template <class Run>
auto with_values(const DataType& type, Run run) {
  const bool big = type.order == ByteOrder::big;
  if (type.size == 4)
    return big ? run.template operator()<Values<float, true>>() : run.template operator()<Values<float, false>>();
  return big ? run.template operator()<Values<double, true>>() : run.template operator()<Values<double, false>>();
}

// The format that docs/codecs.md describes: that of libzfp 0.5 and 1.0. On little-endian machines the bytes are the
// same whatever words the library was built for.
bool is_known_zfp() {
  return zfp_codec_version == 5 && (std::endian::native == std::endian::little || stream_word_bits == 8);
}

class Zfp final : public Codec {
 public:
  uint16_t id() const override { return kZfpId; }
  std::string_view name() const override { return "zfp"; }
  uint8_t max_level() const override { return 0; }
  bool is_lossless() const override { return false; }
  bool accepts(const FrameShape& shape) const override {
    return shape.type.kind == Kind::floating && shape.type.size >= 4;
  }
  bool is_transform() const override { return false; }
  size_t bound(size_t raw) const override { return raw; }
  size_t scratch_bytes(uint8_t, size_t raw) const override { return raw + (16 << 10); }

  size_t encode(const Context& context, std::span<const std::byte> in, std::span<std::byte> out) const override {
    const auto parameters = decode_lossy_parameters(context.parameters);
    if (!parameters || !is_known_zfp()) return 0;
    BitBuffer buffer(in.size());
    const size_t size = with_values(
        context.shape.type, [&]<class E>() { return E::encode(context.shape, in, parameters->tolerance, buffer); });
    if (size >= in.size() || size > out.size()) return 0;
    std::copy_n(buffer.data(), size, out.data());
    return size;
  }

  // The library trusts its input: it may read one cell beyond it, into zeros, before this is noticed.
  Result<void> decode(const Context& context, std::span<const std::byte> in, std::span<std::byte> out) const override {
    if (!is_known_zfp()) return fail(ErrorKind::unsupported, "this build's libzfp has another format");
    FOREBAY_TRY(const auto parameters, decode_lossy_parameters(context.parameters));
    if (!accepts(context.shape) || context.shape.element_total() * context.shape.type.size != out.size())
      return fail(ErrorKind::corrupt, "zfp data for another shape");
    BitBuffer buffer(in.size());
    std::ranges::copy(in, buffer.data());
    const bool whole = with_values(context.shape.type, [&]<class E>() {
      return E::decode(context.shape, buffer, in.size(), parameters.tolerance, out);
    });
    return whole ? Result<void>() : fail(ErrorKind::corrupt, "zfp data of a wrong length");
  }
};

}  // namespace

const Codec& zfp_codec() {
  static const Zfp codec;
  return codec;
}

}  // namespace forebay::codec

#endif

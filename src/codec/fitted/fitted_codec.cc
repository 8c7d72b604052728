// Residuals of a prediction from neighbours whose weights are fitted to the data. The stencil is that of the lossless
// image coders (Wu, "Lossless compression of continuous-tone images via context selection, quantization, and modeling",
// 1997) in two and three dimensions; the integer map of the residuals is fpzip's (Lindstrom and Isenburg 2006).
#include <algorithm>

#include "codec/codec_ids.h"
#include "codec/fitted/fitted_fit.h"
#include "codec/fitted/fitted_kernels.h"
#include "codec/own_codecs.h"
#include "codec/simd.h"

namespace forebay::codec {
namespace {

struct Direction {
  decltype(&lorenzo_forward) lorenzo;
  decltype(&fitted_forward) fitted;
};

constexpr Direction kForward{lorenzo_forward, fitted_forward}, kInverse{lorenzo_inverse, fitted_inverse};

// One array of `type` after another, in either direction.
class Arrays {
 public:
  Arrays(const Direction& direction, const DataType& type, const std::byte* in, std::byte* out)
      : direction_(direction), type_(type), in_(in), out_(out) {}

  void lorenzo(const LorenzoArray& array) {
    direction_.lorenzo(type_, array, in_, out_, carry_);
    skip(array);
  }

  void fitted(const FittedRun& run, const LorenzoArray& block) {
    const LorenzoArray array{{1, block.dims[1], block.dims[2], block.dims[3]}};
    const LorenzoArray first_row{{1, 1, 1, block.dims[3]}};
    if (scratch_.size() < fitted_scratch(array)) scratch_.resize(fitted_scratch(array));
    for (uint64_t w = 0; w < block.dims[0]; ++w) {
      direction_.lorenzo(type_, first_row, in_, out_, carry_);
      direction_.fitted(type_, run, array, in_, out_, carry_, scratch_.data(), has_avx2());
      skip(array);
    }
  }

 private:
  void skip(const LorenzoArray& array) {
    in_ += array.count() * type_.size;
    out_ += array.count() * type_.size;
  }

  const Direction& direction_;
  DataType type_;
  const std::byte* in_;
  std::byte* out_;
  uint64_t carry_ = 0;
  std::vector<double> scratch_;
};

// `runs` cover the blocks of `shape`, as decode_runs() sees to.
void run_blocks(const Direction& direction, const FrameShape& shape, std::span<const FittedRun> runs,
                const std::byte* in, std::byte* out) {
  Arrays arrays(direction, shape.type, in, out);
  uint64_t used = 0;
  for (const Block& block : shape.blocks) {
    const LorenzoArray array = lorenzo_array(block, 0);
    const bool is_large = form_of(array) != FittedForm::lorenzo;
    if (is_large && used == runs.front().blocks) {
      runs = runs.subspan(1);
      used = 0;
    }
    if (is_large) ++used;
    if (is_large && runs.front().form != FittedForm::lorenzo)
      arrays.fitted(runs.front(), array);
    else
      arrays.lorenzo(array);
  }
}

class Fitted final : public Codec {
 public:
  uint16_t id() const override { return kFittedId; }
  std::string_view name() const override { return "fitted"; }
  uint8_t max_level() const override { return 0; }
  bool accepts(const FrameShape& shape) const override {
    return shape.type.kind == Kind::floating && (shape.type.size == 4 || shape.type.size == 8);
  }
  bool is_transform() const override { return true; }
  size_t bound(size_t raw) const override { return raw; }
  // The planes kept grow most if rows have 8 elements or planes 4 rows: by half, and from floats to doubles. The runs
  // take no more than a fit does.
  size_t scratch_bytes(uint8_t, size_t raw) const override { return 4 * raw + kMaxParameterBytes + kFitBytes; }

  Bytes fit(const Context& context, std::span<const std::byte> in) const override {
    return encode_runs(fit_runs(context.shape, in));
  }

  size_t encode(const Context& context, std::span<const std::byte> in, std::span<std::byte> out) const override {
    const auto runs = decode_runs(context.parameters, context.shape);
    if (!runs) return 0;
    run_blocks(kForward, context.shape, *runs, in.data(), out.data());
    return in.size();
  }

  Result<void> decode(const Context& context, std::span<const std::byte> in, std::span<std::byte> out) const override {
    FOREBAY_CHECK(check_transform_input(context.shape, in, out));
    FOREBAY_TRY(const std::vector<FittedRun> runs, decode_runs(context.parameters, context.shape));
    run_blocks(kInverse, context.shape, runs, in.data(), out.data());
    return {};
  }
};

}  // namespace

const Codec& fitted_codec() {
  static const Fitted codec;
  return codec;
}

}  // namespace forebay::codec

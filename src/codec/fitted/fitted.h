// The parameters of the fitted transform: which stencil predicts which blocks (docs/codecs.md, "fitted").
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "base/error.h"
#include "base/shape.h"
#include "codec/lossless/lorenzo_kernels.h"

namespace forebay::codec {

// The rows of an array that a stencil reads, relative to the row that it predicts.
enum StencilRow : uint8_t { kUp, kUp2, kBackUp, kBack, kBackDown, kBack2, kStencilRows };

struct Tap {
  StencilRow row;
  int8_t dx;
};

// A coefficient for each of the two elements to the left, then one for each tap on other rows: of planes the first
// kPlaneTaps, of volumes all. Each multiplies the difference to the element above.
inline constexpr size_t kLeftTaps = 2, kPlaneTaps = 7;
inline constexpr Tap kTaps[] = {{kUp, -1},  {kUp, 1},        {kUp2, 0},      {kUp, -2},      {kUp, 2},    {kUp2, -1},
                                {kUp2, 1},  {kBackUp, -1},   {kBackUp, 0},   {kBackUp, 1},   {kBack, -1}, {kBack, 0},
                                {kBack, 1}, {kBackDown, -1}, {kBackDown, 0}, {kBackDown, 1}, {kBack2, 0}};
inline constexpr size_t kVolumeTaps = std::size(kTaps);

using PlaneStencil = std::array<double, kLeftTaps + kPlaneTaps>;
using VolumeStencil = std::array<double, kLeftTaps + kVolumeTaps>;

// Lorenzo's prediction as stencils.
PlaneStencil lorenzo_plane();
VolumeStencil lorenzo_volume();

// How the transform sees an array of up to three dimensions.
enum class FittedForm : uint8_t { lorenzo = 0, plane = 1, volume = 2 };

// A block with at most three dimensions left is one array, one with four a sequence of dims[0] arrays. `lorenzo` for
// those that are too small for a stencil.
FittedForm form_of(const LorenzoArray& array);

// What a run of blocks that are large enough for stencils is predicted with.
struct FittedRun {
  uint64_t blocks = 0;
  FittedForm form = FittedForm::lorenzo;
  bool doubles = false;    // whether the coefficients are stored as doubles; else they are floats
  PlaneStencil plane{};    // unless lorenzo
  VolumeStencil volume{};  // of volumes

  bool operator==(const FittedRun&) const = default;
};

inline constexpr size_t kMaxFittedRuns = 1024;

Bytes encode_runs(std::span<const FittedRun> runs);

// The inverse: corrupt if the parameters are malformed, or the runs do not cover exactly those blocks of `shape` that
// are large enough, with the forms that they have. Coefficients are any numbers, or none.
Result<std::vector<FittedRun>> decode_runs(std::span<const std::byte> parameters, const FrameShape& shape);

}  // namespace forebay::codec

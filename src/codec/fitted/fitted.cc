#include "codec/fitted/fitted.h"

#include <algorithm>
#include <bit>
#include <optional>

#include "codec/varint.h"

namespace forebay::codec {
namespace {

constexpr uint64_t kLeastRow = 8, kLeastRows = 4;  // what a stencil needs of an array to be worth it

constexpr uint8_t kDoubles = 4;  // added to the form

void put_stencil(Bytes& out, std::span<const double> stencil, bool doubles) {
  for (const double coefficient : stencil) {
    const size_t at = out.size();
    out.resize(at + (doubles ? sizeof(double) : sizeof(float)));
    if (doubles)
      store_le(out.data() + at, std::bit_cast<uint64_t>(coefficient));
    else
      store_le(out.data() + at, std::bit_cast<uint32_t>(static_cast<float>(coefficient)));
  }
}

bool take_stencil(std::span<const std::byte>& in, std::span<double> stencil, bool doubles) {
  const size_t size = doubles ? sizeof(double) : sizeof(float);
  if (in.size() < stencil.size() * size) return false;
  for (double& coefficient : stencil) {
    coefficient = doubles ? std::bit_cast<double>(load_le<uint64_t>(in.data()))
                          : static_cast<double>(std::bit_cast<float>(load_le<uint32_t>(in.data())));
    in = in.subspan(size);
  }
  return true;
}

std::unexpected<Error> malformed() { return fail(ErrorKind::corrupt, "malformed parameters of fitted stencils"); }

std::optional<FittedRun> take_run(std::span<const std::byte>& in) {
  FittedRun run;
  const auto blocks = take_varint(in);
  if (!blocks || *blocks == 0 || in.empty()) return std::nullopt;
  run.blocks = *blocks;
  const auto form = std::to_integer<uint8_t>(in.front());
  in = in.subspan(1);
  run.form = static_cast<FittedForm>(form & ~kDoubles);
  run.doubles = (form & kDoubles) != 0;
  if (run.form > FittedForm::volume || form == kDoubles) return std::nullopt;
  if (run.form != FittedForm::lorenzo && !take_stencil(in, run.plane, run.doubles)) return std::nullopt;
  if (run.form == FittedForm::volume && !take_stencil(in, run.volume, run.doubles)) return std::nullopt;
  return run;
}

// Whether the runs cover the blocks that are large enough, each with its form.
bool covers(std::span<const FittedRun> runs, const FrameShape& shape) {
  size_t at = 0;
  uint64_t left = runs.empty() ? 0 : runs[0].blocks;
  for (const Block& block : shape.blocks) {
    const FittedForm form = form_of(lorenzo_array(block, 0));
    if (form == FittedForm::lorenzo) continue;
    if (left == 0 && ++at < runs.size()) left = runs[at].blocks;
    if (at >= runs.size() || (runs[at].form != FittedForm::lorenzo && runs[at].form != form)) return false;
    --left;
  }
  return left == 0 && at + 1 >= runs.size();
}

}  // namespace

PlaneStencil lorenzo_plane() {
  PlaneStencil stencil{};
  stencil[0] = 1;
  stencil[kLeftTaps] = -1;
  return stencil;
}

VolumeStencil lorenzo_volume() {
  VolumeStencil stencil{};
  stencil[0] = 1;
  for (size_t k = 0; k < kVolumeTaps; ++k) {
    const auto [row, dx] = kTaps[k];
    const bool odd = (row == kUp && dx == -1) || (row == kBack && dx == -1) || (row == kBackUp && dx == 0);
    const bool even = (row == kBack && dx == 0) || (row == kBackUp && dx == -1);
    stencil[kLeftTaps + k] = odd ? -1 : even ? 1 : 0;
  }
  return stencil;
}

FittedForm form_of(const LorenzoArray& array) {
  if (array.dims[3] < kLeastRow || array.dims[2] < kLeastRows || array.count() == 0) return FittedForm::lorenzo;
  return array.dims[1] > 1 ? FittedForm::volume : FittedForm::plane;
}

Bytes encode_runs(std::span<const FittedRun> runs) {
  Bytes out;
  put_varint(out, runs.size());
  for (const FittedRun& run : runs) {
    put_varint(out, run.blocks);
    out.push_back(static_cast<std::byte>(static_cast<uint8_t>(run.form) | (run.doubles ? kDoubles : 0)));
    if (run.form != FittedForm::lorenzo) put_stencil(out, run.plane, run.doubles);
    if (run.form == FittedForm::volume) put_stencil(out, run.volume, run.doubles);
  }
  return out;
}

Result<std::vector<FittedRun>> decode_runs(std::span<const std::byte> parameters, const FrameShape& shape) {
  const auto count = take_varint(parameters);
  if (!count || *count > kMaxFittedRuns) return malformed();
  std::vector<FittedRun> runs;
  for (uint64_t i = 0; i < *count; ++i) {
    const auto run = take_run(parameters);
    if (!run) return malformed();
    runs.push_back(*run);
  }
  if (!parameters.empty() || !covers(runs, shape)) return malformed();
  return runs;
}

}  // namespace forebay::codec

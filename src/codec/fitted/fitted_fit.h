// Fitting stencils to a frame's blocks (docs/codecs.md, "fitted").
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/shape.h"
#include "codec/fitted/fitted.h"

namespace forebay::codec {

// The stencils with which to encode `in`, which `shape` (floating, of 4 or 8 bytes) describes, fitted on samples of
// bounded size so that residuals have few bits. Runs that gain nothing over Lorenzo's prediction have that.
std::vector<FittedRun> fit_runs(const FrameShape& shape, std::span<const std::byte> in);

// The most bytes of memory that fit_runs() takes beside its result.
inline constexpr size_t kFitBytes = 512 << 10;

}  // namespace forebay::codec

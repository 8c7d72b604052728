// XDMF: a text that tells ParaView and VTK where in an HDF5 file the fields of each step lie.
#pragma once

#include <memory>
#include <string>

#include "convert/sink/sink.h"
#include "convert/sink/sink_options.h"

namespace forebay::convert {

// NAME.xmf, and NAME.h5 beside it. invalid_argument if the target does not end so.
Result<std::unique_ptr<Sink>> make_xdmf_sink(const SinkOptions& options);
bool xdmf_holds(const view::ElementType& type);

// The text: for each step a collection of uniform grids, one for each shape of two or three dimensions, with the arrays
// of numbers that have it as values of cells; those of a plane are one cell thick. A cell of the coarsest level has the
// size 1, and "NAME@1" lies in the domain of "NAME". `file` is what the HDF5 file is called. Pure.
std::string xdmf_text(const Plan& plan, const std::string& file);

}  // namespace forebay::convert

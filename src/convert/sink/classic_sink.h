// NetCDF's classic format, which needs no HDF5: one file of arrays, big-endian.
#pragma once

#include <memory>

#include "convert/sink/sink.h"
#include "convert/sink/sink_options.h"

namespace forebay::convert {

Result<std::unique_ptr<Sink>> make_classic_sink(const SinkOptions& options);
bool classic_holds(const view::ElementType& type);

}  // namespace forebay::convert

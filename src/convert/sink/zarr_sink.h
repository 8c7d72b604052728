// Zarr, version 3: a directory of chunks, each compressed with zstd, with a description of every array and group.
#pragma once

#include <memory>

#include "convert/sink/sink.h"
#include "convert/sink/sink_options.h"

namespace forebay::convert {

Result<std::unique_ptr<Sink>> make_zarr_sink(const SinkOptions& options);
bool zarr_holds(const view::ElementType& type);

}  // namespace forebay::convert

// Sinks that need libraries which the command is not linked with: plug-ins in lib/forebay/convert.
#pragma once

#include <memory>

#include "convert/sink/sink.h"
#include "convert/sink/sink_options.h"
#include "convert/target/new_target.h"

namespace forebay::convert {

// What a plug-in has as forebay_make_sink, with C linkage: a sink into the file of a target, which is to live longer.
// Its commit() completes what is in the file; the name is left to the target.
using MakePluginSink = Sink*(const NewTarget& target);

// HDF5 files whose dimensions have names, so that they are netCDF-4 as well. unsupported if the plug-in or the library
// is not there.
Result<std::unique_ptr<Sink>> make_hdf5_sink(const SinkOptions& options);

// The same into the file of a target, whose commit() is the caller's.
Result<std::unique_ptr<Sink>> make_hdf5_content(const NewTarget& target);
bool hdf5_holds(const view::ElementType& type);

// What netCDF-4 reads of that.
bool netcdf_holds(const view::ElementType& type);

}  // namespace forebay::convert

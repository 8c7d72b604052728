// Sinks that need libraries which the command is not linked with: plug-ins in lib/forebay/convert.
#pragma once

#include <memory>

#include "convert/sink/sink.h"
#include "convert/sink/sink_options.h"

namespace forebay::convert {

// What a plug-in has as forebay_make_sink, with C linkage: null, and `why`, on errors.
using MakePluginSink = Sink*(const SinkOptions& options, Error& why);

// HDF5 files whose dimensions have names, so that they are netCDF-4 as well. unsupported if the plug-in or the library
// is not there.
Result<std::unique_ptr<Sink>> make_hdf5_sink(const SinkOptions& options);
bool hdf5_holds(const view::ElementType& type);

// What netCDF-4 reads of that.
bool netcdf_holds(const view::ElementType& type);

}  // namespace forebay::convert

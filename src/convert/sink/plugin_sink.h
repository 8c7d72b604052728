// Sinks that need libraries which the command is not linked with: plug-ins in lib/forebay/convert.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include <forebay/version.h>

#include "convert/sink/sink.h"
#include "convert/sink/sink_options.h"
#include "convert/target/new_target.h"

namespace forebay::convert {

// What a plug-in has as forebay_make_sink, with C linkage: a sink into the file of a target, which is to live longer.
// Its commit() completes what is in the file; the name is left to the target.
using MakePluginSink = Sink*(const NewTarget& target);

// The build that objects are of which go across: the command and a plug-in must be of the same one. A plug-in has it as
// forebay_sink_build, with C linkage. A hash (FNV-1a) of the version, the compiler's, and the sizes of these objects.
constexpr uint64_t sink_build() {
  uint64_t hash = 0xcbf29ce484222325u;
  const auto add = [&](uint64_t number) { hash = (hash ^ number) * 0x100000001b3u; };
  for (const std::string_view text : {FOREBAY_VERSION, __VERSION__})
    for (const char c : text) add(static_cast<unsigned char>(c));
  for (const uint64_t size : {sizeof(Sink), sizeof(NewTarget), sizeof(Plan), sizeof(Dataset), sizeof(Piece),
                              sizeof(GroupAttributes), sizeof(view::Attribute), sizeof(view::StepInfo)})
    add(size);
  return hash;
}
using PluginBuild = uint64_t();

// HDF5 files whose dimensions have names, so that they are netCDF-4 as well. unsupported if the plug-in or the library
// is not there, or the plug-in is of another build.
Result<std::unique_ptr<Sink>> make_hdf5_sink(const SinkOptions& options);

// The same into the file of a target, whose commit() is the caller's.
Result<std::unique_ptr<Sink>> make_hdf5_content(const NewTarget& target);
bool hdf5_holds(const view::ElementType& type);

// What netCDF-4 reads of that.
bool netcdf_holds(const view::ElementType& type);

}  // namespace forebay::convert

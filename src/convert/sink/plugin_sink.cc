#include "convert/sink/plugin_sink.h"

#include <filesystem>
#include <string>

#include <dlfcn.h>

namespace forebay::convert {
namespace {

// The plug-ins' place is told relative to the program's, so that an installation can be moved.
std::string plugin_path(const std::string& name) {
  std::error_code ignored;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", ignored);
  return (program.parent_path() / FOREBAY_CONVERT_PLUGINS / (name + ".so")).lexically_normal().string();
}

Result<std::unique_ptr<Sink>> make_from_plugin(const std::string& plugin, const SinkOptions& options) {
  const std::string path = plugin_path(plugin);
  void* const library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);  // never closed: sinks are of its code
  void* const make = library ? ::dlsym(library, "forebay_make_sink") : nullptr;
  if (make == nullptr)
    return fail(ErrorKind::unsupported, std::string("the plug-in for this format cannot be loaded: ") + ::dlerror(),
                path, {}, "install HDF5's library, or convert to zarr");
  Error why;
  std::unique_ptr<Sink> sink(reinterpret_cast<MakePluginSink*>(make)(options, why));
  if (sink == nullptr) return std::unexpected(std::move(why));
  return sink;
}

}  // namespace

Result<std::unique_ptr<Sink>> make_hdf5_sink(const SinkOptions& options) { return make_from_plugin("hdf5", options); }

bool hdf5_holds(const view::ElementType& type) { return type.value.has_value(); }

bool netcdf_holds(const view::ElementType& type) {
  using io::ValueType;
  return type.value && type.value != ValueType::long_double && type.value != ValueType::complex64 &&
         type.value != ValueType::complex128;
}

}  // namespace forebay::convert

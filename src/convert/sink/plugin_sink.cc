#include "convert/sink/plugin_sink.h"

#include <filesystem>
#include <string>
#include <utility>

#include <dlfcn.h>

#include "base/posix/own_code.h"

namespace forebay::convert {
namespace {

// The plug-ins' place is told relative to the program's, so that an installation can be moved.
std::string plugin_path(const std::string& name) {
  const std::filesystem::path program(own_command());
  return (program.parent_path() / FOREBAY_CONVERT_PLUGINS / (name + ".so")).lexically_normal().string();
}

Result<MakePluginSink*> load(const std::string& plugin) {
  const std::string path = plugin_path(plugin);
  const auto unusable = [&](const std::string& why, const std::string& hint) {
    return fail(ErrorKind::unsupported, "the plug-in for this format cannot be loaded: " + why, path, {}, hint);
  };
  constexpr const char* kInstall = "install HDF5's library, or convert to zarr";
  const auto library = load_code(path, RTLD_NOW | RTLD_LOCAL);  // never closed: sinks are of its code
  if (!library) return unusable(library.error().what, library.error().hint.empty() ? kInstall : library.error().hint);
  void* const build = ::dlsym(*library, "forebay_sink_build");
  if (build == nullptr || reinterpret_cast<PluginBuild*>(build)() != sink_build())
    return unusable("it is of another build of Forebay than the command",
                    "install the command and its plug-ins together");
  void* const make = ::dlsym(*library, "forebay_make_sink");
  if (make == nullptr) return unusable("it has no function forebay_make_sink", kInstall);
  return reinterpret_cast<MakePluginSink*>(make);
}

class PluginFile final : public Sink {
 public:
  PluginFile(NewTarget target, MakePluginSink* make) : target_(std::move(target)), content_(make(target_)) {}

  Result<void> begin(const Plan& plan) override { return content_->begin(plan); }
  Result<void> write(const Piece& piece) override { return content_->write(piece); }
  Result<void> commit(bool overwrite) override {
    FOREBAY_CHECK(content_->commit(overwrite));
    return target_.commit(overwrite);
  }

 private:
  NewTarget target_;
  const std::unique_ptr<Sink> content_;
};

}  // namespace

Result<std::unique_ptr<Sink>> make_hdf5_sink(const SinkOptions& options) {
  FOREBAY_TRY(MakePluginSink* const make, load("hdf5"));
  FOREBAY_TRY(NewTarget target, NewTarget::file(options.target, options.overwrite));
  return std::make_unique<PluginFile>(std::move(target), make);
}

Result<std::unique_ptr<Sink>> make_hdf5_content(const NewTarget& target) {
  FOREBAY_TRY(MakePluginSink* const make, load("hdf5"));
  return std::unique_ptr<Sink>(make(target));
}

bool hdf5_holds(const view::ElementType& type) { return type.value.has_value(); }

bool netcdf_holds(const view::ElementType& type) {
  using io::ValueType;
  return type.value && type.value != ValueType::long_double && type.value != ValueType::complex64 &&
         type.value != ValueType::complex128;
}

}  // namespace forebay::convert

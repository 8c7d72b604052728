#include "cli/measure_packing.h"

#include <cerrno>
#include <filesystem>
#include <thread>

#include <fmt/format.h>

#include "cli/common.h"
#include "cli/progress.h"
#include "cli/temporary_directory.h"
#include "engine/pack/make_team.h"
#include "engine/pack/pack.h"

namespace forebay::cli {
namespace {

namespace fs = std::filesystem;

Result<PackingMeasure> measure_store(const store::Store& store) {
  FOREBAY_TRY(const auto sets, store.list());
  if (sets.empty() || !sets.back().manifest)  // those that cannot be read come first
    return fail(ErrorKind::not_found, "the store has no set that can be read", store.path());
  const store::SetInfo& set = sets.back();
  const store::Manifest& manifest = *set.manifest;
  if (manifest.bytes() == 0 || manifest.raw_bytes() == 0)
    return fail(ErrorKind::invalid_argument, "the newest set of the store is empty", store.path());
  return PackingMeasure{.ratio = static_cast<double>(manifest.raw_bytes()) / static_cast<double>(manifest.bytes()),
                        .raw_bytes = manifest.raw_bytes(),
                        .is_store = true,
                        .description = fmt::format("set {} of {}", set.name, store.path())};
}

Result<PackingMeasure> measure_sample(const std::string& path, const codec::Profile& profile,
                                      const engine::Resources& resources) {
  FOREBAY_TRY(const auto directory, TemporaryDirectory::make("forebay-plan"));
  FOREBAY_TRY(const auto team, engine::make_team());
  ProgressLine progress("packing a sample");
  engine::PackOptions options{.sources = {path}, .store = directory.path(), .name = "sample", .profile = profile};
  options.resources = resources.resolved();
  options.resources.progress = progress.callback();
  FOREBAY_TRY(const auto report, engine::pack(options, *team));
  if (report.raw_bytes == 0) return fail(ErrorKind::invalid_argument, "there is nothing to pack", path);
  // A drain overlaps reading and writing with the encoding, whose processor time is what counts.
  const double encoding = report.cpu_seconds.encode / options.resources.threads;
  return PackingMeasure{.ratio = static_cast<double>(report.raw_bytes) / static_cast<double>(report.stored_bytes),
                        .codec = encoding > 0 ? static_cast<double>(report.raw_bytes) / encoding : 0,
                        .raw_bytes = report.raw_bytes,
                        .description = fmt::format("a sample, {}", path)};
}

}  // namespace

Result<PackingMeasure> measure_packing(const std::string& path, const codec::Profile& profile,
                                       const engine::Resources& resources) {
  const auto store = store::Store::open(path);
  if (store) return measure_store(*store);
  if (store.error().kind != ErrorKind::not_found) return std::unexpected(store.error());
  return measure_sample(path, profile, resources);
}

}  // namespace forebay::cli

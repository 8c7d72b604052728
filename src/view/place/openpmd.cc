// openPMD in HDF5: what lies below /data/ITERATION/ is called without that, and without the directories of meshes and
// particles, so that steps have the same arrays.
#include <map>

#include "view/place/gather.h"
#include "view/place/set_values.h"

namespace forebay::view {
namespace {

constexpr std::string_view kBase = "/data/";

struct PmdPath {
  std::string_view iteration, rest;
};

std::optional<PmdPath> pmd_path_of(std::string_view path) {
  if (!path.starts_with(kBase)) return {};
  path.remove_prefix(kBase.size());
  const size_t end = path.find_first_not_of("0123456789");
  if (end == 0 || end == std::string_view::npos || path[end] != '/' || end + 1 == path.size()) return {};
  return PmdPath{path.substr(0, end), path.substr(end + 1)};
}

// Without its zero at the end, where it is a text of C.
std::string text_of(const format::FileAttributes& attributes, const char* name, const char* otherwise) {
  const auto texts = texts_of(attributes.find("/", name));
  std::string text = texts.empty() ? otherwise : texts.front();
  while (!text.empty() && text.back() == '\0') text.pop_back();
  return text;
}

std::optional<double> pmd_time_of(const format::FileAttributes& attributes, std::string_view iteration) {
  const std::string group = std::string(kBase) + std::string(iteration);
  const auto time = reals_of(attributes.find(group, "time")), unit = reals_of(attributes.find(group, "timeUnitSI"));
  if (!time || time->size() != 1) return {};
  return time->front() * (unit && unit->size() == 1 ? unit->front() : 1);
}

// The stored arrays of a set by the names that they get.
struct PmdArrays {
  std::string_view iteration;
  std::optional<double> time;
  std::map<std::string, uint64_t> stored;
  bool are_unclear = false;  // there are several iterations, or several files have the same array
};

void add_pmd_file(const SetFile& file, const format::FileAttributes& attributes, PmdArrays& all) {
  const std::string directories[] = {text_of(attributes, "meshesPath", "meshes/"),
                                     text_of(attributes, "particlesPath", "particles/")};
  for (const auto& [path, stored] : file.variables) {
    auto found = pmd_path_of(path);
    if (!found) continue;
    if (all.iteration.empty()) {
      all.iteration = found->iteration;
      all.time = pmd_time_of(attributes, all.iteration);
    }
    for (const std::string& directory : directories)
      if (!directory.empty() && found->rest.starts_with(directory) && found->rest.size() > directory.size()) {
        found->rest.remove_prefix(directory.size());
        break;
      }
    const bool is_new = all.stored.emplace(found->rest, stored).second;
    all.are_unclear = all.are_unclear || !is_new || found->iteration != all.iteration;
  }
}

}  // namespace

Result<bool> recognise_openpmd(const SetLook& look, Recognised& found) {
  PmdArrays all;
  for (const SetFile& file : found.files) {
    const auto first = file.variables.lower_bound(kBase);
    if (first == file.variables.end() || !pmd_path_of(first->first)) continue;
    const auto attributes = look.attributes(file.container, file.file);
    if (!attributes) return not_placed(attributes.error(), "openPMD", found);
    if (attributes->find("/", "openPMD") != nullptr) add_pmd_file(file, *attributes, all);
  }
  if (all.stored.empty() || all.are_unclear) return false;
  Gather gather(look.set(), found);
  for (const auto& [name, stored] : all.stored) {
    const Shape shape = shape_of(look.set(), found.arrays.stored[stored]);
    PlacedPart part{.field = name, .level = {}, .global = shape, .place = engine::whole_box(shape), .stored = {}};
    part.stored.array = stored;
    part.stored.shape = shape;
    part.stored.begin = Shape(shape.size(), 0);
    gather.add(std::move(part));
  }
  if (!gather.finish()) return false;
  found.time = all.time;
  return true;
}

}  // namespace forebay::view

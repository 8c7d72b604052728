// OpenFOAM: processorN/TIME/U has the cells of one processor. The array has no mesh: cells follow each other as they do
// in the files, and processors by their numbers.
#include <charconv>
#include <cmath>
#include <map>
#include <set>

#include "view/place/gather.h"
#include "view/place/set_values.h"

namespace forebay::view {
namespace {

struct FoamField {
  uint64_t processor = 0;
  std::string_view time, name;
};

// Of a file processorN/TIME/NAME; directories before that do not matter.
std::optional<FoamField> foam_field_of(std::string_view path) {
  const size_t name = path.rfind('/');
  if (name == std::string_view::npos || name == 0) return {};
  const size_t time = path.rfind('/', name - 1);
  if (time == std::string_view::npos) return {};
  std::string_view directory = path.substr(0, time);
  directory.remove_prefix(directory.rfind('/') + 1);
  const auto processor = numbered(directory, 1);
  if (!processor || processor->stem != "processor") return {};
  return FoamField{processor->number, path.substr(time + 1, name - time - 1), path.substr(name + 1)};
}

std::optional<double> foam_time_of(std::string_view text) {
  double time = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), time);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(time)) return {};
  return time;
}

}  // namespace

Result<bool> recognise_openfoam(const SetLook& look, Recognised& found) {
  std::map<std::string_view, std::map<uint64_t, uint64_t>> fields;  // by name: the stored array of each processor
  std::set<std::string_view> times;
  uint64_t processors = 0;
  for (const SetFile& file : found.files) {
    const auto field = foam_field_of(file.row->name);
    if (!field || !foam_time_of(field->time)) continue;
    const auto stored = file.find("/" + std::string(field->name));
    if (!stored) continue;
    times.insert(field->time);
    fields[field->name].emplace(field->processor, *stored);
    processors = std::max(processors, field->processor + 1);
  }
  // Of several times in one set nobody says which one is meant; what is uniform on a processor has no cells there.
  if (times.size() != 1 || processors < 2) return false;
  Gather gather(look.set(), found);
  for (const auto& [name, parts] : fields) {
    if (parts.size() != processors) continue;
    uint64_t cells = 0;
    for (const auto& [processor, stored] : parts) cells += shape_of(look.set(), found.arrays.stored[stored]).front();
    uint64_t first = 0;
    for (const auto& [processor, stored] : parts) {
      PlacedPart part{.field = std::string(name), .level = {}, .global = {}, .place = {}, .stored = {}};
      part.stored.array = stored;
      part.stored.shape = shape_of(look.set(), found.arrays.stored[stored]);
      part.stored.begin = Shape(part.stored.shape.size(), 0);
      part.place = {Shape(part.stored.shape.size(), 0), part.stored.shape};
      part.place.begin.front() = first;
      part.global = part.stored.shape;
      part.global.front() = cells;
      first += part.stored.shape.front();
      gather.add(std::move(part));
    }
  }
  if (!gather.finish()) return false;
  found.time = foam_time_of(*times.begin());
  return true;
}

}  // namespace forebay::view

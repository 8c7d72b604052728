// Enzo's dumps: NAME has parameters, NAME.hierarchy the grids, and NAME.cpuNNNN groups GridNNNNNNNN with the fields of
// the active cells.
#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "view/place/enzo_text.h"
#include "view/place/recogniser.h"

namespace forebay::view {
namespace {

constexpr std::string_view kHierarchy = ".hierarchy";
constexpr uint64_t kMostTextBytes = uint64_t{256} << 20;

// The parameters' file of the only hierarchy that there is.
std::optional<std::string> dump_name(const engine::OpenSet& set) {
  std::optional<std::string> name;
  for (const engine::OpenContainer& container : set.containers)
    for (const FileRow& file : container.catalogue().files) {
      if (!file.name.ends_with(kHierarchy)) continue;
      if (name) return {};
      name = file.name.substr(0, file.name.size() - kHierarchy.size());
    }
  return name;
}

Shape reversed(Shape shape) {
  std::ranges::reverse(shape);
  return shape;
}

// "/Grid00000012/Density": the grid's number and the field.
struct Field {
  uint64_t grid = 0;
  std::string name;
};
std::optional<Field> field_of(std::string_view path) {
  constexpr std::string_view kGrid = "/Grid";
  if (!path.starts_with(kGrid)) return {};
  const size_t slash = path.find('/', kGrid.size());
  if (slash == path.npos || slash == kGrid.size() || slash + 1 == path.size()) return {};
  Field field;
  for (const char digit : path.substr(kGrid.size(), slash - kGrid.size())) {
    if (digit < '0' || digit > '9' || field.grid > UINT32_MAX) return {};
    field.grid = 10 * field.grid + static_cast<uint64_t>(digit - '0');
  }
  field.name = path.substr(slash + 1);
  return field;
}

struct PlacedField {
  Block block;
  DataType type;
  Shape level_shape;
};

class EnzoDump {
 public:
  EnzoDump(const engine::OpenSet& set, Recognised& found) : set_(set), found_(found) {}

  void place(const std::vector<EnzoGrid>& grids, const EnzoParameters& parameters) {
    std::map<uint64_t, const EnzoGrid*> by_number;
    for (const EnzoGrid& grid : grids) by_number[grid.number] = &grid;
    for (size_t i = 0; i < found_.arrays.stored.size(); ++i) {
      const StoredArray& stored = found_.arrays.stored[i];
      const Catalogue& catalogue = set_.containers[stored.container].catalogue();
      const auto field = field_of(catalogue.paths[catalogue.variables[stored.variable].path]);
      if (!field) continue;
      const auto grid = by_number.find(field->grid);
      const std::string& file = catalogue.files[stored.file].name;
      if (grid == by_number.end() || file.substr(file.rfind('/') + 1) != grid->second->file) continue;
      add(i, *field, *grid->second, parameters);
    }
    give_arrays();
  }

 private:
  using Key = std::tuple<std::string, uint32_t, Kind, uint16_t, bool>;  // name, level, type, whether it has a place

  // What has the shape of the active cells, or of all cells, is a field; else it is of particles.
  void add(size_t number, const Field& field, const EnzoGrid& grid, const EnzoParameters& parameters) {
    const StoredArray& stored = found_.arrays.stored[number];
    const container::Index& index = set_.containers[stored.container].index();
    const VariableRow& row = index.catalogue.variables[stored.variable];
    const Shape& shape = index.catalogue.shapes[row.shape];
    PlacedField placed{.block = {.rank = index.catalogue.files[stored.file].rank, .place = engine::whole_box(shape)},
                       .type = row.type,
                       .level_shape = {}};
    placed.block.stored.array = number;
    placed.block.stored.shape = shape;
    // Ghost cells are among what was looked at where they are stored: minima and maxima are outer bounds all the same.
    if (!index.characteristics.empty() && row.type.is_number() && !row.filtered && !row.partial)
      placed.block.characteristics = index.characteristics[stored.variable];
    bool has_place = false;
    if (const auto place = place_of(grid, parameters); place && shape.size() == place->count.size()) {
      const bool is_active = shape == reversed(place->count);
      has_place = is_active || shape == reversed(grid.dimensions);
      if (has_place) {
        placed.block.place = {reversed(place->offset), reversed(place->count)};
        placed.level_shape = reversed(place->level_shape);
        if (!is_active) placed.block.stored.begin = reversed(grid.first);
      }
    }
    found_.is_taken[number] = true;
    placed_[{field.name, grid.level, row.type.kind, row.type.size, has_place}].push_back(std::move(placed));
  }

  void give_arrays() {
    for (auto& [key, placed] : placed_) {
      const auto& [name, level, kind, size, has_place] = key;
      Array array;
      array.name = level == 0 ? name : fmt::format("{}@{}", name, level);
      array.type = element_type(placed.front().type);
      array.form = has_place ? Form::global : Form::local;
      array.shape = has_place ? placed.front().level_shape : placed.front().block.place.count;
      array.level = level;
      std::vector<Block> blocks;
      for (PlacedField& each : placed) blocks.push_back(std::move(each.block));
      found_.arrays.add(std::move(array), std::move(blocks));
    }
  }

  const engine::OpenSet& set_;
  Recognised& found_;
  std::map<Key, std::vector<PlacedField>> placed_;
};

Result<std::string> text_of(const SetLook& look, const FileAt& at) {
  FOREBAY_TRY(const Bytes bytes, look.file(at.container, at.file, kMostTextBytes));
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

}  // namespace

Result<bool> recognise_enzo(const SetLook& look, Recognised& found) {
  const auto name = dump_name(look.set());
  if (!name) return false;
  const std::string hierarchy_name = *name + std::string(kHierarchy);
  const auto parameters_at = find_file(look.set(), *name), hierarchy_at = find_file(look.set(), hierarchy_name);
  if (!parameters_at || !hierarchy_at) return false;
  FOREBAY_TRY(const std::string parameters_text, text_of(look, *parameters_at));
  const auto parameters = parse_enzo_parameters(parameters_text);
  if (!parameters) {
    found.arrays.remarks.push_back(fmt::format("{} has no parameters of Enzo: {}", *name, parameters.error().what));
    return false;
  }
  FOREBAY_TRY(const std::string hierarchy_text, text_of(look, *hierarchy_at));
  const auto grids = parse_enzo_hierarchy(hierarchy_text);
  if (!grids) {
    found.arrays.remarks.push_back(fmt::format("{} has no grids of Enzo: {}", hierarchy_name, grids.error().what));
    return false;
  }
  found.time = parameters->time;
  EnzoDump(look.set(), found).place(*grids, *parameters);
  return true;
}

}  // namespace forebay::view

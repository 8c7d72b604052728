// Athena++: datasets are [variable, block, x3, x2, x1]; LogicalLocations and Levels say where blocks of MeshBlockSize
// lie.
#include "view/place/gather.h"
#include "view/place/set_values.h"

namespace forebay::view {
namespace {

// Everything in the order x1, x2, x3.
struct AthenaMesh {
  std::vector<int64_t> root, block;        // cells
  std::vector<int64_t> levels, locations;  // of each block: one, and three
  std::vector<std::string> datasets, names;
  std::vector<int64_t> counts;  // names of each dataset
};

Result<AthenaMesh> read_athena_mesh(const SetLook& look, const Recognised& found, const SetFile& file,
                                    const format::FileAttributes& attributes) {
  AthenaMesh mesh;
  const auto root = integers_of(attributes.find("/", "RootGridSize"));
  const auto block = integers_of(attributes.find("/", "MeshBlockSize"));
  if (!root || !block || root->size() != 3 || block->size() != 3)
    return fail(ErrorKind::corrupt, "RootGridSize or MeshBlockSize is not three integers", file.row->name);
  mesh.root = *root;
  mesh.block = *block;
  for (size_t d = 0; d < 3; ++d)
    if (mesh.root[d] < 1 || mesh.block[d] < 1 || mesh.root[d] > int64_t{1} << 31 || mesh.block[d] > mesh.root[d])
      return fail(ErrorKind::corrupt, "RootGridSize or MeshBlockSize is impossible", file.row->name);
  FOREBAY_TRY(mesh.levels, integers_of(look, found.arrays.stored[*file.find("/Levels")]));
  FOREBAY_TRY(mesh.locations, integers_of(look, found.arrays.stored[*file.find("/LogicalLocations")]));
  if (mesh.locations.size() != 3 * mesh.levels.size())
    return fail(ErrorKind::corrupt, "Levels and LogicalLocations have different numbers of blocks", file.row->name);
  mesh.datasets = texts_of(attributes.find("/", "DatasetNames"));
  mesh.names = texts_of(attributes.find("/", "VariableNames"));
  mesh.counts = integers_of(attributes.find("/", "NumVariables")).value_or(std::vector<int64_t>());
  return mesh;
}

// What the variables of a dataset are called; empty if the file does not say so.
std::vector<std::string> athena_names(const AthenaMesh& mesh, std::string_view dataset, uint64_t count) {
  uint64_t first = 0;
  for (size_t i = 0; i < mesh.datasets.size() && i < mesh.counts.size(); ++i) {
    if (mesh.counts[i] < 0 || first > mesh.names.size()) return {};
    if (mesh.datasets[i] == dataset && count <= mesh.names.size() - first &&
        static_cast<uint64_t>(mesh.counts[i]) == count)
      return {mesh.names.begin() + static_cast<ptrdiff_t>(first),
              mesh.names.begin() + static_cast<ptrdiff_t>(first + count)};
    first += static_cast<uint64_t>(mesh.counts[i]);
  }
  return {};
}

// False if the numbers are impossible. Ghost cells are as many on both sides.
bool place_athena_block(const AthenaMesh& mesh, uint64_t block, PlacedPart& part) {
  const int64_t level = mesh.levels[block];
  if (level < 0 || level > kDeepestLevel) return false;
  part.level = static_cast<uint32_t>(level);
  for (size_t axis = 0; axis < 3; ++axis) {
    const size_t d = 2 - axis;
    const auto cells = static_cast<uint64_t>(mesh.block[d]);
    const int64_t location = mesh.locations[block * 3 + d];
    const uint64_t stored = part.stored.shape[axis];
    if (location < 0 || location > int64_t{1} << 31 || stored < cells || (stored - cells) % 2 != 0) return false;
    part.global.push_back(static_cast<uint64_t>(mesh.root[d]) << (mesh.root[d] > 1 ? level : 0));
    part.place.begin.push_back(static_cast<uint64_t>(location) * cells);
    part.place.count.push_back(cells);
    part.stored.begin.push_back((stored - cells) / 2);
  }
  return true;
}

void place_athena_dataset(const AthenaMesh& mesh, std::string_view path, uint64_t stored, const Shape& shape,
                          Gather& gather) {
  const auto names = athena_names(mesh, path.substr(1), shape[0]);
  for (uint64_t v = 0; v < shape[0]; ++v)
    for (uint64_t b = 0; b < shape[1]; ++b) {
      PlacedPart part;
      part.field = names.empty() ? std::string(path.substr(1)) + "/" + std::to_string(v) : names[v];
      part.stored.array = stored;
      part.stored.leading = {v, b};
      part.stored.shape = {shape[2], shape[3], shape[4]};
      if (!place_athena_block(mesh, b, part)) return gather.refuse(stored, "has an impossible place");
      if (!gather.add(std::move(part))) return;
    }
}

}  // namespace

Result<bool> recognise_athena(const SetLook& look, Recognised& found) {
  Gather gather(look.set(), found);
  std::optional<double> time;
  for (const SetFile& file : found.files) {
    if (!file.find("/Levels") || !file.find("/LogicalLocations")) continue;
    const auto attributes = look.attributes(file.container, file.file);
    if (!attributes) return not_placed(attributes.error(), "Athena++", found);
    if (attributes->find("/", "MeshBlockSize") == nullptr) continue;
    const auto mesh = read_athena_mesh(look, found, file, *attributes);
    if (!mesh) return not_placed(mesh.error(), "Athena++", found);
    for (const auto& [path, stored] : file.variables) {
      const Shape& shape = shape_of(look.set(), found.arrays.stored[stored]);
      if (shape.size() == 5 && shape[1] == mesh->levels.size())
        place_athena_dataset(*mesh, path, stored, shape, gather);
    }
    if (const auto now = reals_of(attributes->find("/", "Time")); now && now->size() == 1) time = now->front();
  }
  if (!gather.finish()) return false;
  found.time = time;
  return true;
}

}  // namespace forebay::view

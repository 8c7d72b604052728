// Files of netCDF that each hold a tile of the domain: WRF's (io_form 102), those of NEMO and XIOS, and the subfiles of
// PnetCDF.
#include <algorithm>

#include <fmt/format.h>

#include "view/place/gather.h"
#include "view/place/set_values.h"

namespace forebay::view {
namespace {

struct Tile {
  const SetFile* file = nullptr;
  format::FileAttributes attributes;
};

// The files that `wanted` says may be tiles, by their names, and of which one attribute is there.
template <class Wanted>
Result<std::vector<Tile>> tiles_with(const SetLook& look, const Recognised& found, const Wanted& wanted,
                                     std::string_view attribute) {
  std::vector<Tile> tiles;
  for (const SetFile& file : found.files) {
    if (!wanted(file.row->name)) continue;
    FOREBAY_TRY(auto attributes, look.attributes(file.container, file.file));
    if (attribute.empty() || attributes.find("/", attribute) != nullptr)
      tiles.push_back({&file, std::move(attributes)});
    else if (tiles.empty())
      return tiles;  // the first one of other sets is enough to look at
  }
  return tiles;
}

// Where a tile begins along a dimension, and where it ends.
struct Along {
  uint64_t begin = 0, end = 0;
};

PlacedPart tile_part(std::string_view path, uint64_t stored, const Shape& shape) {
  PlacedPart part{.field = std::string(path.substr(1)), .level = {}, .global = shape, .place = {}, .stored = {}};
  part.place = engine::whole_box(shape);
  part.stored.array = stored;
  part.stored.shape = shape;
  return part;
}

const std::vector<std::string>* dimensions_of(const Tile& tile, std::string_view path, const Shape& shape) {
  const auto found = tile.attributes.dimensions.find(path);
  return found == tile.attributes.dimensions.end() || found->second.size() != shape.size() ? nullptr : &found->second;
}

std::optional<int64_t> one_integer(const Tile& tile, std::string_view name) {
  const auto found = integers_of(tile.attributes.find("/", name));
  return found && found->size() == 1 ? std::optional(found->front()) : std::nullopt;
}

// WRF: places count from 1, both ends included, on cells or on their faces ("staggered").
struct WrfAxis {
  const char* dimension;
  const char* attribute;
};
constexpr WrfAxis kWrfAxes[] = {
    {"west_east", "WEST-EAST"}, {"south_north", "SOUTH-NORTH"}, {"bottom_top", "BOTTOM-TOP"}};
constexpr std::string_view kStaggered = "_stag";

std::map<std::string, Along, std::less<>> wrf_places(const Tile& tile) {
  std::map<std::string, Along, std::less<>> places;
  for (const WrfAxis& axis : kWrfAxes)
    for (const bool is_staggered : {false, true}) {
      const char* kind = is_staggered ? "STAG" : "UNSTAG";
      const auto start = one_integer(tile, fmt::format("{}_PATCH_START_{}", axis.attribute, kind));
      const auto end = one_integer(tile, fmt::format("{}_PATCH_END_{}", axis.attribute, kind));
      if (!start || !end || *start < 1 || *end < *start || *end > int64_t{1} << 31) continue;
      places[axis.dimension + std::string(is_staggered ? kStaggered : "")] = {static_cast<uint64_t>(*start - 1),
                                                                              static_cast<uint64_t>(*end)};
    }
  return places;
}

Result<bool> place_wrf(const SetLook& look, Recognised& found, std::span<const Tile> tiles) {
  std::map<std::string, uint64_t, std::less<>> sizes;
  for (const Tile& tile : tiles)
    for (const auto& [dimension, along] : wrf_places(tile)) sizes[dimension] = std::max(sizes[dimension], along.end);
  Gather gather(look.set(), found);
  for (const Tile& tile : tiles) {
    const auto places = wrf_places(tile);
    for (const auto& [path, stored] : tile.file->variables) {
      const Shape& shape = shape_of(look.set(), found.arrays.stored[stored]);
      const auto* dimensions = dimensions_of(tile, path, shape);
      if (dimensions == nullptr) continue;
      PlacedPart part = tile_part(path, stored, shape);
      bool is_placed = false;
      for (size_t d = 0; d < shape.size(); ++d) {
        const auto along = places.find((*dimensions)[d]);
        if (along == places.end()) continue;
        is_placed = true;
        part.place.begin[d] = along->second.begin;
        part.global[d] = sizes.find((*dimensions)[d])->second;
        if (along->second.end - along->second.begin != shape[d]) part.global[d] = 0;  // refused
      }
      if (is_placed) gather.add(std::move(part));
    }
  }
  return gather.finish();
}

// NEMO and XIOS: the last two dimensions, x last, are the tile's, halos included.
struct NemoTile {
  std::vector<int64_t> size, first, local, halo_start, halo_end;  // x, y
};

std::optional<NemoTile> nemo_tile(const Tile& tile) {
  const auto pair = [&](std::string_view name) {
    const auto found = integers_of(tile.attributes.find("/", name));
    return found && found->size() == 2 && std::ranges::all_of(*found, [](int64_t v) { return v >= 0 && v < 1 << 30; })
               ? found
               : std::nullopt;
  };
  const auto size = pair("DOMAIN_size_global"), first = pair("DOMAIN_position_first"),
             local = pair("DOMAIN_size_local");
  if (!size || !first || !local) return {};
  const std::vector<int64_t> none{0, 0};
  return NemoTile{*size, *first, *local, pair("DOMAIN_halo_size_start").value_or(none),
                  pair("DOMAIN_halo_size_end").value_or(none)};
}

Result<bool> place_nemo(const SetLook& look, Recognised& found, std::span<const Tile> tiles) {
  // NEMO counts from 1; XIOS writes places from 0: then some tile says 0.
  std::vector<int64_t> base{1, 1};
  for (const Tile& tile : tiles)
    if (const auto nemo = nemo_tile(tile))
      for (size_t d = 0; d < 2; ++d) base[d] = std::min(base[d], nemo->first[d]);
  Gather gather(look.set(), found);
  for (const Tile& tile : tiles) {
    const auto nemo = nemo_tile(tile);
    if (!nemo) continue;
    for (const auto& [path, stored] : tile.file->variables) {
      const Shape& shape = shape_of(look.set(), found.arrays.stored[stored]);
      const size_t rank = shape.size();
      if (rank < 2 || shape[rank - 1] != static_cast<uint64_t>(nemo->local[0]) ||
          shape[rank - 2] != static_cast<uint64_t>(nemo->local[1]))
        continue;
      PlacedPart part = tile_part(path, stored, shape);
      part.stored.begin = Shape(rank);
      bool is_possible = true;
      for (size_t d = 0; d < 2; ++d) {
        const size_t axis = rank - 1 - d;
        const int64_t begin = nemo->first[d] - base[d] + nemo->halo_start[d];
        const int64_t count = nemo->local[d] - nemo->halo_start[d] - nemo->halo_end[d];
        is_possible = is_possible && begin >= 0 && count > 0;
        if (!is_possible) break;
        part.place.begin[axis] = static_cast<uint64_t>(begin);
        part.place.count[axis] = static_cast<uint64_t>(count);
        part.stored.begin[axis] = static_cast<uint64_t>(nemo->halo_start[d]);
        part.global[axis] = static_cast<uint64_t>(nemo->size[d]);
      }
      if (is_possible)
        gather.add(std::move(part));
      else
        gather.refuse(stored, "has an impossible place");
    }
  }
  return gather.finish();
}

// PnetCDF: the range of each dimension of a variable in subfile K is an attribute of the variable, in the master file
// or in the subfile; both ends are included. A subfile's dimensions are called DIMENSION.VARIABLE.
constexpr std::string_view kSubfile = ".subfile_";

struct Subfile {
  std::string_view master;
  uint64_t number = 0;
};

std::optional<Subfile> subfile_of(std::string_view name) {
  if (!name.ends_with(".nc")) return {};
  const auto parts = numbered(name.substr(0, name.size() - 3), 1);
  if (!parts || !parts->stem.ends_with(kSubfile)) return {};
  return Subfile{parts->stem.substr(0, parts->stem.size() - kSubfile.size()), parts->number};
}

std::optional<PlacedPart> subfile_part(const Tile& tile, const format::FileAttributes* master, std::string_view path,
                                       uint64_t stored, const Shape& shape, uint64_t number) {
  const auto* dimensions = dimensions_of(tile, path, shape);
  if (dimensions == nullptr || shape.empty()) return {};
  PlacedPart part = tile_part(path, stored, shape);
  const std::string suffix = "." + std::string(path.substr(1));
  for (size_t d = 0; d < shape.size(); ++d) {
    std::string_view dimension = (*dimensions)[d];
    if (dimension.ends_with(suffix)) dimension.remove_suffix(suffix.size());
    const std::string name = fmt::format("_PnetCDF_SubFiling.range({}).subfile.{}", dimension, number);
    auto range = integers_of(tile.attributes.find(path, name));
    if (!range && master != nullptr) range = integers_of(master->find(path, name));
    if (!range || range->size() != 2 || range->front() < 0 || range->back() < range->front() ||
        range->back() > int64_t{1} << 40 || static_cast<uint64_t>(range->back() - range->front() + 1) != shape[d])
      return {};
    part.place.begin[d] = static_cast<uint64_t>(range->front());
    part.global[d] = static_cast<uint64_t>(range->back() + 1);
  }
  return part;
}

}  // namespace

Result<bool> recognise_wrf(const SetLook& look, Recognised& found) {
  const auto is_tile = [](std::string_view name) { return numbered(name, 4).has_value() && !name.ends_with(".nc"); };
  const auto tiles = tiles_with(look, found, is_tile, "WEST-EAST_PATCH_START_UNSTAG");
  if (!tiles) return not_placed(tiles.error(), "WRF", found);
  return place_wrf(look, found, *tiles);
}

Result<bool> recognise_nemo(const SetLook& look, Recognised& found) {
  const auto is_tile = [](std::string_view name) {
    return name.ends_with(".nc") && numbered(name.substr(0, name.size() - 3), 4).has_value();
  };
  const auto tiles = tiles_with(look, found, is_tile, "DOMAIN_position_first");
  if (!tiles) return not_placed(tiles.error(), "NEMO", found);
  return place_nemo(look, found, *tiles);
}

Result<bool> recognise_subfiles(const SetLook& look, Recognised& found) {
  const auto tiles = tiles_with(look, found, [](std::string_view name) { return subfile_of(name).has_value(); }, {});
  if (!tiles) return not_placed(tiles.error(), "PnetCDF with subfiles", found);
  if (tiles->empty()) return false;
  const std::string master_name(subfile_of(tiles->front().file->row->name)->master);
  std::optional<format::FileAttributes> master;
  if (const auto at = find_file(look.set(), master_name)) {
    auto attributes = look.attributes(at->container, at->file);
    if (!attributes) return not_placed(attributes.error(), "PnetCDF with subfiles", found);
    master = *std::move(attributes);
  }
  std::vector<PlacedPart> parts;
  std::map<std::string, Shape> shapes;
  for (const Tile& tile : *tiles) {
    const auto subfile = subfile_of(tile.file->row->name);
    if (subfile->master != master_name) continue;
    for (const auto& [path, stored] : tile.file->variables) {
      const Shape& shape = shape_of(look.set(), found.arrays.stored[stored]);
      auto part = subfile_part(tile, master ? &*master : nullptr, path, stored, shape, subfile->number);
      if (!part) continue;
      Shape& whole = shapes[part->field];
      whole.resize(std::max(whole.size(), part->global.size()));
      for (size_t d = 0; d < part->global.size(); ++d) whole[d] = std::max(whole[d], part->global[d]);
      parts.push_back(*std::move(part));
    }
  }
  Gather gather(look.set(), found);
  for (PlacedPart& part : parts) {
    part.global = shapes[part.field];
    gather.add(std::move(part));
  }
  return gather.finish();
}

}  // namespace forebay::view

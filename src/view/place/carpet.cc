// Carpet (Einstein Toolkit): a dataset for each component, called "T::var it=0 tl=0 m=0 rl=0 c=3", whose attributes say
// where it lies among the points of its level.
#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "view/place/gather.h"
#include "view/place/set_values.h"

namespace forebay::view {
namespace {

struct CarpetName {
  std::string field;  // of an older time level or another map with its number
  uint32_t level = 0;
};

// Nothing if it is not the name of a component.
std::optional<CarpetName> parse_carpet_name(std::string_view path) {
  const size_t begin = path.find(" it=");
  if (begin == path.npos || begin < 2 || path.find("::") == path.npos) return {};
  CarpetName name{.field = std::string(path.substr(1, begin - 1))};
  std::string_view words = path.substr(begin + 1);
  while (!words.empty()) {
    const std::string_view word = words.substr(0, words.find(' '));
    words.remove_prefix(std::min(word.size() + 1, words.size()));
    const size_t equals = word.find('=');
    if (equals == word.npos) continue;
    const std::string_view key = word.substr(0, equals);
    uint32_t value = 0;
    const auto [end, error] = std::from_chars(word.data() + equals + 1, word.data() + word.size(), value);
    if (error != std::errc() || end != word.data() + word.size()) return {};
    if (key == "rl") name.level = value;
    if ((key == "tl" || key == "m") && value != 0) name.field += fmt::format(" {}={}", key, value);
  }
  if (name.level > kDeepestLevel) return {};
  return name;
}

struct CarpetPart {
  PlacedPart part;
  std::vector<int64_t> origin;  // of what is placed, z first
};

constexpr int64_t kFarthest = int64_t{1} << 40;

// The points that are no ghosts; nothing if an attribute is missing or contradicts the shape.
std::optional<CarpetPart> carpet_part(const CarpetName& name, std::string_view path, uint64_t stored,
                                      const Shape& shape, const format::FileAttributes& attributes) {
  const auto origin = integers_of(attributes.find(path, "iorigin"));
  if (!origin || origin->size() != shape.size()) return {};
  const size_t rank = shape.size();
  auto ghosts = integers_of(attributes.find(path, "cctk_nghostzones")).value_or(std::vector<int64_t>());
  auto at_edge = integers_of(attributes.find(path, "cctk_bbox")).value_or(std::vector<int64_t>());
  if (ghosts.size() != rank || at_edge.size() != 2 * rank) ghosts.assign(rank, 0), at_edge.assign(2 * rank, 1);
  CarpetPart found;
  found.part.field = name.field;
  found.part.level = name.level;
  found.part.stored.array = stored;
  found.part.stored.shape = shape;
  for (size_t axis = 0; axis < rank; ++axis) {
    const size_t d = rank - 1 - axis;
    if (ghosts[d] < 0 || ghosts[d] > 1000 || (*origin)[d] < -kFarthest || (*origin)[d] > kFarthest) return {};
    const auto low = static_cast<uint64_t>(at_edge[2 * d] == 0 ? ghosts[d] : 0);
    const auto high = static_cast<uint64_t>(at_edge[2 * d + 1] == 0 ? ghosts[d] : 0);
    if (low + high >= shape[axis]) return {};
    found.part.stored.begin.push_back(low);
    found.part.place.count.push_back(shape[axis] - low - high);
    found.origin.push_back((*origin)[d] + static_cast<int64_t>(low));
  }
  return found;
}

// There is no shape of a level in the files: it reaches from 0, or from the lowest point if that is below, to the
// highest one.
void give_places(std::vector<CarpetPart>& parts, Gather& gather) {
  std::map<std::tuple<std::string, uint32_t, size_t>, std::pair<std::vector<int64_t>, std::vector<int64_t>>> levels;
  const auto key = [](const CarpetPart& each) {
    return std::tuple(each.part.field, *each.part.level, each.origin.size());
  };
  for (const CarpetPart& each : parts) {
    auto& [low, high] = levels[key(each)];
    low.resize(each.origin.size());
    high.resize(each.origin.size());
    for (size_t d = 0; d < low.size(); ++d) {
      low[d] = std::min(low[d], each.origin[d]);
      high[d] = std::max(high[d], each.origin[d] + static_cast<int64_t>(each.part.place.count[d]));
    }
  }
  for (CarpetPart& each : parts) {
    const auto& [low, high] = levels[key(each)];
    for (size_t d = 0; d < low.size(); ++d) {
      each.part.place.begin.push_back(static_cast<uint64_t>(each.origin[d] - low[d]));
      each.part.global.push_back(static_cast<uint64_t>(high[d] - low[d]));
    }
    gather.add(std::move(each.part));
  }
}

}  // namespace

Result<bool> recognise_carpet(const SetLook& look, Recognised& found) {
  Gather gather(look.set(), found);
  std::vector<CarpetPart> parts;
  std::optional<double> time;
  for (const SetFile& file : found.files) {
    if (std::ranges::none_of(file.variables,
                             [](const auto& each) { return parse_carpet_name(each.first).has_value(); }))
      continue;
    const auto attributes = look.attributes(file.container, file.file);
    if (!attributes) return not_placed(attributes.error(), "Carpet", found);
    for (const auto& [path, stored] : file.variables) {
      const auto name = parse_carpet_name(path);
      if (!name) continue;
      auto part = carpet_part(*name, path, stored, shape_of(look.set(), found.arrays.stored[stored]), *attributes);
      if (!part) {
        gather.refuse(stored, "does not say where it lies (iorigin), or says nonsense");
        continue;
      }
      parts.push_back(*std::move(part));
      if (const auto now = reals_of(attributes->find(path, "time")); now && now->size() == 1 && !time)
        time = now->front();
    }
  }
  give_places(parts, gather);
  if (!gather.finish()) return false;
  found.time = time;
  return true;
}

}  // namespace forebay::view

#include "view/place/enzo_text.h"

#include <charconv>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>

namespace forebay::view {
namespace {

constexpr size_t kMostGrids = 1 << 22;
constexpr uint32_t kMostLevels = 40;
constexpr uint64_t kMostCells = uint64_t{1} << 48;  // in one dimension

std::string_view trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r"), end = text.find_last_not_of(" \t\r");
  return begin == text.npos ? std::string_view() : text.substr(begin, end - begin + 1);
}

// Calls visit(key, value) for each line "key = value".
template <class Visit>
void for_each_line(std::string_view text, const Visit& visit) {
  while (!text.empty()) {
    const size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
    if (const size_t equals = line.find('='); equals != line.npos)
      visit(trimmed(line.substr(0, equals)), trimmed(line.substr(equals + 1)));
  }
}

// The numbers of a line, four at most, up to what is none.
template <class T>
std::vector<T> numbers(std::string_view text) {
  constexpr size_t kMost = 4;
  std::vector<T> found;
  found.reserve(kMost);
  for (text = trimmed(text); !text.empty() && found.size() < kMost; text = trimmed(text)) {
    T value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc()) break;
    found.push_back(value);
    text.remove_prefix(static_cast<size_t>(end - text.data()));
  }
  return found;
}

template <class T>
std::optional<T> number(std::string_view text) {
  const auto found = numbers<T>(text);
  return found.empty() ? std::nullopt : std::optional(found.front());
}

std::unexpected<Error> nonsense(const std::string& what) { return fail(ErrorKind::corrupt, what); }

// Of "Pointer: Grid[12]->NextGridThisLevel": 12 and what follows the arrow.
std::optional<std::pair<uint64_t, std::string_view>> pointer(std::string_view key) {
  constexpr std::string_view kBegin = "Pointer: Grid[", kArrow = "]->";
  const size_t arrow = key.find(kArrow);
  if (!key.starts_with(kBegin) || arrow == key.npos || arrow < kBegin.size()) return {};
  const auto grid = number<uint64_t>(key.substr(kBegin.size(), arrow - kBegin.size()));
  if (!grid) return {};
  return std::pair(*grid, key.substr(arrow + kArrow.size()));
}

using Pointers = std::map<uint64_t, uint64_t>;

Result<void> set_levels(std::vector<EnzoGrid>& grids, const Pointers& beside, const Pointers& below) {
  std::map<uint64_t, size_t> places;
  for (size_t i = 0; i < grids.size(); ++i)
    if (!places.emplace(grids[i].number, i).second)
      return nonsense(fmt::format("grid {} occurs twice", grids[i].number));
  std::set<uint64_t> seen;
  std::vector<std::pair<uint64_t, uint32_t>> left{{grids.front().number, 0}};
  while (!left.empty()) {
    const auto [number, level] = left.back();
    left.pop_back();
    const auto place = places.find(number);
    if (place == places.end()) return nonsense(fmt::format("grid {} is pointed to and is not there", number));
    if (!seen.insert(number).second) return nonsense(fmt::format("the pointers lead to grid {} twice", number));
    if (level > kMostLevels) return nonsense(fmt::format("there are more than {} levels", kMostLevels));
    grids[place->second].level = level;
    for (const auto& [next, at] : {std::pair(&beside, level), std::pair(&below, level + 1)})
      if (const auto found = next->find(number); found != next->end() && found->second != 0)
        left.emplace_back(found->second, at);
  }
  if (seen.size() != grids.size()) return nonsense("not all grids are pointed to");
  return {};
}

Result<void> check(const EnzoGrid& grid, size_t rank) {
  const size_t dimensions = grid.dimensions.size();
  if (dimensions == 0 || dimensions > 3 || grid.first.size() != dimensions || grid.last.size() != dimensions ||
      grid.left.size() != dimensions || dimensions != rank || grid.file.empty())
    return nonsense(fmt::format("grid {} lacks dimensions, indices, an edge or a file", grid.number));
  for (size_t d = 0; d < dimensions; ++d)
    if (grid.first[d] > grid.last[d] || grid.last[d] >= grid.dimensions[d] || grid.dimensions[d] > kMostCells)
      return nonsense(
          fmt::format("the indices of grid {} are not inside of its {} cells", grid.number, grid.dimensions[d]));
  return {};
}

// The entries of dimensions that are used.
template <class T>
void cut(std::vector<T>& values, size_t rank) {
  if (values.size() > rank) values.resize(rank);
}

}  // namespace

Result<EnzoParameters> parse_enzo_parameters(std::string_view text) {
  EnzoParameters found;
  std::optional<uint64_t> rank;
  for_each_line(text, [&](std::string_view key, std::string_view value) {
    if (key == "TopGridRank") rank = number<uint64_t>(value);
    if (key == "TopGridDimensions") found.top_grid = numbers<uint64_t>(value);
    if (key == "DomainLeftEdge") found.left = numbers<double>(value);
    if (key == "DomainRightEdge") found.right = numbers<double>(value);
    if (key == "RefineBy") found.refine_by = number<uint64_t>(value).value_or(0);
    if (key == "InitialTime") found.time = number<double>(value);
  });
  if (!rank || *rank == 0 || *rank > 3) return nonsense("TopGridRank is missing, or not 1, 2 or 3");
  cut(found.top_grid, *rank);
  cut(found.left, *rank);
  cut(found.right, *rank);
  if (found.top_grid.size() != *rank || found.left.size() != *rank || found.right.size() != *rank)
    return nonsense("TopGridDimensions, DomainLeftEdge or DomainRightEdge is missing or has other dimensions");
  for (size_t d = 0; d < *rank; ++d)
    if (found.top_grid[d] == 0 || found.top_grid[d] > kMostCells || !std::isfinite(found.left[d]) ||
        !std::isfinite(found.right[d]) || !(found.right[d] > found.left[d]))
      return nonsense("the domain or its cells are impossible");
  if (found.refine_by < 2 || found.refine_by > 64) return nonsense("RefineBy is impossible");
  if (found.time && !std::isfinite(*found.time)) found.time.reset();
  return found;
}

Result<std::vector<EnzoGrid>> parse_enzo_hierarchy(std::string_view text) {
  std::vector<EnzoGrid> grids;
  std::vector<uint64_t> ranks;
  Pointers beside, below;
  for_each_line(text, [&](std::string_view key, std::string_view value) {
    if (key == "Grid" && grids.size() < kMostGrids) {
      grids.push_back({.number = number<uint64_t>(value).value_or(0)});
      ranks.push_back(0);
    }
    if (const auto from = pointer(key)) {
      const uint64_t to = number<uint64_t>(value).value_or(0);
      if (from->second == "NextGridThisLevel") beside[from->first] = to;
      if (from->second == "NextGridNextLevel") below[from->first] = to;
    }
    if (grids.empty()) return;
    EnzoGrid& grid = grids.back();
    if (key == "GridRank") ranks.back() = number<uint64_t>(value).value_or(0);
    if (key == "GridDimension") grid.dimensions = numbers<uint64_t>(value);
    if (key == "GridStartIndex") grid.first = numbers<uint64_t>(value);
    if (key == "GridEndIndex") grid.last = numbers<uint64_t>(value);
    if (key == "GridLeftEdge") grid.left = numbers<double>(value);
    if (key == "BaryonFileName" || (key == "ParticleFileName" && grid.file.empty()))
      grid.file = std::string(value.substr(value.rfind('/') + 1));
  });
  if (grids.empty()) return nonsense("there is no grid");
  if (grids.size() == kMostGrids) return nonsense("there are too many grids");
  for (size_t i = 0; i < grids.size(); ++i) {
    cut(grids[i].dimensions, ranks[i]);
    cut(grids[i].first, ranks[i]);
    cut(grids[i].last, ranks[i]);
    cut(grids[i].left, ranks[i]);
    FOREBAY_CHECK(check(grids[i], ranks[i]));
  }
  FOREBAY_CHECK(set_levels(grids, beside, below));
  return grids;
}

std::optional<EnzoPlace> place_of(const EnzoGrid& grid, const EnzoParameters& parameters) {
  const size_t dimensions = parameters.top_grid.size();
  if (grid.dimensions.size() != dimensions) return {};
  EnzoPlace place;
  for (size_t d = 0; d < dimensions; ++d) {
    uint64_t cells = parameters.top_grid[d];
    for (uint32_t level = 0; level < grid.level; ++level)
      if (__builtin_mul_overflow(cells, parameters.refine_by, &cells) || cells > kMostCells) return {};
    const double width = (parameters.right[d] - parameters.left[d]) / static_cast<double>(cells);
    const double offset = (grid.left[d] - parameters.left[d]) / width;
    const uint64_t count = grid.last[d] - grid.first[d] + 1;
    // Edges are printed with some digits only; what lies between cells is another kind of grid.
    if (!(offset > -0.1) || offset > static_cast<double>(cells) || std::abs(offset - std::rint(offset)) > 0.1)
      return {};
    const auto first = static_cast<uint64_t>(std::max(0.0, std::rint(offset)));
    if (count > cells || first > cells - count) return {};
    place.offset.push_back(first);
    place.count.push_back(count);
    place.level_shape.push_back(cells);
  }
  return place;
}

}  // namespace forebay::view

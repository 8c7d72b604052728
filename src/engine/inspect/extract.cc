#include "engine/inspect/extract.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "engine/inspect/unblock.h"

namespace forebay::engine {
namespace {

// "/Grid#/Density" of "/Grid#/Density_f4_Array3D" (merge/similarity.h).
std::string path_of_key(const std::string& key) {
  constexpr std::string_view kFiltered = "_Filtered";
  std::string_view path = key;
  const auto drop_last = [&] { path = path.substr(0, std::min(path.rfind('_'), path.size())); };
  drop_last();  // the class
  if (path.ends_with(kFiltered)) path.remove_suffix(kFiltered.size());
  drop_last();  // the datatype
  return std::string(path);
}

// Which values of an interned list match.
template <class Matches>
std::vector<bool> marks(const std::vector<std::string>& values, const Matches& matches) {
  std::vector<bool> result;
  result.reserve(values.size());
  for (const std::string& value : values) result.push_back(matches(value));
  return result;
}

struct Place {
  Found found;
  uint32_t rank;
};

void find_in(const Catalogue& catalogue, size_t container, const std::string& pattern, std::optional<uint32_t> rank,
             std::vector<Place>& places) {
  const auto matches = [&](const std::string& text) { return matches_any({pattern}, text); };
  const auto paths =
      marks(catalogue.paths.values(), [&](const auto& path) { return path == pattern || matches(path); });
  const auto keys =
      marks(catalogue.keys.values(), [&](const auto& key) { return matches(key) || matches(path_of_key(key)); });
  for (uint32_t file = 0; file < catalogue.files.size(); ++file) {
    const FileRow& row = catalogue.files[file];
    if (rank && row.rank != *rank) continue;
    for (uint32_t i = row.first_variable; i < row.first_variable + row.variable_count; ++i)
      if (paths[catalogue.variables[i].path] || keys[catalogue.variables[i].key])
        places.push_back({{container, file, i}, row.rank});
  }
}

// Whether the variable's bytes can be an array, and how many bytes that array has.
Result<uint64_t> array_bytes(const OpenContainer& container, const Found& found) {
  const Catalogue& catalogue = container.catalogue();
  const VariableRow& row = catalogue.variables[found.variable];
  const auto bad = [&](ErrorKind kind, const char* what) {
    return fail(kind, fmt::format("{} of {}: {}", catalogue.paths[row.path], catalogue.files[found.file].name, what),
                container.path);
  };
  if (row.filtered) return bad(ErrorKind::unsupported, "its chunks are stored as the application's filters left them");
  if (row.partial) return bad(ErrorKind::unsupported, "parts of it were never allocated, and which is not recorded");
  const Shape& shape = catalogue.shapes[row.shape];
  if (block_count(shape, catalogue.shapes[row.block]) != row.extent_count)
    return bad(ErrorKind::corrupt, "its blocks do not cover its shape");
  uint64_t bytes = element_count(shape);
  if (__builtin_mul_overflow(bytes, uint64_t{row.type.size}, &bytes)) return bad(ErrorKind::limit, "it is too large");
  return bytes;
}

// The bytes of stored blocks that are taken at once, a whole number of elements.
uint64_t window_bytes(const DataType& type) { return std::max<uint64_t>((4 << 20) / type.size, 1) * type.size; }

Result<void> read_blocked(SetReader& reader, const Found& found, std::span<std::byte> array) {
  const Catalogue& catalogue = reader.set().containers[found.container].catalogue();
  const VariableRow& row = catalogue.variables[found.variable];
  const uint64_t stored = catalogue.bytes_of(row);
  Bytes window(std::min(stored, window_bytes(row.type)));
  for (uint64_t begin = 0; begin < stored; begin += window.size()) {
    const auto part = std::span(window).first(std::min<uint64_t>(window.size(), stored - begin));
    FOREBAY_CHECK(reader.read_variable(found.container, found.file, found.variable, begin, part));
    unblock(catalogue.shapes[row.shape], catalogue.shapes[row.block], row.type.size, begin, part, array);
  }
  return {};
}

}  // namespace

std::vector<Found> find_variables(const OpenSet& set, const std::string& path, std::optional<uint32_t> rank) {
  std::vector<Place> places;
  for (size_t i = 0; i < set.containers.size(); ++i) find_in(set.containers[i].catalogue(), i, path, rank, places);
  std::ranges::stable_sort(places, {}, &Place::rank);
  std::vector<Found> found;
  for (const Place& place : places) found.push_back(place.found);
  return found;
}

Result<Extracted> extract(SetReader& reader, const Found& found, uint64_t memory_bytes) {
  const OpenContainer& container = reader.set().containers[found.container];
  const Catalogue& catalogue = container.catalogue();
  const VariableRow& row = catalogue.variables[found.variable];
  FOREBAY_TRY(const uint64_t bytes, array_bytes(container, found));
  const bool blocked = row.block != row.shape;
  const uint64_t needed = bytes + (blocked ? window_bytes(row.type) : 0);
  if (needed < bytes || needed > memory_bytes)
    return fail(
        ErrorKind::limit,
        fmt::format("{} has {} bytes, and the memory budget leaves {}", catalogue.paths[row.path], bytes, memory_bytes),
        container.path, {}, "give a larger memory budget");
  reader.set_memory(memory_bytes - needed);
  const uint64_t frames_before = reader.frames_read();
  Extracted result{.type = row.type, .shape = catalogue.shapes[row.shape], .bytes = Bytes(bytes)};
  if (blocked) {
    FOREBAY_CHECK(read_blocked(reader, found, result.bytes));
  } else {
    FOREBAY_CHECK(reader.read_variable(found.container, found.file, found.variable, 0, result.bytes));
  }
  result.frames = reader.frames_read() - frames_before;
  return result;
}

Result<Extracted> extract(const OpenSet& set, const Found& found, uint64_t memory_bytes) {
  SetReader reader(set, memory_bytes);
  return extract(reader, found, memory_bytes);
}

std::string npy_header(const DataType& type, const Shape& shape) {
  const char order = !type.is_number() || type.size == 1 ? '|' : type.order == ByteOrder::big ? '>' : '<';
  constexpr char kLetters[] = {'V', 'i', 'u', 'f'};
  std::string header = fmt::format("{{'descr': '{}{}{}', 'fortran_order': False, 'shape': ({}{}), }}", order,
                                   kLetters[static_cast<size_t>(type.kind)], type.size, fmt::join(shape, ", "),
                                   shape.size() == 1 ? "," : "");
  constexpr size_t kPrefix = 10, kAlignment = 64;
  header.append(kAlignment - 1 - (kPrefix + header.size()) % kAlignment, ' ');
  header += '\n';
  std::string prefix("\x93NUMPY\x01\x00", 8);
  prefix += static_cast<char>(header.size() & 0xff);
  prefix += static_cast<char>(header.size() >> 8);
  return prefix + header;
}

}  // namespace forebay::engine

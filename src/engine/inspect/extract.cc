#include "engine/inspect/extract.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "engine/set/box_plan.h"
#include "engine/set/chunk_values.h"
#include "engine/set/frame_io.h"

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

uint64_t largest_frame(const OpenContainer& container, const BoxPlan& plan) {
  uint64_t largest = 0;
  for (const uint32_t number : plan.frames()) largest = std::max(largest, frame_memory(container, number));
  return largest;
}

// What is left for the array beside the largest of its frames; limit if that is less than `least`.
Result<uint64_t> room_for_array(const OpenContainer& container, const Found& found, const BoxPlan& plan,
                                uint64_t memory_bytes, uint64_t least) {
  const uint64_t frame = largest_frame(container, plan);
  if (frame <= memory_bytes && least <= memory_bytes - frame) return memory_bytes - frame;
  const Catalogue& catalogue = container.catalogue();
  return fail(ErrorKind::limit,
              fmt::format("{} of {} needs {} bytes of memory for an array and {} for a frame, and {} are left",
                          catalogue.paths[catalogue.variables[found.variable].path], catalogue.files[found.file].name,
                          least, frame, memory_bytes),
              container.path, {}, "give a larger memory budget");
}

// As extract(), of a variable whose extents are not its values. A quarter of the memory is for frames, another one for
// chunks, and half of it for the box.
Result<uint64_t> extract_chunks(SetReader& reader, const Found& found, const Box& box, uint64_t memory_bytes,
                                const ArraySink& sink) {
  const Catalogue& catalogue = reader->set().containers[found.container].catalogue();
  const VariableRow& row = catalogue.variables[found.variable];
  const auto read_file = [&](size_t container, uint32_t file, uint64_t begin, std::span<std::byte> out) {
    return reader->read_file(container, file, begin, out);
  };
  reader.set_memory(memory_bytes / 4);
  const ChunkValues chunks(reader->set(), read_file, read_file, memory_bytes / 4, 1);
  uint64_t frames = 0;
  Bytes buffer;
  Slabs slabs(box, catalogue.shapes[row.block], row.type.size, std::max<uint64_t>(memory_bytes / 2, row.type.size));
  while (const auto slab = slabs.next()) {
    buffer.resize(element_count(slab->count) * row.type.size);
    std::optional<Error> error;
    const ChunkValues::BoxRead read{found.container, found.file, found.variable, *slab,
                                    [&](uint64_t at, std::span<const std::byte> bytes) {
                                      std::ranges::copy(bytes, buffer.begin() + static_cast<ptrdiff_t>(at));
                                    }};
    frames += chunks.read({&read, 1}, [&](size_t, const Error& failure) { error = failure; }).frames;
    if (error) {
      error->what =
          fmt::format("{} of {}: {}", catalogue.paths[row.path], catalogue.files[found.file].name, error->what);
      return std::unexpected(*error);
    }
    FOREBAY_CHECK(sink(buffer));
  }
  return frames;
}

Result<BoxPlan> plan_box(const SetReader& reader, const Found& found, const Box& box) {
  auto plan = BoxPlan::make(reader->frames(found.container), found.file, found.variable, box);
  if (!plan && plan.error().path.empty()) plan.error().path = reader->set().containers[found.container].path;
  return plan;
}

// Fills `out` with a box in C order; returns how many frames were read.
Result<uint64_t> read_box(const SetReader& reader, const Found& found, BoxPlan plan, std::span<std::byte> out) {
  uint64_t copied = 0;
  std::optional<Error> error;
  const SharedReader::BoxRead box{found.container, std::move(plan), [&](uint64_t at, std::span<const std::byte> bytes) {
                                    std::ranges::copy(bytes, out.begin() + static_cast<ptrdiff_t>(at));
                                    copied += bytes.size();
                                  }};
  const FrameCost cost = reader->read({&box, 1}, [&](size_t, const Error& failure) {
    if (!error) error = failure;
  });
  if (error) return std::unexpected(*std::move(error));
  if (copied == out.size()) return cost.frames;
  return fail(ErrorKind::internal, fmt::format("the plan yields {} of {} bytes", copied, out.size()),
              reader->set().containers[found.container].path);
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

ArrayFacts facts_of(const OpenSet& set, const Found& found) {
  const Catalogue& catalogue = set.containers[found.container].catalogue();
  const VariableRow& row = catalogue.variables[found.variable];
  return {row.type, catalogue.shapes[row.shape]};
}

Result<uint64_t> extract(SetReader& reader, const Found& found, const Box& box, uint64_t memory_bytes,
                         const ArraySink& sink) {
  const OpenContainer& container = reader->set().containers[found.container];
  const VariableRow& row = container.catalogue().variables[found.variable];
  if (ChunkValues::are_needed_for(row)) return extract_chunks(reader, found, box, memory_bytes, sink);
  FOREBAY_TRY(const BoxPlan whole, plan_box(reader, found, box));
  FOREBAY_TRY(const uint64_t room, room_for_array(container, found, whole, memory_bytes, row.type.size));
  // An array that is cut leaves half of the memory to frames: slabs that follow each other share some.
  const uint64_t most = whole.bytes() <= room
                            ? whole.bytes()
                            : std::min<uint64_t>(room, std::max<uint64_t>(memory_bytes / 2, row.type.size));
  Bytes buffer(most);
  reader.set_memory(memory_bytes - most);
  uint64_t frames = 0;
  Slabs slabs(box, container.catalogue().shapes[row.block], row.type.size, most);
  while (const auto slab = slabs.next()) {
    FOREBAY_TRY(BoxPlan plan, plan_box(reader, found, *slab));
    const auto bytes = std::span(buffer).first(plan.bytes());
    FOREBAY_TRY(const uint64_t more, read_box(reader, found, std::move(plan), bytes));
    frames += more;
    FOREBAY_CHECK(sink(bytes));
  }
  return frames;
}

Result<Extracted> extract(SetReader& reader, const Found& found, uint64_t memory_bytes) {
  const OpenContainer& container = reader->set().containers[found.container];
  const ArrayFacts facts = facts_of(reader->set(), found);
  Extracted result{.type = facts.type, .shape = facts.shape, .bytes = {}};
  if (ChunkValues::are_needed_for(container.catalogue().variables[found.variable])) {
    uint64_t bytes = 0;
    if (__builtin_mul_overflow(element_count(facts.shape), uint64_t{facts.type.size}, &bytes) || bytes > memory_bytes)
      return fail(ErrorKind::limit, "an array does not fit into the memory", container.path, {},
                  "give a larger memory budget");
    result.bytes.reserve(bytes);
    const auto take = [&](std::span<const std::byte> part) -> Result<void> {
      result.bytes.insert(result.bytes.end(), part.begin(), part.end());
      return {};
    };
    FOREBAY_TRY(result.frames, extract_chunks(reader, found, whole_box(facts.shape), memory_bytes - bytes, take));
    return result;
  }
  FOREBAY_TRY(BoxPlan plan, plan_box(reader, found, whole_box(facts.shape)));
  FOREBAY_CHECK(room_for_array(container, found, plan, memory_bytes, plan.bytes()));
  result.bytes.resize(plan.bytes());
  reader.set_memory(memory_bytes - plan.bytes());
  FOREBAY_TRY(result.frames, read_box(reader, found, std::move(plan), result.bytes));
  return result;
}

Result<Extracted> extract(const OpenSet& set, const Found& found, uint64_t memory_bytes) {
  SetReader reader(set, memory_bytes);
  return extract(reader, found, memory_bytes);
}

}  // namespace forebay::engine

#include "container/cubes_codec.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>

#include "container/bounded.h"
#include "container/column.h"

namespace forebay::container {

namespace {

constexpr uint32_t kSign = 0x80000000;
constexpr uint64_t kUnfolded = 3 * (sizeof(uint64_t) + 1) + sizeof(Cube);  // what decoding one takes

// Numbers in the order of the values.
uint32_t ordered(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  return (bits & kSign) != 0 ? ~bits : bits | kSign;
}

float from_ordered(uint32_t number) { return std::bit_cast<float>((number & kSign) != 0 ? number & ~kSign : ~number); }

uint64_t cube_count(const Catalogue& catalogue, uint32_t variable) {
  return cube_grid(catalogue.shapes[catalogue.variables[variable].shape]).cubes();
}

std::vector<uint32_t> variables_of(const Catalogue& catalogue, uint32_t key) {
  std::vector<uint32_t> variables;
  for (uint32_t v = 0; v < catalogue.variables.size(); ++v)
    if (catalogue.variables[v].key == key && can_have_cubes(catalogue, catalogue.variables[v])) variables.push_back(v);
  return variables;
}

flatbuffers::Offset<fb::KeyCubes> put(ColumnWriter& out, std::span<const VariableCubes* const> variables) {
  Values minima, spans, nans;
  for (const VariableCubes* variable : variables)
    for (const Cube& cube : variable->cubes) {
      if (cube.has_nan) nans.push_back(minima.size());
      minima.push_back(ordered(cube.min));
      spans.push_back(ordered(cube.max) - ordered(cube.min));
    }
  const auto minima_column = out.put_deltas(std::move(minima)), spans_column = out.put(spans);
  const auto nans_column = out.put_deltas(std::move(nans));
  return fb::CreateKeyCubes(out.builder(), minima_column, spans_column, nans_column);
}

Result<std::vector<VariableCubes>> get(const fb::KeyCubes& table, const Catalogue& catalogue, uint32_t key,
                                       MemoryBudget& budget, std::vector<Lease>& kept) {
  ColumnReader in(budget);
  const uint64_t total = ColumnReader::count(table.minima());
  FOREBAY_TRY(const auto minima, in.get_deltas(table.minima(), total, UINT32_MAX));
  FOREBAY_TRY(const auto spans, in.get(table.spans(), total, UINT32_MAX));
  FOREBAY_TRY(const auto nans, in.get_deltas(table.nans(), ColumnReader::count(table.nans())));
  FOREBAY_TRY(Lease lease, in.lease(total, sizeof(Cube)));
  kept.push_back(std::move(lease));
  std::vector<VariableCubes> all;
  uint64_t number = 0;
  size_t next_nan = 0;
  for (const uint32_t variable : variables_of(catalogue, key)) {
    const uint64_t count = cube_count(catalogue, variable);
    if (count > total - number) return bad("there are fewer cubes than variables have");
    all.push_back({variable, std::vector<Cube>(count)});
    for (Cube& cube : all.back().cubes) {
      cube.min = from_ordered(static_cast<uint32_t>(minima[number]));
      cube.max = from_ordered(static_cast<uint32_t>(minima[number] + spans[number]));
      if (std::isnan(cube.min) || std::isnan(cube.max)) return bad("a cube has impossible bounds");
      cube.has_nan = next_nan < nans.size() && nans[next_nan] == number;
      next_nan += cube.has_nan;
      ++number;
    }
  }
  if (number != total || next_nan != nans.size()) return bad("there are more cubes than variables have");
  return all;
}

}  // namespace

Result<Bytes> encode_cubes(const Catalogue& catalogue, std::span<const VariableCubes> all) {
  std::map<uint32_t, std::vector<const VariableCubes*>> by_key;
  for (const VariableCubes& cubes : all) {
    if (cubes.variable >= catalogue.variables.size() ||
        !can_have_cubes(catalogue, catalogue.variables[cubes.variable]) ||
        cubes.cubes.size() != cube_count(catalogue, cubes.variable))
      return fail(ErrorKind::invalid_argument, "the cubes are not those of the variable");
    by_key[catalogue.variables[cubes.variable].key].push_back(&cubes);
  }
  ColumnWriter out(Effort::quick);
  Values keys;
  std::vector<flatbuffers::Offset<fb::KeyCubes>> groups;
  for (const auto& [key, variables] : by_key) {
    const auto number = [](const VariableCubes* cubes) { return cubes->variable; };
    if (!std::ranges::equal(variables, variables_of(catalogue, key), {}, number))
      return fail(ErrorKind::invalid_argument, "the cubes are not those of all variables of a key");
    keys.push_back(key);
    groups.push_back(put(out, variables));
  }
  const auto keys_column = out.put_deltas(std::move(keys));
  const auto groups_vector = out.builder().CreateVector(groups);
  FOREBAY_TRY(Bytes bytes, out.finish(fb::CreateCubes(out.builder(), keys_column, groups_vector)));
  uint64_t cubes = 0;
  for (const VariableCubes& variable : all) cubes += variable.cubes.size();
  pad_to_unfold(bytes, cubes * kUnfolded);
  return bytes;
}

Result<std::vector<VariableCubes>> decode_cubes(std::span<const std::byte> bytes, const Catalogue& catalogue,
                                                uint32_t key, uint64_t max_bytes) {
  std::vector<VariableCubes> all;
  FOREBAY_CHECK(decode_bounded(bytes, max_bytes, [&](MemoryBudget& budget, std::vector<Lease>& kept) -> Result<void> {
    FOREBAY_TRY(const fb::Cubes* table, verified_root<fb::Cubes>(bytes));
    ColumnReader in(budget);
    const uint64_t count = table->groups() == nullptr ? 0 : table->groups()->size();
    FOREBAY_TRY(const auto keys, in.get_deltas(table->keys(), count, UINT32_MAX));
    const auto found = std::ranges::find(keys.values, key);
    if (found == keys.values.end()) return {};
    const fb::KeyCubes* group = table->groups()->Get(static_cast<uint32_t>(found - keys.values.begin()));
    FOREBAY_TRY(all, get(*group, catalogue, key, budget, kept));
    return {};
  }));
  return all;
}

}  // namespace forebay::container

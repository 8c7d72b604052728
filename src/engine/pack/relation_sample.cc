#include "engine/pack/relation_sample.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/bytes.h"

namespace forebay::engine {
namespace {

constexpr uint64_t kPlaces = 64, kRowElements = 33;
constexpr double kLargest = 1e150;  // the squares of larger values are no numbers

// An array seen as planes of rows, its outer dimensions folded.
struct Grid {
  uint64_t planes = 1, rows = 1, count = 1;
};

Grid grid_of(const Shape& dims) {
  Grid grid;
  unsigned used = 0;
  for (size_t i = dims.size(); i-- > 0;) {
    if (dims[i] == 1) continue;
    (used == 0 ? grid.count : used == 1 ? grid.rows : grid.planes) *= dims[i];
    ++used;
  }
  return grid;
}

// A stretch of a row: its elements in their stream, and how far before them the neighbouring rows lie (0: none).
struct RowsPlace {
  uint32_t stream = 0;
  uint64_t begin = 0, count = 0;
  uint64_t up = 0, back = 0;
};

// The stretch of a row with the rows before it, around element `at` of a stream of arrays of the shape `dims`.
RowsPlace place_at(uint32_t stream, const Shape& dims, uint64_t at) {
  const Grid grid = grid_of(dims);
  const uint64_t plane = grid.rows * grid.count;
  const uint64_t array = at / (grid.planes * plane) * (grid.planes * plane);
  const uint64_t z = std::max<uint64_t>((at - array) / plane, grid.planes > 1 ? 1 : 0);
  const uint64_t y = std::max<uint64_t>((at - array) % plane / grid.count, grid.rows > 1 ? 1 : 0);
  const uint64_t count = std::min(grid.count, kRowElements);
  const uint64_t x = std::min((at - array) % grid.count, grid.count - count);
  return {.stream = stream,
          .begin = array + z * plane + y * grid.count + x,
          .count = count,
          .up = grid.rows > 1 ? grid.count : 0,
          .back = grid.planes > 1 ? plane : 0};
}

std::vector<RowsPlace> places_of(const merge::Plan& plan, const merge::FrameGroup& group) {
  const Catalogue& catalogue = plan.catalogue();
  std::vector<RowsPlace> places;
  uint64_t end = 0;  // of the streams so far, in elements
  uint64_t next = 0;
  const uint64_t total = group.bytes / group.type.size;
  for (uint32_t i = 0; i < group.streams.size(); ++i) {
    const uint64_t begin = end;
    end += group.streams[i].bytes / group.type.size;
    const Shape& dims = catalogue.shapes[catalogue.variables[group.streams[i].variable].block];
    for (; next < kPlaces && (2 * next + 1) * total / (2 * kPlaces) < end; ++next)
      places.push_back(place_at(i, dims, (2 * next + 1) * total / (2 * kPlaces) - begin));
  }
  return places;
}

double to_double(const DataType& type, const std::byte* at) {
  const bool big = type.order == ByteOrder::big;
  if (type.size == 4) return std::bit_cast<float>(big ? load_be<uint32_t>(at) : load_le<uint32_t>(at));
  return std::bit_cast<double>(big ? load_be<uint64_t>(at) : load_le<uint64_t>(at));
}

// The elements of one group at some places.
class Elements {
 public:
  Elements(const merge::Plan& plan, uint32_t group, Sources& sources)
      : plan_(plan), group_(plan.groups()[group]), sources_(sources) {}

  // Appends all that the places offer to `sample`. The sources may be far away: everything is read at once.
  Result<void> append(std::span<const RowsPlace> places, codec::FieldSample& sample) const {
    uint64_t elements = 0;
    for (const RowsPlace& place : places) elements += rows_of(place).size() * place.count;
    Bytes bytes(elements * group_.type.size);
    FOREBAY_CHECK(read(places, bytes));
    std::span<const std::byte> rest = bytes;
    for (const RowsPlace& place : places) append(place, rest, sample);
    return {};
  }

 private:
  // How far before a place's row the rows lie that matter: itself, and those of its neighbours that are there.
  static std::vector<uint64_t> rows_of(const RowsPlace& place) {
    std::vector<uint64_t> distances = {0};
    if (place.up != 0) distances.push_back(place.up);
    if (place.back != 0) distances.push_back(place.back);
    if (place.up != 0 && place.back != 0) distances.push_back(place.up + place.back);
    return distances;
  }

  Result<void> read(std::span<const RowsPlace> places, std::span<std::byte> out) const {
    const uint64_t width = group_.type.size;
    PieceReader reader(sources_, out);
    for (const RowsPlace& place : places) {
      for (const uint64_t distance : rows_of(place)) {
        const merge::Slice slice{group_.streams[place.stream], (place.begin - distance) * width, place.count * width};
        Result<void> done;
        plan_.for_each_extent(slice, [&](uint64_t offset, uint64_t length) {
          if (done) done = reader.add(slice.stream.file, offset, length);
        });
        FOREBAY_CHECK(done);
      }
    }
    return reader.finish();
  }

  // Takes the rows of `place` off the beginning of `rest`.
  void append(const RowsPlace& place, std::span<const std::byte>& rest, codec::FieldSample& sample) const {
    const auto next_row = [&](bool is_there) {
      std::vector<double> values(place.count, 0);
      for (size_t i = 0; is_there && i < values.size(); ++i, rest = rest.subspan(group_.type.size))
        values[i] = to_double(group_.type, rest.data());
      return values;
    };
    const auto row = next_row(true), up = next_row(place.up != 0), back = next_row(place.back != 0),
               both = next_row(place.up != 0 && place.back != 0);
    for (size_t i = 1; i < row.size(); ++i)
      for (const bool squared : {false, true}) {
        const auto power = [&](double value) { return squared ? value * value : value; };
        const auto outer = [&](size_t j) { return ((power(row[j]) - power(up[j])) - power(back[j])) + power(both[j]); };
        sample.columns[0][squared].push_back(power(row[i]));
        sample.columns[1][squared].push_back(outer(i) - outer(i - 1));
      }
  }

  const merge::Plan& plan_;
  const merge::FrameGroup& group_;
  Sources& sources_;
};

// Whether a cell tells something: all values are usable, and one of them changes.
bool tells(std::span<const codec::FieldSample> fields, size_t cell) {
  bool changes = false;
  for (const codec::FieldSample& field : fields) {
    const double value = field.columns[0][0][cell], change = field.columns[1][0][cell];
    if (!(std::abs(value) < kLargest) || !(std::abs(change) < kLargest)) return false;
    changes = changes || change != 0;
  }
  return changes;
}

void keep_telling_cells(std::vector<codec::FieldSample>& fields) {
  size_t kept = 0;
  const size_t cells = fields.front().columns[0][0].size();
  for (size_t cell = 0; cell < cells; ++cell) {
    if (!tells(fields, cell)) continue;
    for (codec::FieldSample& field : fields)
      for (auto& kind : field.columns)
        for (auto& column : kind) column[kept] = column[cell];
    ++kept;
  }
  for (codec::FieldSample& field : fields)
    for (auto& kind : field.columns)
      for (auto& column : kind) column.resize(kept);
}

}  // namespace

Result<std::vector<codec::FieldSample>> sample_family(const merge::Plan& plan, std::span<const uint32_t> family,
                                                      Sources& sources) {
  const std::vector<RowsPlace> places = places_of(plan, plan.groups()[family.front()]);
  std::vector<codec::FieldSample> fields(family.size());
  for (size_t f = 0; f < family.size(); ++f) {
    FOREBAY_CHECK(Elements(plan, family[f], sources).append(places, fields[f]));
  }
  keep_telling_cells(fields);
  return fields;
}

}  // namespace forebay::engine

#include "format/fortran_reader.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "base/bytes.h"
#include "base/cursor.h"
#include "format/number_probe.h"
#include "format/window.h"

namespace forebay::format {
namespace {

constexpr uint64_t kMarker = 4;         // bytes
constexpr uint64_t kLeastRecord = 256;  // that is a variable by itself
constexpr size_t kSample = 1 << 14;     // bytes that are probed of a variable

struct Record {
  uint64_t offset = 0;  // of its bytes
  uint32_t length = 0;
};

// Goes from record to record.
class Walk {
 public:
  Walk(const ByteSource& source, ByteOrder order) : size_(source.size()), order_(order), window_(source) {}

  bool is_at_end() const { return at_ == size_; }
  // The next record; nothing if what is there is none.
  Result<std::optional<Record>> next() {
    FOREBAY_TRY(const auto first, window_.at(at_, kMarker));
    if (first.size() < kMarker) return std::optional<Record>();
    const Record record{.offset = at_ + kMarker, .length = load<uint32_t>(first.data(), order_)};
    const uint64_t end = record.offset + record.length;
    // The next record's marker is read with the one behind this record.
    FOREBAY_TRY(const auto last, window_.at(end, 2 * kMarker));
    if (last.size() < kMarker || load<uint32_t>(last.data(), order_) != record.length) return std::optional<Record>();
    at_ = end + kMarker;
    return std::optional(record);
  }

 private:
  uint64_t size_;
  ByteOrder order_;
  Window window_;
  uint64_t at_ = 0;
};

// Whether its first records are records, in that order of bytes.
Result<bool> begins_with_records(const ByteSource& source, ByteOrder order) {
  constexpr int kMost = 8;
  Walk walk(source, order);
  uint64_t bytes = 0;
  for (int i = 0; i < kMost && !walk.is_at_end(); ++i) {
    FOREBAY_TRY(const auto record, walk.next());
    if (!record) return false;
    bytes += record->length;
  }
  return bytes > 0;  // zeros look like empty records
}

Result<std::optional<ByteOrder>> order_of(const ByteSource& source) {
  for (const ByteOrder order : {ByteOrder::little, ByteOrder::big}) {
    FOREBAY_TRY(const bool fits, begins_with_records(source, order));
    if (fits) return std::optional(order);
  }
  return std::optional<ByteOrder>();
}

Result<std::vector<Record>> find_records(const ByteSource& source, ByteOrder order) {
  std::vector<Record> records;
  for (Walk walk(source, order); !walk.is_at_end();) {
    FOREBAY_TRY(const auto record, walk.next());
    if (!record) return fail(ErrorKind::corrupt, "fortran: a record has no end", source.name());
    if (records.size() == kMaxExtentsPerFile)
      return fail(ErrorKind::limit, "fortran: there are too many records", source.name());
    records.push_back(*record);
  }
  return records;
}

// From record `first` on, the lengths repeat after `period` records.
struct Cycle {
  size_t first = 0, period = 1;
};

// The one that begins first, of the shortest period of those; `first` is the number of records if there is none.
Cycle find_cycle(std::span<const Record> records) {
  constexpr size_t kMostPeriod = 16;
  Cycle best{.first = records.size(), .period = 1};
  for (size_t period = 1; period <= kMostPeriod && 2 * period <= records.size(); ++period) {
    size_t first = records.size() - period;
    while (first > 0 && records[first - 1].length == records[first - 1 + period].length) --first;
    if (first + 2 * period <= records.size() && first < best.first) best = {first, period};
  }
  return best;
}

// A file whose first record begins with "CORD": what its arrays are called, and which records they are.
struct Trajectory {
  std::array<const char*, 4> paths{};
  Cycle cycle;
};

Result<std::optional<Trajectory>> trajectory_of(const ByteSource& source, std::span<const Record> records) {
  constexpr uint32_t kHead = 84, kCell = 48;
  constexpr size_t kFirst = 3;  // head, title, number of atoms
  if (records.size() < kFirst + 3 || records[0].length != kHead) return std::optional<Trajectory>();
  std::array<std::byte, 4> magic{};
  FOREBAY_CHECK(source.read_at(records[0].offset, magic));
  if (as_text(magic) != "CORD") return std::optional<Trajectory>();
  const bool has_cell = records[kFirst].length == kCell && records.size() >= kFirst + 4;
  Trajectory trajectory{.paths = {"/x", "/y", "/z", ""}, .cycle = {kFirst, 3}};
  if (has_cell) trajectory = {.paths = {"/cell", "/x", "/y", "/z"}, .cycle = {kFirst, 4}};
  const auto& [first, period] = trajectory.cycle;
  for (size_t i = first; i + period < records.size(); ++i)
    if (records[i].length != records[i + period].length) return std::optional<Trajectory>();
  return std::optional(trajectory);
}

// Records of one length that are one variable: `count` of them, each `period` behind the one before.
struct RecordSeries {
  std::string path;
  size_t first = 0, period = 1, count = 1;
};

class Maker {
 public:
  Maker(const ByteSource& source, ByteOrder order, std::span<const Record> records)
      : source_(&source), order_(order), records_(records) {}

  Result<void> make(RecordSeries row) {
    const uint64_t length = records_[row.first].length;
    if (length == 0 || length * row.count < kLeastRecord) return {};
    FOREBAY_TRY(const Bytes sample, sample_of(row));
    const DataType type = probe_numbers(sample, order_);
    Variable variable{.path = std::move(row.path), .type = kBytes, .shape = {length}, .block = {}, .extents = {}};
    if (row.count > 1) {
      variable.shape = {row.count, length};
      variable.block = {1, length};
    }
    for (size_t i = 0; i < row.count; ++i)
      variable.extents.push_back({.offset = records_[row.first + i * row.period].offset, .length = length});
    if (type != kBytes) give_type(variable, type);
    if (std::ranges::all_of(sample, [](std::byte one) { return one == std::byte{}; }))
      of_zeros_.push_back(variables_.size());
    bytes_of_type_[{type.kind, type.size}] += length * row.count;
    variables_.push_back(std::move(variable));
    return {};
  }

  // Zeros tell no type: they have that of most bytes of the others, as on ranks where they are no zeros.
  std::vector<Variable> take() {
    bytes_of_type_.erase({kBytes.kind, kBytes.size});
    const auto most = std::ranges::max_element(bytes_of_type_, {}, [](const auto& one) { return one.second; });
    if (most != bytes_of_type_.end())
      for (const size_t i : of_zeros_) give_type(variables_[i], {most->first.first, order_, most->first.second});
    return std::move(variables_);
  }

 private:
  // Of bytes, elements of that type, if they are a whole number in each record.
  static void give_type(Variable& variable, const DataType& type) {
    if (variable.shape.back() % type.size != 0) return;
    variable.type = type;
    variable.shape.back() /= type.size;
    if (!variable.block.empty()) variable.block.back() /= type.size;
  }

  // Bytes of the first records, and of those in the middle; of one record, its beginning and its middle. Whole
  // elements of 8 bytes of each.
  Result<Bytes> sample_of(const RecordSeries& row) const {
    constexpr size_t kHalf = kSample / 2, kWhole = 8;
    Bytes sample;
    const auto add = [&](const Record& record, uint64_t skipped, size_t most) -> Result<bool> {
      const size_t some = std::min<size_t>(record.length - skipped, most) / kWhole * kWhole;
      sample.resize(sample.size() + some);
      FOREBAY_CHECK(source_->read_at(record.offset + skipped, std::span(sample).last(some)));
      return some > 0;
    };
    for (const size_t half : {size_t{1}, size_t{2}}) {
      const uint64_t middle = half == 1 ? 0 : records_[row.first].length / 2 / kWhole * kWhole;
      for (size_t i = half == 1 ? 0 : row.count / 2; i < row.count && sample.size() < half * kHalf; ++i) {
        const Record& record = records_[row.first + i * row.period];
        FOREBAY_TRY(const bool has_some, add(record, row.count == 1 ? middle : 0, half * kHalf - sample.size()));
        if (!has_some || row.count == 1) break;
      }
    }
    return sample;
  }

  const ByteSource* source_;
  ByteOrder order_;
  std::span<const Record> records_;
  std::vector<Variable> variables_;
  std::vector<size_t> of_zeros_;  // places in variables_
  std::map<std::pair<Kind, uint16_t>, uint64_t> bytes_of_type_;
};

}  // namespace

Result<bool> FortranReader::matches(std::span<const std::byte> head, const ByteSource& source) const {
  constexpr size_t kLeast = 2 * kMarker;
  if (head.size() < kLeast) return false;
  FOREBAY_TRY(const auto order, order_of(source));
  return order.has_value();
}

Result<Layout> FortranReader::read(const ByteSource& source) const {
  FOREBAY_TRY(const auto order, order_of(source));
  if (!order) return fail(ErrorKind::corrupt, "fortran: there are no records", source.name());
  FOREBAY_TRY(const std::vector<Record> records, find_records(source, *order));
  FOREBAY_TRY(const auto trajectory, trajectory_of(source, records));
  const Cycle cycle = trajectory ? trajectory->cycle : find_cycle(records);
  Maker maker(source, *order, records);
  for (size_t i = 0; i < cycle.first; ++i)
    if (records[i].length >= kLeastRecord)
      FOREBAY_CHECK(maker.make({.path = fmt::format("/record_{}", i), .first = i}));
  for (size_t k = 0; k < cycle.period && cycle.first + k < records.size(); ++k) {
    const size_t first = cycle.first + k;
    FOREBAY_CHECK(maker.make({.path = trajectory ? trajectory->paths[k] : fmt::format("/record_{}", first),
                              .first = first,
                              .period = cycle.period,
                              .count = (records.size() - first + cycle.period - 1) / cycle.period}));
  }
  return Layout{.format = "fortran", .variables = maker.take()};
}

}  // namespace forebay::format

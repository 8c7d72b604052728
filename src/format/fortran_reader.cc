#include "format/fortran_reader.h"

#include <algorithm>
#include <array>
#include <optional>

#include <fmt/format.h>

#include "base/bytes.h"
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

uint32_t length_of(std::span<const std::byte> marker, ByteOrder order) {
  return order == ByteOrder::little ? load_le<uint32_t>(marker.data()) : load_be<uint32_t>(marker.data());
}

// Goes from record to record.
class Walk {
 public:
  Walk(const ByteSource& source, ByteOrder order) : size_(source.size()), order_(order), window_(source) {}

  bool is_at_end() const { return at_ == size_; }
  // The next record; nothing if what is there is none.
  Result<std::optional<Record>> next() {
    FOREBAY_TRY(const auto first, window_.at(at_, kMarker));
    if (first.size() < kMarker) return std::optional<Record>();
    const Record record{.offset = at_ + kMarker, .length = length_of(first, order_)};
    const uint64_t end = record.offset + record.length;
    // The next record's marker is read with the one behind this record.
    FOREBAY_TRY(const auto last, window_.at(end, 2 * kMarker));
    if (last.size() < kMarker || length_of(last, order_) != record.length) return std::optional<Record>();
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

// The record whose bytes are text "CORD", and the sizes of what follows, if the file is a trajectory.
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

// A variable of the records `first`, first + period and so on, which have one length.
class Maker {
 public:
  Maker(const ByteSource& source, ByteOrder order, std::span<const Record> records)
      : source_(&source), order_(order), records_(records) {}

  Result<void> make(std::string path, size_t first, size_t period, std::vector<Variable>& to) const {
    const uint64_t length = records_[first].length;
    const size_t count = (records_.size() - first + period - 1) / period;
    if (length == 0 || (count == 1 && length < kLeastRecord) || length * count < kLeastRecord) return {};
    FOREBAY_TRY(const DataType type, type_of(first, period, count));
    const uint64_t elements = length / type.size;
    Variable variable{.path = std::move(path), .type = type, .shape = {elements}, .block = {}, .extents = {}};
    if (count > 1) {
      variable.shape = {count, elements};
      variable.block = {1, elements};
    }
    for (size_t i = first; i < records_.size() && variable.extents.size() < count; i += period)
      variable.extents.push_back({.offset = records_[i].offset, .length = length});
    to.push_back(std::move(variable));
    return {};
  }

  // As one record alone.
  Result<void> make_single(size_t index, std::vector<Variable>& to) const {
    return Maker(*source_, order_, records_.first(index + 1)).make(fmt::format("/record_{}", index), index, 1, to);
  }

 private:
  // What is probed comes from the first records, and from those in the middle.
  Result<DataType> type_of(size_t first, size_t period, size_t count) const {
    Bytes sample;
    for (const size_t start : {size_t{0}, count / 2})
      for (size_t i = start; i < count && sample.size() < (start == 0 ? kSample / 2 : kSample); ++i) {
        const Record& record = records_[first + i * period];
        const size_t some = std::min<size_t>(record.length, kSample / 2) / 8 * 8;
        if (some == 0) break;
        sample.resize(sample.size() + some);
        FOREBAY_CHECK(source_->read_at(record.offset, std::span(sample).last(some)));
        if (count == 1) break;
      }
    const DataType type = probe_numbers(sample, order_);
    return records_[first].length % type.size == 0 ? type : kBytes;
  }

  const ByteSource* source_;
  ByteOrder order_;
  std::span<const Record> records_;
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
  const Maker maker(source, *order, records);
  Layout layout{.format = "fortran", .variables = {}};
  for (size_t i = 0; i < cycle.first; ++i) FOREBAY_CHECK(maker.make_single(i, layout.variables));
  for (size_t k = 0; k < cycle.period && cycle.first + k < records.size(); ++k) {
    const size_t first = cycle.first + k;
    FOREBAY_CHECK(maker.make(trajectory ? trajectory->paths[k] : fmt::format("/record_{}", first), first, cycle.period,
                             layout.variables));
  }
  return layout;
}

}  // namespace forebay::format

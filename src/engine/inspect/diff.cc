#include "engine/inspect/diff.h"

#include <algorithm>
#include <map>
#include <optional>

#include "engine/inspect/compare_elements.h"
#include "engine/inspect/extract.h"
#include "engine/inspect/match_files.h"
#include "engine/set/set_reader.h"

namespace forebay::engine {
namespace {

constexpr uint64_t kWindowBytes = 1 << 20;

struct FilePlace {
  size_t container = 0;
  uint32_t file = 0;
};

std::vector<FilePlace> files_of(const OpenSet& set) {
  std::vector<FilePlace> files;
  for (size_t container = 0; container < set.containers.size(); ++container)
    for (uint32_t file = 0; file < set.containers[container].catalogue().files.size(); ++file)
      files.push_back({container, file});
  return files;
}

// One of the two sets, with what is needed to look into it.
struct Side {
  const OpenSet& set;
  uint64_t memory_bytes;
  SetReader reader;
  std::vector<FilePlace> files;

  Side(const OpenSet& opened, uint64_t memory)
      : set(opened), memory_bytes(memory), reader(opened, memory), files(files_of(opened)) {}

  const Catalogue& catalogue(const FilePlace& place) const { return set.containers[place.container].catalogue(); }
  const FileRow& row(const FilePlace& place) const { return catalogue(place).files[place.file]; }
  std::vector<FileLabel> labels() const {
    std::vector<FileLabel> labels;
    for (const FilePlace& place : files) labels.push_back({row(place).name, row(place).rank, row(place).kind});
    return labels;
  }
  std::optional<uint64_t> crc(const FilePlace& place) const {
    const auto& crcs = set.containers[place.container].index().file_crcs;
    return crcs.empty() ? std::nullopt : std::optional(crcs[place.file]);
  }
};

class Comparison {
 public:
  Comparison(const OpenSet& a, const OpenSet& b, uint64_t memory_bytes)
      : a_(a, memory_bytes / 2), b_(b, memory_bytes / 2) {}

  Result<std::vector<FileDifference>> run() {
    const std::vector<FileLabel> in_a = a_.labels(), in_b = b_.labels();
    const auto match = match_files({a_.set.manifest.name, in_a}, {b_.set.manifest.name, in_b});
    std::vector<FileDifference> differences;
    std::vector<bool> is_matched(in_b.size());
    for (size_t i = 0; i < in_a.size(); ++i) {
      if (!match[i]) {
        differences.push_back({std::string(in_a[i].name), {}, Change::removed, {}});
        continue;
      }
      is_matched[*match[i]] = true;
      FOREBAY_TRY(auto difference, compare_files(a_.files[i], b_.files[*match[i]]));
      if (difference) differences.push_back(*std::move(difference));
    }
    for (size_t i = 0; i < in_b.size(); ++i)
      if (!is_matched[i]) differences.push_back({std::string(in_b[i].name), {}, Change::added, {}});
    std::ranges::sort(differences, {}, &FileDifference::name);
    return differences;
  }

 private:
  Result<std::optional<FileDifference>> compare_files(const FilePlace& a, const FilePlace& b) {
    const FileRow& row_a = a_.row(a);
    const FileRow& row_b = b_.row(b);
    const std::string other_name = row_a.name == row_b.name ? "" : row_b.name;
    FOREBAY_TRY(const bool same_bytes, have_same_bytes(a, b));
    if (!same_bytes) {
      FOREBAY_TRY(auto variables, compare_variables(a, b));
      return FileDifference{row_a.name, other_name, Change::bytes, std::move(variables)};
    }
    const auto metadata = [](const FileRow& row) {
      return std::tie(row.name, row.kind, row.mode, row.mtime_s, row.mtime_ns, row.link_target);
    };
    if (metadata(row_a) != metadata(row_b)) return FileDifference{row_a.name, other_name, Change::metadata, {}};
    return std::nullopt;
  }

  Result<bool> have_same_bytes(const FilePlace& a, const FilePlace& b) {
    const uint64_t size = a_.row(a).size;
    if (size != b_.row(b).size) return false;
    const auto crc_a = a_.crc(a), crc_b = b_.crc(b);
    if (crc_a && crc_b) return crc_a == crc_b;
    bool same = true;
    FOREBAY_CHECK(for_each_window(
        size, 1, [&](uint64_t begin, auto out) { return a_.reader.read_file(a.container, a.file, begin, out); },
        [&](uint64_t begin, auto out) { return b_.reader.read_file(b.container, b.file, begin, out); },
        [&](auto bytes_a, auto bytes_b) { same = same && std::ranges::equal(bytes_a, bytes_b); }));
    return same;
  }

  // Reads `bytes` bytes of both sides in windows of whole elements.
  template <class ReadA, class ReadB, class Take>
  Result<void> for_each_window(uint64_t bytes, uint64_t element_bytes, const ReadA& read_a, const ReadB& read_b,
                               const Take& take) {
    const uint64_t window = std::min(bytes, kWindowBytes / element_bytes * element_bytes);
    Bytes buffer_a(window), buffer_b(window);
    const uint64_t frames = a_.memory_bytes > window ? a_.memory_bytes - window : 0;
    a_.reader.set_memory(frames);
    b_.reader.set_memory(frames);
    for (uint64_t begin = 0; begin < bytes; begin += window) {
      const auto part_a = std::span(buffer_a).first(std::min(window, bytes - begin));
      const auto part_b = std::span(buffer_b).first(part_a.size());
      FOREBAY_CHECK(read_a(begin, part_a));
      FOREBAY_CHECK(read_b(begin, part_b));
      take(std::span<const std::byte>(part_a), std::span<const std::byte>(part_b));
    }
    return {};
  }

  static std::map<std::string_view, Found> variables_by_path(const Side& side, const FilePlace& place) {
    std::map<std::string_view, Found> variables;
    const Catalogue& catalogue = side.catalogue(place);
    const FileRow& row = side.row(place);
    for (uint32_t i = row.first_variable; i < row.first_variable + row.variable_count; ++i)
      variables[catalogue.paths[catalogue.variables[i].path]] = {place.container, place.file, i};
    return variables;
  }

  Result<std::vector<VariableDifference>> compare_variables(const FilePlace& a, const FilePlace& b) {
    const auto in_a = variables_by_path(a_, a), in_b = variables_by_path(b_, b);
    std::vector<VariableDifference> differences;
    for (const auto& [path, found] : in_a) {
      const auto other = in_b.find(path);
      if (other == in_b.end()) {
        differences.push_back({std::string(path), UINT64_MAX, 0});
        continue;
      }
      FOREBAY_TRY(const ElementDifference difference, compare_variable(found, other->second));
      if (difference.elements != 0)
        differences.push_back({std::string(path), difference.elements, difference.max_absolute});
    }
    for (const auto& [path, found] : in_b)
      if (!in_a.contains(path)) differences.push_back({std::string(path), UINT64_MAX, 0});
    std::ranges::sort(differences, {}, &VariableDifference::path);
    return differences;
  }

  Result<ElementDifference> compare_variable(const Found& a, const Found& b) {
    const Catalogue& catalogue_a = a_.set.containers[a.container].catalogue();
    const Catalogue& catalogue_b = b_.set.containers[b.container].catalogue();
    const VariableRow& row_a = catalogue_a.variables[a.variable];
    const VariableRow& row_b = catalogue_b.variables[b.variable];
    const Shape& shape = catalogue_a.shapes[row_a.shape];
    const ElementDifference unlike{.elements = UINT64_MAX};
    if (row_a.type != row_b.type || shape != catalogue_b.shapes[row_b.shape] || row_a.filtered != row_b.filtered)
      return unlike;
    const bool whole = !row_a.filtered && !row_a.partial && !row_b.partial;
    if (whole && (row_a.block != row_a.shape || row_b.block != row_b.shape)) return compare_arrays(a, b);
    const uint64_t bytes = catalogue_a.bytes_of(row_a);
    if (bytes != catalogue_b.bytes_of(row_b)) return unlike;
    FOREBAY_TRY(const ElementDifference difference, compare_stored(a, b, bytes, whole ? row_a.type : kBytes));
    return whole || difference.elements == 0 ? difference : unlike;
  }

  Result<ElementDifference> compare_stored(const Found& a, const Found& b, uint64_t bytes, const DataType& type) {
    ElementDifference difference;
    FOREBAY_CHECK(for_each_window(
        bytes, type.size,
        [&](uint64_t begin, auto out) { return a_.reader.read_variable(a.container, a.file, a.variable, begin, out); },
        [&](uint64_t begin, auto out) { return b_.reader.read_variable(b.container, b.file, b.variable, begin, out); },
        [&](auto part_a, auto part_b) { difference.merge(compare_elements(type, part_a, part_b)); }));
    return difference;
  }

  Result<ElementDifference> compare_arrays(const Found& a, const Found& b) {
    FOREBAY_TRY(const Extracted array_a, extract(a_.reader, a, a_.memory_bytes));
    FOREBAY_TRY(const Extracted array_b, extract(b_.reader, b, b_.memory_bytes));
    return compare_elements(array_a.type, array_a.bytes, array_b.bytes);
  }

  Side a_, b_;
};

}  // namespace

Result<std::vector<FileDifference>> diff(const OpenSet& a, const OpenSet& b, uint64_t memory_bytes) {
  return Comparison(a, b, memory_bytes).run();
}

}  // namespace forebay::engine

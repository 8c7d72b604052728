#include "engine/inspect/diff.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "engine/inspect/compare_elements.h"
#include "engine/inspect/extract.h"
#include "engine/inspect/match_files.h"
#include "engine/set/each_container.h"
#include "engine/set/set_reader.h"

namespace forebay::engine {
namespace {

constexpr uint64_t kWindowBytes = 1 << 20;

// A file of one of the sets, as its container's index tells it.
struct FileFacts {
  FileRow row;  // without variables
  size_t container = 0;
  uint32_t file = 0;
  std::optional<uint64_t> crc;
};

// One of the two sets: what is known of its files, and the one container that is open.
class Side {
 public:
  Side(const store::SetInfo& set, uint64_t memory_bytes) : set_(set), opener_(set, memory_bytes) {}

  // Returns how much memory they take.
  Result<uint64_t> read_files(const Resources& resources) {
    uint64_t all = 0;
    FOREBAY_CHECK(for_each_container(set_, all_containers(*set_.manifest), resources,
                                     [&](size_t number, Result<OpenContainer> opened, uint64_t) -> Result<uint64_t> {
                                       if (!opened) return std::unexpected(std::move(opened).error());
                                       const uint64_t kept = add_files(number, *opened);
                                       all += kept;
                                       return kept;
                                     }));
    return all;
  }

  // Opens a container, within so much memory; what is left of it pays for frames.
  Result<void> open(size_t number, uint64_t memory_bytes) {
    if (number_ == number) return {};
    number_.reset();
    reader_.reset();
    one_.containers.clear();
    memory_bytes = std::min(memory_bytes, opener_.memory_bytes());
    FOREBAY_TRY(OpenContainer opened, opener_.open(number, memory_bytes));
    memory_bytes_ = memory_bytes - std::min(memory_bytes, standing_memory(opened));
    one_.containers.push_back(std::move(opened));
    reader_.emplace(one_, memory_bytes_);
    number_ = number;
    return {};
  }

  std::vector<FileLabel> labels() const {
    std::vector<FileLabel> labels;
    for (const FileFacts& file : files) labels.push_back({file.row.name, file.row.rank, file.row.kind});
    return labels;
  }

  const std::string& name() const { return set_.manifest->name; }

  // Of the open container.
  const Catalogue& catalogue() const { return one_.containers.front().catalogue(); }
  SetReader& reader() { return *reader_; }
  uint64_t memory_bytes() const { return memory_bytes_; }

  std::vector<FileFacts> files;

 private:
  uint64_t add_files(size_t number, const OpenContainer& container) {
    constexpr uint64_t kMatching = 256;  // what finding its counterpart takes, beside the name
    uint64_t bytes = 0;
    const auto& crcs = container.index().file_crcs;
    const auto& rows = container.catalogue().files;
    for (uint32_t i = 0; i < rows.size(); ++i) {
      files.push_back({rows[i], number, i, crcs.empty() ? std::nullopt : std::optional(crcs[i])});
      files.back().row.format.clear();
      bytes += sizeof(FileFacts) + kMatching + 3 * rows[i].name.size() + rows[i].link_target.size();
    }
    return bytes;
  }

  const store::SetInfo& set_;
  const ContainerOpener opener_;
  uint64_t memory_bytes_ = 0;
  OpenSet one_;  // of at most one container
  std::optional<SetReader> reader_;
  std::optional<size_t> number_;
};

class Comparison {
 public:
  Comparison(const store::SetInfo& a, const store::SetInfo& b, const Resources& resources)
      : resources_(resources), a_(a, resources.memory_bytes / 2), b_(b, resources.memory_bytes / 2) {}

  Result<Differences> run() {
    FOREBAY_CHECK(read_files(a_));
    FOREBAY_CHECK(read_files(b_));
    const std::vector<FileLabel> in_a = a_.labels(), in_b = b_.labels();
    const auto match = match_files({a_.name(), in_a}, {b_.name(), in_b});
    std::vector<Pair> pairs;
    std::vector<bool> is_matched(in_b.size());
    for (size_t i = 0; i < in_a.size(); ++i) {
      if (match[i]) {
        is_matched[*match[i]] = true;
        pairs.push_back({&a_.files[i], &b_.files[*match[i]]});
      } else {
        FOREBAY_CHECK(add({std::string(in_a[i].name), {}, Change::removed, {}}));
      }
    }
    for (size_t i = 0; i < in_b.size(); ++i)
      if (!is_matched[i]) FOREBAY_CHECK(add({std::string(in_b[i].name), {}, Change::added, {}}));
    // So that each container is opened once, where both sets have cut their ranks alike.
    std::ranges::stable_sort(pairs, {},
                             [](const Pair& pair) { return std::pair(pair.a->container, pair.b->container); });
    for (const Pair& pair : pairs) FOREBAY_CHECK(compare_files(pair));
    std::ranges::sort(differences_.files, {}, &FileDifference::name);
    return std::move(differences_);
  }

 private:
  // Two files that are counterparts.
  struct Pair {
    const FileFacts *a, *b;
  };

  Result<void> read_files(Side& side) {
    Resources resources = resources_;
    FOREBAY_TRY(const uint64_t kept, side.read_files(resources));
    resources_.memory_bytes -= kept;
    return {};
  }

  Result<void> add(FileDifference difference) {
    uint64_t bytes = sizeof(FileDifference) + difference.name.size() + difference.other_name.size();
    for (VariableDifference& variable : difference.variables) {
      const auto [path, is_new] = differences_.paths.emplace(variable.path);
      variable.path = *path;
      bytes += sizeof(VariableDifference) + (is_new ? kPath + path->size() : 0);
    }
    if (bytes > resources_.memory_bytes)
      return fail(ErrorKind::limit, "what differs between the sets takes more than the memory budget", a_.name(), {},
                  "raise --memory");
    resources_.memory_bytes -= bytes;
    difference.variables.shrink_to_fit();
    differences_.files.push_back(std::move(difference));
    return {};
  }

  Result<void> compare_files(const Pair& pair) {
    const FileRow &row_a = pair.a->row, &row_b = pair.b->row;
    const std::string other_name = row_a.name == row_b.name ? "" : row_b.name;
    FOREBAY_TRY(const bool same_bytes, have_same_bytes(pair));
    if (!same_bytes) {
      FOREBAY_CHECK(open(pair));
      FOREBAY_TRY(auto variables, compare_variables(pair.a->file, pair.b->file));
      return add({row_a.name, other_name, Change::bytes, std::move(variables)});
    }
    const auto metadata = [](const FileRow& row) {
      return std::tie(row.name, row.kind, row.mode, row.mtime_s, row.mtime_ns, row.link_target);
    };
    if (metadata(row_a) == metadata(row_b)) return {};
    return add({row_a.name, other_name, Change::metadata, {}});
  }

  // The containers of both.
  Result<void> open(const Pair& pair) {
    FOREBAY_CHECK(a_.open(pair.a->container, resources_.memory_bytes / 2));
    return b_.open(pair.b->container, resources_.memory_bytes / 2);
  }

  Result<bool> have_same_bytes(const Pair& pair) {
    const uint64_t size = pair.a->row.size;
    if (size != pair.b->row.size) return false;
    if (pair.a->crc && pair.b->crc) return pair.a->crc == pair.b->crc;
    FOREBAY_CHECK(open(pair));
    bool same = true;
    FOREBAY_CHECK(for_each_window(
        size, 1, [&](uint64_t begin, auto out) { return a_.reader()->read_file(0, pair.a->file, begin, out); },
        [&](uint64_t begin, auto out) { return b_.reader()->read_file(0, pair.b->file, begin, out); },
        [&](auto bytes_a, auto bytes_b) { same = same && std::ranges::equal(bytes_a, bytes_b); }));
    return same;
  }

  // Reads `bytes` bytes of both sides in windows of whole elements.
  template <class ReadA, class ReadB, class Take>
  Result<void> for_each_window(uint64_t bytes, uint64_t element_bytes, const ReadA& read_a, const ReadB& read_b,
                               const Take& take) {
    const uint64_t window = std::min(bytes, kWindowBytes / element_bytes * element_bytes);
    Bytes buffer_a(window), buffer_b(window);
    const uint64_t memory = std::min(a_.memory_bytes(), b_.memory_bytes());
    const uint64_t frames = memory > window ? memory - window : 0;
    a_.reader().set_memory(frames);
    b_.reader().set_memory(frames);
    for (uint64_t begin = 0; begin < bytes; begin += window) {
      const auto part_a = std::span(buffer_a).first(std::min(window, bytes - begin));
      const auto part_b = std::span(buffer_b).first(part_a.size());
      FOREBAY_CHECK(read_a(begin, part_a));
      FOREBAY_CHECK(read_b(begin, part_b));
      take(std::span<const std::byte>(part_a), std::span<const std::byte>(part_b));
    }
    return {};
  }

  static std::map<std::string_view, Found> variables_by_path(const Side& side, uint32_t file) {
    std::map<std::string_view, Found> variables;
    const Catalogue& catalogue = side.catalogue();
    const FileRow& row = catalogue.files[file];
    for (uint32_t i = row.first_variable; i < row.first_variable + row.variable_count; ++i)
      variables[catalogue.paths[catalogue.variables[i].path]] = {0, file, i};
    return variables;
  }

  Result<std::vector<VariableDifference>> compare_variables(uint32_t file_a, uint32_t file_b) {
    const auto in_a = variables_by_path(a_, file_a), in_b = variables_by_path(b_, file_b);
    std::vector<VariableDifference> differences;
    for (const auto& [path, found] : in_a) {
      const auto other = in_b.find(path);
      if (other == in_b.end()) {
        differences.push_back({path, {.elements = UINT64_MAX}});
        continue;
      }
      FOREBAY_TRY(const ElementDifference difference, compare_variable(found, other->second));
      if (difference.elements != 0) differences.push_back({path, difference});
    }
    for (const auto& [path, found] : in_b)
      if (!in_a.contains(path)) differences.push_back({path, {.elements = UINT64_MAX}});
    std::ranges::sort(differences, {}, &VariableDifference::path);
    return differences;
  }

  Result<ElementDifference> compare_variable(const Found& a, const Found& b) {
    const Catalogue &catalogue_a = a_.catalogue(), &catalogue_b = b_.catalogue();
    const VariableRow& row_a = catalogue_a.variables[a.variable];
    const VariableRow& row_b = catalogue_b.variables[b.variable];
    const Shape& shape = catalogue_a.shapes[row_a.shape];
    const ElementDifference unlike{.elements = UINT64_MAX};
    if (row_a.type != row_b.type || shape != catalogue_b.shapes[row_b.shape] || row_a.filtered != row_b.filtered)
      return unlike;
    const bool whole = !row_a.filtered && !row_a.partial && !row_b.partial;
    if (!whole) return compare_chunks(a, b);
    if (row_a.block != row_a.shape || row_b.block != row_b.shape) return compare_arrays(a, b);
    const uint64_t bytes = catalogue_a.bytes_of(row_a);
    return bytes == catalogue_b.bytes_of(row_b) ? compare_stored(a, b, bytes, row_a.type) : unlike;
  }

  // Of variables whose stored bytes are not their values: equal ones may have come through other filters, or lie in
  // other places. They are compared where values cannot be had, such as of a filter that is not known.
  Result<ElementDifference> compare_chunks(const Found& a, const Found& b) {
    const auto values = compare_arrays(a, b);
    if (values || (values.error().kind != ErrorKind::unsupported && values.error().kind != ErrorKind::limit))
      return values;
    const Catalogue &catalogue_a = a_.catalogue(), &catalogue_b = b_.catalogue();
    const VariableRow& row_a = catalogue_a.variables[a.variable];
    const VariableRow& row_b = catalogue_b.variables[b.variable];
    const bool are_alike = !row_a.partial && !row_b.partial &&
                           catalogue_a.shapes[row_a.block] == catalogue_b.shapes[row_b.block] &&
                           catalogue_a.bytes_of(row_a) == catalogue_b.bytes_of(row_b);
    if (are_alike) {
      FOREBAY_TRY(const auto stored, compare_stored(a, b, catalogue_a.bytes_of(row_a), kBytes));
      if (stored.elements == 0) return stored;
    }
    if (values.error().kind == ErrorKind::limit) return values;
    return ElementDifference{.elements = UINT64_MAX};
  }

  Result<ElementDifference> compare_stored(const Found& a, const Found& b, uint64_t bytes, const DataType& type) {
    ElementDifference difference;
    FOREBAY_CHECK(for_each_window(
        bytes, type.size,
        [&](uint64_t begin, auto out) { return a_.reader()->read_variable(0, a.file, a.variable, begin, out); },
        [&](uint64_t begin, auto out) { return b_.reader()->read_variable(0, b.file, b.variable, begin, out); },
        [&](auto part_a, auto part_b) { difference.merge(compare_elements(type, part_a, part_b)); }));
    return difference;
  }

  Result<ElementDifference> compare_arrays(const Found& a, const Found& b) {
    FOREBAY_TRY(const Extracted array_a, extract(a_.reader(), a, a_.memory_bytes()));
    FOREBAY_TRY(const Extracted array_b, extract(b_.reader(), b, b_.memory_bytes()));
    return compare_elements(array_a.type, array_a.bytes, array_b.bytes);
  }

  static constexpr uint64_t kPath = 64;  // of a path's place in a table

  Resources resources_;  // what is kept is taken off its memory
  Side a_, b_;
  Differences differences_;
};

}  // namespace

const char* to_string(Change change) {
  switch (change) {
    case Change::added:
      return "added";
    case Change::removed:
      return "removed";
    case Change::bytes:
      return "bytes";
    case Change::metadata:
      break;
  }
  return "metadata";
}

Result<Differences> diff(const store::SetInfo& a, const store::SetInfo& b, const Resources& resources) {
  for (const store::SetInfo* set : {&a, &b})
    if (!set->manifest) return std::unexpected(set->manifest.error());
  return Comparison(a, b, resources).run();
}

}  // namespace forebay::engine

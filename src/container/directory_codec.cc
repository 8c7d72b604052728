#include <algorithm>

#include "container/column.h"
#include "container/index_codec.h"

namespace forebay::container {

namespace {

constexpr uint8_t kFiltered = 1, kPartial = 2;

std::unexpected<Error> bad(const char* what) { return fail(ErrorKind::corrupt, std::string("index: ") + what); }

template <class Rows, class Field>
Values column_of(const Rows& rows, Field field) {
  Values values;
  values.reserve(rows.size());
  for (const auto& row : rows) values.push_back(static_cast<uint64_t>(field(row)));
  return values;
}

template <class Rows, class Field>
std::vector<std::string> texts_of(const Rows& rows, Field field) {
  std::vector<std::string> texts;
  texts.reserve(rows.size());
  for (const auto& row : rows) texts.push_back(field(row));
  return texts;
}

uint64_t pack(const DataType& type) {
  return static_cast<uint64_t>(type.kind) + 16 * static_cast<uint64_t>(type.order);
}

uint64_t flags_of(const VariableRow& row) { return (row.filtered ? kFiltered : 0) + (row.partial ? kPartial : 0); }

struct ExtentColumns {
  Values gaps, filtered_lengths;
};

ExtentColumns extent_columns(const Directory& directory) {
  ExtentColumns columns;
  columns.gaps.reserve(directory.extents.size());
  for (const FileRow& file : directory.files) {
    uint64_t end = 0;
    for (const VariableRow& variable : directory.variables_of(file)) {
      for (const Extent& extent : directory.extents_of(variable)) {
        columns.gaps.push_back(zigzag(extent.offset - end));
        end = extent.end();
        if (variable.filtered) columns.filtered_lengths.push_back(extent.length);
      }
    }
  }
  return columns;
}

// Formats are few: their names are stored once.
struct Formats {
  std::vector<std::string> names;
  Values of_files;
};

Formats formats_of(const Directory& directory) {
  Interned<std::string, std::hash<std::string>> names;
  Values of_files = column_of(directory.files, [&](const FileRow& row) { return names.intern(row.format); });
  return {names.values(), std::move(of_files)};
}

// The columns of a directory while its FlatBuffer is built: all of them must exist before the table begins.
class DirectoryWriter {
 public:
  DirectoryWriter(const Directory& directory, const PlanSpec& plan) : directory_(directory), plan_(plan) {}

  Result<Bytes> write() {
    put_files();
    put_variables();
    put_extents();
    const auto key_blocks = out_.put(plan_.key_block_bytes);
    fb::DirectoryBuilder table(out_.builder());
    for (const auto& [add, column] : columns_) (table.*add)(column);
    for (const auto& [add, texts] : texts_) (table.*add)(texts);
    table.add_key_block_bytes(key_blocks);
    table.add_scheme(static_cast<uint8_t>(plan_.scheme));
    table.add_block_bytes(plan_.block_bytes);
    table.add_frame_bytes(plan_.frame_bytes);
    table.add_share_bytes(plan_.share_bytes);
    return out_.finish(table.Finish());
  }

 private:
  using Table = fb::DirectoryBuilder;
  using AddColumn = void (Table::*)(ColumnWriter::Column);
  using AddTexts = void (Table::*)(ColumnWriter::Texts);

  void put(AddColumn add, const Values& values) { columns_.emplace_back(add, out_.put(values)); }
  void put_deltas(AddColumn add, Values values) { columns_.emplace_back(add, out_.put_deltas(std::move(values))); }
  void put(AddTexts add, std::span<const std::string> texts) { texts_.emplace_back(add, out_.put(texts)); }

  void put_files() {
    const auto& files = directory_.files;
    const Formats formats = formats_of(directory_);
    put(&Table::add_file_names, texts_of(files, [](const FileRow& row) { return row.name; }));
    put(&Table::add_file_kinds, column_of(files, [](const FileRow& row) { return row.kind; }));
    put(&Table::add_file_modes, column_of(files, [](const FileRow& row) { return row.mode; }));
    put_deltas(&Table::add_file_mtimes, column_of(files, [](const FileRow& row) { return row.mtime_s; }));
    put(&Table::add_file_mtime_nanoseconds, column_of(files, [](const FileRow& row) { return row.mtime_ns; }));
    put(&Table::add_file_sizes, column_of(files, [](const FileRow& row) { return row.size; }));
    put(&Table::add_file_link_targets, texts_of(files, [](const FileRow& row) { return row.link_target; }));
    put(&Table::add_file_formats, formats.of_files);
    put_deltas(&Table::add_file_ranks, column_of(files, [](const FileRow& row) { return row.rank; }));
    put(&Table::add_file_variable_counts, column_of(files, [](const FileRow& row) { return row.variable_count; }));
    put(&Table::add_formats, formats.names);
  }

  void put_variables() {
    const auto& variables = directory_.variables;
    put(&Table::add_paths, directory_.paths.values());
    put(&Table::add_keys, directory_.keys.values());
    put_shapes();
    put_deltas(&Table::add_variable_paths, column_of(variables, [](const VariableRow& row) { return row.path; }));
    put_deltas(&Table::add_variable_keys, column_of(variables, [](const VariableRow& row) { return row.key; }));
    put_deltas(&Table::add_variable_shapes, column_of(variables, [](const VariableRow& row) { return row.shape; }));
    put(&Table::add_variable_blocks,
        column_of(variables, [](const VariableRow& row) { return zigzag(uint64_t{row.block} - uint64_t{row.shape}); }));
    put(&Table::add_variable_types, column_of(variables, [](const VariableRow& row) { return pack(row.type); }));
    put(&Table::add_variable_element_sizes, column_of(variables, [](const VariableRow& row) { return row.type.size; }));
    put(&Table::add_variable_flags, column_of(variables, flags_of));
    put(&Table::add_variable_extent_counts,
        column_of(variables, [](const VariableRow& row) { return row.extent_count; }));
  }

  void put_shapes() {
    const auto& shapes = directory_.shapes.values();
    Values dims;
    for (const Shape& shape : shapes) dims.insert(dims.end(), shape.begin(), shape.end());
    put(&Table::add_shape_ranks, column_of(shapes, [](const Shape& shape) { return shape.size(); }));
    put(&Table::add_shape_dims, dims);
  }

  void put_extents() {
    const ExtentColumns columns = extent_columns(directory_);
    put(&Table::add_extent_gaps, columns.gaps);
    put(&Table::add_filtered_extent_lengths, columns.filtered_lengths);
  }

  const Directory& directory_;
  const PlanSpec& plan_;
  ColumnWriter out_;
  std::vector<std::pair<AddColumn, ColumnWriter::Column>> columns_;
  std::vector<std::pair<AddTexts, ColumnWriter::Texts>> texts_;
};

class DirectoryReader {
 public:
  DirectoryReader(const fb::Directory& table, MemoryBudget& budget, std::vector<Lease>& kept, Index& index)
      : table_(table), in_(budget), kept_(kept), directory_(index.directory), plan_(index.plan) {}

  Result<void> read() {
    FOREBAY_CHECK(read_files());
    FOREBAY_CHECK(read_strings(table_.paths(), directory_.paths));
    FOREBAY_CHECK(read_strings(table_.keys(), directory_.keys));
    FOREBAY_CHECK(read_shapes());
    FOREBAY_CHECK(read_variables());
    FOREBAY_CHECK(assign_extents());
    FOREBAY_CHECK(read_extents());
    FOREBAY_CHECK(directory_.validate());
    return read_plan();
  }

 private:
  // Decodes a column of one entry per row and stores it with assign(row, value).
  template <class Rows, class Assign>
  Result<void> fill(Rows& rows, const fb::Column* column, uint64_t max, Assign assign) {
    FOREBAY_TRY(const auto values, in_.get(column, rows.size(), max));
    for (size_t i = 0; i < rows.size(); ++i) assign(rows[i], values[i]);
    return {};
  }

  template <class Rows, class Assign>
  Result<void> fill_deltas(Rows& rows, const fb::Column* column, uint64_t max, Assign assign) {
    FOREBAY_TRY(const auto values, in_.get_deltas(column, rows.size(), max));
    for (size_t i = 0; i < rows.size(); ++i) assign(rows[i], values[i]);
    return {};
  }

  Result<void> keep(uint64_t count, uint64_t bytes) {
    FOREBAY_TRY(Lease lease, in_.lease(count, bytes));
    kept_.push_back(std::move(lease));
    return {};
  }

  Result<void> read_files() {
    auto& files = directory_.files;
    FOREBAY_TRY(auto names, in_.get(table_.file_names()));
    FOREBAY_CHECK(keep(names.size(), sizeof(FileRow)));
    kept_.push_back(std::move(names.lease));
    files.resize(names.size());
    for (size_t i = 0; i < files.size(); ++i) files[i].name = std::move(names.values[i]);
    FOREBAY_CHECK(fill(files, table_.file_kinds(), 2, [](FileRow& row, uint64_t v) { row.kind = FileKind(v); }));
    FOREBAY_CHECK(fill(files, table_.file_modes(), 07777, [](FileRow& row, uint64_t v) { row.mode = uint32_t(v); }));
    FOREBAY_CHECK(fill_deltas(files, table_.file_mtimes(), UINT64_MAX,
                              [](FileRow& row, uint64_t v) { row.mtime_s = int64_t(v); }));
    FOREBAY_CHECK(fill(files, table_.file_mtime_nanoseconds(), 999'999'999,
                       [](FileRow& row, uint64_t v) { row.mtime_ns = uint32_t(v); }));
    FOREBAY_CHECK(fill(files, table_.file_sizes(), INT64_MAX, [](FileRow& row, uint64_t v) { row.size = v; }));
    FOREBAY_CHECK(
        fill_deltas(files, table_.file_ranks(), UINT32_MAX, [](FileRow& row, uint64_t v) { row.rank = uint32_t(v); }));
    FOREBAY_CHECK(fill(files, table_.file_variable_counts(), UINT32_MAX,
                       [](FileRow& row, uint64_t v) { row.variable_count = uint32_t(v); }));
    return read_file_texts();
  }

  Result<void> read_file_texts() {
    auto& files = directory_.files;
    FOREBAY_TRY(auto targets, in_.get(table_.file_link_targets()));
    if (targets.size() != files.size()) return bad("link targets are missing");
    kept_.push_back(std::move(targets.lease));
    for (size_t i = 0; i < files.size(); ++i) files[i].link_target = std::move(targets.values[i]);
    FOREBAY_TRY(const auto formats, in_.get(table_.formats()));
    const bool short_names = std::ranges::all_of(formats.values, [](const auto& name) { return name.size() <= 64; });
    if (!short_names) return bad("a format's name is too long");
    FOREBAY_CHECK(keep(files.size(), 64));
    if (files.empty()) return fill(files, table_.file_formats(), 0, [](FileRow&, uint64_t) {});
    if (formats.size() == 0) return bad("file formats are missing");
    return fill(files, table_.file_formats(), formats.size() - 1,
                [&](FileRow& row, uint64_t v) { row.format = formats.values[v]; });
  }

  Result<void> read_strings(const fb::Texts* texts, Interned<std::string, std::hash<std::string>>& dictionary) {
    constexpr uint64_t kPerEntry = 120;
    FOREBAY_TRY(const auto values, in_.get(texts));
    if (values.size() >= UINT32_MAX) return bad("a dictionary is too large");
    FOREBAY_CHECK(keep(values.size(), kPerEntry));
    FOREBAY_CHECK(keep(values.lease.bytes(), 2));
    for (size_t i = 0; i < values.size(); ++i)
      if (dictionary.intern(values.values[i]) != i) return bad("a dictionary has an entry twice");
    return {};
  }

  Result<void> read_shapes() {
    const uint64_t count = in_.count(table_.shape_ranks());
    if (count >= UINT32_MAX) return bad("a dictionary is too large");
    FOREBAY_TRY(const auto ranks, in_.get(table_.shape_ranks(), count, kMaxDims));
    uint64_t total = 0;
    for (const uint64_t rank : ranks.values) total += rank;
    FOREBAY_TRY(const auto dims, in_.get(table_.shape_dims(), total));
    FOREBAY_CHECK(keep(count, 160));
    FOREBAY_CHECK(keep(total, 2 * sizeof(uint64_t)));
    auto at = dims.values.begin();
    for (size_t i = 0; i < count; at += static_cast<ptrdiff_t>(ranks[i]), ++i)
      if (directory_.shapes.intern(Shape(at, at + static_cast<ptrdiff_t>(ranks[i]))) != i)
        return bad("a dictionary has an entry twice");
    return {};
  }

  Result<void> read_variables() {
    auto& rows = directory_.variables;
    const uint64_t count = in_.count(table_.variable_paths());
    if (count > UINT32_MAX) return bad("too many variables");
    FOREBAY_CHECK(keep(count, sizeof(VariableRow)));
    rows.resize(count);
    FOREBAY_CHECK(fill_deltas(rows, table_.variable_paths(), UINT32_MAX,
                              [](VariableRow& row, uint64_t v) { row.path = uint32_t(v); }));
    FOREBAY_CHECK(fill_deltas(rows, table_.variable_keys(), UINT32_MAX,
                              [](VariableRow& row, uint64_t v) { row.key = uint32_t(v); }));
    FOREBAY_CHECK(fill_deltas(rows, table_.variable_shapes(), UINT32_MAX,
                              [](VariableRow& row, uint64_t v) { row.shape = uint32_t(v); }));
    FOREBAY_CHECK(fill(rows, table_.variable_blocks(), UINT64_MAX, [](VariableRow& row, uint64_t v) {
      row.block = static_cast<uint32_t>(row.shape + unzigzag(v));
    }));
    FOREBAY_CHECK(fill(rows, table_.variable_types(), 31, [](VariableRow& row, uint64_t v) {
      row.type.kind = Kind(v % 16);
      row.type.order = ByteOrder(v / 16);
    }));
    FOREBAY_CHECK(fill(rows, table_.variable_element_sizes(), UINT16_MAX,
                       [](VariableRow& row, uint64_t v) { row.type.size = uint16_t(v); }));
    FOREBAY_CHECK(fill(rows, table_.variable_flags(), kFiltered | kPartial, [](VariableRow& row, uint64_t v) {
      row.filtered = (v & kFiltered) != 0;
      row.partial = (v & kPartial) != 0;
    }));
    return fill(rows, table_.variable_extent_counts(), UINT32_MAX,
                [](VariableRow& row, uint64_t v) { row.extent_count = uint32_t(v); });
  }

  // Gives each file its range of variables and each variable its range of extents.
  Result<void> assign_extents() {
    uint64_t next = 0;
    for (FileRow& file : directory_.files) {
      file.first_variable = static_cast<uint32_t>(next);
      next += file.variable_count;
      if (next > directory_.variables.size()) return bad("a file's variables are not there");
    }
    uint64_t extents = 0;
    for (VariableRow& variable : directory_.variables) {
      variable.first_extent = static_cast<uint32_t>(extents);
      extents += variable.extent_count;
      if (extents > UINT32_MAX) return bad("too many extents");
      if (variable.shape >= directory_.shapes.size() || variable.block >= directory_.shapes.size())
        return bad("a variable names a shape that is not there");
    }
    FOREBAY_CHECK(keep(extents, sizeof(Extent)));
    // Only now is the claimed number of extents known to be backed by the column of gaps.
    if (in_.count(table_.extent_gaps()) != extents) return bad("a column has a wrong number of entries");
    directory_.extents.resize(extents);
    return {};
  }

  Result<void> read_extents() {
    const uint64_t filtered_count = in_.count(table_.filtered_extent_lengths());
    FOREBAY_TRY(const auto gaps, in_.get(table_.extent_gaps(), directory_.extents.size()));
    FOREBAY_TRY(const auto filtered, in_.get(table_.filtered_extent_lengths(), filtered_count));
    size_t next_filtered = 0;
    for (const FileRow& file : directory_.files) {
      uint64_t end = 0;
      for (const VariableRow& variable : directory_.variables_of(file)) {
        const uint64_t unfiltered_length = element_count(directory_.shapes[variable.block]) * variable.type.size;
        for (uint32_t i = 0; i < variable.extent_count; ++i) {
          const size_t at = variable.first_extent + i;
          if (variable.filtered && next_filtered == filtered.size()) return bad("lengths of extents are missing");
          Extent& extent = directory_.extents[at];
          extent.offset = end + unzigzag(gaps[at]);
          extent.length = variable.filtered ? filtered[next_filtered++] : unfiltered_length;
          end = extent.end();
        }
      }
    }
    return next_filtered == filtered.size() ? Result<void>() : bad("there are lengths of no extents");
  }

  Result<void> read_plan() {
    if (table_.scheme() > static_cast<uint8_t>(Scheme::aware_block))
      return fail(ErrorKind::unsupported, "the container uses a merge scheme that this build does not know", {}, {},
                  "use a newer forebay");
    plan_.scheme = static_cast<Scheme>(table_.scheme());
    plan_.block_bytes = table_.block_bytes();
    plan_.frame_bytes = table_.frame_bytes();
    plan_.share_bytes = table_.share_bytes();
    const uint64_t count = in_.count(table_.key_block_bytes());
    if (count != 0 && count != directory_.keys.size()) return bad("the plan's block sizes are not one per key");
    FOREBAY_TRY(auto blocks, in_.get(table_.key_block_bytes(), count));
    kept_.push_back(std::move(blocks.lease));
    plan_.key_block_bytes = std::move(blocks.values);
    return {};
  }

  const fb::Directory& table_;
  ColumnReader in_;
  std::vector<Lease>& kept_;
  Directory& directory_;
  PlanSpec& plan_;
};

}  // namespace

Result<Bytes> encode_directory(const Directory& directory, const PlanSpec& plan) {
  return DirectoryWriter(directory, plan).write();
}

Result<void> decode_directory(std::span<const std::byte> bytes, MemoryBudget& budget, std::vector<Lease>& kept,
                              Index& index) {
  FOREBAY_TRY(const fb::Directory* table, verified_root<fb::Directory>(bytes));
  return DirectoryReader(*table, budget, kept, index).read();
}

}  // namespace forebay::container

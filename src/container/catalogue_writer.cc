#include "container/column.h"
#include "container/index_codec.h"
#include "container/unfolding.h"

namespace forebay::container {

namespace {

uint64_t pack(const DataType& type) {
  return static_cast<uint64_t>(type.kind) + 16 * static_cast<uint64_t>(type.order);
}

uint64_t flags_of(const VariableRow& row) { return (row.filtered ? kFiltered : 0) + (row.partial ? kPartial : 0); }

struct ExtentColumns {
  Values gaps, filtered_lengths;
};

ExtentColumns extent_columns(const Catalogue& catalogue) {
  ExtentColumns columns;
  columns.gaps.reserve(catalogue.extents.size());
  for (const FileRow& file : catalogue.files) {
    uint64_t end = 0;
    for (const VariableRow& variable : catalogue.variables_of(file)) {
      for (const Extent& extent : catalogue.extents_of(variable)) {
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

Formats formats_of(const Catalogue& catalogue) {
  Interned<std::string, std::hash<std::string>> names;
  Values of_files = column_of(catalogue.files, [&](const FileRow& row) { return names.intern(row.format); });
  return {names.values(), std::move(of_files)};
}

// The columns of a catalogue while its FlatBuffer is built: all of them must exist before the table begins.
class CatalogueWriter {
 public:
  CatalogueWriter(const Catalogue& catalogue, const PlanSpec& plan, const PartFacts& part, Effort effort)
      : catalogue_(catalogue), plan_(plan), part_(part), out_(effort) {}

  Result<Bytes> write() {
    put_files();
    put_variables();
    put_extents();
    put_globals();
    put_meanings();
    const auto key_blocks = out_.put(plan_.key_block_bytes);
    const auto* description = reinterpret_cast<const uint8_t*>(part_.description.data());
    const auto text = part_.description.empty() ? flatbuffers::Offset<flatbuffers::Vector<uint8_t>>()
                                                : out_.builder().CreateVector(description, part_.description.size());
    fb::CatalogueBuilder table(out_.builder());
    for (const auto& [add, column] : columns_) (table.*add)(column);
    for (const auto& [add, texts] : texts_) (table.*add)(texts);
    table.add_key_block_bytes(key_blocks);
    table.add_scheme(static_cast<uint8_t>(plan_.scheme));
    table.add_block_bytes(plan_.block_bytes);
    table.add_frame_bytes(plan_.frame_bytes);
    table.add_share_bytes(plan_.share_bytes);
    table.add_part(part_.number);
    table.add_container(part_.container_id);
    if (part_.moment.step) table.add_step(*part_.moment.step);
    if (part_.moment.time) table.add_time(*part_.moment.time);
    if (!part_.description.empty()) table.add_description(text);
    if (catalogue_.are_meanings_known) table.add_has_meanings(true);
    return out_.finish(table.Finish());
  }

 private:
  using Table = fb::CatalogueBuilder;
  using AddColumn = void (Table::*)(ColumnWriter::Column);
  using AddTexts = void (Table::*)(ColumnWriter::Texts);

  void put(AddColumn add, const Values& values) { columns_.emplace_back(add, out_.put(values)); }
  void put_deltas(AddColumn add, Values values) { columns_.emplace_back(add, out_.put_deltas(std::move(values))); }
  void put(AddTexts add, std::span<const std::string> texts) { texts_.emplace_back(add, out_.put(texts)); }

  void put_files() {
    const auto& files = catalogue_.files;
    const Formats formats = formats_of(catalogue_);
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
    const auto& variables = catalogue_.variables;
    put(&Table::add_paths, catalogue_.paths.values());
    put(&Table::add_keys, catalogue_.keys.values());
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
    const auto& shapes = catalogue_.shapes.values();
    Values dims;
    for (const Shape& shape : shapes) dims.insert(dims.end(), shape.begin(), shape.end());
    put(&Table::add_shape_ranks, column_of(shapes, [](const Shape& shape) { return shape.size(); }));
    put(&Table::add_shape_dims, dims);
  }

  void put_extents() {
    const ExtentColumns columns = extent_columns(catalogue_);
    put(&Table::add_extent_gaps, columns.gaps);
    put(&Table::add_filtered_extent_lengths, columns.filtered_lengths);
  }

  void put_globals() {
    const auto& globals = catalogue_.globals;
    put_deltas(&Table::add_global_variables,
               column_of(globals, [](const GlobalPlace& place) { return place.variable; }));
    put(&Table::add_global_shapes, column_of(globals, [](const GlobalPlace& place) { return place.shape; }));
    put(&Table::add_global_offsets, column_of(globals, [](const GlobalPlace& place) { return place.offset; }));
  }

  // Nothing where there are none, as older versions wrote.
  void put_meanings() {
    const auto& rows = catalogue_.with_meanings;
    if (rows.empty()) return;
    put_deltas(&Table::add_meaning_variables, column_of(rows, [](const VariableMeaning& row) { return row.variable; }));
    put(&Table::add_meaning_texts, column_of(rows, [](const VariableMeaning& row) { return row.text; }));
    put(&Table::add_meanings, catalogue_.meanings.values());
  }

  const Catalogue& catalogue_;
  const PlanSpec& plan_;
  const PartFacts& part_;
  ColumnWriter out_;
  std::vector<std::pair<AddColumn, ColumnWriter::Column>> columns_;
  std::vector<std::pair<AddTexts, ColumnWriter::Texts>> texts_;
};

}  // namespace

Result<Bytes> encode_catalogue(const Catalogue& catalogue, const PlanSpec& plan, const PartFacts& part, Effort effort) {
  FOREBAY_TRY(Bytes bytes, CatalogueWriter(catalogue, plan, part, effort).write());
  pad_to_unfold(bytes, unfolded_bytes(catalogue) + part.description.size());
  return bytes;
}

}  // namespace forebay::container

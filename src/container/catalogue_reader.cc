#include <algorithm>

#include "container/column.h"
#include "container/index_codec.h"

namespace forebay::container {

namespace {

class CatalogueReader {
 public:
  CatalogueReader(const fb::Catalogue& table, MemoryBudget& budget, std::vector<Lease>& kept, Index& index)
      : table_(table), in_(budget), kept_(kept), catalogue_(index.catalogue), plan_(index.plan), part_(index.part) {}

  Result<void> read() {
    FOREBAY_CHECK(read_files());
    FOREBAY_CHECK(read_strings(table_.paths(), catalogue_.paths));
    FOREBAY_CHECK(read_strings(table_.keys(), catalogue_.keys));
    FOREBAY_CHECK(read_shapes());
    FOREBAY_CHECK(read_variables());
    FOREBAY_CHECK(assign_extents());
    FOREBAY_CHECK(read_extents());
    FOREBAY_CHECK(read_globals());
    FOREBAY_CHECK(read_meanings());
    FOREBAY_CHECK(catalogue_.validate());
    FOREBAY_CHECK(read_part());
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
    auto& files = catalogue_.files;
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
    auto& files = catalogue_.files;
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
      if (catalogue_.shapes.intern(Shape(at, at + static_cast<ptrdiff_t>(ranks[i]))) != i)
        return bad("a dictionary has an entry twice");
    return {};
  }

  Result<void> read_variables() {
    auto& rows = catalogue_.variables;
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
    for (FileRow& file : catalogue_.files) {
      file.first_variable = static_cast<uint32_t>(next);
      next += file.variable_count;
      if (next > catalogue_.variables.size()) return bad("a file's variables are not there");
    }
    uint64_t extents = 0;
    for (VariableRow& variable : catalogue_.variables) {
      variable.first_extent = static_cast<uint32_t>(extents);
      extents += variable.extent_count;
      if (extents > UINT32_MAX) return bad("too many extents");
      if (variable.shape >= catalogue_.shapes.size() || variable.block >= catalogue_.shapes.size())
        return bad("a variable names a shape that is not there");
    }
    FOREBAY_CHECK(keep(extents, sizeof(Extent)));
    // Only now is the claimed number of extents known to be backed by the column of gaps.
    if (in_.count(table_.extent_gaps()) != extents) return bad("a column has a wrong number of entries");
    catalogue_.extents.resize(extents);
    return {};
  }

  Result<void> read_extents() {
    const uint64_t filtered_count = in_.count(table_.filtered_extent_lengths());
    FOREBAY_TRY(const auto gaps, in_.get(table_.extent_gaps(), catalogue_.extents.size()));
    FOREBAY_TRY(const auto filtered, in_.get(table_.filtered_extent_lengths(), filtered_count));
    size_t next_filtered = 0;
    for (const FileRow& file : catalogue_.files) {
      uint64_t end = 0;
      for (const VariableRow& variable : catalogue_.variables_of(file)) {
        const uint64_t unfiltered_length = element_count(catalogue_.shapes[variable.block]) * variable.type.size;
        for (uint32_t i = 0; i < variable.extent_count; ++i) {
          const size_t at = variable.first_extent + i;
          if (variable.filtered && next_filtered == filtered.size()) return bad("lengths of extents are missing");
          Extent& extent = catalogue_.extents[at];
          extent.offset = end + unzigzag(gaps[at]);
          extent.length = variable.filtered ? filtered[next_filtered++] : unfiltered_length;
          end = extent.end();
        }
      }
    }
    return next_filtered == filtered.size() ? Result<void>() : bad("there are lengths of no extents");
  }

  Result<void> read_globals() {
    auto& globals = catalogue_.globals;
    const uint64_t count = in_.count(table_.global_variables());
    if (count > catalogue_.variables.size()) return bad("there are more places in global arrays than variables");
    FOREBAY_CHECK(keep(count, sizeof(GlobalPlace)));
    globals.resize(count);
    FOREBAY_CHECK(fill_deltas(globals, table_.global_variables(), UINT32_MAX,
                              [](GlobalPlace& place, uint64_t v) { place.variable = uint32_t(v); }));
    FOREBAY_CHECK(fill(globals, table_.global_shapes(), UINT32_MAX,
                       [](GlobalPlace& place, uint64_t v) { place.shape = uint32_t(v); }));
    return fill(globals, table_.global_offsets(), UINT32_MAX,
                [](GlobalPlace& place, uint64_t v) { place.offset = uint32_t(v); });
  }

  Result<void> read_meanings() {
    auto& rows = catalogue_.with_meanings;
    catalogue_.are_meanings_known = table_.has_meanings();
    const uint64_t count = in_.count(table_.meaning_variables());
    if (count > catalogue_.variables.size()) return bad("there are more meanings than variables");
    if (count == 0) return {};
    FOREBAY_CHECK(read_strings(table_.meanings(), catalogue_.meanings));
    FOREBAY_CHECK(keep(count, sizeof(VariableMeaning)));
    rows.resize(count);
    FOREBAY_CHECK(fill_deltas(rows, table_.meaning_variables(), UINT32_MAX,
                              [](VariableMeaning& row, uint64_t v) { row.variable = uint32_t(v); }));
    return fill(rows, table_.meaning_texts(), UINT32_MAX,
                [](VariableMeaning& row, uint64_t v) { row.text = uint32_t(v); });
  }

  Result<void> read_part() {
    part_.number = table_.part();
    part_.container_id = table_.container();
    if (const auto step = table_.step()) part_.moment.step = *step;
    if (const auto time = table_.time()) part_.moment.time = *time;
    if (const auto* description = table_.description()) {
      FOREBAY_CHECK(keep(description->size(), 1));
      const auto* begin = reinterpret_cast<const std::byte*>(description->data());
      part_.description.assign(begin, begin + description->size());
    }
    if ((part_.number == 0) != (part_.container_id == 0))
      return bad("it does not tell which part of a container it is");
    return part_.moment.is_valid() ? Result<void>() : bad("the time of a part is no number");
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
    if (count != 0 && count != catalogue_.keys.size()) return bad("the plan's block sizes are not one per key");
    FOREBAY_TRY(auto blocks, in_.get(table_.key_block_bytes(), count));
    kept_.push_back(std::move(blocks.lease));
    plan_.key_block_bytes = std::move(blocks.values);
    return {};
  }

  const fb::Catalogue& table_;
  ColumnReader in_;
  std::vector<Lease>& kept_;
  Catalogue& catalogue_;
  PlanSpec& plan_;
  PartFacts& part_;
};

}  // namespace

Result<void> decode_catalogue(std::span<const std::byte> bytes, MemoryBudget& budget, std::vector<Lease>& kept,
                              Index& index) {
  FOREBAY_TRY(const fb::Catalogue* table, verified_root<fb::Catalogue>(bytes));
  return CatalogueReader(*table, budget, kept, index).read();
}

}  // namespace forebay::container

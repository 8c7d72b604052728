// What the codecs of this folder share.
#pragma once

#include <bit>
#include <string>
#include <vector>

#include "container/column.h"
#include "container/index_codec.h"
#include "io/group/process_group.h"

namespace forebay::io {

using container::column_of;
using container::ColumnReader;
using container::ColumnWriter;
using container::texts_of;
using container::Values;

// Attributes as columns, which two tables have.
struct AttributeColumns {
  ColumnWriter::Texts names, variables;
  ColumnWriter::Column types, counts, bytes, values;
};

AttributeColumns put_attributes(ColumnWriter& out, const std::vector<const AttributeValue*>& attributes);

template <class Builder>
void add_attributes(Builder& table, const AttributeColumns& columns) {
  table.add_attribute_names(columns.names);
  table.add_attribute_types(columns.types);
  table.add_attribute_counts(columns.counts);
  table.add_attribute_bytes(columns.bytes);
  table.add_attribute_values(columns.values);
  table.add_attribute_variables(columns.variables);
}

// A few texts that many rows have: 0 for none, else 1 and the place in `texts`.
struct SharedTexts {
  std::vector<std::string> texts;
  uint64_t add(const std::string& text);
};

std::unexpected<Error> malformed(const char* what);

// What was leased for as long as a table is decoded; the values stay.
class TableReader {
 public:
  TableReader(MemoryBudget& budget, std::vector<Lease>& kept) : in_(budget), kept_(kept) {}

  static uint64_t count(const container::fb::Column* column) { return ColumnReader::count(column); }

  // Pays for `count` rows of so many bytes.
  Result<void> keep(uint64_t count, uint64_t bytes);

  Result<std::vector<uint64_t>> get(const container::fb::Column* column, uint64_t count, uint64_t max = UINT64_MAX);
  Result<std::vector<uint64_t>> get_deltas(const container::fb::Column* column, uint64_t count,
                                           uint64_t max = UINT64_MAX);
  Result<std::vector<std::string>> get(const container::fb::Texts* texts);
  Result<std::vector<std::string>> get(const container::fb::Texts* texts, uint64_t count);
  Result<Bytes> get_bytes(const container::fb::Column* column);

  // The sum of values that were read; corrupt if it passes 2^48.
  static Result<uint64_t> sum(const std::vector<uint64_t>& values);

  template <class Table>
  Result<std::vector<AttributeValue>> attributes(const Table& table) {
    FOREBAY_TRY(auto names, get(table.attribute_names()));
    return attributes(std::move(names), table.attribute_types(), table.attribute_counts(), table.attribute_bytes(),
                      table.attribute_values(), table.attribute_variables());
  }

 private:
  Result<std::vector<AttributeValue>> attributes(std::vector<std::string> names, const container::fb::Column* types,
                                                 const container::fb::Column* counts,
                                                 const container::fb::Column* bytes,
                                                 const container::fb::Column* values,
                                                 const container::fb::Texts* variables);

  ColumnReader in_;
  std::vector<Lease>& kept_;
};

Result<ValueType> type_of(uint64_t number);

}  // namespace forebay::io

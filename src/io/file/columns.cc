#include "io/file/columns.h"

#include <algorithm>

namespace forebay::io {

std::unexpected<Error> malformed(const char* what) {
  return fail(ErrorKind::corrupt, std::string("process groups: ") + what);
}

AttributeColumns put_attributes(ColumnWriter& out, const std::vector<const AttributeValue*>& attributes) {
  Bytes all;
  for (const AttributeValue* a : attributes) all.insert(all.end(), a->value.begin(), a->value.end());
  AttributeColumns columns;
  columns.names = out.put(texts_of(attributes, [](const AttributeValue* a) { return a->name; }));
  columns.variables = out.put(texts_of(attributes, [](const AttributeValue* a) { return a->variable; }));
  columns.types = out.put(column_of(attributes, [](const AttributeValue* a) { return a->type; }));
  columns.counts = out.put(column_of(attributes, [](const AttributeValue* a) { return a->count; }));
  columns.bytes = out.put(column_of(attributes, [](const AttributeValue* a) { return a->value.size(); }));
  columns.values = out.put_bytes(all);
  return columns;
}

uint64_t SharedTexts::add(const std::string& text) {
  if (text.empty()) return 0;
  const auto it = std::ranges::find(texts, text);
  if (it != texts.end()) return static_cast<uint64_t>(it - texts.begin()) + 1;
  texts.push_back(text);
  return texts.size();
}

Result<void> TableReader::keep(uint64_t count, uint64_t bytes) {
  FOREBAY_TRY(Lease lease, in_.lease(count, bytes));
  kept_.push_back(std::move(lease));
  return {};
}

Result<std::vector<uint64_t>> TableReader::get(const container::fb::Column* column, uint64_t count, uint64_t max) {
  FOREBAY_TRY(auto values, in_.get(column, count, max));
  kept_.push_back(std::move(values.lease));
  return std::move(values.values);
}

Result<std::vector<uint64_t>> TableReader::get_deltas(const container::fb::Column* column, uint64_t count,
                                                      uint64_t max) {
  FOREBAY_TRY(auto values, in_.get_deltas(column, count, max));
  kept_.push_back(std::move(values.lease));
  return std::move(values.values);
}

Result<std::vector<std::string>> TableReader::get(const container::fb::Texts* texts) {
  FOREBAY_TRY(auto values, in_.get(texts));
  kept_.push_back(std::move(values.lease));
  return std::move(values.values);
}

Result<std::vector<std::string>> TableReader::get(const container::fb::Texts* texts, uint64_t count) {
  FOREBAY_TRY(auto values, get(texts));
  if (values.size() != count) return malformed("a list of strings has a wrong number of entries");
  return values;
}

Result<Bytes> TableReader::get_bytes(const container::fb::Column* column) {
  FOREBAY_TRY(auto bytes, in_.get_bytes(column));
  kept_.push_back(std::move(bytes.lease));
  return std::move(bytes.values);
}

Result<uint64_t> TableReader::sum(const std::vector<uint64_t>& values) {
  uint64_t total = 0;
  for (const uint64_t value : values) {
    if (value >> 48 != 0) return malformed("a count is impossible");
    total += value;
    if (total >> 48 != 0) return malformed("counts are impossible");
  }
  return total;
}

Result<std::vector<AttributeValue>> TableReader::attributes(
    std::vector<std::string> names, const container::fb::Column* types, const container::fb::Column* counts,
    const container::fb::Column* bytes, const container::fb::Column* values, const container::fb::Texts* variables) {
  const uint64_t rows = names.size();
  FOREBAY_CHECK(keep(rows, sizeof(AttributeValue)));
  FOREBAY_TRY(const auto type_column, get(types, rows));
  FOREBAY_TRY(const auto count_column, get(counts, rows));
  FOREBAY_TRY(const auto byte_column, get(bytes, rows));
  FOREBAY_TRY(const Bytes all, get_bytes(values));
  FOREBAY_TRY(auto variable_names, get(variables, rows));
  FOREBAY_TRY(const uint64_t total, sum(byte_column));
  if (total != all.size()) return malformed("the values of attributes are not there");
  FOREBAY_CHECK(keep(total, 1));
  std::vector<AttributeValue> attributes(rows);
  auto rest = std::span(all);
  for (size_t i = 0; i < rows; ++i) {
    FOREBAY_TRY(const ValueType type, type_of(type_column[i]));
    const auto value = rest.first(byte_column[i]);
    rest = rest.subspan(byte_column[i]);
    attributes[i] = {.name = std::move(names[i]),
                     .type = type,
                     .count = count_column[i],
                     .value = Bytes(value.begin(), value.end()),
                     .variable = std::move(variable_names[i])};
  }
  return attributes;
}

Result<ValueType> type_of(uint64_t number) {
  const auto type = number <= INT16_MAX ? value_type(static_cast<int>(number)) : std::nullopt;
  if (!type) return malformed("there is no such type of values");
  return *type;
}

}  // namespace forebay::io

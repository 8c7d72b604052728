#include "format/netcdf_header.h"

#include "base/layout.h"
#include "format/meaning.h"

namespace forebay::format {
namespace {

constexpr uint32_t kDimensions = 10, kVariables = 11, kAttributes = 12;

struct Dimension {
  std::string name;
  uint64_t length = 0;
  bool is_record = false;
};

class Parser {
 public:
  Parser(Cursor& cursor, NetcdfAttributes wanted) : cursor_(cursor), wanted_(wanted) {}
  std::optional<NetcdfHeader> parse();

 private:
  uint64_t count() { return version_ == 5 ? cursor_.be<uint64_t>() : cursor_.be<uint32_t>(); }
  std::optional<uint64_t> list(uint32_t tag);
  std::string name();
  bool is_wanted(std::string_view name) const;
  bool parse_attributes(std::vector<NetcdfAttribute>& attributes);
  bool parse_dimensions();
  bool parse_variable(NetcdfVariable& variable);

  Cursor& cursor_;
  NetcdfAttributes wanted_;
  int version_ = 0;
  std::vector<Dimension> dimensions_;
};

std::optional<DataType> type_of(uint32_t code) {
  struct Row {
    Kind kind;
    uint16_t size;
  };
  constexpr Row kTypes[] = {{Kind::signed_int, 1},   {Kind::opaque, 1},       {Kind::signed_int, 2},
                            {Kind::signed_int, 4},   {Kind::floating, 4},     {Kind::floating, 8},
                            {Kind::unsigned_int, 1}, {Kind::unsigned_int, 2}, {Kind::unsigned_int, 4},
                            {Kind::signed_int, 8},   {Kind::unsigned_int, 8}};
  if (code < 1 || code > std::size(kTypes)) return {};
  const Row& row = kTypes[code - 1];
  return DataType{.kind = row.kind, .order = row.size > 1 ? ByteOrder::big : ByteOrder::little, .size = row.size};
}

uint64_t padding(uint64_t bytes) { return (4 - bytes % 4) % 4; }

// The number of elements of the list that begins here with `tag`. An absent list is two zeros.
std::optional<uint64_t> Parser::list(uint32_t tag) {
  const auto found = cursor_.be<uint32_t>();
  const uint64_t elements = count();
  if (!cursor_.ok() || (found != tag && (found != 0 || elements != 0))) return {};
  return elements;
}

std::string Parser::name() {
  const uint64_t length = count();
  std::string text(cursor_.text(length));
  cursor_.skip(padding(length));
  return text;
}

bool Parser::is_wanted(std::string_view name) const {
  return wanted_ == NetcdfAttributes::all || (wanted_ == NetcdfAttributes::of_meaning && says_what_values_mean(name));
}

bool Parser::parse_attributes(std::vector<NetcdfAttribute>& attributes) {
  constexpr uint32_t kChar = 2;
  const auto found = list(kAttributes);
  if (!found) return false;
  for (uint64_t i = 0; i < *found && cursor_.ok(); ++i) {
    NetcdfAttribute attribute{.name = name(), .type = {}, .value = {}};
    const auto code = cursor_.be<uint32_t>();
    const auto type = type_of(code);
    uint64_t bytes = attribute.count = count();
    if (!type || __builtin_mul_overflow(bytes, uint64_t{type->size}, &bytes)) return false;
    const auto value = cursor_.bytes(bytes);
    cursor_.skip(padding(bytes));
    if (!is_wanted(attribute.name) || !cursor_.ok()) continue;
    attribute.type = *type;
    attribute.is_text = code == kChar;
    attribute.value.assign(value.begin(), value.end());
    attributes.push_back(std::move(attribute));
  }
  return cursor_.ok();
}

bool Parser::parse_dimensions() {
  const auto dimensions = list(kDimensions);
  if (!dimensions) return false;
  for (uint64_t i = 0; i < *dimensions && cursor_.ok(); ++i) {
    std::string text = name();
    const uint64_t length = count();
    dimensions_.push_back({.name = std::move(text), .length = length, .is_record = length == 0});
  }
  return cursor_.ok();
}

// The stored size is passed over: it cannot hold that of a large variable, and follows from shape and type.
bool Parser::parse_variable(NetcdfVariable& variable) {
  variable.name = name();
  const uint64_t rank = count();
  if (!cursor_.ok() || rank > kMaxDims) return false;
  for (uint64_t i = 0; i < rank; ++i) {
    const uint64_t id = count();
    if (!cursor_.ok() || id >= dimensions_.size()) return false;
    if (wanted_ == NetcdfAttributes::all) variable.dimensions.push_back(dimensions_[id].name);
    if (!dimensions_[id].is_record)
      variable.shape.push_back(dimensions_[id].length);
    else if (i == 0)
      variable.is_record = true;
    else
      return false;
  }
  if (!parse_attributes(variable.attributes)) return false;
  const auto type = type_of(cursor_.be<uint32_t>());
  count();
  variable.begin = version_ == 1 ? cursor_.be<uint32_t>() : cursor_.be<uint64_t>();
  if (!type || !cursor_.ok()) return false;
  variable.type = *type;
  return true;
}

std::optional<NetcdfHeader> Parser::parse() {
  if (!cursor_.expect("CDF")) return {};
  version_ = cursor_.u8();
  NetcdfHeader header;
  header.records = count();
  header.streaming = header.records == (version_ == 5 ? UINT64_MAX : UINT32_MAX);
  if (!parse_dimensions() || !parse_attributes(header.attributes)) return {};
  const auto variables = list(kVariables);
  if (!variables || *variables > kMaxVariablesPerFile) return {};
  for (uint64_t i = 0; i < *variables; ++i)
    if (!parse_variable(header.variables.emplace_back())) return {};
  return header;
}

}  // namespace

std::optional<NetcdfHeader> parse_netcdf(Cursor& cursor, NetcdfAttributes wanted) {
  return Parser(cursor, wanted).parse();
}

}  // namespace forebay::format

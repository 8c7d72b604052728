#include "cli/adaptable/groups_file.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <complex>
#include <cstring>
#include <set>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/file.h>

#include "base/byte_source.h"
#include "base/fd.h"
#include "cli/file_operand.h"
#include "cli/json.h"
#include "cli/table.h"
#include "cli/text.h"
#include "cli/units.h"
#include "io/file/growing_file.h"
#include "io/file/tail.h"

namespace forebay::cli {
namespace {

using io::Listing;
using io::ValueType;

// What is told of a variable: all steps together, and the shape that it had last.
struct VariableFacts {
  bool has_place = false, is_global = false;
  Shape shape;
  uint64_t steps = 0, blocks = 0;
  container::Characteristics values;
};

std::vector<VariableFacts> facts_of_variables(const Listing& listing) {
  std::vector<VariableFacts> facts(listing.variables.size());
  for (const io::StepCharacteristics& row : listing.characteristics) {
    VariableFacts& variable = facts[row.variable];
    ++variable.steps;
    variable.blocks += row.blocks;
    variable.values.merge(row.values);
  }
  std::vector<bool> is_known(listing.patterns.size());
  for (auto part = listing.parts.rbegin(); part != listing.parts.rend(); ++part) {
    if (is_known[part->pattern]) continue;
    is_known[part->pattern] = true;
    for (const io::Pattern::Write& write : listing.patterns[part->pattern].writes) {
      VariableFacts& variable = facts[write.variable];
      if (variable.has_place || write.slot == io::Pattern::kUnlisted) continue;
      const io::Place place = listing.place(*part, write.slot);
      variable.has_place = true;
      variable.is_global = !place.global_shape.empty();
      const auto shape = variable.is_global ? place.global_shape : place.shape;
      variable.shape.assign(shape.begin(), shape.end());
    }
  }
  return facts;
}

template <class T>
std::string numbers_text(std::span<const std::byte> bytes) {
  constexpr size_t kShown = 8;
  std::vector<T> values(std::min(bytes.size() / sizeof(T), kShown));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
  std::string text;
  for (const T& value : values) {
    if (!text.empty()) text += " ";
    if constexpr (requires { value.real(); }) {
      text += fmt::format("({},{})", value.real(), value.imag());
    } else {
      text += fmt::format("{}", value);
    }
  }
  return bytes.size() / sizeof(T) > kShown ? text + " ..." : text;
}

std::string strings_text(std::span<const std::byte> bytes) {
  std::vector<std::string> strings;
  while (!bytes.empty()) {
    const size_t length = std::min(as_text(bytes).find('\0'), bytes.size());
    strings.emplace_back(as_text(bytes.first(length)));
    bytes = bytes.subspan(std::min(length + 1, bytes.size()));
  }
  return fmt::format("{}", fmt::join(strings, " | "));
}

std::string value_text(ValueType type, std::span<const std::byte> bytes) {
  switch (type) {
    case ValueType::int8:
      return numbers_text<int8_t>(bytes);
    case ValueType::int16:
      return numbers_text<int16_t>(bytes);
    case ValueType::int32:
      return numbers_text<int32_t>(bytes);
    case ValueType::int64:
      return numbers_text<int64_t>(bytes);
    case ValueType::uint8:
      return numbers_text<uint8_t>(bytes);
    case ValueType::uint16:
      return numbers_text<uint16_t>(bytes);
    case ValueType::uint32:
      return numbers_text<uint32_t>(bytes);
    case ValueType::uint64:
      return numbers_text<uint64_t>(bytes);
    case ValueType::float32:
      return numbers_text<float>(bytes);
    case ValueType::float64:
      return numbers_text<double>(bytes);
    case ValueType::long_double:
      return numbers_text<long double>(bytes);
    case ValueType::complex64:
      return numbers_text<std::complex<float>>(bytes);
    case ValueType::complex128:
      return numbers_text<std::complex<double>>(bytes);
    case ValueType::string:
      return std::string(as_text(bytes));
    case ValueType::string_array:
      return strings_text(bytes);
  }
  return {};
}

size_t ranks_of(const Listing& listing) {
  std::set<uint32_t> ranks;
  for (const io::ListedPart& part : listing.parts) ranks.insert(part.rank);
  return ranks.size();
}

uint64_t bytes_of(const Listing& listing) {
  uint64_t bytes = 0;
  for (const io::ListedPart& part : listing.parts) bytes += part.bytes;
  return bytes;
}

std::string shape_text(const VariableFacts& facts, bool is_array) {
  if (!is_array) return "-";
  if (!facts.has_place) return "?";
  return facts.shape.empty() ? "1" : fmt::format("{}", fmt::join(facts.shape, "x"));
}

std::string listed_bound_text(const VariableFacts& facts, double value) {
  return facts.values.count == 0 ? "-" : format_number(value);
}

void print_listed_variables(const Listing& listing) {
  Table table({{"TYPE"},
               {"SHAPE"},
               {"KIND"},
               {"STEPS", Align::right},
               {"BLOCKS", Align::right},
               {"MIN", Align::right},
               {"MAX", Align::right},
               {"TRANSFORM"},
               {"GROUP"},
               {"NAME"}});
  const auto facts = facts_of_variables(listing);
  for (size_t i = 0; i < facts.size(); ++i) {
    const io::ListedVariable& variable = listing.variables[i];
    table.add({std::string(io::to_string(variable.type)), shape_text(facts[i], variable.is_array),
               !variable.is_array    ? "scalar"
               : !facts[i].has_place ? "array"
               : facts[i].is_global  ? "global"
                                     : "local",
               fmt::format("{}", facts[i].steps), fmt::format("{}", facts[i].blocks),
               listed_bound_text(facts[i], facts[i].values.min), listed_bound_text(facts[i], facts[i].values.max),
               variable.transform.empty() ? "-" : printable(variable.transform),
               printable(listing.groups[variable.group].name), printable(variable.name)});
  }
  if (!facts.empty()) table.for_each_line([](const std::string& line) { fmt::print("{}\n", line); });
}

void print_attributes(const Listing& listing) {
  if (listing.attributes.empty()) return;
  fmt::print("\n");
  Table table({{"TYPE"}, {"FROM STEP", Align::right}, {"GROUP"}, {"ATTRIBUTE"}, {"VALUE"}});
  for (const io::ListedAttribute& attribute : listing.attributes) {
    const io::AttributeValue& value = attribute.value;
    table.add({value.variable.empty() ? std::string(io::to_string(value.type)) : "-", fmt::format("{}", attribute.step),
               printable(listing.groups[attribute.group].name), printable(value.name),
               value.variable.empty() ? printable(value_text(value.type, value.value))
                                      : "variable " + printable(value.variable)});
  }
  table.for_each_line([](const std::string& line) { fmt::print("{}\n", line); });
}

Json json_number(double value) { return std::isfinite(value) ? Json(value) : Json(); }

Json json_variable(const Listing& listing, const io::ListedVariable& variable, const VariableFacts& facts) {
  const bool is_known = facts.values.count != 0;
  return {{"group", json_text(listing.groups[variable.group].name)},
          {"name", json_text(variable.name)},
          {"type", io::to_string(variable.type)},
          {"array", variable.is_array},
          {"global", facts.is_global},
          {"shape", facts.has_place ? Json(facts.shape) : Json()},
          {"step_count", facts.steps},
          {"block_count", facts.blocks},
          {"transform", json_text_or_null(variable.transform)},
          {"value_count", facts.values.count},
          {"min", is_known ? json_number(facts.values.min) : Json()},
          {"max", is_known ? json_number(facts.values.max) : Json()},
          {"sum", is_known ? json_number(facts.values.sum) : Json()},
          {"sum_of_squares", is_known ? json_number(facts.values.sum_of_squares) : Json()},
          {"nan_count", facts.values.nans},
          {"infinity_count", facts.values.infinities}};
}

Json json_attribute(const Listing& listing, const io::ListedAttribute& attribute) {
  const io::AttributeValue& value = attribute.value;
  const bool is_own = value.variable.empty();
  return {{"group", json_text(listing.groups[attribute.group].name)},
          {"name", json_text(value.name)},
          {"step", attribute.step},
          {"type", is_own ? Json(io::to_string(value.type)) : Json()},
          {"value", is_own ? json_text(value_text(value.type, value.value)) : Json()},
          {"variable", is_own ? Json() : json_text(value.variable)}};
}

Json json_file(const std::string& path, const io::FileReader& reader) {
  const Listing& listing = reader.listing();
  Json document = {{"path", json_text(path)},         {"step_count", reader.steps()},
                   {"unfinished", reader.is_torn()},  {"process_group_count", listing.parts.size()},
                   {"rank_count", ranks_of(listing)}, {"stored_bytes", bytes_of(listing)},
                   {"files", Json::array()},          {"groups", Json::array()},
                   {"variables", Json::array()},      {"attributes", Json::array()}};
  for (const io::ListedFile& file : listing.files)
    if (!file.name.empty()) document["files"].push_back(json_text(file.name));
  for (const io::ListedGroup& group : listing.groups)
    document["groups"].push_back(
        {{"name", json_text(group.name)}, {"time_index", json_text_or_null(group.time_index_name)}});
  const auto facts = facts_of_variables(listing);
  for (size_t i = 0; i < facts.size(); ++i)
    document["variables"].push_back(json_variable(listing, listing.variables[i], facts[i]));
  for (const io::ListedAttribute& attribute : listing.attributes)
    document["attributes"].push_back(json_attribute(listing, attribute));
  return document;
}

// Whether a program has it open for writing, as far as the file system tells.
bool is_being_written(const std::string& path) {
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  return file && ::flock(file.get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

// What to do with a file that did not get its name; empty for others.
std::string naming_hint(const std::string& path) {
  if (!path.ends_with(kUnfinished)) return {};
  if (is_being_written(path)) return "a program is writing this file; it gets its name when it is closed";
  const std::string name = path.substr(0, path.size() - kUnfinished.size());
  return fmt::format(
      "the program that wrote this file did not finish it: look whether it has what you need, and "
      "`mv {} {}` gives it its name; the next program that writes {} anew removes it",
      path, name, name);
}

}  // namespace

Result<std::unique_ptr<io::FileReader>> open_groups_file(const std::string& path, uint64_t memory_bytes) {
  FOREBAY_TRY(const auto source, FileSource::open(path));
  FOREBAY_TRY(const bool grows, io::is_growing(*source));
  if (grows) return io::FileReader::open(path, memory_bytes);
  const auto trailer = io::find_trailer(*source);
  if (trailer.error().kind != ErrorKind::corrupt || !io::find_first_part(*source)) return nullptr;
  if (is_being_written(path))
    return fail(ErrorKind::corrupt, "a program is writing this file, and has completed no step yet", path, {},
                "wait until the program has closed it");
  return fail(ErrorKind::corrupt, "no step of this file is complete: the program that wrote it has ended before", path,
              {}, fmt::format("`forebay repair {}` makes visible what is whole; else remove it", path));
}

Result<ExitCode> repair_groups_file(const std::string& path, uint64_t memory_bytes, const Console& console) {
  FOREBAY_TRY(const auto mended, io::GrowingFile::mend(path, memory_bytes));
  if (console.json) {
    print_json({{"path", json_text(path)},
                {"step_count", mended.steps},
                {"found_process_group_count", mended.found},
                {"lost_process_group_count", mended.incomplete},
                {"remarks", json_texts(mended.remarks)}});
  } else {
    for (const std::string& remark : mended.remarks) fmt::print("note: {}\n", printable(remark));
    if (mended.found == 0 && mended.incomplete == 0)
      fmt::print("{}: nothing to repair, {}\n", printable(path), plural(mended.steps, "step"));
    else
      fmt::print("{}: {} of the unfinished step found, {} lost; the file has {} now\n", printable(path),
                 plural(mended.found, "process group"), mended.incomplete, plural(mended.steps, "step"));
    if (const std::string hint = naming_hint(path); mended.steps > 0 && !hint.empty())
      fmt::print("{}\n", printable(hint));
  }
  return mended.incomplete == 0 ? ExitCode::ok : ExitCode::damaged;
}

void show_groups_file(const std::string& path, const io::FileReader& reader, const Console& console) {
  if (console.json) {
    print_json(json_file(path, reader));
    return;
  }
  const Listing& listing = reader.listing();
  fmt::print("{}\n", printable(path));
  fmt::print("  content    {}, {} of {}, {}\n", plural(reader.steps(), "step"),
             plural(listing.parts.size(), "process group"), plural(ranks_of(listing), "rank"),
             plural(listing.variables.size(), "variable"));
  fmt::print("  stored     {}\n", format_bytes(bytes_of(listing)));
  const auto other_files =
      std::ranges::count_if(listing.files, [](const io::ListedFile& file) { return !file.name.empty(); });
  if (other_files != 0)
    fmt::print("  files      {} beside this one hold the values\n", plural(static_cast<uint64_t>(other_files), "file"));
  if (reader.is_torn())
    fmt::print("  unfinished {}; the steps before it are whole\n",
               is_being_written(path)
                   ? "the last step is being written"
                   : "the last step was never finished (`forebay repair` makes visible what is whole "
                     "of it)");
  if (const std::string hint = naming_hint(path); !hint.empty()) fmt::print("  name       {}\n", printable(hint));
  fmt::print("\n");
  print_listed_variables(listing);
  print_attributes(listing);
}

}  // namespace forebay::cli

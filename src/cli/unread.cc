#include "cli/unread.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/table.h"
#include "cli/text.h"
#include "cli/units.h"
#include "format/reader.h"

namespace forebay::cli {
namespace {

constexpr size_t kMostNamed = 3;  // kinds of files in a message

Result<std::vector<engine::UnreadFiles>> unread_of(const store::SetInfo& set, const engine::Resources& given) {
  engine::Resources resources = given.resolved();
  FOREBAY_TRY(resources.memory_bytes, engine::buffer_bytes(resources.memory_bytes));
  return engine::unread_files(set, resources);
}

// "2 files such as md.cpt look like a checkpoint of GROMACS, ..."
std::string kinds_text(const std::vector<engine::UnreadFiles>& files) {
  std::vector<std::string> kinds;
  for (const auto& kind : files) {
    if (kinds.size() == kMostNamed) {
      kinds.emplace_back("and more");
      break;
    }
    kinds.push_back(kind.files == 1
                        ? fmt::format("{} looks like {}", kind.example, kind.looks)
                        : fmt::format("{} files such as {} look like {}", kind.files, kind.example, kind.looks));
  }
  return fmt::format("{}", fmt::join(kinds, ", "));
}

}  // namespace

std::string no_arrays_text(const std::string& set) {
  std::vector<std::string_view> formats;
  for (const format::FormatReader* reader : format::all_readers()) formats.push_back(reader->name());
  return fmt::format("no file of {} has arrays in a format that Forebay reads ({})", set, fmt::join(formats, ", "));
}

Result<void> print_no_arrays(const store::SetInfo& set, const engine::Resources& resources) {
  FOREBAY_TRY(const auto files, unread_of(set, resources));
  fmt::print("{}\n", printable(no_arrays_text(set.name)));
  if (files.empty()) return {};
  Table table({{"FILES", Align::right}, {"SIZE", Align::right}, {"FORMAT"}, {"LOOKS LIKE"}, {"SUCH AS"}});
  for (const auto& kind : files)
    table.add({std::to_string(kind.files), format_bytes(kind.bytes), printable(kind.format), printable(kind.looks),
               printable(kind.example)});
  table.for_each_line([](const std::string& line) { fmt::print("{}\n", line); });
  fmt::print(
      "'forebay restore' and 'forebay mount' give the files back as they were. Raw binary has arrays once\n"
      "'forebay pack --describe' says where they lie.\n");
  return {};
}

Json json_unread(const engine::UnreadFiles& kind) {
  return {{"format", json_text(kind.format)},
          {"looks_like", json_text(kind.looks)},
          {"file_count", kind.files},
          {"raw_bytes", kind.bytes},
          {"example", json_text(kind.example)}};
}

Result<Json> json_no_arrays(const store::SetInfo& set, const engine::Resources& resources) {
  FOREBAY_TRY(const auto files, unread_of(set, resources));
  Json list = Json::array();
  for (const auto& kind : files) list.push_back(json_unread(kind));
  return list;
}

Result<std::string> why_no_arrays(const store::SetInfo& set, const engine::Resources& resources) {
  FOREBAY_TRY(const auto files, unread_of(set, resources));
  return fmt::format("{}{}{}", no_arrays_text(set.name), files.empty() ? "" : "; ", kinds_text(files));
}

}  // namespace forebay::cli

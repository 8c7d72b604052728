#include "cli/look_text.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "cli/table.h"
#include "cli/text.h"
#include "cli/units.h"

namespace forebay::cli {
namespace {

constexpr size_t kMostLeftLines = 20;
constexpr int64_t kSecondInNs = 1'000'000'000;

}  // namespace

Json json_look(const launch::Look& look) {
  Json sets = Json::array(), companions = Json::array(), left = Json::array();
  for (const launch::Look::Set& set : look.sets)
    sets.push_back(
        {{"name", json_text(to_string(set.id))},
         {"label", set.id.label.empty() ? Json() : json_text(set.id.label)},
         {"file_count", set.files},
         {"raw_bytes", set.bytes},
         {"mtime", format_utc_time(set.last_ns / kSecondInNs, static_cast<uint32_t>(set.last_ns % kSecondInNs))},
         {"doubt", set.doubt.empty() ? Json() : json_text(set.doubt)}});
  for (const launch::Look::Companion& companion : look.companions)
    companions.push_back(
        {{"path", json_text(companion.path)}, {"raw_bytes", companion.size}, {"appended", companion.is_appended}});
  for (const launch::Look::Left& each : look.left)
    left.push_back({{"path", json_text(each.path)}, {"file_count", each.files}, {"raw_bytes", each.bytes}});
  return {{"sets", std::move(sets)},
          {"remarks", json_texts(look.notes)},
          {"companions", std::move(companions)},
          {"left_alone", std::move(left)}};
}

static void print_found(const launch::Look& look) {
  if (look.sets.empty()) {
    fmt::print("no sets: no file matches a member of the rule\n");
    return;
  }
  const bool has_doubts =
      std::ranges::any_of(look.sets, [](const launch::Look::Set& set) { return !set.doubt.empty(); });
  std::vector<Table::Column> columns = {{"SET"}, {"FILES", Align::right}, {"SIZE", Align::right}, {"WRITTEN"}};
  if (has_doubts) columns.push_back({"NOTE"});
  Table table(columns);
  for (const launch::Look::Set& set : look.sets) {
    std::vector<std::string> cells = {printable(to_string(set.id)), fmt::format("{}", set.files),
                                      format_bytes(set.bytes), format_local_time(set.last_ns / kSecondInNs)};
    if (has_doubts) cells.push_back(set.doubt.empty() ? "" : printable("incomplete? " + set.doubt));
    table.add(std::move(cells));
  }
  table.for_each_line([](const std::string& line) { fmt::print("{}\n", line); });
  for (const std::string& note : look.notes) fmt::print("{}\n", printable(note));
}

// Lines of at most `kMostLeftLines` paths.
template <class Each, class Line>
static void print_some(std::string_view title, const std::vector<Each>& list, const Line& line) {
  if (list.empty()) return;
  fmt::print("\n{}\n", title);
  for (size_t i = 0; i < std::min(list.size(), kMostLeftLines); ++i) fmt::print("  {}\n", line(list[i]));
  if (list.size() > kMostLeftLines) fmt::print("  and {} more\n", list.size() - kMostLeftLines);
}

void print_look(const launch::Look& look) {
  print_found(look);
  print_some("Stored with each set, as it is then:", look.companions, [](const launch::Look::Companion& companion) {
    return fmt::format("{}, {}{}", printable(companion.path), format_bytes(companion.size),
                       companion.is_appended ? ", cut back to its length at a restart" : "");
  });
  print_some("Left alone:", look.left, [](const launch::Look::Left& left) {
    const std::string files = left.path.ends_with('/') ? fmt::format("{}, ", plural(left.files, "file")) : "";
    return fmt::format("{}, {}{}", printable(left.path), files, format_bytes(left.bytes));
  });
}

}  // namespace forebay::cli

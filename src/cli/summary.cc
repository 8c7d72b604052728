#include "cli/summary.h"

#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/text.h"
#include "cli/units.h"

namespace forebay::cli {

static uint64_t total(const Json& status, const char* key) {
  const auto totals = status.is_object() ? status.find("totals") : status.end();
  if (!status.is_object() || totals == status.end() || !totals->is_object()) return 0;
  const auto value = totals->find(key);
  return value != totals->end() && value->is_number() ? value->get<uint64_t>() : 0;
}

// Of a field that may be null.
static std::string word(const Json& object, const char* key) {
  const Json value = object.is_object() ? object.value(key, Json()) : Json();
  return value.is_string() ? value.get<std::string>() : "";
}

std::string summary_text(const Json& status) {
  const uint64_t raw = total(status, "raw_bytes"), stored = total(status, "stored_bytes");
  const uint64_t cached = total(status, "cached_count");
  return fmt::format("{} durable, {} skipped, {} failed{}; {} -> {} (ratio {})",
                     plural(total(status, "durable_count"), "set"), total(status, "skipped_count"),
                     total(status, "failed_count"), cached == 0 ? "" : fmt::format(", {} kept in caches", cached),
                     format_bytes(raw), format_bytes(stored),
                     format_ratio(static_cast<double>(raw), static_cast<double>(stored)));
}

static std::vector<Json> rows(const Json& status, const char* key) {
  if (!status.is_object() || !status.contains(key) || !status[key].is_array()) return {};
  std::vector<Json> rows;
  for (const Json& row : status[key])
    if (row.is_object()) rows.push_back(row);
  return rows;
}

std::vector<std::string> failures(const Json& status) {
  std::vector<std::string> lines;
  for (const Json& set : rows(status, "past_sets"))
    if (word(set, "state") == "failed")
      lines.push_back(fmt::format("{} failed: {}", printable(word(set, "name")), printable(word(set, "message"))));
  return lines;
}

std::string looks_older(const Json& status) { return printable(word(status, "looks_older")); }

std::string no_set_comes(const Json& status) { return printable(word(status, "no_set")); }

std::string store_fills(const Json& status) { return printable(word(status, "store_fills")); }

// A set that was given up may have been rewritten since. Of one that is void nothing was to be kept.
std::vector<std::string> not_stored(const Json& status) {
  std::vector<std::string> lines;
  std::map<std::string, std::string> given_up;
  for (const Json& set : rows(status, "past_sets"))
    if (word(set, "state") == "failed" && !set.value("void", false))
      given_up[word(set, "name")] = word(set, "message");
    else
      given_up.erase(word(set, "name"));
  for (const Json& one : rows(status, "left")) {
    const std::string name = word(one, "name"), host = word(one, "host"), reason = word(one, "reason");
    const std::string place = word(one, "place");
    if (given_up.contains(name)) continue;
    if (name.empty())
      lines.push_back(printable(host.empty() ? reason : host + ": " + reason));
    else
      lines.push_back(fmt::format("'{}' is not stored, and stays in {} of {}: {}", printable(name),
                                  place.empty() ? "the stage" : printable(place), printable(host), printable(reason)));
  }
  for (const auto& [name, why] : given_up)
    lines.push_back(fmt::format("'{}' is not stored: {}", printable(name), printable(why)));
  return lines;
}

std::string skipped(const Json& status) {
  std::vector<std::string> names;
  uint64_t known = 0;
  for (const Json& set : rows(status, "past_sets")) {
    const std::string name = printable(word(set, "name"));
    std::erase(names, name);
    if (word(set, "state") != "skipped") continue;
    names.push_back(name);
    ++known;
  }
  const uint64_t skipped = total(status, "skipped_count");
  if (names.empty()) return {};
  return fmt::format("skipped, and not stored, since the drain was behind: {}{}", fmt::join(names, ", "),
                     skipped > known ? fmt::format(", and {} before these", skipped - known) : "");
}

bool has_no_set(const Json& status) {
  return total(status, "durable_count") + total(status, "skipped_count") + total(status, "failed_count") +
             total(status, "cached_count") ==
         0;
}

}  // namespace forebay::cli

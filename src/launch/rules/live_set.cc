#include "launch/rules/live_set.h"

#include <algorithm>

#include <fmt/format.h>

namespace forebay::launch::rules {
namespace {

constexpr int kFirstFactor = 5;
constexpr std::chrono::seconds kFirstRenamed{10};

}  // namespace

bool agrees(const Words& fields, const SetKey& key) {
  return std::ranges::all_of(fields, [&](const auto& field) {
    if (field.first == "rank") return true;
    if (field.first == "set") return is_same_label(field.second, key.second);
    const auto own = key.first.find(field.first);
    return own == key.first.end() || own->second == field.second;
  });
}

void LiveSet::count(const File& file, bool is_added, const SeriesState& series) {
  const auto change = [&](size_t& counter, bool counts) {
    if (counts) counter += is_added ? 1 : size_t(-1);
  };
  change(open, file.is_open);
  change(not_renamed, !file.is_renamed);
  change(closed_last, file.is_last && !file.is_open);
  bytes = is_added ? bytes + file.size : bytes - file.size;
  if (!file.is_mandatory) return;
  size_t& number = parts[file.part];
  const bool was_there = number > 0;
  change(number, true);
  const bool is_there = number > 0;
  if (!is_there) parts.erase(file.part);
  if (was_there != is_there && series.needed.contains(file.part)) missing += is_there ? size_t(-1) : 1;
}

void LiveSet::put(const std::string& path, File file, const SeriesState& series) {
  drop(path, series);
  count(file, true, series);
  files.emplace(path, std::move(file));
}

void LiveSet::drop(const std::string& path, const SeriesState& series) {
  const auto found = files.find(path);
  if (found == files.end()) return;
  count(found->second, false, series);
  files.erase(found);
}

void LiveSet::count_missing(const SeriesState& series) {
  missing = static_cast<size_t>(
      std::ranges::count_if(series.needed, [&](const Part& part) { return !parts.contains(part); }));
}

Lack lack_of(const Done& done, const LiveSet& set, bool is_over) {
  if (set.parts.empty()) return Lack::member;
  const bool is_open = set.open > 0 && !is_over;
  if (done.is_renamed && set.not_renamed > 0) return Lack::renamed;
  if (done.says && !set.is_said) return Lack::said;
  if (done.last && set.closed_last == 0) return Lack::last;
  // What may stay open for ever is "still".
  if (is_open && (done.last || done.quiet || !done.still)) return Lack::open;
  if (done.is_same && set.missing > 0) return Lack::missing;
  return Lack::none;
}

bool is_loss(const Done& done, const LiveSet& set, const SeriesState& series, Lack lack) {
  if (lack == Lack::none || lack == Lack::member || set.last < series.newest) return false;
  const bool has_mark = done.says || done.last || done.is_renamed;
  return series.is_first || !has_mark || lack == Lack::missing;
}

Time due_of(const Done& done, const LiveSet& set, const SeriesState& series) {
  const bool settles_longer = done.is_same && series.is_first && !done.says && !done.last;
  const int factor = settles_longer ? kFirstFactor : 1;
  Time due = set.last;
  if (done.quiet) due = std::max(due, set.last + factor * Time(*done.quiet));
  if (done.still) due = std::max(due, set.last + factor * Time(*done.still));
  if (done.is_renamed && settles_longer) due = std::max(due, set.last + Time(kFirstRenamed));
  return due;
}

std::string lack_text(const Rule& rule, const LiveSet& set, const SeriesState& series, Lack lack) {
  switch (lack) {
    case Lack::none:
      return "it is not left alone for long enough yet";
    case Lack::member:
      return "only optional files are there";
    case Lack::renamed:
      return "a file did not come to its name by a rename";
    case Lack::said:
      return fmt::format("{} does not name it", print_pattern(rule.done.says->file));
    case Lack::last:
      return fmt::format("{} is not there and closed", print_pattern(*rule.done.last));
    case Lack::open: {
      const auto open = std::ranges::find_if(set.files, [](const auto& file) { return file.second.is_open; });
      return fmt::format("{} is still open", open == set.files.end() ? "a file" : open->first);
    }
    case Lack::missing: {
      const auto missing =
          std::ranges::find_if(series.needed, [&](const Part& part) { return !set.parts.contains(part); });
      if (missing == series.needed.end()) break;
      const std::string pattern = print_pattern(rule.items[missing->first].pattern);
      return missing->second.empty() ? fmt::format("{} is not there again", pattern)
                                     : fmt::format("rank {} of {} is not there again", missing->second, pattern);
    }
  }
  return "it is not complete";
}

}  // namespace forebay::launch::rules

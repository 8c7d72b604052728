// forebay scr index: what SCR's interface knows of its sets.
#include <algorithm>
#include <charconv>
#include <ctime>
#include <filesystem>
#include <map>
#include <ranges>
#include <set>
#include <span>

#include <fmt/format.h>

#include "base/byte_source.h"
#include "base/checksum.h"
#include "cli/scr/scr.h"
#include "cli/table.h"
#include "cli/text.h"
#include "cli/units.h"
#include "launch/scr/index.h"
#include "launch/scr/set_names.h"
#include "launch/scr/stored_sets.h"
#include "store/files.h"
#include "store/names.h"
#include "store/series.h"
#include "store/store.h"

namespace forebay::cli {
namespace {

constexpr uint64_t kMostFileList = 1u << 30;

std::string when_text(int64_t seconds) {
  if (seconds == 0) return "-";
  const auto time = static_cast<std::time_t>(seconds);
  std::tm local{};
  char text[64] = "";
  if (::localtime_r(&time, &local) != nullptr) std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &local);
  return text;
}

// `stored`: when the sets of the store became durable.
void print_list(const scr::Index& index, const std::map<std::string, int64_t>& stored, const Console& console) {
  Json sets = Json::array();
  Table table({{"DSET", Align::right}, {"VALID"}, {"FLUSHED"}, {"CUR"}, {"NAME"}});
  for (const scr::IndexEntry& entry : index.entries | std::views::reverse) {
    const bool is_current = entry.name == index.current;
    const auto in_store = stored.find(scr::set_of_name(entry.name).value_or(""));
    const int64_t flushed = entry.place == scr::SetPlace::prefix ? entry.flushed
                            : in_store != stored.end()           ? in_store->second
                                                                 : 0;
    sets.push_back({{"id", entry.id},
                    {"name", json_text(entry.name)},
                    {"valid", entry.is_valid},
                    {"checkpoint", entry.is_checkpoint},
                    {"output", entry.is_output},
                    {"flushed", flushed != 0 ? Json(format_utc_time(flushed, 0)) : Json()},
                    {"place", entry.place == scr::SetPlace::prefix ? "prefix" : "cache"},
                    {"is_current", is_current}});
    table.add({std::to_string(entry.id), entry.is_valid ? "YES" : "NO", when_text(flushed), is_current ? "*" : "",
               printable(entry.name)});
  }
  if (console.json)
    print_json({{"sets", sets}, {"current", json_text_or_null(index.current)}});
  else
    table.for_each_line([](const std::string& line) { fmt::print("{}\n", line); });
}

std::unexpected<Error> no_such_set(const scr::Places& places, const std::string& name) {
  return fail(ErrorKind::not_found, fmt::format("the index has no set '{}'", name), places.index, {},
              "'forebay scr index --list' names those that it has");
}

Result<bool> is_unchanged(const std::string& path, const scr::PrefixFile& file) {
  const auto source = FileSource::open(path);
  if (!source && source.error().kind == ErrorKind::not_found) return false;
  if (!source) return std::unexpected(source.error());
  if ((*source)->size() != file.size) return false;
  FileCrc sum(file.size);
  std::vector<std::byte> piece(1 << 20);
  for (uint64_t at = 0; at < file.size; at += piece.size()) {
    const auto part = std::span(piece).first(std::min<uint64_t>(piece.size(), file.size - at));
    FOREBAY_CHECK((*source)->read_at(at, part));
    sum.add(at, part);
  }
  return sum.value() == file.crc64;
}

int64_t seconds_now() { return static_cast<int64_t>(std::time(nullptr)); }

class Builder {
 public:
  explicit Builder(const scr::Places& places) : places_(places) {}

  // What is known of the set `name` beside the index, checked; not_found if nothing is.
  Result<scr::IndexEntry> entry_of(const std::string& name) const {
    FOREBAY_TRY(const std::string set, scr::set_of_name(name));
    const std::string path = scr::files_path(places_.sets, set);
    if (std::filesystem::exists(path)) return entry_of_prefix(name, path);
    return entry_of_store(name, set);
  }

  // The names of all sets that are not in the index alone, oldest first.
  Result<std::vector<std::string>> names(const scr::Index& index) const {
    std::vector<std::string> names;
    if (std::filesystem::exists(places_.sets)) {
      FOREBAY_TRY(auto files, store::names_in(places_.sets));
      std::ranges::sort(files);
      for (const std::string& file : files)
        if (file.ends_with(".json")) names.push_back(index.name_of(file.substr(0, file.size() - 5)));
    }
    FOREBAY_TRY(const auto sets, stored_sets());
    for (const store::SetInfo& set : sets)
      if (set.manifest) names.push_back(index.name_of(store::application_name(*set.manifest)));
    return names;
  }

  // When the sets of the store became durable, in seconds since 1970.
  Result<std::map<std::string, int64_t>> stored() const {
    std::map<std::string, int64_t> times;
    FOREBAY_TRY(const auto sets, stored_sets());
    for (const store::SetInfo& set : sets)
      if (set.manifest) times[store::application_name(*set.manifest)] = set.manifest->created_ns / 1'000'000'000;
    return times;
  }

 private:
  // Those of the prefix, oldest first; none where there is no store.
  Result<std::vector<store::SetInfo>> stored_sets() const {
    if (!std::filesystem::exists(places_.store)) return std::vector<store::SetInfo>();
    FOREBAY_TRY(const auto store, store::Store::open(places_.store));
    FOREBAY_TRY(const auto sets, store.list());
    return store::of_series(sets, places_.series);
  }

  Result<scr::IndexEntry> entry_of_prefix(const std::string& name, const std::string& path) const {
    FOREBAY_TRY(const auto text, store::read_text(path, kMostFileList));
    FOREBAY_TRY(const auto files, scr::parse_files(text, path));
    scr::IndexEntry entry{.name = name, .is_output = true, .place = scr::SetPlace::prefix, .flushed = seconds_now()};
    std::set<std::string_view> seen;  // a file of several ranks is there for each
    for (const scr::PrefixFile& file : files) {
      entry.ranks = std::max(entry.ranks, file.rank + 1);
      if (!seen.insert(file.name).second) continue;
      FOREBAY_TRY(const bool is_same, is_unchanged(places_.prefix + "/" + file.name, file));
      entry.is_valid &= is_same;
    }
    return entry;
  }

  Result<scr::IndexEntry> entry_of_store(const std::string& name, const std::string& set) const {
    FOREBAY_TRY(const auto sets, stored_sets());
    for (const store::SetInfo& info : sets | std::views::reverse) {
      if (!info.manifest || store::application_name(*info.manifest) != set) continue;
      return scr::IndexEntry{.name = name,
                             .is_valid = !info.refused,
                             .flushed = info.manifest->created_ns / 1'000'000'000,
                             .ranks = static_cast<uint32_t>(info.manifest->ranks)};
    }
    return fail(ErrorKind::not_found, fmt::format("there is no set '{}'", name), places_.own, {},
                "its files are not listed there, and the store does not have it");
  }

  const scr::Places& places_;
};

void put_at_end(scr::Index& index, scr::IndexEntry entry) {
  const scr::IndexEntry* const old = index.find(entry.name);
  int64_t newest = 0;
  for (const scr::IndexEntry& one : index.entries) newest = std::max(newest, one.id);
  entry.id = old != nullptr ? old->id : newest + 1;
  entry.step = old != nullptr ? old->step : index.last_step() + 1;
  index.add(std::move(entry));
}

// By a set's number in the index, or all that there is.
Result<void> build(const Builder& builder, scr::Index& index, const std::string& what) {
  std::vector<std::string> names;
  if (what == "all") {
    FOREBAY_TRY(names, builder.names(index));
  } else {
    int64_t id = 0;
    const auto [end, error] = std::from_chars(what.data(), what.data() + what.size(), id);
    if (error != std::errc() || end != what.data() + what.size())
      return fail(ErrorKind::invalid_argument, fmt::format("'{}' is no number of a set", what), {}, {},
                  "--build takes a number of the column DSET, or all");
    const auto found = std::ranges::find(index.entries, id, &scr::IndexEntry::id);
    if (found == index.entries.end()) return fail(ErrorKind::not_found, fmt::format("the index has no set {}", id));
    names.push_back(found->name);
  }
  for (const std::string& name : names) {
    FOREBAY_TRY(auto entry, builder.entry_of(name));
    if (const scr::IndexEntry* const old = index.find(name)) {
      entry.is_checkpoint = old->is_checkpoint;
      entry.is_output = old->is_output;
    }
    put_at_end(index, std::move(entry));
  }
  return {};
}

}  // namespace

Result<ExitCode> scr_index(const scr::Places& places, const IndexWords& words, const Console& console) {
  auto read = scr::read_index(places.index);
  if (!read && words.build != "all") return std::unexpected(read.error());
  scr::Index index = read ? *std::move(read) : scr::Index();
  const scr::Index before = index;
  const Builder builder(places);
  if (!words.build.empty()) FOREBAY_CHECK(build(builder, index, words.build));
  if (!words.add.empty()) {
    FOREBAY_TRY(const std::string set, scr::set_of_name(words.add));
    FOREBAY_CHECK(scr::take_back_stored(places, set));
    FOREBAY_TRY(auto entry, builder.entry_of(words.add));
    put_at_end(index, std::move(entry));
  }
  if (!words.drop.empty()) {
    FOREBAY_TRY(const std::string set, scr::set_of_name(words.drop));
    if (!index.drop(words.drop)) return no_such_set(places, words.drop);
    FOREBAY_CHECK(scr::drop_stored(places, set));
  }
  if (!words.current.empty()) {
    if (index.find(words.current) == nullptr) return no_such_set(places, words.current);
    index.current = words.current;
  }
  if (index != before) FOREBAY_CHECK(scr::write_index(places.index, index));
  FOREBAY_TRY(const auto stored, builder.stored());
  print_list(index, stored, console);
  return ExitCode::ok;
}

}  // namespace forebay::cli

#include "launch/scr/index.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/catalogue.h"
#include "launch/scr/set_names.h"
#include "store/files.h"
#include "store/sealed_text.h"

namespace forebay::scr {
namespace {

using nlohmann::json;

constexpr std::string_view kIndexTag = "forebay-scr-index", kFilesTag = "forebay-scr-files";
constexpr uint64_t kIndexVersion = 1, kMostIndexBytes = 1u << 30;

std::unexpected<Error> broken_index(const std::string& path) {
  return fail(ErrorKind::corrupt, "lacks a member, or one makes no sense", path, {},
              "'forebay scr index --build' makes it anew");
}

json json_of(const IndexEntry& entry) {
  return {{"name", entry.name},
          {"id", entry.id},
          {"step", entry.step},
          {"checkpoint", entry.is_checkpoint},
          {"output", entry.is_output},
          {"valid", entry.is_valid},
          {"place", entry.place == SetPlace::prefix ? "prefix" : "cache"},
          {"flushed", entry.flushed},
          {"ranks", entry.ranks}};
}

template <class Value>
bool take_member(const json& from, const char* name, Value& to) {
  const auto found = from.find(name);
  if (found == from.end()) return false;
  if constexpr (std::is_same_v<Value, bool>) {
    if (!found->is_boolean()) return false;
  } else if constexpr (std::is_same_v<Value, std::string>) {
    if (!found->is_string()) return false;
  } else if (!found->is_number_integer()) {
    return false;
  }
  to = found->get<Value>();
  return true;
}

std::optional<IndexEntry> entry_of(const json& from) {
  IndexEntry entry;
  std::string place;
  if (!from.is_object() || !take_member(from, "name", entry.name) || !take_member(from, "id", entry.id) ||
      !take_member(from, "step", entry.step) || !take_member(from, "checkpoint", entry.is_checkpoint) ||
      !take_member(from, "output", entry.is_output) || !take_member(from, "valid", entry.is_valid) ||
      !take_member(from, "place", place) || !take_member(from, "flushed", entry.flushed) ||
      !take_member(from, "ranks", entry.ranks) || entry.name.empty() || (place != "cache" && place != "prefix"))
    return std::nullopt;
  entry.place = place == "prefix" ? SetPlace::prefix : SetPlace::cache;
  return entry;
}

}  // namespace

const IndexEntry* Index::find(std::string_view name) const {
  const auto found = std::ranges::find(entries, name, &IndexEntry::name);
  return found == entries.end() ? nullptr : &*found;
}

IndexEntry* Index::find(std::string_view name) {
  const auto found = std::ranges::find(entries, name, &IndexEntry::name);
  return found == entries.end() ? nullptr : &*found;
}

std::string Index::name_of(std::string_view set) const {
  const auto found = std::ranges::find_if(entries, [&](const IndexEntry& entry) {
    const auto its = set_of_name(entry.name);
    return its && *its == set;
  });
  return found != entries.end() ? found->name : name_of_set(set);
}

void Index::add(IndexEntry entry) {
  std::erase_if(entries, [&](const IndexEntry& old) { return old.name == entry.name; });
  entries.push_back(std::move(entry));
  std::ranges::stable_sort(entries, {}, &IndexEntry::step);
  const auto is_of_cache = [](const IndexEntry& one) { return one.place == SetPlace::cache && one.flushed == 0; };
  for (auto kept = static_cast<size_t>(std::ranges::count_if(entries, is_of_cache)); kept > kKeptCached; --kept)
    entries.erase(std::ranges::find_if(entries, is_of_cache));
}

bool Index::drop(std::string_view name) {
  if (current == name) current.clear();
  return std::erase_if(entries, [&](const IndexEntry& entry) { return entry.name == name; }) > 0;
}

void Index::remove(std::string_view name) {
  const IndexEntry* const entry = find(name);
  deleted.push_back({std::string(name), entry != nullptr ? entry->step : last_step()});
  if (deleted.size() > kKeptCached) deleted.erase(deleted.begin());
  drop(name);
}

bool Index::is_deleted(std::string_view name, int64_t step) const {
  return std::ranges::any_of(deleted, [&](const Deleted& one) { return one.name == name && step <= one.step; });
}

int64_t Index::last_step() const {
  int64_t last = newest_step();
  for (const Deleted& one : deleted) last = std::max(last, one.step);
  return last;
}

std::string print_index(const Index& index) {
  json sets = json::array(), deleted = json::array();
  for (const IndexEntry& entry : index.entries) sets.push_back(json_of(entry));
  for (const Index::Deleted& one : index.deleted) deleted.push_back({one.name, one.step});
  return store::seal(kIndexTag, {{"version", kIndexVersion},
                                 {"current", index.current},
                                 {"sets", std::move(sets)},
                                 {"deleted", std::move(deleted)}});
}

Result<Index> parse_index(std::string_view text, const std::string& path) {
  FOREBAY_TRY(const json body, store::unseal(kIndexTag, text, kIndexVersion, path));
  Index index;
  const auto sets = body.find("sets");
  if (!take_member(body, "current", index.current) || sets == body.end() || !sets->is_array())
    return broken_index(path);
  for (const json& one : *sets) {
    auto entry = entry_of(one);
    if (!entry) return broken_index(path);
    index.entries.push_back(std::move(*entry));
  }
  const auto deleted = body.find("deleted");  // not there: nothing was
  if (deleted == body.end()) return index;
  if (!deleted->is_array()) return broken_index(path);
  for (const json& one : *deleted) {
    if (!one.is_array() || one.size() != 2 || !one[0].is_string() || !one[1].is_number_integer())
      return broken_index(path);
    index.deleted.push_back({one[0].get<std::string>(), one[1].get<int64_t>()});
  }
  return index;
}

Result<Index> read_index(const std::string& path) {
  const auto text = store::read_text(path, kMostIndexBytes);
  if (!text && text.error().kind == ErrorKind::not_found) return Index{};
  FOREBAY_CHECK(text);
  return parse_index(*text, path);
}

Result<void> write_index(const std::string& path, const Index& index) {
  const size_t slash = path.rfind('/');
  FOREBAY_CHECK(store::write_text(path.substr(0, slash), path.substr(slash + 1), print_index(index)));
  return store::sync_directory(path.substr(0, slash));
}

std::string print_files(const std::vector<PrefixFile>& files) {
  json list = json::array();
  for (const PrefixFile& file : files) list.push_back({file.name, file.size, file.crc64, file.rank});
  return store::seal(kFilesTag, {{"version", kIndexVersion}, {"files", std::move(list)}});
}

Result<std::vector<PrefixFile>> parse_files(std::string_view text, const std::string& path) {
  FOREBAY_TRY(const json body, store::unseal(kFilesTag, text, kIndexVersion, path));
  const auto list = body.find("files");
  if (list == body.end() || !list->is_array()) return broken_index(path);
  std::vector<PrefixFile> files;
  for (const json& one : *list) {
    if (!one.is_array() || one.size() != 4 || !one[0].is_string() || !one[1].is_number_unsigned() ||
        !one[2].is_number_unsigned() || !one[3].is_number_unsigned())
      return broken_index(path);
    files.push_back(
        {one[0].get<std::string>(), one[1].get<uint64_t>(), one[2].get<uint64_t>(), one[3].get<uint32_t>()});
    if (!is_safe_name(files.back().name)) return broken_index(path);
  }
  return files;
}

std::string files_path(const std::string& sets, const std::string& set) { return sets + "/" + set + ".json"; }

}  // namespace forebay::scr

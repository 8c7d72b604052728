#include "launch/gather/set_note.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/catalogue.h"
#include "store/sealed_text.h"

namespace forebay::launch {
namespace {

using nlohmann::json;

constexpr std::string_view kSetNoteTag = "forebay-set";
constexpr int kSetNoteVersion = 1;

json files_of(const rules::StoredSet& set) {
  json rows = json::array();
  for (const auto& file : set.members) rows.push_back({{"path", file.path}, {"size", file.size}, {"rank", file.rank}});
  return rows;
}

json companions_of(const rules::StoredSet& set) {
  json rows = json::array();
  for (const auto& one : set.companions)
    rows.push_back(
        {{"path", one.path}, {"length", one.length}, {"appended", one.is_appended}, {"stored", one.is_stored}});
  return rows;
}

void read_files(const json& body, rules::StoredSet& set) {
  for (const json& row : body.at("files"))
    set.members.push_back(
        {row.at("path").get<std::string>(), row.at("size").get<uint64_t>(), row.at("rank").get<std::string>()});
  for (const json& row : body.at("companions"))
    set.companions.push_back({row.at("path").get<std::string>(), row.at("length").get<uint64_t>(),
                              row.at("appended").get<bool>(), row.at("stored").get<bool>()});
}

bool has_safe_names(const rules::StoredSet& set) {
  const auto is_safe = [](const auto& file) { return is_safe_name(file.path); };
  return std::ranges::all_of(set.members, is_safe) && std::ranges::all_of(set.companions, is_safe);
}

}  // namespace

std::string encode_set_note(const SetNote& note) {
  const rules::StoredSet& set = note.set;
  json body{{"version", kSetNoteVersion}, {"rule", note.rule},
            {"label", set.id.label},      {"label_version", set.id.version},
            {"words", json::object()},    {"complete_ns", set.complete_ns},
            {"files", files_of(set)},     {"companions", companions_of(set)}};
  for (const auto& [name, value] : set.id.series) body["words"][name] = value;
  if (!note.suspicion.empty()) body["suspect"] = note.suspicion;
  return store::seal(kSetNoteTag, body);
}

Result<SetNote> parse_set_note(std::string_view text, const std::string& path) {
  FOREBAY_TRY(const json body, store::unseal(kSetNoteTag, text, kSetNoteVersion, path));
  SetNote note;
  try {
    note.rule = body.at("rule").get<std::string>();
    note.set.id.label = body.at("label").get<std::string>();
    note.set.id.version = body.at("label_version").get<uint64_t>();
    note.set.complete_ns = body.at("complete_ns").get<int64_t>();
    for (const auto& [name, value] : body.at("words").items()) note.set.id.series[name] = value.get<std::string>();
    if (body.contains("suspect")) note.suspicion = body["suspect"].get<std::string>();
    read_files(body, note.set);
  } catch (const json::exception& error) {
    return fail(ErrorKind::corrupt, error.what(), path);
  }
  if (!has_safe_names(note.set)) return fail(ErrorKind::corrupt, "a path would leave the set's directory", path);
  return note;
}

}  // namespace forebay::launch

#include "store/listing.h"

#include <algorithm>
#include <array>
#include <mutex>
#include <utility>

#include <fmt/format.h>

#include "base/parallel_for.h"
#include "store/files.h"
#include "store/manifest_json.h"
#include "store/sealed_text.h"
#include "store/set_aside.h"

namespace forebay::store {

using nlohmann::json;

namespace {

constexpr std::string_view kListingTag = "forebay-listing";
constexpr uint64_t kListingVersion = 2;           // who writes version 1 does not know of ordinals
constexpr uint64_t kMaxListingBytes = 64 << 20;   // more than 100,000 sets
constexpr int kListingDepth = kMaxJsonDepth + 3;  // of a manifest in an entry of a list

Manifest outline_of(const Manifest& manifest) {
  Manifest outline{.name = manifest.name,
                   .application_name = manifest.application_name,
                   .step = manifest.step,
                   .ordinal = manifest.ordinal,
                   .created_ns = manifest.created_ns,
                   .profile = manifest.profile,
                   .scheme = manifest.scheme,
                   .ranks = manifest.ranks,
                   .group_size = manifest.group_size,
                   .since_chosen = manifest.since_chosen,
                   .parents = manifest.parents,
                   .since_full = manifest.since_full,
                   .suspicion = manifest.suspicion};
  outline.origin.series = manifest.origin.series;
  return outline;
}

json to_json(const Stamp& stamp) { return json(stamp.parts); }

bool read_stamp(const json& from, Stamp& stamp) {
  if (!from.is_array() || from.size() != stamp.parts.size()) return false;
  for (size_t i = 0; i < stamp.parts.size(); ++i) {
    if (!from[i].is_number_unsigned()) return false;
    stamp.parts[i] = from[i].get<uint64_t>();
  }
  return true;
}

bool has_names(const SetTable& sets, const std::vector<std::string>& names) {
  return std::ranges::equal(sets, names, {}, &SetTable::value_type::first);
}

// `names` as names_of_sets() has them.
size_t refresh_as(const std::shared_ptr<const Backend>& backend, const std::vector<std::string>& names,
                  SetTable& table) {
  std::erase_if(table, [&](const auto& entry) { return !std::ranges::binary_search(names, entry.first); });
  std::mutex mutex;
  size_t count = 0;
  (void)parallel_for(names.size(), kCallsAtOnce, [&](size_t i) -> Result<void> {
    const std::string& name = names[i];
    Stamp known;
    {
      const std::lock_guard lock(mutex);
      const auto at = table.find(name);
      if (at != table.end() && at->second.manifest) known = at->second.stamp;
    }
    if (known.is_set() && known == backend->manifest_stamp(name)) return {};
    auto set = read_set(backend, name);
    const std::lock_guard lock(mutex);
    ++count;
    if (set)
      table.insert_or_assign(name, *std::move(set));
    else
      table.erase(name);  // removed since
    return {};
  });
  return count;
}

bool is_worth_keeping(const Listing& was, const Listing& is, size_t read) {
  constexpr size_t kShare = 16;
  if (is.sets.size() < kFewestListed) return false;
  const bool is_up_to_date = was.is_settled && was.sets_stamp == is.sets_stamp && read == 0;
  return read > is.sets.size() / kShare || (is.is_settled && !is_up_to_date);
}

}  // namespace

Result<std::vector<std::string>> names_of_sets(const Backend& backend) {
  FOREBAY_TRY(auto names, backend.set_names());
  std::erase_if(names, [](const std::string& name) { return !is_set_name(name); });
  std::ranges::sort(names);
  return names;
}

// A repair needs no manifest. What is no set at all has a hint of its own.
static Result<Manifest> manifest_of(const Result<StampedText>& stamped, const SetInfo& info, const Backend& backend) {
  const std::string hint =
      fmt::format("`forebay repair {} {}` saves what the containers have, as a new set", backend.path(), info.name);
  if (!stamped) {
    Error error = stamped.error();
    if (error.kind == ErrorKind::corrupt && error.hint.empty()) error.hint = hint;
    return std::unexpected(std::move(error));
  }
  const std::string path = info.files.path_of("manifest");
  auto manifest = parse_manifest(stamped->text, path);
  if (!manifest && manifest.error().kind == ErrorKind::corrupt) manifest.error().hint = hint;
  if (manifest && manifest->name != info.name)
    return fail(ErrorKind::corrupt, fmt::format("the manifest is that of set '{}'", manifest->name), path, {}, hint);
  return manifest;
}

Result<SetInfo> read_set(const std::shared_ptr<const Backend>& backend, const std::string& name) {
  const auto stamped = backend->manifest(name);
  if (!stamped && stamped.error().kind == ErrorKind::not_found) return std::unexpected(stamped.error());
  SetInfo info{name, SetFiles(backend, name), {}};
  info.manifest = manifest_of(stamped, info, *backend);
  if (stamped) info.stamp = stamped->stamp;
  const auto note = backend->why_set_aside(name, kMaxSetAsideBytes);
  if (note)
    info.refused = parse_set_aside(*note, info.files.path_of(".set-aside")).value_or("its note is damaged");
  else if (note.error().kind == ErrorKind::limit || note.error().kind == ErrorKind::corrupt)
    info.refused = "its note is damaged";
  return info;
}

Result<size_t> refresh(const std::shared_ptr<const Backend>& backend, SetTable& table) {
  FOREBAY_TRY(const auto names, names_of_sets(*backend));
  return refresh_as(backend, names, table);
}

Result<SetTable> outline(const std::shared_ptr<const Backend>& backend, bool is_fresh) {
  Listing now;
  now.sets_stamp = backend->sets_stamp();  // before the names are read: what changes meanwhile changes it, too
  now.is_settled = backend->is_settled(now.sets_stamp);
  FOREBAY_TRY(const auto names, names_of_sets(*backend));
  Listing kept;
  if (!is_fresh && names.size() >= kFewestListed) {
    const auto text = backend->listing(kMaxListingBytes);
    if (text) kept = parse_listing(*text, backend).value_or(Listing());
  }
  now.sets = std::move(kept.sets);
  if (kept.is_settled && kept.sets_stamp == now.sets_stamp && has_names(now.sets, names)) {
    for (auto at = now.sets.begin(); at != now.sets.end();) {
      const auto entry = at++;
      if (entry->second.manifest) continue;  // what could not be read may have been put back, or gone
      auto again = read_set(backend, entry->first);
      if (again)
        entry->second = *std::move(again);
      else
        now.sets.erase(entry);
    }
    return std::move(now.sets);
  }
  const size_t read = refresh_as(backend, names, now.sets);
  for (auto& [name, set] : now.sets)
    if (set.manifest) set.manifest = outline_of(*set.manifest);
  if (is_worth_keeping(kept, now, read)) {
    const std::string text = serialise(now);
    if (text.size() <= kMaxListingBytes) backend->put_listing(text);
  }
  return std::move(now.sets);
}

std::string serialise(const Listing& listing) {
  json sets = json::array(), unreadable = json::array();
  for (const auto& [name, set] : listing.sets)
    if (set.manifest)
      sets.push_back({{"stamp", to_json(set.stamp)}, {"manifest", to_json(*set.manifest)}});
    else
      unreadable.push_back(name);
  return seal(kListingTag, {{"version", kListingVersion},
                            {"about", "what the manifests of the sets say; a cache, which may be removed"},
                            {"sets_stamp", to_json(listing.sets_stamp)},
                            {"settled", listing.is_settled},
                            {"sets", std::move(sets)},
                            {"unreadable", std::move(unreadable)}});
}

Result<Listing> parse_listing(std::string_view text, const std::shared_ptr<const Backend>& backend) {
  const std::string path = backend->path() + "/listing";
  FOREBAY_TRY(const json body, unseal(kListingTag, text, kListingVersion, path, kListingDepth));
  const auto damaged = [&] { return fail(ErrorKind::corrupt, "a member of the listing is missing or wrong", path); };
  if (body["version"] != kListingVersion) return damaged();
  for (const char* member : {"sets_stamp", "settled", "sets", "unreadable"})
    if (!body.contains(member)) return damaged();
  Listing listing;
  if (!body["settled"].is_boolean() || !read_stamp(body["sets_stamp"], listing.sets_stamp)) return damaged();
  listing.is_settled = body["settled"].get<bool>();
  if (!body["sets"].is_array() || !body["unreadable"].is_array()) return damaged();
  for (const json& one : body["sets"]) {
    SetInfo set;
    if (!one.is_object() || !one.contains("stamp") || !one.contains("manifest") || !one["manifest"].is_object() ||
        !read_stamp(one["stamp"], set.stamp))
      return damaged();
    FOREBAY_TRY(set.manifest, manifest_from_json(one["manifest"], path));
    set.name = set.manifest->name;
    set.files = SetFiles(backend, set.name);
    const std::string name = set.name;
    if (!listing.sets.emplace(name, std::move(set)).second) return damaged();
  }
  for (const json& one : body["unreadable"]) {
    if (!one.is_string() || !is_set_name(one.get<std::string>())) return damaged();
    const auto name = one.get<std::string>();
    SetInfo set{name, SetFiles(backend, name), fail(ErrorKind::corrupt, "the manifest could not be read", path)};
    if (!listing.sets.emplace(name, std::move(set)).second) return damaged();
  }
  return listing;
}

}  // namespace forebay::store

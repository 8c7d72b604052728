#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <unordered_set>

#include <fmt/format.h>

#include "base/checksum.h"
#include "store/manifest_json.h"
#include "store/sealed_text.h"
#include "store/series.h"
#include "store/store.h"

namespace forebay::store {

using nlohmann::json;

namespace {

constexpr std::string_view kTag = "forebay-manifest";
constexpr uint64_t kVersion = 2;                // the newest
constexpr uint64_t kVersionWithoutParents = 1;  // who does not know of parents must not touch a set that has some
constexpr uint64_t kMostNumber = std::numeric_limits<int64_t>::max();

constexpr size_t kMostStages = 64;

uint64_t sum(const Manifest& manifest, uint64_t ContainerEntry::* member) {
  uint64_t total = 0;
  for (const ContainerEntry& container : manifest.containers) total += container.*member;
  return total;
}

// Reads the members of a JSON object, remembering whether one was missing or wrong.
class Members {
 public:
  explicit Members(const json& object) : object_(object) {}
  bool all_good() const { return good_; }

  void read(const char* key, uint64_t& to) {
    const json* value = find(key);
    if (value && value->is_number_unsigned() && value->get<uint64_t>() <= kMostNumber)
      to = value->get<uint64_t>();
    else
      good_ = false;
  }

  void read(const char* key, int64_t& to) {
    const json* value = find(key);
    if (value && value->is_number_integer() && !(value->is_number_unsigned() && value->get<uint64_t>() > kMostNumber))
      to = value->get<int64_t>();
    else
      good_ = false;
  }

  void read(const char* key, std::optional<int64_t>& to) {
    if (find(key)) read(key, to.emplace());
  }

  void read(const char* key, std::string& to) {
    const json* value = find(key);
    if (value && value->is_string())
      to = value->get_ref<const std::string&>();
    else
      good_ = false;
  }

  // Leaves `to` as it is where there is none.
  template <class Member>
  void read_optional(const char* key, Member& to) {
    if (find(key)) read(key, to);
  }

  void read_hash(const char* key, uint64_t& to) {
    std::string text;
    read(key, text);
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), to, 16);
    const bool is_lower_case = text.find_first_of("ABCDEF") == text.npos;
    if (text.size() != 16 || error != std::errc{} || end != text.data() + text.size() || !is_lower_case) good_ = false;
  }

 private:
  const json* find(const char* key) const {
    const auto found = object_.find(key);
    return found == object_.end() ? nullptr : &*found;
  }

  const json& object_;
  bool good_ = true;
};

bool sums_fit(const Manifest& manifest) {
  for (const auto member : {&ContainerEntry::bytes, &ContainerEntry::raw_bytes, &ContainerEntry::files}) {
    uint64_t total = 0;
    for (const ContainerEntry& container : manifest.containers)
      if (container.*member > kMostNumber - total)
        return false;
      else
        total += container.*member;
  }
  return true;
}

// The number is from 1 on where it is told.
bool read_ordinal(const json& body, uint64_t& ordinal) {
  Members members(body);
  members.read_optional("ordinal", ordinal);
  return members.all_good() && (ordinal != 0 || !body.contains("ordinal"));
}

bool is_container_name(const std::string& name) { return is_set_name(name) && name != "manifest"; }

bool names_are_good(const Manifest& manifest) {
  std::unordered_set<std::string_view> seen;
  const auto is_new = [&](const ContainerEntry& container) { return seen.insert(container.name).second; };
  std::unordered_set<std::string_view> parent_names;
  const auto is_good_parent = [&](const ParentEntry& parent) {
    return is_set_name(parent.name) && parent.name != manifest.name && parent_names.insert(parent.name).second;
  };
  const bool is_told = !manifest.application_name.empty();
  return is_set_name(manifest.name) && (!is_told || is_set_name(manifest.application_name)) &&
         is_series_name(manifest.origin.series) && std::ranges::all_of(manifest.lost_containers, is_container_name) &&
         std::ranges::all_of(manifest.parents, is_good_parent) &&
         std::ranges::all_of(manifest.containers, is_container_name, &ContainerEntry::name) &&
         std::ranges::all_of(manifest.containers, is_new);
}

// Some manifests lack the list: only repairs write "lost_containers", and only sets with loss have "lossy", and only
// those of jobs "sources".
bool read_texts(const json& body, const char* key, std::vector<std::string>& texts) {
  const auto list = body.find(key);
  if (list == body.end()) return true;
  if (!list->is_array()) return false;
  for (const json& item : *list) {
    if (!item.is_string()) return false;
    texts.push_back(item.get<std::string>());
  }
  return true;
}

// Manifests of earlier versions do not tell them.
bool read_ranks(const json& item, ContainerEntry& container) {
  if (!item.contains("first_rank") && !item.contains("last_rank")) return true;
  Members members(item);
  uint64_t first = 0, last = 0;
  members.read("first_rank", first);
  members.read("last_rank", last);
  if (first > last || last > std::numeric_limits<uint32_t>::max()) return false;
  container.ranks = {static_cast<uint32_t>(first), static_cast<uint32_t>(last)};
  return members.all_good();
}

bool read_containers(const json& body, std::vector<ContainerEntry>& containers) {
  const auto list = body.find("containers");
  if (list == body.end() || !list->is_array()) return false;
  for (const json& item : *list) {
    if (!item.is_object()) return false;
    Members members(item);
    ContainerEntry& container = containers.emplace_back();
    members.read("name", container.name);
    members.read("bytes", container.bytes);
    members.read("raw_bytes", container.raw_bytes);
    members.read("files", container.files);
    members.read_hash("tail_hash", container.tail_hash);
    if (!members.all_good() || !read_ranks(item, container) || !read_texts(item, "names", container.names))
      return false;
  }
  return true;
}

// Only manifests of sets with frames in others have the list, and then how long it is since the last without.
bool read_parents(const json& body, Manifest& manifest) {
  const auto list = body.find("bases");
  if (list == body.end()) return true;
  if (!list->is_array() || list->empty()) return false;
  for (const json& item : *list) {
    if (!item.is_object()) return false;
    Members members(item);
    ParentEntry& parent = manifest.parents.emplace_back();
    members.read("name", parent.name);
    members.read("created_ns", parent.created_ns);
    members.read("frames", parent.frames);
    members.read("raw_bytes", parent.raw_bytes);
    if (!members.all_good()) return false;
  }
  Members members(body);
  members.read("since_full", manifest.since_full);
  return members.all_good() && manifest.since_full > 0;
}

// Sets that were written before there were such times have none.
bool read_stages(const json& body, std::vector<StageTime>& stages) {
  const auto list = body.find("stages");
  if (list == body.end()) return true;
  if (!list->is_array() || list->size() > kMostStages) return false;
  for (const json& item : *list) {
    if (!item.is_object()) return false;
    Members members(item);
    StageTime& stage = stages.emplace_back();
    members.read("stage", stage.stage);
    members.read_optional("clock_ns", stage.clock_ns);
    members.read_optional("cpu_ns", stage.cpu_ns);
    if (!members.all_good() || !is_set_name(stage.stage)) return false;
  }
  return true;
}

json json_stages(const Manifest& manifest) {
  json list = json::array();
  for (const StageTime& stage : manifest.stages) {
    json item = {{"stage", stage.stage}};
    if (stage.clock_ns > 0) item["clock_ns"] = stage.clock_ns;
    if (stage.cpu_ns > 0) item["cpu_ns"] = stage.cpu_ns;
    list.push_back(std::move(item));
  }
  return list;
}

bool read_origin(const json& body, Origin& origin) {
  Members members(body);
  members.read_optional("series", origin.series);
  members.read_optional("run", origin.run);
  members.read_optional("host", origin.host);
  members.read_optional("command", origin.command);
  return members.all_good();
}

void put_origin(const Origin& origin, json& body) {
  if (origin.series != kDefaultSeries) body["series"] = origin.series;
  if (!origin.run.empty()) body["run"] = origin.run;
  if (!origin.host.empty()) body["host"] = origin.host;
  if (!origin.command.empty()) body["command"] = origin.command;
}

json json_parents(const Manifest& manifest) {
  json list = json::array();
  for (const ParentEntry& parent : manifest.parents)
    list.push_back({{"name", parent.name},
                    {"created_ns", parent.created_ns},
                    {"frames", parent.frames},
                    {"raw_bytes", parent.raw_bytes}});
  return list;
}

json json_container(const ContainerEntry& container) {
  json item = {{"name", container.name},
               {"bytes", container.bytes},
               {"raw_bytes", container.raw_bytes},
               {"files", container.files},
               {"tail_hash", fmt::format("{:016x}", container.tail_hash)}};
  if (container.ranks) {
    item["first_rank"] = container.ranks->first;
    item["last_rank"] = container.ranks->last;
  }
  if (!container.names.empty()) item["names"] = container.names;
  return item;
}

}  // namespace

bool refers_to(const Manifest& manifest, std::string_view name, int64_t created_ns) {
  return std::ranges::any_of(manifest.parents, [&](const ParentEntry& parent) {
    return parent.name == name && parent.created_ns == created_ns;
  });
}

uint64_t Manifest::bytes() const { return sum(*this, &ContainerEntry::bytes); }
uint64_t Manifest::raw_bytes() const { return sum(*this, &ContainerEntry::raw_bytes); }
uint64_t Manifest::files() const { return sum(*this, &ContainerEntry::files); }

json to_json(const Manifest& manifest) {
  json containers = json::array();
  for (const ContainerEntry& container : manifest.containers) containers.push_back(json_container(container));
  json body = {{"version", manifest.parents.empty() ? kVersionWithoutParents : kVersion},
               {"name", manifest.name},
               {"created_ns", manifest.created_ns},
               {"software", manifest.software},
               {"profile", manifest.profile},
               {"scheme", manifest.scheme},
               {"ranks", manifest.ranks},
               {"group_size", manifest.group_size},
               {"containers", std::move(containers)}};
  if (!manifest.application_name.empty()) body["application_name"] = manifest.application_name;
  if (manifest.step) body["step"] = *manifest.step;
  if (manifest.ordinal != 0) body["ordinal"] = manifest.ordinal;
  if (manifest.since_chosen) body["since_chosen"] = *manifest.since_chosen;
  if (!manifest.lossy.empty()) body["lossy"] = manifest.lossy;
  if (!manifest.sources.empty()) body["sources"] = manifest.sources;
  if (!manifest.lost_containers.empty()) body["lost_containers"] = manifest.lost_containers;
  if (!manifest.repaired_from.empty()) body["repaired_from"] = manifest.repaired_from;
  if (manifest.damaged_files > 0) body["damaged_files"] = manifest.damaged_files;
  if (!manifest.parents.empty()) {
    body["bases"] = json_parents(manifest);
    body["since_full"] = manifest.since_full;
  }
  if (!manifest.stages.empty()) body["stages"] = json_stages(manifest);
  if (!manifest.suspicion.empty()) body["suspect"] = manifest.suspicion;
  put_origin(manifest.origin, body);
  return body;
}

std::string serialise(const Manifest& manifest) { return seal(kTag, to_json(manifest)); }

Result<Manifest> parse_manifest(std::string_view text, const std::string& path) {
  FOREBAY_TRY(const json body, unseal(kTag, text, kVersion, path));
  return manifest_from_json(body, path);
}

Result<Manifest> manifest_from_json(const json& body, const std::string& path) {
  Manifest manifest;
  Members members(body);
  members.read("name", manifest.name);
  members.read_optional("application_name", manifest.application_name);
  members.read("step", manifest.step);
  members.read("since_chosen", manifest.since_chosen);
  members.read("created_ns", manifest.created_ns);
  members.read("software", manifest.software);
  members.read("profile", manifest.profile);
  members.read("scheme", manifest.scheme);
  members.read("ranks", manifest.ranks);
  members.read("group_size", manifest.group_size);
  members.read_optional("repaired_from", manifest.repaired_from);
  members.read_optional("damaged_files", manifest.damaged_files);
  members.read_optional("suspect", manifest.suspicion);
  const bool good = read_containers(body, manifest.containers) &&
                    read_texts(body, "lost_containers", manifest.lost_containers) &&
                    read_texts(body, "lossy", manifest.lossy) && read_texts(body, "sources", manifest.sources) &&
                    read_parents(body, manifest) && read_stages(body, manifest.stages) &&
                    read_origin(body, manifest.origin) && read_ordinal(body, manifest.ordinal) && members.all_good();
  if (!good) return fail(ErrorKind::corrupt, "a member of the manifest is missing or of the wrong type", path);
  if (!names_are_good(manifest)) return fail(ErrorKind::corrupt, "the manifest has a name that is not allowed", path);
  if (!sums_fit(manifest)) return fail(ErrorKind::corrupt, "the manifest has impossible sizes", path);
  return manifest;
}

Result<uint64_t> tail_hash(const ByteSource& container) {
  constexpr uint64_t kTail = 64;
  std::array<std::byte, kTail> buffer;
  const auto tail = std::span(buffer).first(std::min(container.size(), kTail));
  FOREBAY_CHECK(container.read_at(container.size() - tail.size(), tail));
  return hash64(tail);
}

}  // namespace forebay::store

#include "engine/pack/group_report.h"

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include <fmt/format.h>

#include "engine/pack/parent_matcher.h"
#include "engine/set/parent_frames.h"
#include "forebay/version.h"

namespace forebay::engine {

using Json = nlohmann::json;

void StageSeconds::add(const StageSeconds& other) {
  fetch += other.fetch;
  encode += other.encode;
  write += other.write;
}

namespace {

std::unexpected<Error> bad_report(const std::string& what) {
  return fail(ErrorKind::corrupt, "report of a rank group: " + what);
}

Json to_json(const std::vector<store::ParentEntry>& parents) {
  Json all = Json::array();
  for (const store::ParentEntry& parent : parents) all.push_back({parent.name, parent.frames, parent.raw_bytes});
  return all;
}

Json to_json(const std::vector<LossyOutcome>& outcomes) {
  Json all = Json::array();
  for (const LossyOutcome& o : outcomes) all.push_back({o.matches, o.variables, o.frames, o.error});
  return all;
}

Json to_json(const std::optional<store::RankRange>& ranks) {
  return ranks ? Json{ranks->first, ranks->last} : Json::array();
}

Json to_json(const GroupReport& report) {
  return {{"name", report.entry.name},
          {"bytes", report.entry.bytes},
          {"raw_bytes", report.entry.raw_bytes},
          {"files", report.entry.files},
          {"tail_hash", report.entry.tail_hash},
          {"ranks", to_json(report.entry.ranks)},
          {"names", report.entry.names},
          {"variables", report.variables},
          {"frames", report.frames},
          {"payload_bytes", report.payload_bytes},
          {"cpu_seconds", {report.cpu_seconds.fetch, report.cpu_seconds.encode, report.cpu_seconds.write}},
          {"parents", to_json(report.parents)},
          {"lossy", to_json(report.lossy)},
          {"remarks", report.remarks}};
}

std::string to_text(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

// Reads values whose types and places are the sender's word: notes that one is wrong, and goes on.
class Fields {
 public:
  bool ok() const { return wrong_.empty(); }
  const std::string& wrong() const { return wrong_; }

  void note(const char* name) {
    if (wrong_.empty()) wrong_ = name;
  }

  const Json& member(const Json& object, const char* name) {
    static const Json kNothing;
    if (object.is_object())
      if (const auto found = object.find(name); found != object.end()) return *found;
    note(name);
    return kNothing;
  }

  // The elements of an array; none if it is something else or has not `size` of them.
  std::vector<const Json*> elements(const Json& json, const char* name, std::optional<size_t> size = {}) {
    std::vector<const Json*> all;
    if (!json.is_array() || json.size() != size.value_or(json.size())) {
      note(name);
      all.assign(size.value_or(0), &json);
      return all;
    }
    for (const Json& element : json) all.push_back(&element);
    return all;
  }

  uint64_t number(const Json& json, const char* name) {
    if (json.is_number_unsigned()) return json.get<uint64_t>();
    note(name);
    return 0;
  }

  double real(const Json& json, const char* name) {
    if (json.is_number()) return json.get<double>();
    note(name);
    return 0;
  }

  std::string text(const Json& json, const char* name) {
    if (json.is_string()) return json.get<std::string>();
    note(name);
    return {};
  }

  // A name that a set or a container may have.
  std::string plain_name(const Json& json, const char* what) {
    std::string name = text(json, what);
    if (!store::is_set_name(name) || name == "manifest") note(what);
    return name;
  }

 private:
  std::string wrong_;
};

StageSeconds seconds_of(Fields& fields, const Json& json) {
  const auto all = fields.elements(json, "cpu_seconds", 3);
  return {.fetch = fields.real(*all[0], "cpu_seconds"),
          .encode = fields.real(*all[1], "cpu_seconds"),
          .write = fields.real(*all[2], "cpu_seconds")};
}

std::vector<LossyOutcome> lossy_of(Fields& fields, const Json& json) {
  std::vector<LossyOutcome> outcomes;
  for (const Json* one : fields.elements(json, "lossy")) {
    const auto o = fields.elements(*one, "lossy", 4);
    outcomes.push_back({.matches = fields.number(*o[0], "lossy"),
                        .variables = fields.number(*o[1], "lossy"),
                        .frames = fields.number(*o[2], "lossy"),
                        .error = fields.real(*o[3], "lossy")});
  }
  return outcomes;
}

std::vector<store::ParentEntry> parents_of(Fields& fields, const Json& json) {
  std::vector<store::ParentEntry> parents;
  for (const Json* one : fields.elements(json, "parents")) {
    const auto parent = fields.elements(*one, "parents", 3);
    parents.push_back({.name = fields.plain_name(*parent[0], "parents"),
                       .frames = fields.number(*parent[1], "parents"),
                       .raw_bytes = fields.number(*parent[2], "parents")});
  }
  return parents;
}

std::optional<store::RankRange> ranks_of(Fields& fields, const Json& json) {
  if (json.is_array() && json.empty()) return {};
  const auto both = fields.elements(json, "ranks", 2);
  const uint64_t first = fields.number(*both[0], "ranks"), last = fields.number(*both[1], "ranks");
  if (first > last || last > UINT32_MAX) fields.note("ranks");
  return store::RankRange{static_cast<uint32_t>(first), static_cast<uint32_t>(last)};
}

GroupReport report_of(Fields& fields, const Json& json) {
  const auto number = [&](const char* name) { return fields.number(fields.member(json, name), name); };
  GroupReport report{.entry = {.name = fields.plain_name(fields.member(json, "name"), "name"),
                               .bytes = number("bytes"),
                               .raw_bytes = number("raw_bytes"),
                               .files = number("files"),
                               .tail_hash = number("tail_hash"),
                               .ranks = ranks_of(fields, fields.member(json, "ranks"))},
                     .variables = number("variables"),
                     .frames = number("frames"),
                     .payload_bytes = number("payload_bytes"),
                     .lossy = lossy_of(fields, fields.member(json, "lossy")),
                     .parents = parents_of(fields, fields.member(json, "parents")),
                     .cpu_seconds = seconds_of(fields, fields.member(json, "cpu_seconds"))};
  for (const Json* name : fields.elements(fields.member(json, "names"), "names"))
    report.entry.names.push_back(fields.text(*name, "names"));
  for (const Json* remark : fields.elements(fields.member(json, "remarks"), "remarks"))
    report.remarks.push_back(fields.text(*remark, "remarks"));
  return report;
}

}  // namespace

std::string to_text(const GroupReport& report) { return to_text(to_json(report)); }

std::string to_text(const GroupReports& reports) {
  Json all = Json::array();
  for (const auto& [number, report] : reports) all.push_back({number, to_json(report)});
  return to_text(all);
}

Result<GroupReport> parse_group_report(std::string_view text) {
  Fields fields;
  GroupReport report = report_of(fields, Json::parse(text, nullptr, false));
  if (!fields.ok()) return bad_report("its '" + fields.wrong() + "' is missing or impossible");
  return report;
}

Result<GroupReports> parse_group_reports(std::string_view text) {
  Fields fields;
  GroupReports reports;
  const Json json = Json::parse(text, nullptr, false);
  for (const Json* one : fields.elements(json, "list")) {
    const auto pair = fields.elements(*one, "list", 2);
    const uint64_t number = fields.number(*pair[0], "number");
    if (!reports.try_emplace(number, report_of(fields, *pair[1])).second) return bad_report("a group has two");
  }
  if (!fields.ok()) return bad_report("its '" + fields.wrong() + "' is missing or impossible");
  return reports;
}

std::vector<LossyOutcome> sum_outcomes(const GroupReports& reports, size_t rules) {
  std::vector<LossyOutcome> outcomes(rules);
  for (const auto& [number, report] : reports)
    for (size_t i = 0; i < std::min(rules, report.lossy.size()); ++i) outcomes[i].add(report.lossy[i]);
  return outcomes;
}

namespace {

Result<void> add_parents(const store::Manifest& parent, const GroupReports& reports, store::Manifest& manifest) {
  for (const auto& [number, report] : reports)
    for (const store::ParentEntry& used : report.parents)
      add_parent(manifest.parents, used.name, used.frames, used.raw_bytes);
  const auto known = candidates(parent);
  for (store::ParentEntry& used : manifest.parents) {
    const auto found = std::ranges::find(known, used.name, &store::ParentEntry::name);
    if (found == known.end())
      return bad_report(fmt::format("it refers to '{}', which is no parent of the set", used.name));
    used.created_ns = found->created_ns;
  }
  if (!manifest.parents.empty()) manifest.since_full = parent.since_full + 1;
  return {};
}

int64_t now_ns() {
  const auto since_1970 = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(since_1970).count();
}

uint64_t nanoseconds(double seconds) { return seconds > 0 ? static_cast<uint64_t>(seconds * 1e9) : 0; }

// The stages on the clock, and where the processors' time went.
std::vector<store::StageTime> stage_times(const SetFacts& set, const GroupReports& reports) {
  StageSeconds cpu;
  for (const auto& [number, report] : reports) cpu.add(report.cpu_seconds);
  std::vector<store::StageTime> stages = set.stages;
  for (const auto& [stage, seconds] : {std::pair{"fetch", cpu.fetch}, {"encode", cpu.encode}, {"write", cpu.write}})
    stages.push_back({.stage = stage, .cpu_ns = nanoseconds(seconds)});
  return stages;
}

// A manifest has a largest size: names are told of so many containers at most.
constexpr size_t kMostToldNames = 10'000;

}  // namespace

Result<store::Manifest> make_manifest(const SetFacts& set, const GroupReports& reports) {
  store::Manifest manifest{.name = set.name,
                           .application_name = set.application_name,
                           .step = set.step,
                           .ordinal = set.ordinal,
                           .created_ns = now_ns(),
                           .software = "forebay " FOREBAY_VERSION,
                           .profile = set.profile,
                           .scheme = set.scheme,
                           .ranks = set.ranks,
                           .group_size = set.group_size,
                           .since_chosen = set.since_chosen,
                           .stages = stage_times(set, reports),
                           .suspicion = set.suspicion,
                           .origin = set.origin};
  for (const auto& [number, report] : reports) {
    if (report.lossy.size() != set.lossy.size()) return bad_report("it was packed by other rules");
    if (!set.parent && !report.parents.empty()) return bad_report("it refers to another set");
    manifest.containers.push_back(report.entry);
    if (reports.size() > kMostToldNames) manifest.containers.back().names.clear();
  }
  if (set.parent) FOREBAY_CHECK(add_parents(*set.parent, reports, manifest));
  const std::vector<LossyOutcome> outcomes = sum_outcomes(reports, set.lossy.size());
  for (size_t i = 0; i < outcomes.size(); ++i)
    if (outcomes[i].frames > 0) manifest.lossy.push_back(set.lossy[i]);
  return manifest;
}

}  // namespace forebay::engine

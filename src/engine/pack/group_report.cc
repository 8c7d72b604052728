#include "engine/pack/group_report.h"

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include <fmt/format.h>

#include "engine/pack/base_matcher.h"
#include "engine/set/base_frames.h"
#include "forebay/version.h"

namespace forebay::engine {

using Json = nlohmann::json;

void StageSeconds::add(const StageSeconds& other) {
  fetch += other.fetch;
  encode += other.encode;
  write += other.write;
}

namespace {

std::unexpected<Error> bad(const std::string& what) {
  return fail(ErrorKind::corrupt, "report of a rank group: " + what);
}

Json to_json(const std::vector<store::BaseEntry>& bases) {
  Json all = Json::array();
  for (const store::BaseEntry& base : bases) all.push_back({base.name, base.frames, base.raw_bytes});
  return all;
}

Json to_json(const std::vector<LossyOutcome>& outcomes) {
  Json all = Json::array();
  for (const LossyOutcome& o : outcomes) all.push_back({o.matches, o.variables, o.frames, o.error});
  return all;
}

Json to_json(const GroupReport& report) {
  return {{"name", report.entry.name},
          {"bytes", report.entry.bytes},
          {"raw_bytes", report.entry.raw_bytes},
          {"files", report.entry.files},
          {"tail_hash", report.entry.tail_hash},
          {"variables", report.variables},
          {"frames", report.frames},
          {"payload_bytes", report.payload_bytes},
          {"cpu_seconds", {report.cpu_seconds.fetch, report.cpu_seconds.encode, report.cpu_seconds.write}},
          {"bases", to_json(report.bases)},
          {"lossy", to_json(report.lossy)},
          {"remarks", report.remarks}};
}

std::string to_text(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

// Reads values whose types and places are the sender's word: notes that one is wrong, and goes on.
class Fields {
 public:
  bool ok() const { return wrong_.empty(); }
  const std::string& wrong() const { return wrong_; }

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
  void note(const char* name) {
    if (wrong_.empty()) wrong_ = name;
  }

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

std::vector<store::BaseEntry> bases_of(Fields& fields, const Json& json) {
  std::vector<store::BaseEntry> bases;
  for (const Json* one : fields.elements(json, "bases")) {
    const auto base = fields.elements(*one, "bases", 3);
    bases.push_back({.name = fields.plain_name(*base[0], "bases"),
                     .frames = fields.number(*base[1], "bases"),
                     .raw_bytes = fields.number(*base[2], "bases")});
  }
  return bases;
}

GroupReport report_of(Fields& fields, const Json& json) {
  const auto number = [&](const char* name) { return fields.number(fields.member(json, name), name); };
  GroupReport report{.entry = {.name = fields.plain_name(fields.member(json, "name"), "name"),
                               .bytes = number("bytes"),
                               .raw_bytes = number("raw_bytes"),
                               .files = number("files"),
                               .tail_hash = number("tail_hash")},
                     .variables = number("variables"),
                     .frames = number("frames"),
                     .payload_bytes = number("payload_bytes"),
                     .lossy = lossy_of(fields, fields.member(json, "lossy")),
                     .bases = bases_of(fields, fields.member(json, "bases")),
                     .cpu_seconds = seconds_of(fields, fields.member(json, "cpu_seconds"))};
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
  if (!fields.ok()) return bad("its '" + fields.wrong() + "' is missing or impossible");
  return report;
}

Result<GroupReports> parse_group_reports(std::string_view text) {
  Fields fields;
  GroupReports reports;
  const Json json = Json::parse(text, nullptr, false);
  for (const Json* one : fields.elements(json, "list")) {
    const auto pair = fields.elements(*one, "list", 2);
    const uint64_t number = fields.number(*pair[0], "number");
    if (!reports.try_emplace(number, report_of(fields, *pair[1])).second) return bad("a group has two");
  }
  if (!fields.ok()) return bad("its '" + fields.wrong() + "' is missing or impossible");
  return reports;
}

std::vector<LossyOutcome> sum_outcomes(const GroupReports& reports, size_t rules) {
  std::vector<LossyOutcome> outcomes(rules);
  for (const auto& [number, report] : reports)
    for (size_t i = 0; i < std::min(rules, report.lossy.size()); ++i) outcomes[i].add(report.lossy[i]);
  return outcomes;
}

namespace {

Result<void> add_bases(const store::Manifest& base, const GroupReports& reports, store::Manifest& manifest) {
  for (const auto& [number, report] : reports)
    for (const store::BaseEntry& used : report.bases) add_base(manifest.bases, used.name, used.frames, used.raw_bytes);
  const auto known = candidates(base);
  for (store::BaseEntry& used : manifest.bases) {
    const auto found = std::ranges::find(known, used.name, &store::BaseEntry::name);
    if (found == known.end()) return bad(fmt::format("it refers to '{}', which is no base of the set", used.name));
    used.created_ns = found->created_ns;
  }
  if (!manifest.bases.empty()) manifest.since_full = base.since_full + 1;
  return {};
}

int64_t now_ns() {
  const auto since_1970 = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(since_1970).count();
}

}  // namespace

Result<store::Manifest> make_manifest(const SetFacts& set, const GroupReports& reports) {
  store::Manifest manifest{.name = set.name,
                           .application_name = set.application_name,
                           .step = set.step,
                           .created_ns = now_ns(),
                           .software = "forebay " FOREBAY_VERSION,
                           .profile = set.profile,
                           .scheme = set.scheme,
                           .ranks = set.ranks,
                           .group_size = set.group_size,
                           .since_chosen = set.since_chosen,
                           .origin = set.origin};
  for (const auto& [number, report] : reports) {
    if (report.lossy.size() != set.lossy.size()) return bad("it was packed by other rules");
    if (!set.base && !report.bases.empty()) return bad("it refers to another set");
    manifest.containers.push_back(report.entry);
  }
  if (set.base) FOREBAY_CHECK(add_bases(*set.base, reports, manifest));
  const std::vector<LossyOutcome> outcomes = sum_outcomes(reports, set.lossy.size());
  for (size_t i = 0; i < outcomes.size(); ++i)
    if (outcomes[i].frames > 0) manifest.lossy.push_back(set.lossy[i]);
  return manifest;
}

}  // namespace forebay::engine

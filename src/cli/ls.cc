#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/common.h"
#include "cli/json.h"
#include "cli/ls_set.h"
#include "cli/parents.h"
#include "cli/series.h"
#include "cli/table.h"
#include "cli/text.h"
#include "cli/units.h"
#include "cli/unread.h"
#include "cli/verb.h"
#include "engine/inspect/referrers.h"
#include "engine/options.h"
#include "store/series.h"

namespace forebay::cli {
namespace {

constexpr VerbText kLsText = {
    .name = "ls",
    .summary = "list the sets of a store, or the files and variables of a set",
    .usage = "STORE [NAME|latest] [OPTIONS]",
    .description =
        "Without NAME: the sets, or those of --series, in the order in which they were completed,\n"
        "the oldest first; PARENTS are sets that hold\n"
        "frames of a set, without which it cannot be restored; NOTE says what 'repair' left\n"
        "of a set, why an application refused one, and which parents of it are gone. With NAME: the set's files. With "
        "--variables: its variables "
        "with type,\n"
        "shape, compression ratio and characteristics (smallest, largest and mean finite\n"
        "value, counts of NaNs and infinities). Only manifests and indices are read. A frame\n"
        "may hold bytes of several variables; each is charged for its part.\n",
    .examples =
        "  forebay ls /scratch/store\n"
        "  forebay ls /scratch/store DD0008\n"
        "  forebay ls /scratch/store latest -v | grep Density\n"
        "  forebay ls /scratch/store latest -v --json\n",
};

constexpr int64_t kNanoseconds = 1'000'000'000;

std::string step_text(const std::optional<int64_t>& step) { return step ? fmt::format("{}", *step) : "-"; }

std::string created_text(const store::Manifest& manifest) {
  return format_local_time(manifest.created_ns / kNanoseconds);
}

void print_line(const std::string& line) { fmt::print("{}\n", line); }

Json json_manifest(const store::Manifest& manifest) {
  const auto raw = static_cast<double>(manifest.raw_bytes()), stored = static_cast<double>(manifest.bytes());
  Json json = json_origin(manifest.origin);
  json.update({{"step", manifest.step ? Json(*manifest.step) : Json()},
               {"suspect", manifest.suspicion.empty() ? Json() : json_text(manifest.suspicion)},
               {"ordinal", manifest.ordinal != 0 ? Json(manifest.ordinal) : Json()},
               {"created", format_utc_time(manifest.created_ns / kNanoseconds,
                                           static_cast<uint32_t>(manifest.created_ns % kNanoseconds))},
               {"software", json_text(manifest.software)},
               {"profile", json_text(manifest.profile)},
               {"lossy", json_texts(manifest.lossy)},
               {"scheme", json_text(manifest.scheme)},
               {"rank_count", manifest.ranks},
               {"group_size", manifest.group_size},
               {"file_count", manifest.files()},
               {"container_count", manifest.containers.size()},
               {"raw_bytes", manifest.raw_bytes()},
               {"stored_bytes", manifest.bytes()},
               {"ratio", json_ratio(raw, stored)},
               {"parents", json_parents(manifest.parents)},
               {"repaired_from", manifest.repaired_from.empty() ? Json() : json_text(manifest.repaired_from)},
               {"damaged_file_count", manifest.damaged_files},
               {"lost_containers", json_texts(manifest.lost_containers)}});
  return json;
}

// Null in all that only the manifest says, where that cannot be read.
Json json_set(const store::SetInfo& set) {
  Json json = {{"name", json_text(set.name)}, {"directory", json_text(set.files.path())}};
  json["set_aside"] = set.refused ? json_text(*set.refused) : Json();
  const auto known = json_manifest(set.manifest.value_or(store::Manifest()));
  for (const auto& [key, value] : known.items()) json[key] = set.manifest ? value : Json();
  json.update(set.manifest ? Json{{"error", nullptr}} : json_error(set.manifest.error()));
  return json;
}

// `all` are the sets of the store.
Json json_listed(const store::SetInfo& set, const std::vector<store::SetInfo>& all) {
  Json json = json_set(set);
  json["missing_parents"] = json_texts(engine::missing_parents(set, all));
  return json;
}

std::string parent_names(const store::Manifest& manifest) {
  std::string names;
  for (const store::ParentEntry& parent : manifest.parents) names += (names.empty() ? "" : ",") + parent.name;
  return names.empty() ? "-" : names;
}

std::vector<std::string> cells_of(const store::SetInfo& set) {
  if (!set.manifest) return {printable(set.name), "-", "-", "damaged", "-", "-", "-", "-", "-", "-", "-", "-"};
  const store::Manifest& m = *set.manifest;
  return {printable(set.name),
          printable(m.origin.series),
          step_text(m.step),
          created_text(m),
          fmt::format("{}", m.ranks),
          fmt::format("{}", m.files()),
          format_bytes(m.raw_bytes()),
          format_bytes(m.bytes()),
          format_ratio(static_cast<double>(m.raw_bytes()), static_cast<double>(m.bytes())),
          printable(m.profile) + (m.lossy.empty() ? "" : " (lossy)"),
          printable(m.scheme),
          printable(parent_names(m))};
}

std::string note_of(const store::SetInfo& set, const std::vector<store::SetInfo>& all) {
  std::string note = set.manifest ? repair_text(*set.manifest) : "";
  if (set.manifest && !set.manifest->suspicion.empty())
    note += (note.empty() ? "suspect: " : "; suspect: ") + set.manifest->suspicion;
  if (set.refused) note += (note.empty() ? "set aside: " : "; set aside: ") + *set.refused;
  const auto missing = engine::missing_parents(set, all);
  if (!missing.empty()) note += fmt::format("{}DAMAGED: {} gone", note.empty() ? "" : "; ", fmt::join(missing, ", "));
  return note;
}

// What was stored before there were ordinals, where there is an order.
std::string note_of_order(const std::vector<store::SetInfo>& sets) {
  std::map<std::string, std::pair<size_t, size_t>> series;  // how many sets, and how many without an ordinal
  for (const store::SetInfo& set : sets) {
    if (!set.manifest) continue;
    auto& [all, without] = series[set.manifest->origin.series];
    ++all;
    if (set.manifest->ordinal == 0) ++without;
  }
  size_t count = 0;
  for (const auto& [name, counts] : series)
    if (counts.first > 1) count += counts.second;
  if (count == 0) return {};
  return fmt::format("{} by a version that kept no order: they are the oldest, in the order of their creation",
                     count == 1 ? "1 set was stored" : fmt::format("{} sets were stored", count));
}

// `all` are those of the store, with what the sets refer to.
void print_sets(const std::vector<store::SetInfo>& sets, const std::vector<store::SetInfo>& all) {
  const auto is_noted = [&](const store::SetInfo& set) { return !note_of(set, all).empty(); };
  const bool has_notes = std::ranges::any_of(sets, is_noted);
  std::vector<Table::Column> columns = {{"NAME"},
                                        {"SERIES"},
                                        {"STEP", Align::right},
                                        {"CREATED"},
                                        {"RANKS", Align::right},
                                        {"FILES", Align::right},
                                        {"SIZE", Align::right},
                                        {"STORED", Align::right},
                                        {"RATIO", Align::right},
                                        {"PROFILE"},
                                        {"SCHEME"},
                                        {"PARENTS"}};
  if (has_notes) columns.push_back({"NOTE"});
  Table table(columns);
  for (const store::SetInfo& set : sets) {
    std::vector<std::string> cells = cells_of(set);
    if (has_notes) cells.push_back(printable(note_of(set, all)));
    table.add(std::move(cells));
  }
  table.for_each_line(print_line);
}

class Ls final : public Verb {
 public:
  const VerbText& text() const override { return kLsText; }

  void declare(Syntax& syntax) override {
    syntax.operands(operands_);
    declare_store(syntax, store_);
    declare_series(syntax, series_);
    syntax.flag("-v,--variables", variables_, "List variables (NAME is then needed).");
    declare_memory(syntax, resources_);
  }

  Result<ExitCode> run(const Console& console) override {
    FOREBAY_TRY(const Operands operands, split_operands(operands_, store_, {0, 1}));
    FOREBAY_TRY(const auto store, store::Store::open(operands.store));
    if (operands.own.empty()) return list_sets(store, console);
    FOREBAY_TRY(const auto info, find_set(store, operands.own[0], series_));
    engine::Resources resources = resources_.resolved();
    FOREBAY_TRY(resources.memory_bytes, engine::buffer_bytes(resources.memory_bytes));
    if (console.json) {
      FOREBAY_CHECK(stream_set(store, info, resources));
    } else if (!variables_) {
      FOREBAY_CHECK(print_files(info, resources));
    } else {
      FOREBAY_TRY(const bool has_variables, print_variables(info, resources));
      if (!has_variables) FOREBAY_CHECK(print_no_arrays(info, resources_));
    }
    return ExitCode::ok;
  }

 private:
  Result<ExitCode> list_sets(const store::Store& store, const Console& console) const {
    if (variables_)
      return fail(ErrorKind::invalid_argument, "--variables needs the name of a set", {}, {}, "add NAME or 'latest'");
    FOREBAY_TRY(const auto all, store.list());
    FOREBAY_TRY(const auto sets, all_or_series(store, all, series_));
    if (console.json) {
      Json list = Json::array();
      for (const store::SetInfo& set : sets) {
        list.push_back(json_listed(set, all));
      }
      print_json({{"store", json_text(store.path())}, {"sets", std::move(list)}});
    } else if (sets.empty()) {
      fmt::print("{}: no sets\n", printable(store.path()));
    } else {
      print_sets(sets, all);
      if (const std::string note = note_of_order(sets); !note.empty()) fmt::print("note: {}\n", note);
      for (const store::SetInfo& set : sets)
        if (!set.manifest) warn(set.manifest.error().message());
    }
    return ExitCode::ok;
  }

  Result<void> stream_set(const store::Store& store, const store::SetInfo& info,
                          const engine::Resources& resources) const {
    FOREBAY_CHECK(check_containers(info, resources));
    const bool has_parents = info.manifest && !info.manifest->parents.empty();
    FOREBAY_TRY(const auto all, has_parents ? store.list() : std::vector<store::SetInfo>());
    JsonStream stream;
    stream.member("store", json_text(store.path()));
    stream.begin_list("sets");
    stream.element(json_listed(info, all));
    stream.end();
    stream.begin_list("files");
    FOREBAY_TRY(const uint64_t variables, stream_files(info, variables_, resources, stream));
    stream.end();
    if (variables_) {
      Json unread = Json::array();
      if (variables == 0) {
        FOREBAY_TRY(unread, json_no_arrays(info, resources_));
      }
      stream.member("files_without_arrays", unread);
    }
    stream.finish();
    return {};
  }

  std::vector<std::string> operands_;
  std::string store_, series_;
  bool variables_ = false;
  engine::Resources resources_;
};

}  // namespace

std::unique_ptr<Verb> make_ls() { return std::make_unique<Ls>(); }

}  // namespace forebay::cli

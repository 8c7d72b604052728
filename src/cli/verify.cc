#include "engine/inspect/verify.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/common.h"
#include "cli/consistency_wish.h"
#include "cli/extension.h"
#include "cli/json.h"
#include "cli/progress.h"
#include "cli/series.h"
#include "cli/text.h"
#include "cli/units.h"
#include "cli/verb.h"

namespace forebay::cli {
namespace {

constexpr VerbText kVerifyText = {
    .name = "verify",
    .summary = "read sets back and report every damage",
    .usage = "STORE [NAME|latest] [OPTIONS]",
    .description =
        "Reads, decodes and checks one set, or all sets of a store. Each damage is reported\n"
        "with the damaged file, the frame in it, and the checkpoint files that suffer.\n"
        "Of a store, each set is judged alone: one that cannot be read, or is no set at\n"
        "all, does not keep the others from being checked. The exit code is 5 if any set\n"
        "is not intact.\n"
        "With --consistency it looks instead whether what the ranks wrote goes together, from\n"
        "indices alone: types, numbers of dimensions, overlaps and gaps of global arrays, ranks\n"
        "and variables that are missing, the order of steps. STORE may be a file that grows.\n",
    .examples =
        "  forebay verify /scratch/store\n"
        "  forebay verify /scratch/store DD0008 --json\n"
        "  forebay verify /scratch/store --consistency\n",
};

Json json_damage(const engine::Damage& damage) {
  return {{"container", json_text(damage.container)},
          {"frame", damage.frame ? Json(*damage.frame) : Json()},
          {"offset", damage.offset ? Json(*damage.offset) : Json()},
          {"message", json_text(damage.what)},
          {"files", json_texts(damage.files)},
          {"all_files", damage.all_files}};
}

// The sets that hang on the set `name`.
std::vector<std::string> dependants_of(const std::string& name, const std::vector<store::SetInfo>& sets) {
  std::vector<std::string> names;
  for (const store::SetInfo& set : sets) {
    const auto is_it = [&](const store::ParentEntry& parent) { return parent.name == name; };
    if (set.manifest && std::ranges::any_of(set.manifest->parents, is_it)) names.push_back(set.name);
  }
  return names;
}

Json json_report(const engine::VerifyReport& report, const std::vector<std::string>& dependants) {
  Json damages = Json::array();
  for (const engine::Damage& damage : report.damages) damages.push_back(json_damage(damage));
  return {{"name", json_text(report.name)},
          {"intact", report.intact()},
          {"file_count", report.files},
          {"frame_count", report.frames},
          {"raw_bytes", report.raw_bytes},
          {"stored_bytes", report.stored_bytes},
          {"seconds", report.seconds},
          {"damages", std::move(damages)},
          {"dependants", json_texts(dependants)},
          {"error", Json()}};
}

// Of a set that could not be checked: as little as is known, and why.
Json json_unchecked(const std::string& name, const Error& error, const std::vector<std::string>& dependants) {
  Json json = json_report({.name = name}, dependants);
  json["intact"] = false;
  json.update(json_error(error));
  return json;
}

std::string damage_text(const engine::Damage& damage) {
  std::string text = damage.container;
  const std::string frame = damage.frame ? fmt::format("frame {}", *damage.frame) : "";
  if (damage.frame && !damage.what.starts_with(frame)) text += ": " + frame;
  if (damage.offset) text += fmt::format(": at byte {}", *damage.offset);
  text += ": " + damage.what;
  if (damage.all_files) return text + "; concerns every file of this container";
  if (damage.files.empty()) return text;
  text += "; concerns ";
  constexpr size_t kMost = 8;
  for (size_t i = 0; i < std::min(kMost, damage.files.size()); ++i) text += (i ? ", " : "") + damage.files[i];
  if (damage.files.size() > kMost) text += fmt::format(" and {} more", damage.files.size() - kMost);
  return text;
}

void print_dependants(const std::vector<std::string>& dependants) {
  if (!dependants.empty())
    fmt::print("  holds frames of {}, which may be damaged with it\n",
               printable(fmt::format("{}", fmt::join(dependants, ", "))));
}

void print_report(const engine::VerifyReport& report, const std::vector<std::string>& dependants) {
  if (report.intact()) {
    fmt::print("{}: intact, {}, {}, {}, {}, {}\n", printable(report.name), plural(report.files, "file"),
               plural(report.frames, "frame"), format_bytes(report.raw_bytes), format_duration(report.seconds),
               format_rate(report.raw_bytes, report.seconds));
    return;
  }
  fmt::print("{}: DAMAGED, {}\n", printable(report.name), plural(report.damages.size(), "damage"));
  for (const engine::Damage& damage : report.damages) fmt::print("  {}\n", printable(damage_text(damage)));
  print_dependants(dependants);
}

void print_unchecked(const std::string& name, const Error& error, const std::vector<std::string>& dependants) {
  fmt::print("{}: NOT CHECKED\n  {}\n", printable(name), printable(error.message()));
  print_dependants(dependants);
}

void print_next_step(const std::string& store, const std::vector<std::string>& damaged) {
  if (damaged.empty()) return;
  const std::string name = damaged.size() == 1 ? damaged.front() : "NAME";
  fmt::print("'forebay repair {} {}' makes a new set of what is whole; 'restore latest' passes over damaged sets\n",
             printable(store), printable(name));
}

class Verify final : public Verb {
 public:
  const VerbText& text() const override { return kVerifyText; }

  void declare(Syntax& syntax) override {
    syntax.operands(operands_);
    declare_store(syntax, store_);
    declare_series(syntax, series_);
    declare_consistency(syntax, wish_);
    declare_memory(syntax, resources_);
    declare_threads(syntax, resources_);
  }

  Result<ExitCode> run(const Console& console) override {
    FOREBAY_TRY(const Operands operands, split_operands(operands_, store_, {0, 1}));
    if (wish_.consistency) return become("forebay-arrays", console.words);
    if (wish_.values)
      return fail(ErrorKind::invalid_argument, "--values belongs to --consistency; without it, all values are read");
    if (!wish_.optional.empty()) return fail(ErrorKind::invalid_argument, "--optional belongs to --consistency");
    FOREBAY_TRY(const auto store, store::Store::open(operands.store));
    FOREBAY_TRY(const auto all, operands.own.empty() ? store.list() : store.outline());
    FOREBAY_TRY(const auto sets, chosen(operands, store, all));
    Json documents = Json::array();
    bool intact = true;
    std::vector<std::string> damaged;
    FOREBAY_CHECK(engine::buffer_bytes(resources_.resolved().memory_bytes));
    for (const store::SetInfo& set : sets) {
      const auto report = verify(set);
      if (!report && !operands.own.empty()) return std::unexpected(report.error());
      intact = intact && report && report->intact();
      if (report && !report->intact()) damaged.push_back(set.name);
      const auto dependants = dependants_of(set.name, all);
      if (console.json)
        documents.push_back(report ? json_report(*report, dependants)
                                   : json_unchecked(set.name, report.error(), dependants));
      else
        report ? print_report(*report, dependants) : print_unchecked(set.name, report.error(), dependants);
    }
    if (!console.json) print_next_step(operands.store, damaged);
    if (console.json) print_json({{"store", json_text(operands.store)}, {"intact", intact}, {"sets", documents}});
    return intact ? ExitCode::ok : ExitCode::damaged;
  }

 private:
  Result<std::vector<store::SetInfo>> chosen(const Operands& operands, const store::Store& store,
                                             const std::vector<store::SetInfo>& all) const {
    if (operands.own.empty()) return all_or_series(store, all, series_);
    FOREBAY_TRY(auto set, find_set(store, operands.own[0], series_));
    return std::vector{std::move(set)};
  }

  Result<engine::VerifyReport> verify(const store::SetInfo& set) {
    ProgressLine progress("verifying " + printable(set.name));
    resources_.progress = progress.callback();
    return engine::verify(set, resources_);
  }

  std::vector<std::string> operands_;
  std::string store_, series_;
  ConsistencyWish wish_;
  engine::Resources resources_;
};

}  // namespace

std::unique_ptr<Verb> make_verify() { return std::make_unique<Verify>(); }

}  // namespace forebay::cli

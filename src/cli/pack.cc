#include "engine/pack/pack.h"

#include <algorithm>
#include <chrono>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/common.h"
#include "cli/json.h"
#include "cli/loss.h"
#include "cli/packing.h"
#include "cli/parents.h"
#include "cli/progress.h"
#include "cli/series.h"
#include "cli/text.h"
#include "cli/units.h"
#include "cli/verb.h"
#include "engine/pack/make_team.h"
#include "store/natural_order.h"

namespace forebay::cli {
namespace {

constexpr VerbText kPackText = {
    .name = "pack",
    .summary = "store a directory of checkpoint files as a new set",
    .usage = "DIR... --store STORE [OPTIONS]",
    .description =
        "Packs all files below DIR into a new set of the store: similar variables of the\n"
        "ranks' files are merged and compressed together. The set becomes visible when it\n"
        "is complete and durable; on any error nothing is. The sources are only read. The\n"
        "store is made if it does not exist.\n"
        "FIFOs, sockets and devices have no content to store: they are skipped and named.\n"
        "A set that was packed later is newer, whatever it is called. With --each, every DIR\n"
        "is a set of its own, and names and times decide which is packed first.\n"
        "Under mpiexec, the rank groups are spread over the processes.\n",
    .examples =
        "  forebay pack run/DD0008 --store /scratch/store\n"
        "      the set is named DD0008 and has step 8\n"
        "  forebay pack ckpt --store /scratch/store --name t100 --step 100 --profile max\n"
        "  forebay pack dump --store st --describe raw.toml --group-size 64 --memory 2G\n"
        "  forebay pack out --store st --match '/dom[0-9]+/(.*)=/dom/$1'\n"
        "  forebay pack run/DD0009 --store /scratch/store --parent latest\n"
        "      store only what differs from the set before\n"
        "  forebay pack out --store st --lossy '/Grid*/Temperature=rel:1e-3'\n"
        "      temperatures may be off by a thousandth; all else comes back byte for byte\n"
        "  forebay pack --each run/DD* --store /scratch/store\n"
        "  mpiexec -n 4 forebay pack run/DD0008 --store /scratch/store\n",
    .is_interruptible = true,
};

Json json_outcomes(const std::vector<engine::LossyRule>& rules, const std::vector<engine::LossyOutcome>& outcomes) {
  Json list = Json::array();
  for (size_t i = 0; i < rules.size(); ++i)
    list.push_back({{"rule", json_text(rules[i].text)},
                    {"kind", to_string(rules[i].bound.kind)},
                    {"bound", rules[i].bound.value},
                    {"variable_count", outcomes[i].matches},
                    {"lossy_variable_count", outcomes[i].variables},
                    {"frame_count", outcomes[i].frames},
                    {"max_error", outcomes[i].error}});
  return list;
}

Json json_report(const engine::PackReport& report, const std::string& series,
                 const std::vector<engine::LossyRule>& rules) {
  return {{"set", json_text(report.name)},
          {"series", json_text(series)},
          {"step", report.step ? Json(*report.step) : Json()},
          {"rank_count", report.ranks},
          {"file_count", report.files},
          {"variable_count", report.variables},
          {"container_count", report.containers},
          {"frame_count", report.frames},
          {"raw_bytes", report.raw_bytes},
          {"stored_bytes", report.stored_bytes},
          {"index_bytes", report.index_bytes},
          {"parent", report.parent.empty() ? Json() : json_text(report.parent)},
          {"parents", json_parents(report.parents)},
          {"ratio", json_ratio(static_cast<double>(report.raw_bytes), static_cast<double>(report.stored_bytes))},
          {"lossy_outcomes", json_outcomes(rules, report.lossy)},
          {"seconds", report.seconds},
          {"cpu_seconds_by_stage",
           {{"fetch", report.cpu_seconds.fetch},
            {"encode", report.cpu_seconds.encode},
            {"write", report.cpu_seconds.write}}},
          {"looks_older", report.looks_older.empty() ? Json() : json_text(report.looks_older)},
          {"remarks", json_texts(report.remarks)},
          {"skipped_files", json_texts(report.skipped)}};
}

void print_outcome(const engine::LossyRule& rule, const engine::LossyOutcome& outcome) {
  if (outcome.frames == 0) {
    fmt::print("lossy: none; {} under '{}' stayed lossless\n", plural(outcome.matches, "variable"),
               printable(rule.text));
    return;
  }
  fmt::print("lossy: {} of {} under '{}' will not come back byte for byte; largest error {}, checked on every value\n",
             outcome.variables, plural(outcome.matches, "variable"), printable(rule.text),
             bound_text({rule.bound.kind, outcome.error}));
}

std::string skipped_text(const std::vector<std::string>& skipped) {
  constexpr size_t kMost = 4;
  std::string text = plural(skipped.size(), "special file") + " skipped: ";
  for (size_t i = 0; i < std::min(kMost, skipped.size()); ++i) text += (i == 0 ? "" : ", ") + skipped[i];
  if (skipped.size() > kMost) text += fmt::format(" and {} more", skipped.size() - kMost);
  return text + " (--exclude leaves them out without a warning, --strict refuses them)";
}

void print_report(const engine::PackReport& report, const std::vector<engine::LossyRule>& rules) {
  fmt::print("packed {}: {} of {}, {} -> {} in {} (ratio {}), {}, {}\n", printable(report.name),
             plural(report.files, "file"), plural(report.ranks, "rank"), format_bytes(report.raw_bytes),
             format_bytes(report.stored_bytes), plural(report.containers, "container"),
             format_ratio(static_cast<double>(report.raw_bytes), static_cast<double>(report.stored_bytes)),
             format_duration(report.seconds), format_rate(report.raw_bytes, report.seconds));
  if (!report.parent.empty())
    fmt::print("refers to: {}\n", report.parents.empty()
                                      ? "nothing; no frame is the same, or nearly so, in " + printable(report.parent)
                                      : printable(parents_text(report.parents)));
  for (size_t i = 0; i < rules.size(); ++i) print_outcome(rules[i], report.lossy[i]);
  for (const std::string& remark : report.remarks) fmt::print("note: {}\n", printable(remark));
  if (!report.skipped.empty()) warn(skipped_text(report.skipped));
  if (!report.looks_older.empty()) warn(report.looks_older);
}

// The directories of --each, oldest first.
struct Ordered {
  std::vector<std::string> sources;
  bool is_by_times = false;
  std::string remark;
};

int64_t nanoseconds_of(const FileRow& row) {
  constexpr int64_t kSecond = 1'000'000'000, kMostSeconds = INT64_MAX / kSecond - 1;
  return std::clamp(row.mtime_s, -kMostSeconds, kMostSeconds) * kSecond + row.mtime_ns;
}

Result<Ordered> in_natural_order(const engine::PackOptions& options) {
  std::vector<store::NamedSet> sets;
  for (const std::string& source : options.sources) {
    FOREBAY_TRY(const auto tree, engine::scan_tree({&source, 1}, options.scan));
    std::error_code error;
    store::NamedSet& set = sets.emplace_back(std::filesystem::canonical(source, error).filename().string());
    for (const engine::SourceFile& file : tree.files)
      if (file.row.kind == FileKind::regular)
        set.time_ns = std::max(set.time_ns.value_or(INT64_MIN), nanoseconds_of(file.row));
  }
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const store::NaturalOrder order = store::natural_order(sets, std::chrono::nanoseconds(now).count());
  Ordered ordered{.sources = {}, .is_by_times = order.is_by_times, .remark = order.remark};
  for (const size_t i : order.oldest_first) ordered.sources.push_back(options.sources[i]);
  return ordered;
}

class Pack final : public Verb {
 public:
  const VerbText& text() const override { return kPackText; }

  void declare(Syntax& syntax) override {
    syntax.operands(options_.sources);
    syntax.record({&option_words_});
    syntax.option("-s,--store,-o,--output", "STORE", "The store, a directory. Default: $FOREBAY_STORE.",
                  set_text(options_.store));
    syntax.option("--name", "NAME", "Name of the set. Default: the last component of the first DIR.",
                  set_text(options_.name));
    syntax.option("--step", "NUMBER",
                  "Step that the set is of, by which it can be found. Default: the last number in the name, if it "
                  "is a whole one.",
                  set_integer(options_.step));
    syntax.flag("--each", each_,
                "Pack each DIR as a set of its own, oldest first: by the numbers, dates and times in their names, or, "
                "where these do not decide, by the times of their files.");
    syntax.option("--group-size", "COUNT",
                  "Put COUNT ranks into a container. Default: 64, or more where 64 have less than 8 MiB. Files without "
                  "numbers are a rank each; of these, as many as have 256 MiB.",
                  set_count(options_.group_size));
    syntax.option(
        "--exclude", "GLOB",
        "Leave out what has a name inside the set that matches this shell pattern, and all below it; '*' also "
        "matches '/'. May be repeated.",
        add_text(options_.scan.exclude));
    syntax.option("--include", "GLOB",
                  "Take only what has a name inside the set that matches this shell pattern, with all below it. May be "
                  "repeated; --exclude goes before.",
                  add_text(options_.scan.include));
    syntax.flag("--strict", options_.scan.strict,
                "Refuse directories with FIFOs, sockets or devices in them. Default: skip these, and say so.");
    syntax.option("--series", "NAME", "The series that the set belongs to. Default: $FOREBAY_SERIES, else 'default'.",
                  set_text(series_));
    declare_compression(syntax, compression_);
    syntax.option(
        "--parent", "NAME|latest",
        "Refer to frames that the set NAME has already, and store what differs from them where that takes less. "
        "Restoring the new set then needs that one, too; prune keeps it.",
        set_text(options_.parent));
    syntax.option(
        "--full-every", "COUNT",
        fmt::format("With --parent: store one of COUNT sets in a row in full. Default: {}.", options_.full_every),
        [this](const std::string& text) {
          is_full_every_given_ = true;
          return set_count(options_.full_every)(text);
        });
    declare_description(syntax, description_);
    declare_memory(syntax, options_.resources);
    declare_threads(syntax, options_.resources);
  }

  Result<ExitCode> run(const Console& console) override {
    FOREBAY_TRY(const auto team, engine::make_team());
    const bool speaks = team->rank() == 0;
    if (each_) return run_each(*team, console);
    auto report = pack(*team);
    if (!speaks) return report ? ExitCode::ok : exit_code_of(report.error().kind);
    if (!report) return std::unexpected(std::move(report).error());
    if (console.json)
      print_json(json_report(*report, options_.origin.series, options_.lossy));
    else
      print_report(*report, options_.lossy);
    return ExitCode::ok;
  }

 private:
  // Every process scans, and all agree on what the first one found.
  Result<Ordered> order_sources(engine::Team& team) {
    Result<Ordered> ordered = in_natural_order(options_);
    FOREBAY_CHECK(engine::agree(team, ordered ? Result<void>() : std::unexpected(ordered.error())));
    std::string first;
    for (const std::string& source : ordered->sources) first += source + '\0';
    first = team.broadcast(first);
    ordered->sources.clear();
    for (size_t begin = 0; begin < first.size(); begin += ordered->sources.back().size() + 1)
      ordered->sources.emplace_back(first.c_str() + begin);
    return ordered;
  }

  Result<ExitCode> run_each(engine::Team& team, const Console& console) {
    const bool speaks = team.rank() == 0;
    if (!options_.name.empty() || options_.step)
      return fail(ErrorKind::invalid_argument, "--name and --step are of one set, and --each makes several", {}, {},
                  "pack them one after the other");
    FOREBAY_TRY(const Ordered ordered, order_sources(team));
    if (speaks && !console.json) {
      fmt::print("in the order of the {}: {}\n", ordered.is_by_times ? "times of their files" : "names",
                 printable(fmt::format("{}", fmt::join(ordered.sources, ", "))));
      if (!ordered.remark.empty()) warn(ordered.remark);
    }
    Json packed = Json::array();
    for (const std::string& source : ordered.sources) {
      options_.sources = {source};
      const auto report = pack(team);
      if (!report && speaks) return std::unexpected(report.error());
      if (!report) return exit_code_of(report.error().kind);
      if (!speaks) continue;
      if (console.json)
        packed.push_back(json_report(*report, options_.origin.series, options_.lossy));
      else
        print_report(*report, options_.lossy);
    }
    if (speaks && console.json)
      print_json({{"order", json_texts(ordered.sources)},
                  {"by", ordered.is_by_times ? "times" : "names"},
                  {"remarks", ordered.remark.empty() ? Json::array() : Json::array({json_text(ordered.remark)})},
                  {"packed", std::move(packed)}});
    return ExitCode::ok;
  }

  Result<engine::PackReport> pack(engine::Team& team) {
    FOREBAY_CHECK(prepare());
    ProgressLine progress("packing", team.rank() == 0);
    options_.resources.progress = progress.callback();
    return engine::pack(options_, team);
  }

  Result<void> prepare() {
    if (options_.sources.empty()) return fail(ErrorKind::invalid_argument, "no directory to pack is given");
    if (options_.store.empty()) options_.store = store_of_environment();
    if (options_.store.empty())
      return fail(ErrorKind::invalid_argument, "no store is given", {}, {}, "use --store STORE, or set FOREBAY_STORE");
    if (is_full_every_given_ && options_.parent.empty())
      return fail(ErrorKind::invalid_argument, "--full-every goes with --parent", {}, {},
                  "without --parent every set is stored in full");
    FOREBAY_TRY(std::string series, series_or(series_, std::string(store::kDefaultSeries)));
    std::vector<std::string> words = {"forebay", "pack"};
    words.insert(words.end(), options_.sources.begin(), options_.sources.end());
    words.insert(words.end(), option_words_.begin(), option_words_.end());
    options_.origin = origin_of(std::move(series), "", words);
    FOREBAY_CHECK(complete(compression_, options_));
    FOREBAY_CHECK(complete(description_));
    options_.similarity = description_.similarity;
    options_.format = description_.format;
    return {};
  }

  engine::PackOptions options_;
  std::string series_;
  std::vector<std::string> option_words_;
  bool is_full_every_given_ = false, each_ = false;
  Compression compression_;
  Description description_;
};

}  // namespace

std::unique_ptr<Verb> make_pack() { return std::make_unique<Pack>(); }

}  // namespace forebay::cli

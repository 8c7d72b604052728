#include "engine/pack/advise.h"

#include <fmt/format.h>

#include "cli/common.h"
#include "cli/json.h"
#include "cli/packing.h"
#include "cli/progress.h"
#include "cli/table.h"
#include "cli/text.h"
#include "cli/units.h"
#include "cli/verb.h"

namespace forebay::cli {
namespace {

constexpr VerbText kAdviseText = {
    .name = "advise",
    .summary = "try merge schemes, group sizes and profiles on a sample, and recommend",
    .usage = "DIR... [OPTIONS]",
    .description =
        "Encodes and decodes a sample of the files below DIR in memory, under each\n"
        "combination of merge scheme, block size, group size and profile. The table shows\n"
        "each one's compression ratio, by how much it improves on plain concatenation with\n"
        "gzip, and its speed per thread; '*' marks the recommended one: the best ratio that\n"
        "is fast enough. If a slower one has a better ratio, the table says why it is not\n"
        "recommended. Nothing is stored.\n",
    .examples =
        "  forebay advise run/DD0008\n"
        "  forebay advise run/DD0008 --sample 256M --min-speed 50 --json\n",
};

bool same(const engine::Trial& a, const engine::Trial& b) {
  return a.scheme == b.scheme && a.block_bytes == b.block_bytes && a.group_size == b.group_size &&
         a.profile == b.profile;
}

double improvement(const engine::Trial& trial, const engine::Trial& baseline) {
  return baseline.ratio() > 0 ? 100 * (trial.ratio() / baseline.ratio() - 1) : 0;
}

double bytes_per_second(const engine::Trial& trial, double seconds) {
  return seconds > 0 ? static_cast<double>(trial.raw_bytes) / seconds : 0;
}

std::string name_of(const engine::Trial& trial) {
  return fmt::format("{} with {}{} and groups of {}", trial.profile, trial.scheme,
                     trial.block_bytes ? fmt::format(" in blocks of {}", format_bytes(trial.block_bytes)) : "",
                     trial.group_size);
}

// Why this one, though another one may have a better ratio.
std::string reason_of(const engine::Advice& advice, double least) {
  const engine::Trial& chosen = advice.recommended;
  const engine::Trial& best = advice.best_ratio;
  const bool is_fast = chosen.mb_per_s() >= least;
  const std::string why =
      is_fast ? "it has the best ratio of those that encode at" : "it is the fastest, and none encodes at";
  std::string text = fmt::format("{} {:g} MB/s or more (--min-speed)", why, least);
  if (best.ratio() > chosen.ratio())
    text += fmt::format("; {} has the better ratio of {}, at {}", name_of(best),
                        format_ratio(static_cast<double>(best.raw_bytes), static_cast<double>(best.stored_bytes)),
                        format_rate(best.raw_bytes, best.encode_seconds));
  return text;
}

class Advise final : public Verb {
 public:
  const VerbText& text() const override { return kAdviseText; }

  void declare(Syntax& syntax) override {
    syntax.operands(options_.sources);
    syntax.option(
        "--sample", "SIZE",
        "Bytes to try per combination, spread evenly over the files; frames are a quarter of it at most. Default: 64M.",
        set_bytes(options_.sample_bytes));
    syntax.option("--min-speed", "MB/S", "Least encoding speed per thread of what is recommended. Default: 200.",
                  [this](const std::string& text) -> Result<void> {
                    FOREBAY_TRY(options_.min_mb_per_s, parse_positive(text));
                    return {};
                  });
    declare_description(syntax, description_);
    declare_memory(syntax, options_.resources);
    declare_threads(syntax, options_.resources);
  }

  Result<ExitCode> run(const Console& console) override {
    if (options_.sources.empty()) return fail(ErrorKind::invalid_argument, "no directory is given");
    FOREBAY_CHECK(complete(description_));
    options_.similarity = description_.similarity;
    options_.format = description_.format;
    FOREBAY_TRY(const auto advice, advise());
    if (console.json)
      print_json(json_advice(advice));
    else
      print(advice);
    return ExitCode::ok;
  }

 private:
  Result<engine::Advice> advise() {
    ProgressLine progress("trying");
    options_.resources.progress = progress.callback();
    return engine::advise(options_);
  }

  // The recommendation as a command line.
  std::string command_of(const engine::Trial& trial) const {
    std::string text = "forebay pack";
    for (const std::string& source : options_.sources) text += " " + shell_word(source);
    text += fmt::format(" --store STORE --group-size {} --scheme {}", trial.group_size, trial.scheme);
    if (trial.block_bytes > 0) text += fmt::format(" --block-size {}", trial.block_bytes);
    text += fmt::format(" --profile {}", shell_word(trial.profile));
    for (const auto& rule : description_.similarity.rules) text += " --match " + shell_word(rule.text);
    if (description_.exact) text += " --exact";
    if (!description_.raw_file.empty()) text += " --describe " + shell_word(description_.raw_file);
    if (description_.format.opaque) text += " --opaque";
    return text;
  }

  static Json json_trial(const engine::Trial& trial, const engine::Trial& baseline) {
    return {{"scheme", trial.scheme},
            {"block_bytes", trial.block_bytes ? Json(trial.block_bytes) : Json()},
            {"group_size", trial.group_size},
            {"profile", trial.profile},
            {"raw_bytes", trial.raw_bytes},
            {"stored_bytes", trial.stored_bytes},
            {"ratio", trial.ratio()},
            {"improvement_percent", improvement(trial, baseline)},
            {"encode_bytes_per_second", bytes_per_second(trial, trial.encode_seconds)},
            {"decode_bytes_per_second", bytes_per_second(trial, trial.decode_seconds)}};
  }

  Json json_advice(const engine::Advice& advice) const {
    const engine::Trial baseline = advice.trials.empty() ? engine::Trial{} : advice.trials.front();
    Json trials = Json::array();
    for (const auto& trial : advice.trials) trials.push_back(json_trial(trial, baseline));
    return {{"rank_count", advice.ranks},
            {"total_bytes", advice.total_bytes},
            {"sampled_bytes", advice.sampled_bytes},
            {"trials", std::move(trials)},
            {"recommended", json_trial(advice.recommended, baseline)},
            {"command", json_text(command_of(advice.recommended))},
            {"reason", reason_of(advice, options_.min_mb_per_s)}};
  }

  void print(const engine::Advice& advice) const {
    fmt::print("{}, {}; tried on {}\n\n", plural(advice.ranks, "rank"), format_bytes(advice.total_bytes),
               format_bytes(advice.sampled_bytes));
    Table table({{""},
                 {"SCHEME"},
                 {"BLOCK", Align::right},
                 {"GROUP", Align::right},
                 {"PROFILE"},
                 {"RATIO", Align::right},
                 {"IMPROVEMENT", Align::right},
                 {"ENCODE", Align::right},
                 {"DECODE", Align::right}});
    for (const engine::Trial& trial : advice.trials)
      table.add(
          {same(trial, advice.recommended) ? "*" : "", trial.scheme,
           trial.block_bytes ? format_bytes(trial.block_bytes) : "-", fmt::format("{}", trial.group_size),
           trial.profile, format_ratio(static_cast<double>(trial.raw_bytes), static_cast<double>(trial.stored_bytes)),
           fmt::format("{:+.1f} %", improvement(trial, advice.trials.front())),
           format_rate(trial.raw_bytes, trial.encode_seconds), format_rate(trial.raw_bytes, trial.decode_seconds)});
    table.for_each_line([](const std::string& line) { fmt::print("{}\n", line); });
    fmt::print("\nRecommended, as {}:\n  {}\n", reason_of(advice, options_.min_mb_per_s),
               printable(command_of(advice.recommended)));
  }

  engine::AdviseOptions options_;
  Description description_;
};

}  // namespace

std::unique_ptr<Verb> make_advise() { return std::make_unique<Advise>(); }

}  // namespace forebay::cli

// forebay plan: how many transfer nodes a job needs.
#include <fmt/format.h>

#include "cli/common.h"
#include "cli/json.h"
#include "cli/measure_packing.h"
#include "cli/table.h"
#include "cli/text.h"
#include "cli/units.h"
#include "cli/verb.h"
#include "job/plan/plan_model.h"

namespace forebay::cli {
namespace {

constexpr VerbText kPlanText = {
    .name = "plan",
    .summary = "compute how many transfer nodes drain a job's checkpoints in time",
    .usage = "--nodes N --bytes SIZE --interval TIME RATES... [OPTIONS]",
    .description =
        "Computes how long a checkpoint set takes to drain with so many transfer nodes\n"
        "(aggregators), and the smallest number that is done before the next checkpoint.\n"
        "Rates are bytes per second, with K, M, G, T for powers of 1024; a rate that is\n"
        "not given counts as unlimited. What the model takes into account, and what not,\n"
        "is in docs/plan.md.\n",
    .examples =
        "  forebay plan --nodes 64 --bytes 2.4G --interval 250s --network 3G --pfs 1G \\\n"
        "      --codec 800M --ratio 1.6\n"
        "  forebay plan --nodes 512 --bytes 48G --interval 1h --network 11G --pfs 20G \\\n"
        "      --pfs-stream 1.5G --measure run/dump_0003 --threads 16\n",
};

Setter set_amount(double& to) {
  return [&to](const std::string& text) -> Result<void> {
    FOREBAY_TRY(to, parse_amount(text));
    return {};
  };
}

struct Plan {
  job::PlanInput input;
  std::optional<PackingMeasure> measure;
  std::optional<uint64_t> fewest;
  std::vector<job::PlanRow> rows;
};

Json json_row(const job::PlanRow& row) {
  return {{"transfer_nodes", row.transfer_nodes},
          {"drain_seconds", row.drain_seconds},
          {"pull_seconds", row.pull_seconds},
          {"limit", job::to_string(row.limit)},
          {"fits", row.fits},
          {"stored_every", row.stored_every}};
}

Json json_plan(const Plan& plan) {
  Json rows = Json::array();
  for (const job::PlanRow& row : plan.rows) rows.push_back(json_row(row));
  return {{"set_bytes", plan.input.set_bytes()},
          {"interval_seconds", plan.input.interval},
          {"allowed_seconds", plan.input.allowed_seconds()},
          {"ratio", plan.input.ratio},
          {"codec_bytes_per_second", std::isinf(plan.input.codec) ? Json() : Json(plan.input.codec)},
          {"transfer_nodes", plan.fewest ? Json(*plan.fewest) : Json()},
          {"rows", std::move(rows)}};
}

std::string set_text_of(const job::PlanRow& row) {
  if (row.stored_every == 1) return "all";
  return fmt::format("1 of {}", row.stored_every);
}

void print_plan(const Plan& plan) {
  const job::PlanInput& input = plan.input;
  if (plan.measure)
    fmt::print(
        "Measured on {}: ratio {:.2f}{}\n", printable(plan.measure->description), plan.measure->ratio,
        plan.measure->codec > 0 ? fmt::format(", {}", format_rate(static_cast<uint64_t>(plan.measure->codec), 1)) : "");
  const auto bytes = static_cast<uint64_t>(std::fmin(input.set_bytes(), 1e18));
  fmt::print("{} write {} every {}; a drain may take {}\n\n", plural(input.nodes, "compute node"), format_bytes(bytes),
             format_duration(input.interval), format_duration(input.allowed_seconds()));
  Table table({{"TRANSFER NODES", Align::right},
               {"DRAIN", Align::right},
               {"NODES FREE AFTER", Align::right},
               {"STORED", Align::right},
               {"FITS"},
               {"LIMITED BY"}});
  for (const job::PlanRow& row : plan.rows)
    table.add({fmt::format("{}", row.transfer_nodes), format_duration(row.drain_seconds),
               format_duration(row.pull_seconds), set_text_of(row), row.fits ? "yes" : "no",
               job::to_string(row.limit)});
  table.for_each_line([](const std::string& line) { fmt::print("{}\n", line); });
  if (plan.fewest)
    fmt::print("\n{} needed.\n",
               *plan.fewest == 1 ? "1 transfer node is" : fmt::format("{} transfer nodes are", *plan.fewest));
  else
    fmt::print("\nNo number of transfer nodes is enough, because of the {}.\n", job::to_string(plan.rows.back().limit));
}

class PlanVerb final : public Verb {
 public:
  const VerbText& text() const override { return kPlanText; }

  void declare(Syntax& syntax) override {
    syntax.option("--nodes", "COUNT", "Compute nodes.", set_count(nodes_));
    syntax.option("--bytes", "SIZE", "What each of them writes per checkpoint.", set_amount(input_.node_bytes));
    syntax.option("--interval", "TIME", "From one checkpoint to the next: 250s, 10m, 1h.",
                  [this](const std::string& text) -> Result<void> {
                    FOREBAY_TRY(input_.interval, parse_duration(text));
                    return {};
                  });
    syntax.option("--network", "RATE", "Network of a transfer node, inwards.", set_amount(input_.network));
    syntax.option("--node-network", "RATE", "Network of a compute node, outwards; what the drain may take of it.",
                  set_amount(input_.node_network));
    syntax.option("--pfs", "RATE", "The parallel file system: what all transfer nodes together may take of it.",
                  set_amount(input_.pfs));
    syntax.option("--pfs-stream", "RATE", "The parallel file system: what one transfer node gets of it.",
                  set_amount(input_.pfs_stream));
    syntax.option("--codec", "RATE", "Compression on a transfer node with all its threads, in raw bytes.",
                  set_amount(codec_));
    syntax.option("--ratio", "RATIO", "Raw by stored bytes. Default: 1.",
                  [this](const std::string& text) -> Result<void> {
                    FOREBAY_TRY(ratio_, parse_positive(text));
                    return {};
                  });
    syntax.option("--measure", "DIR|STORE",
                  "Take --ratio from the newest set of a store, or --ratio and --codec from packing a directory here.",
                  set_text(measure_));
    syntax.option("--profile", "PROFILE", "With --measure DIR: how to pack. Default: balanced.", set_text(profile_));
    syntax.option("--groups", "COUNT",
                  "Rank groups of a set; one transfer node packs one of them. Default: any number.",
                  set_count(input_.groups));
    syntax.option("--buffer", "SIZE", "Raw bytes that a transfer node can hold. Default: none.",
                  set_amount(input_.buffer));
    syntax.option("--margin", "PERCENT", "Part of the interval to leave free. Default: 20.",
                  [this](const std::string& text) -> Result<void> {
                    FOREBAY_TRY(const uint64_t percent, parse_count(text));
                    if (percent > 99) return fail(ErrorKind::invalid_argument, "must be 99 at most");
                    input_.margin = static_cast<double>(percent) / 100;
                    return {};
                  });
    declare_memory(syntax, resources_);
    declare_threads(syntax, resources_);
  }

  Result<ExitCode> run(const Console& console) override {
    FOREBAY_TRY(const Plan plan, make());
    if (console.json)
      print_json(json_plan(plan));
    else
      print_plan(plan);
    return ExitCode::ok;
  }

 private:
  Result<Plan> make() {
    FOREBAY_CHECK(require_options());
    Plan plan{.input = input_};
    plan.input.nodes = nodes_;
    if (!measure_.empty()) {
      FOREBAY_TRY(const auto profile, codec::Profile::parse(profile_));
      FOREBAY_TRY(plan.measure, measure_packing(measure_, profile, resources_));
      plan.input.ratio = plan.measure->ratio;
      if (plan.measure->codec > 0) plan.input.codec = plan.measure->codec;
    }
    if (ratio_ > 0) plan.input.ratio = ratio_;
    if (codec_ > 0) plan.input.codec = codec_;
    FOREBAY_CHECK(check(plan.input));
    plan.fewest = fewest_transfer_nodes(plan.input);
    for (const uint64_t number : numbers_to_show(plan.input)) plan.rows.push_back(plan_drain(plan.input, number));
    return plan;
  }

  Result<void> require_options() const {
    const std::pair<bool, const char*> required[] = {
        {nodes_ > 0, "--nodes"}, {input_.node_bytes > 0, "--bytes"}, {input_.interval > 0, "--interval"}};
    for (const auto& [given, option] : required)
      if (!given)
        return fail(ErrorKind::invalid_argument, fmt::format("{} is missing", option), {}, {},
                    "see 'forebay plan --help'");
    return {};
  }

  job::PlanInput input_;
  uint64_t nodes_ = 0;
  double codec_ = 0, ratio_ = 0;
  std::string measure_, profile_ = "balanced";
  engine::Resources resources_;
};

}  // namespace

std::unique_ptr<Verb> make_plan() { return std::make_unique<PlanVerb>(); }

}  // namespace forebay::cli

// forebay plan: how many aggregator nodes a job needs, and how often it had better write checkpoints.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "cli/common.h"
#include "cli/json.h"
#include "cli/measure_packing.h"
#include "cli/measure_rate.h"
#include "cli/table.h"
#include "cli/text.h"
#include "cli/units.h"
#include "cli/verb.h"
#include "job/plan/plan_model.h"
#include "job/plan/ways.h"

namespace forebay::cli {
namespace {

constexpr VerbText kPlanText = {
    .name = "plan",
    .summary = "compute how many aggregator nodes drain a job's checkpoints in time",
    .usage = "--nodes N --bytes SIZE --interval TIME RATES... [OPTIONS]",
    .description =
        "Computes how long a checkpoint set takes to drain with a number of aggregator nodes\n"
        "(aggregators), and the smallest number that is done before the next checkpoint.\n"
        "With --node-mtbf it also compares ways to keep checkpoints: how often to write\n"
        "them, how nodes protect them, and how many of them to bring to the store.\n"
        "Rates are bytes per second, with K, M, G, T for powers of 1024; a rate that is\n"
        "not given counts as unlimited. docs/plan.md says what the model takes into account,\n"
        "and what not.\n",
    .examples =
        "  forebay plan --nodes 64 --bytes 2.4G --interval 250s --network 3G --pfs 1G \\\n"
        "      --codec 800M --ratio 1.6\n"
        "  forebay plan --nodes 512 --bytes 48G --interval 1h --network 11G --pfs 20G \\\n"
        "      --pfs-stream 1.5G --measure run/dump_0003 --threads 16\n"
        "  forebay plan --nodes 512 --bytes 48G --interval 1h --network 11G --pfs 50G \\\n"
        "      --node-network 10G --stage 5G --node-mtbf 1000d\n",
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
  std::optional<double> measured_stream;  // bytes per second into the store that was measured
  std::optional<uint64_t> fewest;
  std::vector<job::PlanRow> rows;
  std::vector<job::Way> ways;  // empty: not asked for
  uint64_t draining = 1;       // aggregator nodes that they count on
};

Json json_row(const job::PlanRow& row) {
  return {{"aggregator_node_count", row.aggregator_nodes},
          {"drain_seconds", row.drain_seconds},
          {"pull_seconds", row.pull_seconds},
          {"limit", job::to_string(row.limit)},
          {"fits", row.fits},
          {"stored_every", row.stored_every}};
}

const char* kind_name(job::Way::Kind kind) {
  switch (kind) {
    case job::Way::Kind::store_only:
      return "store only";
    case job::Way::Kind::waiting:
      return "caches, waits for the store";
    case job::Way::Kind::background:
      return "caches, drained meanwhile";
  }
  return "";
}

Json json_way(const job::Way& way) {
  return {{"way", kind_name(way.kind)},
          {"scheme", way.scheme.empty() ? Json() : Json(way.scheme)},
          {"cost_seconds", way.cost},
          {"survived", way.survived},
          {"interval_seconds", way.advice.work + way.cost},
          {"stored_every", way.advice.every},
          {"efficiency", way.advice.efficiency}};
}

void print_ways(const Plan& plan) {
  Table table({{"CHECKPOINTS"},
               {"SCHEME"},
               {"COST", Align::right},
               {"INTERVAL", Align::right},
               {"STORED", Align::right},
               {"SURVIVED", Align::right},
               {"EFFICIENCY", Align::right}});
  for (const job::Way& way : plan.ways)
    table.add({kind_name(way.kind), way.scheme.empty() ? "-" : way.scheme, format_duration(way.cost),
               format_duration(way.advice.work + way.cost),
               way.advice.every == 1 ? "all" : fmt::format("1 of {}", way.advice.every),
               fmt::format("{:.1f} %", 100 * way.survived), fmt::format("{:.1f} %", 100 * way.advice.efficiency)});
  fmt::print("\nWith the best interval of each, drained meanwhile by {}:\n\n",
             plural(plan.draining, "aggregator node"));
  table.for_each_line([](const std::string& line) { fmt::print("{}\n", line); });
  const auto best = std::ranges::max_element(plan.ways, {}, [](const job::Way& way) { return way.advice.efficiency; });
  fmt::print("\nBest: {}{}, every {}.\n", kind_name(best->kind),
             best->scheme.empty() ? "" : fmt::format(", scheme {}", best->scheme),
             format_duration(best->advice.work + best->cost));
}

Json json_plan(const Plan& plan) {
  Json rows = Json::array();
  for (const job::PlanRow& row : plan.rows) rows.push_back(json_row(row));
  Json ways = Json::array();
  for (const job::Way& way : plan.ways) ways.push_back(json_way(way));
  Json json = {
      {"raw_bytes", plan.input.set_bytes()},
      {"interval_seconds", plan.input.interval},
      {"allowed_seconds", plan.input.allowed_seconds()},
      {"ratio", plan.input.ratio},
      {"pfs_stream_bytes_per_second", std::isinf(plan.input.pfs_stream) ? Json() : Json(plan.input.pfs_stream)},
      {"codec_bytes_per_second", std::isinf(plan.input.codec) ? Json() : Json(plan.input.codec)},
      {"aggregator_node_count", plan.fewest ? Json(*plan.fewest) : Json()},
      {"rows", std::move(rows)}};
  if (!plan.ways.empty()) json["ways"] = std::move(ways);
  return json;
}

std::string set_text_of(const job::PlanRow& row) {
  if (row.stored_every == 1) return "all";
  return fmt::format("1 of {}", row.stored_every);
}

void print_plan(const Plan& plan) {
  const job::PlanInput& input = plan.input;
  if (plan.measure)
    fmt::print(
        "Measured on {}: ratio {}{}{}\n", printable(plan.measure->description), format_ratio(plan.measure->ratio, 1),
        plan.measure->codec > 0 ? fmt::format(", {}", format_rate(static_cast<uint64_t>(plan.measure->codec), 1)) : "",
        plan.measured_stream
            ? fmt::format(", {} into the store", format_rate(static_cast<uint64_t>(*plan.measured_stream), 1))
            : "");
  const auto bytes = static_cast<uint64_t>(std::fmin(input.set_bytes(), 1e18));
  fmt::print("{} write {} every {}; a drain may take {}\n\n", plural(input.nodes, "compute node"), format_bytes(bytes),
             format_duration(input.interval), format_duration(input.allowed_seconds()));
  Table table({{"AGGREGATOR NODES", Align::right},
               {"DRAIN", Align::right},
               {"NODES FREE AFTER", Align::right},
               {"STORED", Align::right},
               {"FITS"},
               {"LIMITED BY"}});
  for (const job::PlanRow& row : plan.rows)
    table.add({fmt::format("{}", row.aggregator_nodes), format_duration(row.drain_seconds),
               format_duration(row.pull_seconds), set_text_of(row), row.fits ? "yes" : "no",
               job::to_string(row.limit)});
  table.for_each_line([](const std::string& line) { fmt::print("{}\n", line); });
  if (plan.fewest)
    fmt::print("\n{} needed.\n",
               *plan.fewest == 1 ? "1 aggregator node is" : fmt::format("{} aggregator nodes are", *plan.fewest));
  else
    fmt::print("\nNo number of aggregator nodes is enough, because of the {}.\n",
               job::to_string(plan.rows.back().limit));
  if (!plan.ways.empty()) print_ways(plan);
}

class PlanVerb final : public Verb {
 public:
  const VerbText& text() const override { return kPlanText; }

  void declare(Syntax& syntax) override {
    syntax.option("--nodes", "COUNT", "Compute nodes.", set_count(nodes_));
    syntax.option("--bytes", "SIZE", "Bytes that each of them writes per checkpoint.", set_amount(input_.node_bytes));
    syntax.option("--interval", "TIME", "From one checkpoint to the next: 250s, 10m, 1h.",
                  [this](const std::string& text) -> Result<void> {
                    FOREBAY_TRY(input_.interval, parse_duration(text));
                    return {};
                  });
    syntax.option("--network", "RATE", "Network of an aggregator node, inwards.", set_amount(input_.network));
    syntax.option("--node-network", "RATE", "Network of a compute node, outwards; what the drain may take of it.",
                  set_amount(input_.node_network));
    syntax.option("--pfs", "RATE", "The parallel file system: what all aggregator nodes together may take of it.",
                  set_amount(input_.pfs));
    syntax.option("--pfs-stream", "RATE", "The parallel file system: what one aggregator node gets of it.",
                  set_amount(input_.pfs_stream));
    syntax.option("--codec", "RATE", "Compression on an aggregator node with all its threads, in raw bytes.",
                  set_amount(codec_));
    syntax.option("--ratio", "RATIO", "Raw by stored bytes. Default: 1.",
                  [this](const std::string& text) -> Result<void> {
                    FOREBAY_TRY(ratio_, parse_positive(text));
                    return {};
                  });
    syntax.option(
        "--measure", "DIR|STORE",
        "Take --ratio from the newest set of a store and --pfs-stream from writing into it for two seconds, or "
        "--ratio and --codec from packing a directory here.",
        set_text(measure_));
    syntax.option("--profile", "PROFILE", "With --measure DIR: how to pack. Default: balanced.", set_text(profile_));
    syntax.option("--groups", "COUNT",
                  "Rank groups of a set; one aggregator node packs one of them. Default: any number.",
                  set_count(input_.groups));
    syntax.option("--buffer", "SIZE", "Raw bytes that an aggregator node can hold. Default: none.",
                  set_amount(input_.buffer));
    syntax.option("--margin", "PERCENT", "Part of the interval to leave free. Default: 20.",
                  [this](const std::string& text) -> Result<void> {
                    FOREBAY_TRY(const uint64_t percent, parse_count(text));
                    if (percent > 99) return fail(ErrorKind::invalid_argument, "must be 99 at most");
                    input_.margin = static_cast<double>(percent) / 100;
                    return {};
                  });
    declare_ways(syntax);
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
  void declare_ways(Syntax& syntax) {
    const auto set_time = [](double& to) {
      return [&to](const std::string& text) -> Result<void> {
        FOREBAY_TRY(to, parse_duration(text));
        return {};
      };
    };
    const auto set_part = [](double& to) {
      return [&to](const std::string& text) -> Result<void> {
        FOREBAY_TRY(const uint64_t percent, parse_count(text));
        if (percent > 99) return fail(ErrorKind::invalid_argument, "must be 99 at most");
        to = static_cast<double>(percent) / 100;
        return {};
      };
    };
    syntax.option("--node-mtbf", "TIME",
                  "Time between failures of one compute node; asks for the best intervals and schemes.",
                  set_time(ways_.node_mtbf));
    syntax.option("--severe", "PERCENT", "With --node-mtbf: failures that no cache survives. Default: 15.",
                  set_part(ways_.severe));
    syntax.option("--stage", "RATE", "With --node-mtbf: what a compute node writes into its stage.",
                  set_amount(ways_.stage));
    syntax.option("--peers", "RATE", "With --node-mtbf: what a compute node sends to others. Default: --node-network.",
                  set_amount(ways_.peers));
    syntax.option("--recovery", "TIME",
                  "With --node-mtbf: until the application runs again, without reading. Default: 60s.",
                  set_time(ways_.recovery));
    syntax.option("--slowdown", "PERCENT",
                  "With --node-mtbf: speed that the application loses while a set drains. Default: 1.",
                  set_part(ways_.slowdown));
  }

  Result<void> add_ways(Plan& plan) const {
    job::WaysInput input = ways_;
    input.plan = plan.input;
    input.aggregator_nodes = plan.draining = plan.fewest ? *plan.fewest : plan.rows.back().aggregator_nodes;
    if (std::isinf(input.peers)) input.peers = plan.input.node_network;
    FOREBAY_CHECK(check(input));
    plan.ways = compare_ways(input);
    return {};
  }

  Result<Plan> make() {
    FOREBAY_CHECK(require_options());
    Plan plan{.input = input_};
    plan.input.nodes = nodes_;
    if (!measure_.empty()) {
      FOREBAY_TRY(const auto profile, codec::Profile::parse(profile_));
      FOREBAY_TRY(plan.measure, measure_packing(measure_, profile, resources_));
      plan.input.ratio = plan.measure->ratio;
      if (plan.measure->codec > 0) plan.input.codec = plan.measure->codec;
      if (plan.measure->is_store && std::isinf(plan.input.pfs_stream)) plan.measured_stream = measure_rate(measure_);
      if (plan.measured_stream) plan.input.pfs_stream = *plan.measured_stream;
    }
    if (ratio_ > 0) plan.input.ratio = ratio_;
    if (codec_ > 0) plan.input.codec = codec_;
    FOREBAY_CHECK(check(plan.input));
    plan.fewest = fewest_aggregator_nodes(plan.input);
    for (const uint64_t number : numbers_to_show(plan.input)) plan.rows.push_back(plan_drain(plan.input, number));
    if (ways_.node_mtbf > 0) FOREBAY_CHECK(add_ways(plan));
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
  job::WaysInput ways_;
  uint64_t nodes_ = 0;
  double codec_ = 0, ratio_ = 0;
  std::string measure_, profile_ = "balanced";
  engine::Resources resources_;
};

}  // namespace

std::unique_ptr<Verb> make_plan() { return std::make_unique<PlanVerb>(); }

}  // namespace forebay::cli

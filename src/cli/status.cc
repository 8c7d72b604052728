// forebay status: what a running job's coordinator says of the drain.
#include <chrono>
#include <cstdio>
#include <thread>

#include <fmt/format.h>
#include <unistd.h>

#include "cli/common.h"
#include "cli/control.h"
#include "cli/history.h"
#include "cli/json.h"
#include "cli/metrics.h"
#include "cli/summary.h"
#include "cli/table.h"
#include "cli/text.h"
#include "cli/units.h"
#include "cli/verb.h"

namespace forebay::cli {
namespace {

constexpr VerbText kStatusText = {
    .name = "status",
    .summary = "show how the checkpoint sets of a running job are drained",
    .usage = "(--rendezvous DIR | --store STORE [--job ID]) [OPTIONS]",
    .description =
        "Asks the job's coordinator for the sets in flight, the rates, what each aggregator\n"
        "does and what has become of earlier sets. With --history shows what became of the\n"
        "jobs that 'forebay run' started with the store, and whether they run.\n",
    .examples =
        "  forebay status --rendezvous rv --watch\n"
        "  forebay status --store /scratch/store --job 4711 --json\n"
        "  forebay status --store /scratch/store --history\n"
        "  forebay status --rendezvous rv --metrics > node_exporter/forebay.prom\n",
};

constexpr std::chrono::seconds kStatusPeriod{1};
constexpr std::chrono::seconds kStatusElection{3};  // for a new coordinator, where the last one has just died

double number(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number() ? found->get<double>() : 0;
}

std::string word_of(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? printable(found->get<std::string>()) : "";
}

const Json& rows_of(const Json& object, const char* key) {
  static const Json kNone = Json::array();
  const auto found = object.find(key);
  return found != object.end() && found->is_array() ? *found : kNone;
}

// The cache levels of a set; empty: it lies in the stages alone.
std::string levels_text(const Json& set) {
  std::string text;
  for (const Json& level : rows_of(set, "levels"))
    if (level.is_string()) text += (text.empty() ? "" : ", ") + printable(level.get<std::string>());
  return text;
}

std::string size_text(const Json& object, const char* key) {
  return object.contains(key) && object[key].is_number() ? format_bytes(static_cast<uint64_t>(number(object, key)))
                                                         : "";
}

void print_table(const Table& table) {
  table.for_each_line([](const std::string& line) { fmt::print("{}\n", line); });
}

std::string remark_of(const Json& set) {
  const std::string levels = levels_text(set), missing = word_of(set, "missing");
  return (levels.empty() ? "" : "on " + levels) + (levels.empty() || missing.empty() ? "" : "; ") + missing;
}

void print_sets(const Json& status) {
  Table table({{"SET"},
               {"STATE"},
               {"RANKS", Align::right},
               {"DONE", Align::right},
               {"OF", Align::right},
               {"STORED", Align::right},
               {"RATE", Align::right},
               {"TIME", Align::right},
               {"REMARK"}});
  for (const Json& set : rows_of(status, "past_sets"))
    table.add({word_of(set, "name"), word_of(set, "state"), "", size_text(set, "raw_bytes"),
               size_text(set, "raw_bytes"), size_text(set, "stored_bytes"),
               format_rate(static_cast<uint64_t>(number(set, "raw_bytes")), number(set, "seconds")),
               format_duration(number(set, "seconds")), word_of(set, "message")});
  for (const Json& set : rows_of(status, "sets"))
    table.add({word_of(set, "name"), word_of(set, "state"),
               fmt::format("{:.0f}/{:.0f}", number(set, "offered_rank_count"), number(set, "rank_count")),
               size_text(set, "raw_bytes"), size_text(set, "total_bytes"), size_text(set, "stored_bytes"),
               format_rate(static_cast<uint64_t>(number(set, "raw_bytes")), number(set, "seconds")),
               format_duration(number(set, "seconds_since_offer")), remark_of(set)});
  print_table(table);
  for (const Json& row : rows_of(status, "begun"))
    fmt::print("begun in {} of {}: {}, {}\n", word_of(row, "place"), word_of(row, "host"), word_of(row, "name"),
               word_of(row, "reason"));
}

// A set of the caches that is being rebuilt.
void print_recovery(const Json& recovery) {
  const std::string nodes = word_of(recovery, "awaited_nodes");
  fmt::print("set {} is rebuilt for {}: {}, {} and {}, {} so far; {} to answer{}\n", word_of(recovery, "set"),
             format_duration(number(recovery, "seconds")), word_of(recovery, "state"),
             plural(static_cast<uint64_t>(number(recovery, "lost_member_count")), "lost member"),
             plural(static_cast<uint64_t>(number(recovery, "bad_piece_count")), "damaged piece"),
             size_text(recovery, "repaired_bytes"),
             plural(static_cast<uint64_t>(number(recovery, "agent_count")), "agent"),
             nodes.empty() ? "" : " (" + nodes + ")");
}

// What the caches hold, and how it is protected; nothing where there are none.
void print_caches(const Json& status) {
  const auto cache = status.value("cache", Json::object());
  if (rows_of(cache, "encoding_sets").empty() && rows_of(cache, "sealed_sets").empty() &&
      rows_of(cache, "sets").empty() && rows_of(cache, "sets_aside").empty())
    return;
  fmt::print("caches: redundancy {}, every {}\n", word_of(cache, "redundancy"),
             number(cache, "flush_every") == 0 ? "set stays there"
                                               : fmt::format("{:.0f}. set is stored", number(cache, "flush_every")));
  Table table({{"CACHED SET"},
               {"STATE"},
               {"LEVEL"},
               {"SCHEME"},
               {"GROUPS", Align::right},
               {"SIZE", Align::right},
               {"PARITY", Align::right},
               {"SENT", Align::right},
               {"CPU", Align::right},
               {"TIME", Align::right},
               {"REMARK"}});
  const auto add_encoding = [&](const Json& row, const std::string& state) {
    table.add({word_of(row, "name"), state, "", word_of(row, "scheme"),
               fmt::format("{:.0f}", number(row, "group_count")), size_text(row, "raw_bytes"),
               size_text(row, "parity_bytes"), size_text(row, "sent_bytes"),
               format_duration(number(row, "cpu_seconds")), format_duration(number(row, "seconds")), ""});
  };
  for (const Json& row : rows_of(cache, "sealed_sets")) add_encoding(row, "was sealed");
  for (const Json& row : rows_of(cache, "encoding_sets"))
    add_encoding(
        row, fmt::format("encoding {:.0f}/{:.0f}", number(row, "encoded_member_count"), number(row, "member_count")));
  for (const Json& row : rows_of(cache, "sets"))
    table.add({word_of(row, "name"), word_of(row, "state"), rows_of(row, "levels").empty() ? "stage" : levels_text(row),
               "", "", size_text(row, "raw_bytes"), "", "", "", "", word_of(row, "message")});
  for (const Json& row : rows_of(cache, "sets_aside"))
    table.add({word_of(row, "name"), "set aside", "", "", "", "", "", "", "", "", word_of(row, "reason")});
  print_table(table);
  if (const auto recovery = cache.find("recovery"); recovery != cache.end() && recovery->is_object())
    print_recovery(*recovery);
  fmt::print("\n");
}

// How often sets come, and how often they should; nothing while too little is known.
void print_cadence(const Json& status) {
  const auto cadence = status.value("cadence", Json::object());
  const auto advice = cadence.value("advice", Json());
  if (!advice.is_object()) return;
  constexpr double kPercent = 100;
  const auto failures = static_cast<uint64_t>(number(cadence, "failure_count"));
  fmt::print(
      "a set every {} costs the ranks {}; {} every {}, a set every {} would be best: {:.1f} % of the time for work, "
      "now "
      "{:.1f} %\n\n",
      format_duration(number(cadence, "interval_seconds")), format_duration(number(cadence, "set_seconds")),
      failures == 0 ? "no restart so far; if one came" : fmt::format("with {}, one", plural(failures, "restart")),
      format_duration(number(advice, "mtbf_seconds")), format_duration(number(advice, "interval_seconds")),
      kPercent * number(advice, "best_efficiency"), kPercent * number(advice, "efficiency"));
}

void print_aggregators(const Json& status) {
  Table table({{"AGGREGATOR"}, {"PROCESS", Align::right}, {"MEMORY", Align::right}, {"PROFILE"}, {"DOES"}});
  for (const Json& worker : rows_of(status, "workers")) {
    std::string does;
    for (const Json& task : rows_of(worker, "tasks"))
      does += fmt::format("{}{} {} of {}, {}", does.empty() ? "" : "; ", word_of(task, "kind"),
                          number(task, "container_index"), word_of(task, "set"), size_text(task, "raw_bytes"));
    if (does.empty()) does = "waits";
    table.add({word_of(worker, "host"), fmt::format("{:.0f}", number(worker, "pid")), size_text(worker, "memory_bytes"),
               word_of(worker, "profile"), does});
  }
  print_table(table);
}

void print_status(const Json& status) {
  const auto totals = status.value("totals", Json::object());
  fmt::print("{} and {}; coordinator {} on {}, for {}{}\n",
             plural(static_cast<uint64_t>(number(status, "agent_count")), "agent"),
             plural(static_cast<uint64_t>(number(status, "worker_count")), "aggregator"), number(status, "generation"),
             word_of(status, "host"), format_duration(number(status, "seconds")),
             status.value("ending", false) ? "; ends when all is drained" : "");
  fmt::print("series {}; ", word_of(status, "series"));
  fmt::print("{} durable, {:.0f} skipped, {:.0f} failed{}; {} -> {}\n\n",
             plural(static_cast<uint64_t>(number(totals, "durable_count")), "set"), number(totals, "skipped_count"),
             number(totals, "failed_count"),
             number(totals, "cached_count") == 0 ? "" : fmt::format(", {:.0f} cached", number(totals, "cached_count")),
             size_text(totals, "raw_bytes"), size_text(totals, "stored_bytes"));
  if (const auto restart = status.find("restart"); restart != status.end() && restart->is_object())
    fmt::print("restart from {}: {:.0f} of {:.0f} ranks have asked, {:.0f} of {:.0f} containers delivered\n\n",
               word_of(*restart, "set"), number(*restart, "asked_rank_count"), number(*restart, "rank_count"),
               number(*restart, "done_container_count"), number(*restart, "container_count"));
  if (const std::string why = no_set_comes(status); !why.empty()) fmt::print("warning: {}\n\n", why);
  if (const std::string why = store_fills(status); !why.empty()) fmt::print("warning: {}\n\n", why);
  print_sets(status);
  fmt::print("\n");
  print_caches(status);
  print_cadence(status);
  print_aggregators(status);
  for (const Json& error : rows_of(status, "errors"))
    if (error.is_string()) fmt::print("error: {}\n", printable(error.get<std::string>()));
}

class Status final : public Verb {
 public:
  const VerbText& text() const override { return kStatusText; }

  void declare(Syntax& syntax) override {
    declare_job(syntax, job_);
    syntax.flag("-w,--watch", watch_, "Show it anew every second, until the job ends.");
    syntax.flag("--metrics", metrics_, "Print OpenMetrics text, for Prometheus.");
    syntax.flag("--history", history_, "List the jobs of the store, with what became of those that have ended.");
  }

  Result<ExitCode> run(const Console& console) override {
    if (metrics_ && (console.json || watch_))
      return fail(ErrorKind::invalid_argument, "--metrics goes with neither --json nor --watch");
    if (history_) return print_jobs(console);
    FOREBAY_TRY(const auto path, find_job(job_));
    for (;;) {
      FOREBAY_TRY(auto control, Control::reach(path, job_.munge, std::chrono::steady_clock::now() + kStatusElection));
      FOREBAY_TRY(const auto status, control.status());
      if (watch_ && !console.json && ::isatty(STDOUT_FILENO)) fmt::print("\033[H\033[2J");
      print(console, status);
      std::fflush(stdout);
      if (!watch_ || std::ferror(stdout)) return ExitCode::ok;
      std::this_thread::sleep_for(kStatusPeriod);
    }
  }

 private:
  Result<ExitCode> print_jobs(const Console& console) const {
    if (metrics_ || watch_ || !job_.rendezvous.empty())
      return fail(ErrorKind::invalid_argument, "--history goes with none of --metrics, --watch and --rendezvous");
    const std::string store = job_.store.empty() ? store_of_environment() : job_.store;
    if (store.empty())
      return fail(ErrorKind::invalid_argument, "no store is given", {}, {}, "use --store STORE, or set FOREBAY_STORE");
    FOREBAY_CHECK(store::Store::open(store));
    const std::string directory = jobs_directory(store);
    job::clean_jobs(directory);
    FOREBAY_TRY(auto jobs, job::list_jobs(directory));
    if (!job_.job.empty()) std::erase_if(jobs, [&](const job::JobEntry& one) { return one.id != job_.job; });
    if (!job_.job.empty() && jobs.empty())
      return fail(ErrorKind::not_found, fmt::format("there is no job '{}'", job_.job), directory);
    if (console.json)
      print_json(history_json(jobs));
    else if (jobs.empty())
      fmt::print("{}: no jobs\n", printable(store));
    else
      print_history(jobs, printable(directory));
    return ExitCode::ok;
  }

  void print(const Console& console, const Json& status) const {
    if (metrics_)
      fmt::print("{}", open_metrics(status));
    else if (console.json)
      print_json(status);
    else
      print_status(status);
  }

  JobName job_;
  bool watch_ = false, metrics_ = false, history_ = false;
};

}  // namespace

std::unique_ptr<Verb> make_status() { return std::make_unique<Status>(); }

}  // namespace forebay::cli

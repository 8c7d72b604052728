#include "scr/session.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <ctime>
#include <utility>

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/checksum.h"
#include "launch/scr/flushing.h"
#include "launch/scr/set_names.h"
#include "launch/scr/stored_sets.h"
#include "scr/aggregator_nodes.h"
#include "scr/daemons.h"
#include "scr/prefix_files.h"

namespace forebay::scr {
namespace {

constexpr int64_t kMostBacklog = 1'000'000;

// Tells nodes apart: ranks that see one stage directory are on one node.
uint64_t node_of_stage(const std::string& stage) {
  char host[256] = "";
  ::gethostname(host, sizeof host - 1);
  struct stat info{};
  if (::stat(stage.c_str(), &info) != 0) return 0;
  return hash64(as_bytes(fmt::format("{} {} {}", host, info.st_dev, info.st_ino))) | 1;
}

std::optional<int64_t> end_of_allocation(const Config& config) {
  std::string text = config.text("SCR_END_TIME");
  if (text.empty())
    if (const char* value = std::getenv("SLURM_JOB_END_TIME")) text = value;
  int64_t end = 0;
  const auto [at, fault] = std::from_chars(text.data(), text.data() + text.size(), end);
  return fault == std::errc{} && at == text.data() + text.size() && !text.empty() ? std::optional(end) : std::nullopt;
}

double seconds_since(std::chrono::steady_clock::time_point then) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - then).count();
}

}  // namespace

Result<std::unique_ptr<Session>> Session::open(Config& config) {
  FOREBAY_TRY(auto ranks, Ranks::world());
  std::unique_ptr<Session> session(new Session(std::move(ranks)));
  FOREBAY_CHECK(session->set_up(config));
  return session;
}

// What is copied uses the rest of the session.
Session::~Session() {
  if (copying_ && copying_->thread.joinable()) {
    copying_->thread.request_stop();
    copying_->thread.join();
  }
}

Result<void> Session::agreed(Result<void> mine, const char* what) {
  FOREBAY_TRY(const bool all, ranks_->all(mine.has_value()));
  if (all) return mine;
  // Where ranks fail by the dozen, the log of rank 0 is where people look.
  const bool has_reason = !mine && mine.error().kind != ErrorKind::cancelled;
  FOREBAY_TRY(const auto reasons, ranks_->to_first(has_reason ? mine.error().message() : std::string()));
  if (!mine) return mine;
  const auto reason = std::ranges::find_if(reasons, [](const std::string& text) { return !text.empty(); });
  std::string text = fmt::format("another rank has failed to {}", what);
  if (reason != reasons.end()) text += fmt::format(": rank {}: {}", reason - reasons.begin(), *reason);
  return fail(ErrorKind::cancelled, std::move(text));
}

Result<std::string> Session::decided(const std::function<std::string()>& at_first) {
  return ranks_->of_first(is_first() ? at_first() : std::string());
}

Result<void> Session::change_index(const std::function<void(Index&)>& change) {
  if (!is_first()) return {};
  change(index_);
  return write_index(places_.index, index_);
}

Result<void> Session::take_rules(const Config& config) {
  FOREBAY_TRY(descriptors_, descriptors_of(config));
  FOREBAY_TRY(need_rules_.interval, config.number("SCR_CHECKPOINT_INTERVAL"));
  FOREBAY_TRY(need_rules_.seconds, config.real("SCR_CHECKPOINT_SECONDS"));
  FOREBAY_TRY(need_rules_.overhead, config.real("SCR_CHECKPOINT_OVERHEAD"));
  FOREBAY_TRY(halt_seconds_, config.number("SCR_HALT_SECONDS"));
  FOREBAY_TRY(flush_, config.number("SCR_FLUSH"));
  FOREBAY_TRY(prefix_size_, config.number("SCR_PREFIX_SIZE"));
  FOREBAY_TRY(fetches_, config.flag("SCR_FETCH"));
  FOREBAY_TRY(any_ranks_, config.flag("SCR_GLOBAL_RESTART"));
  FOREBAY_TRY(flushes_restarts_, config.flag("SCR_FLUSH_ON_RESTART"));
  FOREBAY_TRY(waits_, config.flag("FOREBAY_SCR_WAIT"));
  FOREBAY_TRY(is_async_, config.flag("SCR_FLUSH_ASYNC"));
  FOREBAY_CHECK(cache_size_of(config));
  FOREBAY_TRY(const int64_t backlog, config.number("FOREBAY_SCR_BACKLOG"));
  if (backlog < 1 || backlog > kMostBacklog)
    return fail(ErrorKind::invalid_argument,
                fmt::format("FOREBAY_SCR_BACKLOG={}: it is between 1 and {}", backlog, kMostBacklog),
                config.where("FOREBAY_SCR_BACKLOG"));
  for (const char* key : {"SCR_HALT_EXIT", "SCR_PREFIX_PURGE"}) FOREBAY_CHECK(config.number(key));
  FOREBAY_TRY(const int64_t seconds, config.number("FOREBAY_SCR_TIMEOUT"));
  timeout_ = std::chrono::seconds(std::clamp<int64_t>(seconds, 1, 1'000'000));
  const std::string kind = config.text("FOREBAY_SCR_FLUSH_KIND");
  if (kind != "store" && kind != "files")
    return fail(ErrorKind::invalid_argument, fmt::format("FOREBAY_SCR_FLUSH_KIND={}: it is store or files", kind),
                config.where("FOREBAY_SCR_FLUSH_KIND"));
  flushes_to_files_ = kind == "files";
  current_ = config.text("SCR_CURRENT");
  end_ = end_of_allocation(config);
  return {};
}

Result<void> Session::set_up(Config& config) {
  Result<void> read;
  if (is_first()) read = config.read_files(system_file());
  if (is_first() && read) read = take_rules(config);  // while it is known where each key was set
  FOREBAY_CHECK(agreed(std::move(read), "read the configuration"));
  if (is_first())
    for (const std::string& warning : config.warnings()) fmt::print(stderr, "SCR: {}\n", warning);
  FOREBAY_TRY(const std::string flat, ranks_->of_first(is_first() ? config.flattened() : std::string()));
  config.take_flattened(flat);
  config_ = config;
  FOREBAY_CHECK(take_rules(config));
  auto places = places_of(config, process_environment());
  FOREBAY_CHECK(agreed(places ? Result<void>{} : std::unexpected(places.error()), "find its directories"));
  places_ = std::move(*places);
  Result<void> own;
  if (is_first()) {
    own = make_own_directories(places_);
    if (own) own = open_index();
    auto halt = own ? read_halt(places_.halt) : Result<Halt>(std::unexpected(own.error()));
    if (halt && halt->reason == kFinalized) {
      halt->reason.clear();
      own = write_halt(places_.halt, *halt);
    } else if (!halt) {
      own = std::unexpected(halt.error());
    }
  }
  FOREBAY_CHECK(agreed(std::move(own), "prepare the prefix"));
  FOREBAY_TRY(const std::string last, decided([&] { return std::to_string(index_.last_step()); }));
  last_id_ = 0;
  last_step_ = std::atoll(last.c_str());
  const bool uses_caches = std::ranges::any_of(descriptors_, [](const Descriptor& one) { return !one.is_bypass; });
  return uses_caches ? connect(config) : Result<void>{};
}

// Agents and aggregators where `forebay run` or a script has not seen to them, then a client of each rank.
Result<void> Session::connect(const Config& config) {
  const char* given = std::getenv("FOREBAY_STAGE");
  has_own_daemons_ = given == nullptr || *given == '\0';
  if (has_own_daemons_) FOREBAY_CHECK(agreed(make_stage_directory(places_.stage), "make its cache"));
  FOREBAY_TRY(const auto nodes, ranks_->of_all(node_of_stage(places_.stage)));
  const uint64_t mine = nodes[ranks_->rank()];
  leads_node_ = static_cast<uint32_t>(std::ranges::find(nodes, mine) - nodes.begin()) == ranks_->rank();
  if (has_own_daemons_) {
    // The rendezvous must be there, with its secret, before several come to it at once.
    FOREBAY_CHECK(agreed(is_first() ? ensure_aggregator(config, places_) : Result<void>{}, "start an aggregator"));
    Result<void> ready = leads_node_ ? ensure_agent(config, places_) : Result<void>{};
    if (ready && leads_node_ && has_aggregator(nodes, mine)) ready = add_aggregator(config, places_);
    FOREBAY_CHECK(agreed(std::move(ready), "start an agent"));
  }
  auto client = job::Client::connect(places_.stage, ranks_->rank(), ranks_->size());
  FOREBAY_CHECK(agreed(client ? Result<void>{} : std::unexpected(client.error()), "reach the agent"));
  client_ = std::move(*client);
  return {};
}

// At rank 0: with what came into the prefix since the last call of a program that was killed, or, by SCR_PREFIX_PURGE,
// without all that is there.
Result<void> Session::open_index() {
  FOREBAY_TRY(index_, read_index(places_.index));
  FOREBAY_CHECK(adopt_flushed(places_, index_));
  FOREBAY_CHECK(forget_lost_outputs());
  FOREBAY_TRY(const bool purges, config_.flag("SCR_PREFIX_PURGE"));
  if (!purges) return {};
  FOREBAY_CHECK(remove_all_stored(places_));
  const std::vector<IndexEntry> entries = std::move(std::exchange(index_, {}).entries);
  for (const IndexEntry& entry : entries)
    if (entry.place == SetPlace::prefix) FOREBAY_CHECK(remove_files_of(entry.name));
  return write_index(places_.index, index_);
}

// What was on its way to the prefix beside a program that was killed, and is no checkpoint: nobody has it any more.
Result<void> Session::forget_lost_outputs() {
  std::vector<std::string> lost;
  for (const IndexEntry& entry : index_.entries)
    if (!entry.is_checkpoint && entry.place == SetPlace::cache) lost.push_back(entry.name);
  for (const std::string& name : lost) {
    fmt::print(stderr, "SCR: output {} is lost: the program ended before it was in the prefix\n", name);
    index_.drop(name);
  }
  return lost.empty() ? Result<void>{} : write_index(places_.index, index_);
}

Result<bool> Session::need_checkpoint() {
  ++need_.calls;
  FOREBAY_TRY(const std::string halts, why_exit());
  FOREBAY_TRY(const std::string answer, decided([&] {
                need_.since_last = seconds_since(last_checkpoint_);
                need_.running = seconds_since(started_);
                const auto halt = read_halt(places_.halt);
                const bool is_awaited = halt && waits_for_checkpoint(*halt);
                return std::string(scr::need_checkpoint(need_rules_, need_) || is_awaited ? "1" : "0");
              }));
  return answer == "1" || !halts.empty();
}

Result<std::string> Session::why_exit() {
  FOREBAY_TRY(std::string why, decided([&] {
                const auto halt = read_halt(places_.halt);
                if (!halt) fmt::print(stderr, "SCR: {}\n", halt.error().message());
                return halt ? why_halt(*halt, std::time(nullptr), end_, halt_seconds_).value_or("") : std::string();
              }));
  return why;
}

Result<void> Session::finish() {
  FOREBAY_CHECK(end_copying());
  Result<void> done;
  const bool flushes_last = flush_ > 0 && last_output_ && last_output_->is_checkpoint && !last_output_->is_bypass &&
                            !last_output_->is_deleted && !last_output_->reaches_prefix && !last_output_->reaches_store;
  if (flushes_last && flushes_to_files_) {
    FromAndName files;
    for (const std::string& file : last_output_->files)
      files.emplace_back(places_.stage + "/" + last_output_->set + "/" + file, file);
    FOREBAY_CHECK(begin_copying(entry_of(*last_output_), std::move(files), false));
    FOREBAY_CHECK(end_copying());
  }
  client_.reset();
  FOREBAY_TRY(const bool all, ranks_->all(true));  // all clients are gone
  if (is_first()) {
    if (flush_ > 0 && has_own_daemons_ && last_output_ && all) done = flush_and_stop(config_, places_);
    if (done && flushes_last && !flushes_to_files_)
      done = change_index([&](Index& index) {
        if (IndexEntry* entry = index.find(last_output_->name)) entry->flushed = std::time(nullptr);
      });
    auto halt = read_halt(places_.halt);
    if (halt && halt->reason.empty()) {
      halt->reason = kFinalized;
      auto noted = write_halt(places_.halt, *halt);
      if (done) done = std::move(noted);
    }
  }
  return agreed(std::move(done), "flush");
}

}  // namespace forebay::scr

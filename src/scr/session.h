// What lies between SCR_Init and SCR_Finalize of one rank. All calls but route_file() are collective, and give the same
// answer on all ranks; an error that only some ranks have met is "another rank has failed" at the others.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "job/client/client.h"
#include "launch/scr/config.h"
#include "launch/scr/halt.h"
#include "launch/scr/index.h"
#include "launch/scr/places.h"
#include "scr/descriptors.h"
#include "scr/mpi/ranks.h"
#include "scr/need.h"
#include "scr/pieces.h"

namespace forebay::scr {

class Session {
 public:
  // Makes `config` that of rank 0.
  static Result<std::unique_ptr<Session>> open(Config& config);
  ~Session();

  Result<bool> need_checkpoint();
  // Why the application is to end; empty: it is not.
  Result<std::string> why_exit();

  // `name` empty: one is made.
  Result<void> start_output(std::string name, bool is_checkpoint, bool is_output);
  Result<std::string> route_output(const std::string& name);
  // A rank with `valid` false is an error at all.
  Result<void> complete_output(bool valid);

  // The name of the set that there is to restart from, or nothing.
  Result<std::optional<std::string>> have_restart();
  Result<std::string> start_restart();
  Result<std::string> route_restart(const std::string& name);
  Result<void> complete_restart(bool valid);

  Result<void> set_current(const std::string& name);
  Result<void> drop(const std::string& name);
  Result<void> remove(const std::string& name);

  // What is to be flushed is, and it is noted that the application ended as it should.
  Result<void> finish();

  // On which rank the message of an error that all have got is to be printed.
  bool is_first() const { return ranks_->rank() == 0; }

 private:
  using Clock = std::chrono::steady_clock;

  // The set that is being written.
  struct Output {
    std::string name, set;
    int64_t id = 0, step = 0;
    bool is_checkpoint = false, is_output = false;
    bool is_bypass = false;   // files go straight to the prefix
    bool is_deleted = false;  // when it was complete
    bool reaches_prefix = false, reaches_store = false;
    std::set<std::string> files;  // of this rank, below the prefix
    Clock::time_point begun;
  };
  // The set that there is to restart from.
  struct Restart {
    IndexEntry entry;
    std::string set;
    std::vector<PrefixFile> files;  // where it is in the prefix
    std::string stored_as = {};     // where it came from the store
  };
  // Files on their way from the cache to the prefix. Meanwhile the thread of rank 0 alone uses index_.
  struct Copying {
    IndexEntry entry;
    std::string
        notes;  // beside the program: the directory with what is known of it (launch/scr/flushing.h); else empty
    Result<std::vector<PrefixFile>> copied;
    bool is_listed = false;  // at rank 0
    std::jthread thread;
  };

  explicit Session(std::unique_ptr<Ranks> ranks) : ranks_(std::move(ranks)) {}

  // lifecycle
  Result<void> set_up(Config& config);
  Result<void> take_rules(const Config& config);
  Result<void> connect(const Config& config);
  Result<void> open_index();
  Result<void> forget_lost_outputs();
  Result<std::string> decided(const std::function<std::string()>& at_first);
  // `mine` of every rank: its error where it failed, else that another one has.
  Result<void> agreed(Result<void> mine, const char* what);
  // At rank 0 alone: changes the index and writes it.
  Result<void> change_index(const std::function<void(Index&)>& change);

  // output
  Result<void> begin_in_cache(const std::string& write);
  std::unexpected<Error> not_valid() const;
  Result<void> complete_bypass();
  Result<std::vector<Piece>> pieces_of_bypass(const std::vector<PrefixFile>& mine);
  Result<std::vector<PrefixFile>> read_pieces(const std::vector<Piece>& pieces) const;
  Result<std::vector<PrefixFile>> files_of(const std::vector<std::string>& texts) const;
  Result<void> complete_in_cache();
  Result<void> keep_in_cache();
  Result<void> list_in_prefix(const IndexEntry& entry, const Result<std::vector<PrefixFile>>& mine);
  Result<void> list(const IndexEntry& entry, const std::vector<PrefixFile>& files);
  using FromAndName = std::vector<std::pair<std::string, std::string>>;  // from where, and the name below the prefix
  Result<void> begin_copying(IndexEntry entry, FromAndName files, bool is_async);
  Result<void> end_copying();
  Result<std::vector<PrefixFile>> copy(const FromAndName& files) const;
  void list_when_whole(const std::stop_token& stop);
  Result<void> prune_prefix();
  IndexEntry entry_of(const Output& output) const;
  Result<void> remove_files_of(const std::string& name);

  // restart
  Result<std::optional<Restart>> find_restart();
  Result<std::optional<IndexEntry>> look_in_caches(const std::string& newest);
  Result<std::optional<Restart>> newest_of(const std::optional<IndexEntry>& cached, const std::string& newest);
  Result<void> check_in_prefix(const Restart& restart);
  Result<void> flush_restarted(const Restart& restart);
  Result<void> set_aside(const Restart& restart, const std::string& reason);
  void wait_until_safe(const std::string& set);
  Result<void> remove_copies(const std::string& set);

  std::unique_ptr<Ranks> ranks_;
  Places places_;
  Config config_{[](const char*) -> const char* { return nullptr; }};
  std::vector<Descriptor> descriptors_;
  std::unique_ptr<job::Client> client_;  // null: no set goes through the caches
  bool has_own_daemons_ = false;
  bool leads_node_ = false;  // the first rank of those that share a stage
  job::Client::Timeout timeout_{600'000};

  // rules
  NeedRules need_rules_;
  NeedFacts need_;
  Clock::time_point started_ = Clock::now(), last_checkpoint_ = Clock::now();
  int64_t halt_seconds_ = 0, flush_ = 0, prefix_size_ = 0;
  bool fetches_ = true, any_ranks_ = false, flushes_restarts_ = false, waits_ = false, is_async_ = false,
       flushes_to_files_ = false;
  std::optional<int64_t> end_;

  Index index_;  // at rank 0; elsewhere empty
  int64_t last_id_ = 0, last_step_ = 0;
  std::optional<Output> output_, last_output_;
  std::set<std::string> written_;  // sets of this run that went to the caches
  std::optional<Restart> restart_;
  std::string current_;
  std::set<std::string> passed_over_;  // names
  std::string stored_as_;              // of what look_in_caches() has found
  std::optional<Copying> copying_;
};

}  // namespace forebay::scr

// One rank's side of forebay.h: files and a marker in the stage, and a few blocking calls to the node's agent.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include <sys/types.h>

#include "base/error.h"
#include "fabric/link.h"
#include "job/wire/messages.h"

namespace forebay::job {

// Used by one thread at a time, and only by the process that made it: invalid_argument in a child of fork().
//
// Errors: disconnected if there is no agent, or it has ended and none has come for $FOREBAY_AGENT_TIMEOUT seconds
// (kAgentPatience), or before the timeout of the call. Where the stage's directory is not there, nobody is waited for.
// timeout when a timeout is over (negative: none). An agent that says nothing for kSilence counts as ended.
class Client {
 public:
  using Timeout = std::chrono::milliseconds;
  static constexpr Timeout kSilence{30'000}, kAgentPatience{60'000};

  static Result<std::unique_ptr<Client>> connect(std::string stage, uint32_t rank, uint32_t ranks);

  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // As in forebay.h. `policy` is how the set is to be kept, the same on all ranks; null: as the job's options say.
  Result<void> begin(std::string_view set, int64_t step, Timeout timeout, const wire::SetPolicyT* policy = nullptr);
  Result<std::string> path(std::string_view file);
  Result<void> complete();

  // Gives up what was begun and not completed: nothing of it is removed before the next begin() of its name.
  void abandon() { begun_.reset(); }
  // Gives it up, and removes the files that this rank has asked for, and directories that are empty then: they are no
  // part of a set, and never will be. The first error of removing one; the others are removed.
  Result<void> discard();

  // The set's state, final or when the time was over, with what there is to say about it.
  struct News {
    wire::SetState state = wire::SetState::incomplete;
    std::string message;
  };
  Result<News> wait(std::string_view set, Timeout timeout);

  struct Found {
    std::string set;
    std::optional<int64_t> step;
    uint32_t ranks = 0;          // of the set
    std::string stored_as = {};  // its name in the store, where it came from there: for reject()
  };
  // Nothing, and why, if there is nothing to restart from.
  struct Restart {
    std::optional<Found> found;
    std::string message;
    uint32_t other_ranks = 0;  // of the newest set, which is not given since they are not the job's; 0: that is not why
  };
  // `any_ranks`: the application reads sets of any number of ranks. `newest`: sets that are newer than this one are
  // left out, which need not be there; empty: none. The same on all ranks.
  Result<Restart> restart(Timeout timeout, bool any_ranks = false, std::string_view newest = {});
  Result<std::string> restart_path(std::string_view file);
  // Where the files of that set are; empty: none was found.
  const std::string& restart_directory() const { return restarted_; }
  // The application cannot use the set `set`, whose name in the store is `stored_as` if it is known: it is never
  // offered again, and nothing of it is removed. To be called by one rank before all ask for the next restart. Returns
  // when that is certain, whichever daemons die from then on; timeout: it may be so.
  Result<void> reject(std::string_view set, std::string_view stored_as, std::string_view reason, Timeout timeout);
  // The application deletes the set, which is complete or was never: it leaves all stages, and what is left of it
  // anywhere is never offered again. What the store has stays. To be called by one rank. Returns as reject().
  Result<void> remove(std::string_view set, Timeout timeout);
  // Until this node has nothing of the set any more: before it is begun again. timeout.
  Result<void> wait_until_gone(std::string_view set, Timeout timeout);

 private:
  Client(std::string stage, uint32_t rank, uint32_t ranks);
  Result<void> ask_to_reject(wire::RejectT reject, Timeout timeout);

  // The set that was begun and is not complete.
  struct Begun {
    std::string set;
    int64_t step = 0;
    std::string directory, marker;  // paths
    std::set<std::string> files;    // that were asked for
  };

  Result<void> check_process() const;
  Result<void> reach();
  Result<void> send(const Bytes& frames);
  // The answer to a request with a timeout, of whatever agent is there or comes.
  template <class Request>
  Result<wire::MessageT> ask(Request request, Timeout timeout);
  bool wait_for_agent(std::chrono::steady_clock::time_point until) const;
  Result<wire::MessageT> exchange(const Bytes& frames, Timeout timeout);
  Result<std::string> below_stage(const std::string& name) const;
  Result<void> write_marker() const;

  std::string stage_;
  uint32_t rank_, ranks_;
  uint64_t attempt_;  // $FOREBAY_ATTEMPT
  Timeout patience_;
  pid_t process_;
  std::optional<fabric::Link> link_;
  std::optional<Begun> begun_;
  std::string restarted_;  // the directory of the set that restart() has found; empty: none
};

}  // namespace forebay::job

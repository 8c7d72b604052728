// A connection with the coordinator of a running job, to ask and to tell.
#pragma once

#include <chrono>
#include <stop_token>
#include <string>
#include <vector>

#include "base/error.h"
#include "cli/json.h"
#include "cli/syntax.h"
#include "fabric/link.h"
#include "job/rendezvous/job_directories.h"

namespace forebay::cli {

// Which job is meant.
struct JobName {
  std::string rendezvous;  // --rendezvous, or $FOREBAY_RENDEZVOUS
  std::string store, job;  // else --store and --job: STORE/jobs/JOB; without --job the only one there is
  bool munge = false;
};
void declare_job(Syntax& syntax, JobName& name);

// The job's rendezvous directory. invalid_argument if nothing is said; not_found if there is no job that runs, or if
// there are several. Of a store, what dead jobs have left is put in order first.
Result<std::string> find_job(const JobName& name);

// Which of the jobs in STORE/jobs is meant by `id`, or by nothing; as find_job(). Pure.
Result<std::string> choose_job(const std::vector<job::JobEntry>& jobs, const std::string& id, const std::string& store);

// The directory of rendezvous directories that `forebay run` makes.
std::string jobs_directory(const std::string& store);

class Control {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // Tries until a coordinator answers, the time is over or `stop` is requested: then not_found, disconnected or
  // timeout.
  static Result<Control> reach(const std::string& rendezvous, bool munge, Time until, const std::stop_token& stop = {});

  // What the coordinator says of itself (docs/man/forebay.1, "status").
  Result<Json> status();

  // Tells that the application writes to no stage now, and waits until the agents have offered what is complete: the
  // status then, with what is left. timeout, or disconnected if the coordinator is lost meanwhile.
  Result<Json> settle(Time until);
  // Tells it that the job goes on without the nodes of this name; the status after that.
  Result<Json> exclude(const std::string& node);
  // From now on no restart takes the set, which the application calls `set` and the store `stored_as` (empty: the job
  // knows it, or has it in the stages alone); the status after that.
  Result<Json> reject(const std::string& set, const std::string& stored_as, const std::string& reason);

  // Asks for the end of the job's daemons. With `drain` they end when all that was offered is durable or has failed,
  // and this waits for it; timeout if that takes too long. Then, as otherwise, `last` is the newest status that was
  // seen. `settle`, with `drain`: as settle() before. Where a coordinator is lost, or sends nothing for 10 s, the next
  // one is asked; errors of reach() if there is none within 30 s.
  struct End {
    bool drain = false, settle = false;
  };
  static Result<void> stop(const std::string& rendezvous, bool munge, End end, Time until, Json& last,
                           const std::stop_token& stop = {});
  // Likewise, of this coordinator alone: disconnected if it is lost.
  Result<void> stop(End end, Time until, Json& last);

 private:
  explicit Control(fabric::Link link) : link_(std::move(link)) {}
  Result<Json> ask_for_status(const Bytes& request);
  Result<void> wait_for_stop(Time until, Json& last);
  Result<void> wait_for_end(Time until);

  fabric::Link link_;
};

}  // namespace forebay::cli

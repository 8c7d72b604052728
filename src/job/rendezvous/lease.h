// The file by which others see that the process that made it is alive: it says who that is, and its time of
// modification is set anew every kRenewal seconds. Nothing is locked, so that it works on every network file system.
#pragma once

#include <chrono>
#include <string>

#include "base/error.h"
#include "base/fd.h"
#include "job/rendezvous/liveness.h"

namespace forebay::job {

// This process, which begins to hold something now. The errors of reading /proc.
Result<Holder> this_holder(std::string command);

// Makes or replaces directory/name.
Result<void> write_lease(const std::string& directory, const std::string& name, const Holder& holder);

// Renews a lease, in a process of its own, for the file system may hang, until this object or the process that made it
// is gone, whatever ended it. The file stays, and is to be removed after this.
class LeaseKeeper {
 public:
  // The calling thread must be the only one of its process. Before adopt_orphans(): the keeper is nobody's child.
  static Result<LeaseKeeper> start(const std::string& path, std::chrono::milliseconds every = kRenewal);
  LeaseKeeper(LeaseKeeper&&) = default;
  LeaseKeeper& operator=(LeaseKeeper&&) = default;
  ~LeaseKeeper();  // waits for the keeper, for a second at most

 private:
  LeaseKeeper(Fd lifeline, Fd ended) : lifeline_(std::move(lifeline)), ended_(std::move(ended)) {}
  Fd lifeline_, ended_;
};

struct LeaseSeen {
  Holder holder;
  Life life = Life::living;
  bool looked_up = false;           // the process itself was, on this node; else the lease tells
  std::chrono::seconds silence{0};  // since it was renewed
  int64_t renewed_seconds = 0;      // when that was, in seconds since 1970, by the file system's clock
};

// not_found if there is no such file; corrupt or unsupported if it cannot be read, and then nobody knows who holds.
// `now_seconds` is the time by the clock that sets times of modification in that file system: file_system_time().
Result<LeaseSeen> see_lease(const std::string& path, int64_t now_seconds);

// The time, by the clock that sets times of modification of files in `directory`, which need not be this node's; this
// node's where nothing can be written there.
int64_t file_system_time(const std::string& directory);

}  // namespace forebay::job

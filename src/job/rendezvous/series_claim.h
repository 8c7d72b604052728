// One run at a time writes to a series of a store (decision 0021): each makes a lease, STORE/runs/SERIES.RANDOM, and
// then looks for others.
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "base/error.h"
#include "job/rendezvous/lease.h"

namespace forebay::job {

// What to do about another run's lease. Pure.
enum class Rival : uint8_t { lives, is_gone, wait };
// `renewed`: since it was first looked at. One on another node that is silent is gone: its lease has run out.
Rival judge_rival(const LeaseSeen& seen, bool renewed);

// A run's hold on a series. The file is removed by release(), or by the next run that finds its holder gone.
class SeriesClaim {
 public:
  using Say = std::function<void(const std::string&)>;

  // `store` is there. exists, naming the other run and what to do, if another one lives; for one on another node that
  // may have died this waits until its lease is renewed or has run out, and tells by `say`. Of two that begin at the
  // same time at most one succeeds. As LeaseKeeper::start(): the calling thread must be the only one of its process.
  static Result<SeriesClaim> take(const std::string& store, const std::string& series, const std::string& command,
                                  const Say& say);
  SeriesClaim(SeriesClaim&&) = default;
  SeriesClaim& operator=(SeriesClaim&&) = default;
  ~SeriesClaim() = default;

  // The lease's file, to be removed when the run has ended: not by the destructor, for the file system may hang.
  const std::string& path() const { return path_; }
  void release() const;

 private:
  SeriesClaim(std::string path, LeaseKeeper keeper) : path_(std::move(path)), keeper_(std::move(keeper)) {}
  std::string path_;
  LeaseKeeper keeper_;
};

}  // namespace forebay::job

// The files of the log (docs/wire.md, "Log of decisions"): DIRECTORY/decisions.G/N has what coordinator G decided N-th,
// some records in each. A file gets its name after it is whole and durable, and never takes another one's place: a
// coordinator that finds its number taken has been replaced, whether it knows or not. No lock and no clock is needed.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "job/decisions/decision.h"
#include "job/decisions/facts.h"

namespace forebay::job {

// Used by one thread at a time. Every call may wait as long as the file system does.
class DecisionLog {
 public:
  struct Start;

  // For a coordinator that has just become it: closes the logs of generations before, reads the last that was begun,
  // and begins that of `generation` with what it amounts to, if it is of the same `run`. cancelled if a later one has
  // taken over; errors of the file system. Files that are damaged are left out, with a warning.
  static Result<Start> open(std::string directory, uint64_t generation, std::string run);

  // Puts the records into the next file, durable when this returns. False: this coordinator has been replaced, and they
  // are in no log. After an error the same records may be tried again; they are in the log once.
  Result<bool> append(std::span<const Decision> records);

  // Removes all logs in the directory of a job that is over, as far as they hold nothing else.
  static void remove_from(const std::string& directory);

 private:
  DecisionLog(std::string directory, uint64_t generation, std::string run);
  Result<bool> add(std::span<const Decision> records);

  std::string directory_, path_;
  uint64_t generation_ = 0;
  std::string run_;
  uint64_t next_ = 1;
  Facts facts_;  // of all records in it
};

struct DecisionLog::Start {
  DecisionLog log;
  Facts facts;  // that hold from the beginning
  std::vector<std::string> warnings;
};

}  // namespace forebay::job

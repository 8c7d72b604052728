// What may be wrong with a job's stage and store together: said by `forebay doctor`, and by `run` in its first minute.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/doctor_facts.h"
#include "cli/doctor_judge.h"

namespace forebay::cli {

struct JobPlaces {
  std::string stage, store;  // absolute; store empty: not given
  bool are_on_one_disk = false;
  uint64_t stage_bytes = 0, stage_free = 0;  // of its file system; stage_bytes 0: not known
  std::string set;                           // the newest of the store, or the first of this run
  uint64_t set_bytes = 0;                    // of its files; 0: there is none
  // Somebody whose FOREBAY_STAGE is another directory than `stage`.
  struct Elsewhere {
    std::string who;    // "a process of the application (lmp)"
    std::string stage;  // as it is there
    Failure wrong;      // why nothing can be written there; empty: it can
  };
  std::vector<Elsewhere> elsewhere;
};

// Pure. A small stage is left to judge() of the places, where those are judged as well (`says_room` false).
std::vector<Finding> judge_job_places(const JobPlaces& places, bool says_room);

// "warning: FOUND: USE (CHANGE)"; a note without the first word.
std::string remark_of(const Finding& finding);

// What is found of the two directories, or of the nearest ones above them.
JobPlaces probe_job_places(const std::string& stage, const std::string& store);

// Why a directory of that name is no stage to write to; empty: it is one.
Failure stage_failure(const std::string& path);
// Processes of this user and node that belong to the job of that rendezvous directory, and have another FOREBAY_STAGE.
std::vector<JobPlaces::Elsewhere> processes_elsewhere(const std::string& rendezvous, const std::string& stage);

// Of a stage with one set that came since that time (of the wall clock): sets its name and bytes. With more of them, or
// none, nothing.
void measure_first_set(JobPlaces& places, int64_t since_s);

}  // namespace forebay::cli

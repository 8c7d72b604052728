// Where a job that uses SCR's interface has its things: one function, so that the library in a plain mpiexec and
// `forebay scr` find the same daemons.
#pragma once

#include <string>

#include "base/error.h"
#include "launch/scr/config.h"

namespace forebay::scr {

struct Places {
  std::string prefix;      // SCR_PREFIX, else the working directory: absolute, links resolved
  std::string own;         // PREFIX/.scr: all of the following but the stage are in it
  std::string index;       // index.json
  std::string halt;        // halt.json
  std::string sets;        // sets/SET.json: the files of a set in the prefix
  std::string store;       // store, unless FOREBAY_STORE names another one
  std::string rendezvous;  // of the job's agents and aggregators
  std::string logs;        // of the daemons that the library starts
  std::string stage;       // cache_base_of()/forebay-UID/scr.JOB: of each node
  std::string series;      // of the sets in the store: "scr-" and the hash of the prefix
  std::string job;         // the batch system's number of the job, else the hash of the prefix
};

// What $FOREBAY_STORE, $FOREBAY_RENDEZVOUS, $FOREBAY_STAGE and $FOREBAY_SERIES say goes first: they are of a `forebay
// run` around it. not_found if the prefix is not there; invalid_argument if the job's number is no name for a
// directory.
Result<Places> places_of(const Config& config, const Environment& environment);

// The directory above a node's cache: the STORE of the CKPT lines that use caches, where all name the same, else
// SCR_CACHE_BASE.
std::string cache_base_of(const Config& config);

// Sets that it keeps: COUNT of its STORE line, else SCR_CACHE_SIZE. invalid_argument, with the line, if it is no
// number.
Result<int64_t> cache_size_of(const Config& config);

// The STOREs of the CKPT lines that use caches, each once, but for cache_base_of(): other cache levels of the node, and
// how many sets they keep, told likewise.
struct LevelOfNode {
  std::string store;
  int64_t keep = 1;
};
Result<std::vector<LevelOfNode>> levels_of(const Config& config);

// Where the sets of a stage lie on such a level: STORE/forebay-UID/scr.JOB.
std::string directory_on(const std::string& store, const std::string& stage);

// The prefix's own directory, and those in it, with mode 0700 where it holds secrets. permission if one is another
// user's, or everybody can write there.
Result<void> make_own_directories(const Places& places);

// The stage's directory, mode 0700, that of the user above it, and what is missing above that. permission if it is
// another user's, or others can do anything in it.
Result<void> make_stage_directory(const std::string& stage);

}  // namespace forebay::scr

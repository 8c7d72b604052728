// `forebay scr`: what job scripts that were written for SCR call (docs/scr.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "cli/exit_code.h"
#include "cli/verb.h"
#include "launch/scr/config.h"
#include "launch/scr/halt.h"
#include "launch/scr/places.h"

namespace forebay::cli {

// The configuration and what follows from it. `prefix`: of the command line, which goes first; empty: not given.
// Warnings of the configuration are told.
struct ScrJob {
  scr::Config config;
  scr::Places places;
  static Result<ScrJob> load(const std::string& prefix);
};

// The reason with which `forebay scr halt --immediate` ends a job.
inline constexpr std::string_view kHaltNow = "JOB_ENDED_BY_HALT";

// ---- scr_halt.cc
struct HaltWords {
  std::optional<int64_t> checkpoints, seconds;
  std::string before, after;
  bool immediate = false, list = false, remove = false;
  std::vector<std::string> unset;  // checkpoints, before, after, seconds or reason
};
Result<ExitCode> scr_halt(const scr::Places& places, const HaltWords& words, const Console& console);

// A time as people say it, in seconds since 1970: "now", such a number, "2026-11-24T18:30[:00]" or "2026-11-24 18:30"
// of the local zone, or "18:30[:00]", the next time that it is. invalid_argument for anything else. Pure but for the
// zone.
Result<int64_t> parse_halt_time(const std::string& text, int64_t now);

// Why a job is not to be started, or started again, now. `first`: before its first start in this allocation, when it
// does not matter that the application ended well before.
std::optional<std::string> why_not_start(const scr::Halt& halt, int64_t now, bool first);

// ---- scr_index.cc
struct IndexWords {
  bool list = false;
  std::string current, drop, add, build;
};
Result<ExitCode> scr_index(const scr::Places& places, const IndexWords& words, const Console& console);

// ---- scr_run.cc
// Words of `forebay run` for redundancy, flushes and the size of the cache, by the configuration. invalid_argument,
// with the key, if a value makes no sense.
Result<std::vector<std::string>> run_words_of(const scr::Config& config, const std::string& stage);

}  // namespace forebay::cli

// Halt conditions: when an application is to end between two checkpoints. They lie in PREFIX/.scr/halt.json, which
// `forebay scr halt` edits and SCR_Should_exit reads: a JSON object with any of
//   "checkpoints": N      after N more of them; counted down by the application
//   "before": T           no checkpoint may be under way at T (with `seconds` before it), in seconds since 1970
//   "after": T            at the first checkpoint after T
//   "seconds": S          so long before the allocation ends, in place of SCR_HALT_SECONDS
//   "reason": "TEXT"      now; JOB_HALTED: when "checkpoints" more are written, and no start meanwhile
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"

namespace forebay::scr {

// What SCR_Finalize notes, so that nobody starts the application again; SCR_Init removes it.
inline constexpr std::string_view kFinalized = "SCR_FINALIZE_CALLED";

// What scr_halt without an option notes: after the next checkpoint.
inline constexpr std::string_view kHalted = "JOB_HALTED";

struct Halt {
  std::optional<int64_t> checkpoints, before, after, seconds;
  std::string reason;  // empty: none
  bool operator==(const Halt&) const = default;
};

std::string print_halt(const Halt& halt);
// corrupt if it is none: names of members that nobody knows are errors, too.
Result<Halt> parse_halt(std::string_view text, const std::string& path);

// Without conditions if the file is not there.
Result<Halt> read_halt(const std::string& path);
// By rename.
Result<void> write_halt(const std::string& path, const Halt& halt);

// Why the application is to end now, or nothing. `now` and `end` (of the allocation; nothing: not known) in seconds
// since 1970; `seconds` of the configuration.
std::optional<std::string> why_halt(const Halt& halt, int64_t now, std::optional<int64_t> end, int64_t seconds);

// Whether somebody waits for the next checkpoint, to end the application after it.
bool waits_for_checkpoint(const Halt& halt);

}  // namespace forebay::scr

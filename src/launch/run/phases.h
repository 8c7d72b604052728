// The life of a job under `forebay run`, as a table: run_job.cc goes by it, and docs/job.md shows it. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/transitions.h"

namespace forebay::launch {

enum class RunPhase : uint8_t { starting, restoring, running, judging, replacing, pausing, draining, ending, over };
enum class RunEvent : uint8_t { ready, ended, again, done, left, failed, drained, gone };

std::span<const Transition<RunPhase, RunEvent>> run_transitions();

std::string_view name_of(RunPhase phase);
std::string_view name_of(RunEvent event);

}  // namespace forebay::launch

// The life of a set, and that of a restart, as tables: which event leads from one phase to which other one.
// Coordinators go by them, and docs/job.md shows them. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/transitions.h"

namespace forebay::job {

// A set (set_row.h). What is whole, and not drained yet: the phases from whole to waiting. What is drained: those from
// cutting to committing.
enum class SetPhase : uint8_t {
  incomplete,
  whole,
  encoding,
  sealing,
  waiting,
  cutting,
  staging,
  packing,
  committing,
  over
};
enum class SetEvent : uint8_t {
  whole,
  part_changed,
  began,
  adopted,
  encoded,
  failed,
  sealed,
  given_up,
  ready,
  turn,
  cut,
  staged,
  packed,
  undone,
  ended
};
std::span<const Transition<SetPhase, SetEvent>> set_transitions();

// A restart (restarts.h).
enum class RestartPhase : uint8_t { gathering, asking, preparing, delivering, publishing, over };
enum class RestartEvent : uint8_t { asked, chosen, again, brought, ready, taken_back, answered };
std::span<const Transition<RestartPhase, RestartEvent>> restart_transitions();

std::string_view name_of(SetPhase phase);
std::string_view name_of(SetEvent event);
std::string_view name_of(RestartPhase phase);
std::string_view name_of(RestartEvent event);

}  // namespace forebay::job

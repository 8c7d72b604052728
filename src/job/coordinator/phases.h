// The life of a set, of its protection between nodes, and of a restart, as tables: which event leads from one phase to
// which other one. Coordinators go by them, and docs/job.md shows them. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace forebay::job {

template <class Phase, class Event>
struct Transition {
  std::optional<Phase> from;  // nothing: every phase
  Event event{};
  Phase to{};
  std::string_view then;  // what is done, for docs/job.md
};

// The first transition that fits counts. Where none does, the event means nothing, and the phase stays.
template <class Phase, class Event>
constexpr Phase next_phase(std::span<const Transition<Phase, Event>> table, Phase from, Event event) {
  for (const auto& one : table)
    if (one.event == event && (!one.from || *one.from == from)) return one.to;
  return from;
}

// A set (set_drain.h). What is drained: the phases from cutting to committing.
enum class SetPhase : uint8_t { incomplete, waiting, cutting, staging, packing, committing, over };
enum class SetEvent : uint8_t { whole, part_changed, turn, cut, staged, packed, undone, ended };
std::span<const Transition<SetPhase, SetEvent>> set_transitions();

// Its protection between nodes (protection.h).
enum class ProtectionPhase : uint8_t { idle, encoding, sealing, is_sealed, unprotected };
enum class ProtectionEvent : uint8_t { began, adopted, encoded, failed, sealed, given_up };
std::span<const Transition<ProtectionPhase, ProtectionEvent>> protection_transitions();

// A restart (restarts.h).
enum class RestartPhase : uint8_t { gathering, asking, preparing, delivering, publishing, over };
enum class RestartEvent : uint8_t { asked, chosen, again, brought, ready, taken_back, answered };
std::span<const Transition<RestartPhase, RestartEvent>> restart_transitions();

std::string_view name_of(SetPhase phase);
std::string_view name_of(SetEvent event);
std::string_view name_of(ProtectionPhase phase);
std::string_view name_of(ProtectionEvent event);
std::string_view name_of(RestartPhase phase);
std::string_view name_of(RestartEvent event);

}  // namespace forebay::job

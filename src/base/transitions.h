// A life as a table: which event leads from one phase to which other one. The code goes by it, and a page shows it.
// Pure.
#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace forebay {

template <class Phase, class Event>
struct Transition {
  std::optional<Phase> from;  // nothing: every phase
  Event event{};
  Phase to{};
  std::string_view then;             // what is done, for the page
  std::optional<Phase> last = from;  // it fits all phases from `from` to this one

  constexpr bool fits(Phase phase) const { return !from || (phase >= *from && phase <= *last); }
};

// The first transition that fits counts. Where none does, the event means nothing, and the phase stays.
template <class Phase, class Event>
constexpr Phase next_phase(std::span<const Transition<Phase, Event>> table, Phase from, Event event) {
  for (const auto& one : table)
    if (one.event == event && one.fits(from)) return one.to;
  return from;
}

}  // namespace forebay

#include "job/coordinator/phases.h"

namespace forebay::job {
namespace {

using SetStep = Transition<SetPhase, SetEvent>;
using RestartStep = Transition<RestartPhase, RestartEvent>;

constexpr std::array kSet = {
    SetStep{SetPhase::incomplete, SetEvent::whole, SetPhase::whole,
            "it gets its place in the series; whether it is due is decided, and logged"},
    SetStep{
        SetPhase::whole, SetEvent::part_changed, SetPhase::incomplete,
        "a rank writes again, or an agent has left; a seal goes on without those who have left, and comes here if it "
        "fails",
        SetPhase::waiting},
    SetStep{SetPhase::whole, SetEvent::began, SetPhase::encoding,
            "a scheme protects it: nodes are placed into protection groups; order protect, under a new number"},
    SetStep{SetPhase::whole, SetEvent::adopted, SetPhase::sealing,
            "all have encoded it for the coordinator before; order seal"},
    SetStep{SetPhase::encoding, SetEvent::encoded, SetPhase::sealing, "order seal"},
    SetStep{SetPhase::encoding, SetEvent::failed, SetPhase::whole,
            "a member failed or was lost, or a part was changed: what was encoded is taken back, and the next try "
            "begins after a pause",
            SetPhase::sealing},
    SetStep{SetPhase::sealing, SetEvent::sealed, SetPhase::waiting,
            "the set is safe: it waits for its drain if it is due, else it is over, and in the caches"},
    SetStep{SetPhase::whole, SetEvent::given_up, SetPhase::waiting,
            "its time is over, the nodes cannot be placed, or a disk stays full: it is drained instead",
            SetPhase::sealing},
    SetStep{SetPhase::whole, SetEvent::ready, SetPhase::waiting,
            "nothing is to protect it, or it is in the caches and is to be stored"},
    SetStep{SetPhase::waiting, SetEvent::turn, SetPhase::cutting, "the ranks are cut into rank groups"},
    SetStep{SetPhase::cutting, SetEvent::cut, SetPhase::staging, "the store makes a directory"},
    SetStep{SetPhase::staging, SetEvent::staged, SetPhase::packing, "workers make a container of each rank group"},
    SetStep{SetPhase::packing, SetEvent::packed, SetPhase::committing, "the store commits the set under its name"},
    SetStep{
        SetPhase::cutting, SetEvent::undone, SetPhase::incomplete,
        "what was staged is abandoned: files changed while they were read, a rank group was too large for a worker, or "
        "somebody else has taken the name",
        SetPhase::committing},
    SetStep{{},
            SetEvent::ended,
            SetPhase::over,
            "all agents hear how it ended: durable, skipped, cached or failed; the log has that before"},
};

constexpr std::array kRestart = {
    RestartStep{RestartPhase::gathering, RestartEvent::asked, RestartPhase::asking,
                "all ranks have asked; stages, caches and store are asked for their sets, in this order"},
    RestartStep{RestartPhase::asking, RestartEvent::chosen, RestartPhase::preparing,
                "the newest set; from the caches it is checked, and repaired"},
    RestartStep{RestartPhase::preparing, RestartEvent::chosen, RestartPhase::preparing,
                "the one before cannot be brought: the next one is tried"},
    RestartStep{RestartPhase::preparing, RestartEvent::again, RestartPhase::asking,
                "the caches cannot put it where the ranks are, and have had it stored"},
    RestartStep{RestartPhase::preparing, RestartEvent::brought, RestartPhase::delivering,
                "workers deliver its files to the agents"},
    RestartStep{RestartPhase::preparing, RestartEvent::ready, RestartPhase::publishing,
                "it lies where the ranks are; order place"},
    RestartStep{RestartPhase::delivering, RestartEvent::chosen, RestartPhase::preparing,
                "it is damaged: the next one is tried"},
    RestartStep{RestartPhase::delivering, RestartEvent::ready, RestartPhase::publishing, "order place"},
    RestartStep{
        RestartPhase::publishing, RestartEvent::chosen, RestartPhase::preparing,
        "an agent cannot put it in its place: it is mended and placed again, and after three tries the next one is "
        "tried"},
    RestartStep{{},
                RestartEvent::taken_back,
                RestartPhase::gathering,
                "a rank that had asked asks no more, or its agent is lost"},
    RestartStep{{},
                RestartEvent::answered,
                RestartPhase::over,
                "all ranks get one answer, which the log has before: the set, nothing to restart from, or an error"},
};

}  // namespace

std::span<const SetStep> set_transitions() { return kSet; }
std::span<const RestartStep> restart_transitions() { return kRestart; }

std::string_view name_of(SetPhase phase) {
  constexpr std::array<std::string_view, 10> kNames = {"incomplete", "whole",   "encoding", "sealing",    "waiting",
                                                       "cutting",    "staging", "packing",  "committing", "over"};
  return kNames[static_cast<size_t>(phase)];
}

std::string_view name_of(SetEvent event) {
  constexpr std::array<std::string_view, 15> kNames = {"whole",  "part changed", "began",       "adopted", "encoded",
                                                       "failed", "sealed",       "unprotected", "ready",   "turn",
                                                       "cut",    "staged",       "packed",      "undone",  "ended"};
  return kNames[static_cast<size_t>(event)];
}

std::string_view name_of(RestartPhase phase) {
  constexpr std::array<std::string_view, 6> kNames = {"gathering",  "asking",     "preparing",
                                                      "delivering", "publishing", "over"};
  return kNames[static_cast<size_t>(phase)];
}

std::string_view name_of(RestartEvent event) {
  constexpr std::array<std::string_view, 7> kNames = {"all asked", "chosen",     "ask again", "to be brought",
                                                      "ready",     "taken back", "answered"};
  return kNames[static_cast<size_t>(event)];
}

}  // namespace forebay::job

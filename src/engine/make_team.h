// The team that this process belongs to.
#pragma once

#include <memory>

#include "engine/team.h"

namespace forebay::engine {

// The ranks of the MPI job, if this build knows MPI and an MPI launcher started the process; else the process alone.
// Call it once, before any thread is started; destroying the team ends MPI.
std::unique_ptr<Team> make_team();

}  // namespace forebay::engine

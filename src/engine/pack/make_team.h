// The team that this process belongs to.
#pragma once

#include <memory>

#include "base/error.h"
#include "engine/pack/team.h"

namespace forebay::engine {

// The ranks of the MPI job if an MPI launcher started the process, else the process alone. Call it once, before any
// thread is started; destroying the team ends MPI. unsupported under a launcher if this build has no MPI or its module
// cannot be loaded: the processes of the job would all do the same work.
Result<std::unique_ptr<Team>> make_team();

}  // namespace forebay::engine

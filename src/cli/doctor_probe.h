// Finds out what `forebay doctor` judges, by asking the system and by trying things.
#pragma once

#include <string>

#include "cli/doctor_facts.h"

namespace forebay::cli {

// All but the places. Loads UCX, libmunge and the MPI module in processes of their own, and asks munged for a
// credential. No other thread may run.
Facts probe_machine();

// Looks at the directory, or at the nearest one above it that is there, and tries in a new hidden directory of it,
// which is removed again, what Forebay would do there.
PlaceFacts probe_place(Role role, const std::string& path);

}  // namespace forebay::cli

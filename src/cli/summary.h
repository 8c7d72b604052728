// What became of the sets of a job, in one clause.
#pragma once

#include <string>
#include <vector>

#include "cli/json.h"

namespace forebay::cli {

// "3 sets durable, 1 skipped, 0 failed; 1.0 GiB -> 102.1 MiB (ratio 10.03)", with ", 2 kept in caches" after the failed
// ones where there are any: a set that was stored later counts there, too. `status` is a coordinator's.
std::string summary_text(const Json& status);

// Why sets failed: one line for each that the coordinator remembers.
std::vector<std::string> failures(const Json& status);

// Likewise, and what agents have found in their stages that is not complete: all that is not stored for another reason
// than the policy's. To be asked when the application has ended.
std::vector<std::string> not_stored(const Json& status);

// Which sets were skipped and not stored since, as far as the coordinator remembers: one line; empty if there are none.
std::string skipped(const Json& status);

// Why the job's first set looks older than the newest one that its series had, as that of another run may; or empty.
std::string looks_older(const Json& status);

// That no set becomes complete any more, and who is missing; or empty.
std::string no_set_comes(const Json& status);

// That the store's room ends soon; or empty.
std::string store_fills(const Json& status);

// Whether the job has come to know of no set at all.
bool has_no_set(const Json& status);

}  // namespace forebay::cli

// What the daemons of a job have in common once they run: telling where they listen.
#pragma once

#include <functional>
#include <stop_token>
#include <vector>

#include "base/error.h"
#include "cli/daemon.h"
#include "fabric/address.h"

namespace forebay::cli {

// To be called once, from any thread, when others can connect.
using Listening = std::function<void(const std::vector<fabric::Address>&)>;

// Does `work` until it returns or the daemon is told to end. When the work listens, its addresses are what the daemon
// prints; if they cannot be, it ends with that error.
Result<ExitCode> serve_job(Daemon& daemon,
                           const std::function<Result<void>(const Listening& listening, std::stop_token stop)>& work);

}  // namespace forebay::cli

// The agents and aggregators that the library starts where nobody else has: they outlive the application, and end by
// themselves when nobody needs them (`--linger`). What is cached lies in the stage's files and waits for the next ones.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "launch/scr/config.h"
#include "launch/scr/places.h"

namespace forebay::scr {

// The command `forebay`: $FOREBAY_COMMAND, else the one that is installed with this library, else that of $PATH.
// permission if others can have put there the one that is installed (base/posix/own_code.h).
Result<std::string> command_path(const Config& config);
// etc/scr.conf of the installation that this library is of.
std::string system_file();

// Makes sure that an agent serves the node's stage. Returns when it does.
Result<void> ensure_agent(const Config& config, const Places& places);
// Makes sure that there is an aggregator that answers.
Result<void> ensure_aggregator(const Config& config, const Places& places);
// One more, unless this node has one already: each can take over where another one is lost.
Result<void> add_aggregator(const Config& config, const Places& places);

// Has everything that is to be flushed in the store, and ends the job's daemons.
Result<void> flush_and_stop(const Config& config, const Places& places);

}  // namespace forebay::scr

// An agent: what a compute node does for the drain of its stage (decision 0019). It notices complete sets, offers them
// to the coordinator, lets workers read their files, and takes what a restart brings. While nothing happens it uses no
// processor.
#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/error.h"
#include "fabric/address.h"
#include "fabric/credentials.h"
#include "fabric/hub.h"
#include "format/reader.h"
#include "job/stage/levels.h"
#include "job/stage/stage.h"

namespace forebay::job {

// How the agent's threads stand against those of the application.
enum class Priority : uint8_t {
  normal,
  nice,  // nice 10
  idle,  // SCHED_IDLE: nearly nothing while the application computes on all cores
};

// "normal", "nice" or "idle".
Result<Priority> parse_priority(std::string_view text);

// What becomes of what is in the stage before the run begins, and was not seen to come (job/stage/strangers.h).
enum class Found : uint8_t {
  leave,  // it is left alone
  drain,  // what is a set by the rule is drained, and stays
  take,   // likewise, and it may leave the stage as other sets do
};

struct AgentOptions {
  std::string stage;       // made if it is not there, for its owner alone; its parent must be there
  std::string rendezvous;  // directory (job/rendezvous/rendezvous.h)
  std::string run;         // which run of the job this is (Rendezvous::run()); another one begins with what it finds
  Found found = Found::leave;
  std::string series;  // whose sets lie in the stage (job/stage/stage_series.h); empty: whoever's
  fabric::Credentials credentials;
  // Beside the stage's Unix socket (job/client/stage_names.h): where workers of other nodes reach the agent.
  std::vector<fabric::Address> listen{{fabric::Address::Kind::tcp, "*", 0, ""}};
  fabric::PortRange ports;  // that TCP may take where `listen` leaves it open
  Completion completion;
  unsigned keep = 1;                        // of the durable sets, the newest ones that stay in the stage
  uint64_t capacity = 0;                    // bytes of sets that the stage may hold; 0: no limit
  std::vector<LevelOptions> levels;         // other places for sets (job/stage/levels.h)
  std::string host;                         // what the node is called; empty: its own name
  std::vector<std::string> failure_groups;  // of the node, beside itself: KIND=LABEL
  bool watches_ranks = false;  // tells the coordinator of the application's processes (job/agent/rank_processes.h)
  // Of sets that other nodes protect: data, parity and records are made durable before they count (stages on SSDs,
  // which survive a power cut; those in memory do not).
  bool sync_caches = false;
  bool ucx = false;  // whether workers may ask for bytes by UCX
  Priority priority = Priority::nice;
  // It ends by itself when for so long no rank of the job was connected and nothing could be done; 0: never.
  std::chrono::milliseconds linger{0};
  format::FormatOptions format;                                   // for the layouts
  uint64_t header_memory_bytes = 256u << 20;                      // for reading them
  std::chrono::milliseconds connect_patience{5'000};              // for one attempt to reach the coordinator
  std::function<void(fabric::Severity, const std::string&)> log;  // called by threads of the agent; may be empty
  // Called once, when applications and workers can connect; may be empty.
  std::function<void(const std::vector<fabric::Address>&)> ready;
  // Called after that with what whoever started the job is to read, and is in the log, too; may be empty.
  std::function<void(const std::string&)> tell;
};

// Serves until `stop` is requested or the coordinator says that the job is over. What is not durable by then stays in
// the stage, for the next agent. Errors: those of making and watching the stage and of listening; permission if it is
// another user's, or others can remove what is in it; exists if another agent serves the stage, or it holds sets of
// another series. Runs in threads of its own, so that the caller's keeps
// its priority.
Result<void> run_agent(const AgentOptions& options, std::stop_token stop);

}  // namespace forebay::job

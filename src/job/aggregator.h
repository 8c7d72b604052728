// An aggregator as a process: its worker, the store for the coordinator, and the election that makes one of a job's
// aggregators its coordinator (decision 0019).
#pragma once

#include <chrono>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/error.h"
#include "fabric/address.h"
#include "fabric/hub.h"
#include "job/coordinator/coordinator.h"
#include "job/worker/worker.h"

namespace forebay::job {

struct AggregatorOptions {
  std::string rendezvous;  // made if it is not there
  std::string store;       // likewise, when the first set is drained
  bool munge = false;      // instead of the job's secret
  bool encrypt = false;    // notes the job as one that encrypts; one that is noted already is in any case
  // Empty: a free TCP port of every interface, and a Unix socket in the abstract space.
  std::vector<fabric::Address> listen;
  fabric::PortRange ports;  // that TCP may take where `listen` leaves it open
  // group_size, backlog and timeouts; profile, scheme, remembers, lossy and host are set from `worker`.
  CoordinatorOptions coordinator;
  // It ends by itself when for so long there was no agent, and no other coordinator that it works for; 0: never.
  std::chrono::milliseconds linger{0};
  // pack, resources, limit and fabric; the rest is set here.
  WorkerOptions worker;
  std::function<void(fabric::Severity, const std::string&)> log;       // from several threads, one at a time
  std::function<void(const std::vector<fabric::Address>&)> listening;  // once, when it can be reached; may be empty
  // Once, when nothing is left but to put things in order, which never ends if the file system hangs; may be empty.
  std::function<void()> ending;
};

// A Unix socket in the abstract space, of a new name each time: processes of this node alone reach it.
fabric::Address address_of_this_node();

// Works until Stop comes from the coordinator, or `stop` is requested: then sets that are being drained are left to
// others. Errors: those of Rendezvous::open(), credentials() and run(), and Hub::create(); what goes wrong later is
// logged, and tried again.
Result<void> run_aggregator(const AggregatorOptions& options, std::stop_token stop);

}  // namespace forebay::job

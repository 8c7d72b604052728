// How long a drain takes with so many transfer nodes, and how many are needed: the model of docs/plan.md, which answers
// the question that paper 003 leaves open (sections 4 and 6). Pure.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "base/error.h"

namespace forebay::job {

inline constexpr double kUnlimited = std::numeric_limits<double>::infinity();

// Rates are bytes per second, kUnlimited where they do not matter. Those of codecs count raw bytes, those of the file
// system stored ones.
struct PlanInput {
  uint64_t nodes = 1;                // compute nodes
  double node_bytes = 0;             // of a checkpoint, on each of them
  double interval = 0;               // seconds between two checkpoints
  double node_network = kUnlimited;  // out of a compute node
  double network = kUnlimited;       // into a transfer node
  double codec = kUnlimited;         // of a transfer node, with all its threads
  double ratio = 1;                  // raw bytes / stored bytes
  double pfs_stream = kUnlimited;    // into the file system from one transfer node
  double pfs = kUnlimited;           // from all of them together
  uint64_t groups = 0;               // rank groups of a set; 0: any number
  double buffer = 0;                 // raw bytes that a transfer node can hold
  double margin = 0.2;               // the part of the interval that the drain is to leave free

  double set_bytes() const { return static_cast<double>(nodes) * node_bytes; }
  double allowed_seconds() const { return interval * (1 - margin); }
};

// invalid_argument, with what makes no sense.
Result<void> check(const PlanInput& input);

enum class PlanLimit : unsigned char { node_network, network, codec, pfs_stream, pfs };
const char* to_string(PlanLimit limit);

struct PlanRow {
  uint64_t aggregator_nodes = 0;
  double drain_seconds = 0;   // until the set is durable
  double pull_seconds = 0;    // until its last byte has left the compute nodes
  PlanLimit limit{};          // what the drain waits for
  bool fits = false;          // within allowed_seconds()
  uint64_t stored_every = 1;  // of so many sets in a row one can be drained
};

// `input` passes check(), aggregator_nodes >= 1.
PlanRow plan_drain(const PlanInput& input, uint64_t aggregator_nodes);

// The smallest number of transfer nodes whose drain fits; none if not even a million are enough, because something
// that they share is too slow.
std::optional<uint64_t> fewest_aggregator_nodes(const PlanInput& input);

// The numbers of transfer nodes worth showing, rising: powers of two, and the neighbourhood of the smallest that fits;
// without one, up to where more transfer nodes do not help any more.
std::vector<uint64_t> numbers_to_show(const PlanInput& input);

}  // namespace forebay::job

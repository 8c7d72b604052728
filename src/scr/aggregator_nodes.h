// On which nodes of a job the library starts aggregators. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace forebay::scr {

// One for each 32 nodes, and two where there are two nodes, so that one of them can be lost.
size_t aggregators_of(size_t nodes);

// Whether the node `mine` is to have one: those that do are spread evenly over the nodes, in the order of their first
// ranks, and the first node is among them. `node_of_rank` names each rank's node.
bool has_aggregator(std::span<const uint64_t> node_of_rank, uint64_t mine);

}  // namespace forebay::scr

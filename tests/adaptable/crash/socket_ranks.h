// Ranks that are processes joined by sockets, so that one of them can die and the others live on, as no MPI lets them.
#pragma once

#include <memory>
#include <vector>

#include "io/method/communicator.h"

namespace forebay::io {

// Rank `rank` of as many as there are `sockets`, stream sockets to each of the others (its own is not looked at).
// Whoever waits for a rank that is gone gets disconnected.
std::unique_ptr<Communicator> socket_ranks(uint32_t rank, std::vector<int> sockets);

}  // namespace forebay::io

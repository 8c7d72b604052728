// Where the processes that share a file meet: lock servers that were configured, or one inside the job.
#pragma once

#include <memory>
#include <string>

#include "lock/client.h"
#include "mpiio/mpi/fault.h"
#include "mpiio/settings.h"

namespace forebay::lock::mpiio {

// Lock servers and what they ask for, as bytes that one process sends to others.
using Meeting = std::string;

// The settings of the environment; an error if a variable has a value that it must not have.
const Result<Settings>& environment_settings();

// Collective over MPI_COMM_WORLD, as soon as MPI is initialised: rank 0 starts a server for the whole job, unless
// servers are configured or no file can become atomic. What goes wrong is told when a file needs the server. The server
// ends in MPI_Finalize, after a barrier: a process may lock until it finalizes.
void begin_job();

// Where the processes that open a file together, of which the caller is the first, are to meet. Starts a server if the
// job has none, because MPI was initialised without the layer.
MpiResult<Meeting> meeting_point();

// The client that talks to the servers of `meeting`; all files share it.
MpiResult<std::shared_ptr<Client>> client_for(const Meeting& meeting);

}  // namespace forebay::lock::mpiio

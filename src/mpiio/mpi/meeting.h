// Meetings as bytes (job.h).
#pragma once

#include "base/error.h"
#include "lock/client.h"
#include "mpiio/mpi/job.h"

namespace forebay::lock::mpiio {

// `servers` as in FOREBAY_LOCK_SERVERS: ';' between servers, ',' between the addresses of one.
Meeting encode_meeting(const std::string& servers, const fabric::Credentials& credentials);
Result<ClientOptions> decode_meeting(const Meeting& meeting);

}  // namespace forebay::lock::mpiio

// MUNGE, the clusters' service that vouches for users. Loaded when it is first used (libmunge.so.2), so that nothing
// depends on it where it is not installed.
#pragma once

#include "fabric/handshake.h"

namespace forebay::fabric {

// Calls wait for the local munged, which takes some milliseconds at most when it is healthy. make and check return
// unsupported if libmunge cannot be loaded or this build leaves it out, and disconnected if munged cannot be reached.
// The socket of munged is that of libmunge, or what FOREBAY_MUNGE_SOCKET says.
Voucher munge_voucher();

}  // namespace forebay::fabric

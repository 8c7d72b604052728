// What kind of file system a file lies on, as far as it decides how to move data.
#pragma once

namespace forebay::lock::mpiio {

// Whether the file is in memory or on a disk of this machine. There a call costs little more than its bytes' way
// through the page cache, and that is counted in pages; anywhere else a call may cost a message, and bytes the network.
// Unknown file systems, and what cannot be found out, count as not local.
bool is_local(int fd);

}  // namespace forebay::lock::mpiio

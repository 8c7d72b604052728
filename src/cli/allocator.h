// How the command's memory is allocated.
#pragma once

namespace forebay::cli {

// Sets the allocator up for frames: buffers of megabytes that come and go. To be called first in main(). What it does
// is measured by bench/throughput; without it a small pack takes a third longer.
void set_up_allocator();

}  // namespace forebay::cli

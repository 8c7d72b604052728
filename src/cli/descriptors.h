// How many files and connections this process may have open.
#pragma once

namespace forebay::cli {

// As many as the system lets it. Not for processes that start programs of others, which would inherit it: what waits
// with select() has no room for descriptors from 1024 on.
void raise_descriptor_limit();

}  // namespace forebay::cli

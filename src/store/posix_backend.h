// Stores that are directory trees (docs/store.md).
#pragma once

#include <memory>
#include <string>

#include "base/error.h"
#include "store/backend.h"

namespace forebay::store {

// The store at `path`: errors as of Store::open().
Result<std::shared_ptr<const Backend>> open_directory(const std::string& path);

// The same, made first if `path` does not exist or is an empty directory: errors as of Store::open_for_writing().
Result<std::shared_ptr<const Backend>> make_directory_store(const std::string& path);

// Whether the directory at `path`, which has no file forebay-store, may become a store: it has nothing in it, or what a
// killed maker of a store left. invalid_argument otherwise, with what to do.
Result<void> check_may_become_store(const std::string& path);

}  // namespace forebay::store

// Files that a verb writes outside of stores.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/error.h"
#include "convert/target/new_target.h"

namespace forebay::cli {

// A file that is written front to back, so that there is the whole file or none: without commit(), nothing is left of
// it. Movable, not copyable.
class NewFile {
 public:
  // As convert::NewTarget::file().
  static Result<NewFile> create(std::string path, bool overwrite, std::string_view begins = {});

  // Appends. Errors are those of the system.
  Result<void> write(std::span<const std::byte> bytes);

  // Gives the file its name, durably. No call may follow.
  Result<void> commit() { return target_.commit(overwrite_); }

 private:
  NewFile(convert::NewTarget target, bool overwrite) : target_(std::move(target)), overwrite_(overwrite) {}

  convert::NewTarget target_;
  bool overwrite_;
  uint64_t size_ = 0;
};

}  // namespace forebay::cli

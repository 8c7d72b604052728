// What one connection delivers into a stage: the agent's end without its threads and sockets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/error.h"
#include "job/delivery/delivery.h"
#include "job/wire/messages.h"
#include "store/safe_tree.h"

namespace forebay::job {

// Whatever is written, nothing outside of delivered_path(stage, stored) is touched. When it is destroyed, files that
// were not committed are gone. Used by one thread.
class DeliverySession {
 public:
  explicit DeliverySession(std::string stage) : stage_(std::move(stage)) {}

  // Does what the message asks for; the error is the refusal. After the first error all others are refused with it.
  // Errors as of the target; invalid_argument for what is out of order; limit for too many files.
  Result<void> handle(const wire::BodyUnion& message);

  // An error is kept for the next handle().
  void write(const WriteFrame& write);

 private:
  Result<void> dispatch(const wire::BodyUnion& message);
  Result<void> open(const wire::TargetOpenT& message);
  Result<void> create(const wire::TargetFileT& message);
  Result<void> commit(const wire::TargetCommitT& message);
  Result<void> finish();
  Result<store::TargetFile*> find(uint32_t number);

  const std::string stage_;
  std::optional<store::TargetDir> directory_;
  std::map<uint32_t, std::unique_ptr<store::TargetFile>> files_;  // that are not committed yet
  std::optional<Error> failed_;
};

}  // namespace forebay::job

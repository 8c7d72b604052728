// The rules of messages.fbs that its schema cannot say.
#pragma once

#include <cstddef>

#include "base/error.h"
#include "messages_generated.h"

namespace forebay::job::wire {

// corrupt if `message`, which the verifier has accepted, in a body of `size` bytes, breaks a rule. Allocates nothing.
Result<void> check(const Message& message, size_t size);

}  // namespace forebay::job::wire
